"""
How the options of an analysis are read: plain JSON values in, checked ones out, or ValueError with how they must be.

Margins     {question: {category: share}}; of several questions together {"a x b": {"one x other": share}}. Shares that
            sum to 1, or numbers of people.
People      [{predictor: category, or a number or its digits}], whose outcome is to be predicted.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from sottovoce.shared.sentence import Sentence

Shares = Mapping[str, Mapping[str, float]]
People = tuple[Mapping[str, str | float], ...]

MOST_PEOPLE = 1000
_DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


def text(given: Any) -> str:  # noqa: ANN401 - JSON
    """The name of a variable."""
    if not isinstance(given, str) or not given:
        raise ValueError("must be the name of a question, or of a question and its option with a dot between them")
    return given


def texts(given: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Names of variables, at least one."""
    if not isinstance(given, list | tuple) or not given:
        raise ValueError("must be a list of at least one name")
    return tuple(text(name) for name in given)


def whole(given: Any) -> int:  # noqa: ANN401
    """A whole number from 0."""
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ValueError("must be a whole number from 0")
    return given


def one_of(names: tuple[str, ...]) -> Callable[[Any], str]:
    """What reads one of these names."""

    def read(given: Any) -> str:  # noqa: ANN401
        if not isinstance(given, str) or given not in names:
            raise ValueError(Sentence("must be one of: {known}", known=", ".join(names)))
        return given

    return read


def read_shares(given: Any) -> Shares:  # noqa: ANN401
    """
    Margins from plain values.

    Raises:
        ValueError: they are none; says how they must be.
    """
    if not isinstance(given, Mapping) or not given:
        raise ValueError("must name at least one question with the shares of its categories")
    if not all(isinstance(shares, Mapping) and shares for shares in given.values()):
        raise ValueError("must hold a map of categories and shares for each question")
    return {
        question: {category: _share(share) for category, share in shares.items()} for question, shares in given.items()
    }


def _share(given: Any) -> float:  # noqa: ANN401
    """A number, or its decimal digits as text, as decimals are in survey files."""
    if isinstance(given, str) and _DECIMAL.fullmatch(given):
        return float(given)
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        raise ValueError("must hold a number for each category")
    return float(given)


def people(given: Any) -> People:  # noqa: ANN401
    """
    Rows of predictors.

    Raises:
        ValueError: they are none; says how they must be.
    """
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_PEOPLE:
        raise ValueError(Sentence("must be a list of 1 to {most} objects", most=MOST_PEOPLE))
    for row in given:
        known = isinstance(row, Mapping) and all(
            isinstance(value, str | int | float) and not isinstance(value, bool) for value in row.values()
        )
        if not known or not all(math.isfinite(value) for value in row.values() if not isinstance(value, str)):
            raise ValueError("must hold for each row an object of predictors, each with a category or a number")
    return tuple(dict(row) for row in given)


def option(read: Callable[[Any], Any], *default: Any) -> Any:  # noqa: ANN401 - the type is the field's
    """
    A field that is read by this function.

    Args:
        read: from a JSON value to that of the field; ValueError says how it must be.
        default: if there is one, the option may be left out.
    """
    given = {"default": default[0]} if default else {}
    return field(metadata={"read": read}, **given)
