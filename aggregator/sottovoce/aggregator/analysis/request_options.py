"""Read the options of an analysis from plain JSON values; each reader raises ValueError with the expected form."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.subset import parse_condition
from sottovoce.aggregator.analysis.weights import MarginShares
from sottovoce.shared.errors import EstimateError, Sentence

People = tuple[Mapping[str, str | float], ...]

MOST_PEOPLE = 1000
_DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


def text(given: Any) -> str:  # noqa: ANN401 - JSON
    """Return the name of a variable, or raise ValueError."""
    if not isinstance(given, str) or not given:
        raise ValueError("must be the name of a question, or of a question and its option with a dot between them")
    return given


def texts(given: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return names of variables, at least one, or raise ValueError."""
    if not isinstance(given, list | tuple) or not given:
        raise ValueError("must be a list of at least one name")
    return tuple(text(name) for name in given)


def whole(given: Any) -> int:  # noqa: ANN401
    """Return a whole number from 0, or raise ValueError."""
    # JSON's true is an int in Python, and no number of a wave.
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ValueError("must be a whole number from 0")
    return given


def one_of(names: tuple[str, ...]) -> Callable[[Any], str]:
    """Return a reader that accepts one of these names and raises ValueError for any other value."""

    def read(given: Any) -> str:  # noqa: ANN401
        if not isinstance(given, str) or given not in names:
            raise ValueError(Sentence("must be one of: {known}", known=", ".join(names)))
        return given

    return read


def read_shares(given: Any) -> MarginShares:  # noqa: ANN401
    """Read margins from plain JSON values, or raise ValueError."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError("must name at least one question with the shares of its categories")
    if not all(isinstance(shares, Mapping) and shares for shares in given.values()):
        raise ValueError("must hold a map of categories and shares for each question")
    return {
        question: {category: _share(share) for category, share in shares.items()} for question, shares in given.items()
    }


def known_shares(given: Any) -> Mapping[str, float]:  # noqa: ANN401
    """Return known shares by category, or raise ValueError."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError("must be a map of categories and known shares")
    return {str(category): _share(share) for category, share in given.items()}


def known_mean(given: Any) -> float:  # noqa: ANN401
    """Return a finite number, or raise ValueError."""
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        raise ValueError("must be a number")
    return float(given)


def _share(given: Any) -> float:  # noqa: ANN401
    """Return a number, given as such or as decimal digits in text, as survey files write decimals."""
    # Only plain digits: ``float`` would also accept "nan", "inf" and "1e999".
    if isinstance(given, str) and _DECIMAL.fullmatch(given):
        return float(given)
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        raise ValueError("must hold a number for each category")
    return float(given)


def people(given: Any) -> People:  # noqa: ANN401
    """Read rows of predictor values, or raise ValueError."""
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_PEOPLE:
        raise ValueError(Sentence("must be a list of 1 to {most} objects", most=MOST_PEOPLE))
    for row in given:
        known = isinstance(row, Mapping) and all(
            isinstance(value, str | int | float) and not isinstance(value, bool) for value in row.values()
        )
        if not known or not all(math.isfinite(value) for value in row.values() if not isinstance(value, str)):
            raise ValueError("must hold for each row an object of predictors, each with a category or a number")
    return tuple(dict(row) for row in given)


def confidence(given: Any) -> float:  # noqa: ANN401
    """Return a level between 1/2 and 1, or raise ValueError."""
    if not isinstance(given, float) or not 0.5 <= given < 1:
        raise ValueError("must be a number from 0.5 to below 1, such as 0.9")
    return given


def condition(given: Any) -> str:  # noqa: ANN401
    """Return the condition of a subset, or raise ValueError with the column of the mistake."""
    return _checked(given, parse_condition)


def formula(given: Any) -> str:  # noqa: ANN401
    """Return a formula, or raise ValueError with the column of the mistake."""
    return _checked(given, parse_formula)


def _checked(given: Any, parse: Callable[[str], object]) -> str:  # noqa: ANN401
    if not isinstance(given, str):
        raise ValueError("must be a text")
    try:
        parse(given)
    except EstimateError as refused:
        raise ValueError(refused.args[0]) from None
    return given


def flag(given: Any) -> bool:  # noqa: ANN401
    """Return True or False, or raise ValueError."""
    if not isinstance(given, bool):
        raise ValueError("must be true or false")
    return given


def option(read: Callable[[Any], Any], *default: Any) -> Any:  # noqa: ANN401 - the type is the field's
    """Define a dataclass field that ``parse_request`` reads with ``read``; ``default`` makes the option optional."""
    return field(metadata={"read": read}, **{"default": default[0]} if default else {})
