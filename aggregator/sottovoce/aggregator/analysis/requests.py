"""
What an analyst asks of reports, and the document that answers it: the same for the command line, HTTP and Python.

A dataclass for each kind of analysis; ``parse_request`` makes one of plain JSON values, and tells all mistakes at once.

Margins     {question: {category: share}}; of several questions together {"a x b": {"one x other": share}}. Shares that
            sum to 1, or numbers of people.
People      [{predictor: category, or a number or its digits}], whose outcome is to be predicted.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.documents import (
    Document,
    comparison_document,
    crosstab_document,
    pairs_document,
    predictions_document,
    weights_document,
)
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.predictions import predict
from sottovoce.aggregator.analysis.regression.regression import MODELS, regress
from sottovoce.aggregator.analysis.report_columns import Columns, find_variable
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.group_comparison import compare
from sottovoce.aggregator.analysis.weights import Shares, questions_of, raked
from sottovoce.shared.errors import EstimateError, OptionsError, Problem
from sottovoce.shared.sentence import Sentence

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


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """
    Options that every analysis has.

    Attributes:
        wave: only its reports; None for all.
    """

    kind: ClassVar[str]
    wave: int | None = option(whole, None)

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The variables that are asked for."""

    def document(self, columns: Columns, weights: ArrayLike | None = None) -> Document:
        """
        The answer.

        Args:
            columns: the reports.
            weights: one a report, in the place of margins.

        Raises:
            EstimateError: this cannot be had from these reports; the message says why.
        """
        for name in self.names:
            find_variable(columns, name)
        # A folder holds all waves; a database gives the one that is asked for.
        inside = columns if self.wave is None or columns.waves == (self.wave,) else columns.of_wave(self.wave)
        if not len(inside):
            raise EstimateError("there are no reports yet")
        return self._answer(inside, weights)

    @abstractmethod
    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        """From reports of which there are some."""


@dataclass(frozen=True, kw_only=True)
class WeightedRequest(Request):
    """
    What can be made with weights.

    Attributes:
        margins: known ones, which the weights make hold; None for weights as they are given, or none.
    """

    margins: Shares | None = option(read_shares, None)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables and the questions of margins."""
        return tuple(filter(None, (*self.variables, *questions_of(self.margins))))

    @property
    @abstractmethod
    def variables(self) -> tuple[str | None, ...]:
        """The variables that are asked for, and None where one is not."""

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        return self._weighted(columns, weights if self.margins is None else raked(columns, self.margins).weights)

    @abstractmethod
    def _weighted(self, columns: Columns, weights: ArrayLike | None) -> Document:
        """With the weights of the margins."""


@dataclass(frozen=True, kw_only=True)
class CrosstabRequest(WeightedRequest):
    """A table of two variables, for each category of a public third one if there is one."""

    kind = "crosstab"
    rows: str = option(text)
    columns: str = option(text)
    within: str | None = option(text, None)

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Rows, columns, and within."""
        return self.rows, self.columns, self.within

    def _weighted(self, columns: Columns, weights: ArrayLike | None) -> Document:
        if self.within is None:
            return crosstab_document(crosstab(columns, self.rows, self.columns, weights))
        return crosstab_document(crosstab_within(columns, self.rows, self.columns, self.within, weights))


@dataclass(frozen=True, kw_only=True)
class CompareRequest(WeightedRequest):
    """The share of a category, or the mean of a number, in each group."""

    kind = "compare"
    outcome: str = option(text)
    groups: str = option(text)
    category: str | None = option(text, None)

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Outcome and groups."""
        return self.outcome, self.groups

    def _weighted(self, columns: Columns, weights: ArrayLike | None) -> Document:
        return comparison_document(compare(columns, self.outcome, self.groups, self.category or "", weights))


@dataclass(frozen=True, kw_only=True)
class PairsRequest(Request):
    """Every pair of the survey's variables, tested for independence."""

    kind = "pairs"

    @property
    def names(self) -> tuple[str, ...]:
        """None: all are looked at."""
        return ()

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return pairs_document(every_pair(columns))


@dataclass(frozen=True, kw_only=True)
class RegressionRequest(WeightedRequest):
    """One answer explained by others."""

    kind = "regression"
    outcome: str = option(text)
    on: tuple[str, ...] = option(texts)
    model: str | None = option(one_of(MODELS), None)
    errors: str = option(one_of(tuple(KINDS)), "observed")
    cluster: str | None = option(text, None)
    at: People | None = option(people, None)

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Outcome, predictors, and cluster."""
        return self.outcome, *self.on, self.cluster

    def _weighted(self, columns: Columns, weights: ArrayLike | None) -> Document:
        found = regress(
            columns,
            self.outcome,
            self.on,
            model=self.model,
            errors=self.errors,
            weights=weights,
            cluster=self.cluster,
        )
        return {
            **found.as_dict(),
            **({} if self.at is None else predictions_document(self.at, predict(found, self.at))),
        }


@dataclass(frozen=True, kw_only=True)
class WeightsRequest(Request):
    """What weights that make margins hold would cost."""

    kind = "weights"
    margins: Shares = option(read_shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The questions of margins."""
        return questions_of(self.margins)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return weights_document(raked(columns, self.margins))


KINDS_OF_REQUEST: dict[str, type[Request]] = {
    each.kind: each for each in (CrosstabRequest, CompareRequest, PairsRequest, RegressionRequest, WeightsRequest)
}
"""By the last word of their address."""


def parse_request(kind: str, given: Any) -> Request:  # noqa: ANN401 - JSON
    """
    The options of an analysis.

    Raises:
        OptionsError: some are missing, unknown or wrong.
    """
    if not isinstance(given, dict):
        raise OptionsError([Problem("", "must be an object of options")])
    options = {each.name: each for each in fields(KINDS_OF_REQUEST[kind])}
    problems = (
        [Problem("", Sentence("unknown option; there are: {known}", known=", ".join(options)))]
        if set(given) - set(options)
        else []
    )
    read: dict[str, Any] = {}
    for name, wanted in options.items():
        if given.get(name) is not None:
            try:
                read[name] = wanted.metadata["read"](given[name])
            except ValueError as error:
                problems.append(Problem(f"/{name}", error.args[0]))
        elif wanted.default is MISSING:
            problems.append(Problem(f"/{name}", "is missing"))
    if problems:
        raise OptionsError(problems)
    return KINDS_OF_REQUEST[kind](**read)
