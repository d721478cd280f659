"""
Analysis requests and their result documents, shared by the command line, HTTP and Python.

There is one dataclass for each kind of analysis. ``parse_request`` builds one from plain JSON values and reports all
mistakes at once.

Margins     {question: {category: share}}; for several questions jointly {"a x b": {"one x other": share}}. Shares that
            sum to 1, or numbers of people.
People      [{predictor: category, or a number or its digits}]: rows for which to predict the outcome.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.described_people import AMONG
from sottovoce.aggregator.analysis.documents import (
    Document,
    comparison_document,
    crosstab_document,
    pairs_document,
    predictions_document,
    weights_document,
)
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.declining import DECLINING
from sottovoce.aggregator.analysis.regression.predictions import predict
from sottovoce.aggregator.analysis.regression.regression import MODELS, regress
from sottovoce.aggregator.analysis.report_columns import Columns, find_variable
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.group_comparison import compare
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.aggregator.analysis.weights import Shares, questions_of, raked
from sottovoce.shared.errors import EstimateError, OptionsError, Problem
from sottovoce.shared.sentence import Sentence

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


def read_shares(given: Any) -> Shares:  # noqa: ANN401
    """
    Read margins from plain JSON values.

    Raises:
        ValueError: the values are no margins; the message describes the expected form.
    """
    if not isinstance(given, Mapping) or not given:
        raise ValueError("must name at least one question with the shares of its categories")
    if not all(isinstance(shares, Mapping) and shares for shares in given.values()):
        raise ValueError("must hold a map of categories and shares for each question")
    return {
        question: {category: _share(share) for category, share in shares.items()} for question, shares in given.items()
    }


def _share(given: Any) -> float:  # noqa: ANN401
    """Return a number, given as such or as decimal digits in text, as survey files write decimals."""
    # Only plain digits: ``float`` would also accept "nan", "inf" and "1e999".
    if isinstance(given, str) and _DECIMAL.fullmatch(given):
        return float(given)
    if not isinstance(given, int | float) or isinstance(given, bool) or not math.isfinite(given):
        raise ValueError("must hold a number for each category")
    return float(given)


def people(given: Any) -> People:  # noqa: ANN401
    """
    Read rows of predictor values.

    Raises:
        ValueError: the values are no such rows; the message describes the expected form.
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
    Define a dataclass field that ``parse_request`` reads with this function.

    Args:
        read: converts a JSON value to the value of the field; raises ValueError with the expected form.
        default: makes the option optional.
    """
    given = {"default": default[0]} if default else {}
    return field(metadata={"read": read}, **given)


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """
    Options common to all analyses.

    Attributes:
        wave: only reports of this wave; None for all.
    """

    kind: ClassVar[str]
    wave: int | None = option(whole, None)

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of all variables of the request."""

    def document(self, columns: Columns, weights: ArrayLike | None = None) -> Document:
        """
        Run the analysis and return its JSON document.

        Args:
            columns: the reports.
            weights: one weight per report, instead of margins.

        Raises:
            EstimateError: the reports do not allow this analysis; the message says why.
        """
        # Names first, so that a misspelt variable is reported before anything about the reports.
        for name in self.names:
            find_variable(columns, name)
        # Reports from a folder contain all waves; those from a database only the requested one.
        inside = columns if self.wave is None or columns.waves == (self.wave,) else columns.of_wave(self.wave)
        if not len(inside):
            raise EstimateError("there are no reports yet")
        return self._answer(inside, weights)

    @abstractmethod
    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        """Run the analysis on at least one report."""


@dataclass(frozen=True, kw_only=True)
class WeightedRequest(Request):
    """
    An analysis that accepts weights.

    Attributes:
        margins: known margins to rake the reports to; None for explicit weights, or none.
    """

    margins: Shares | None = option(read_shares, None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, and of the questions in the margins."""
        return tuple(filter(None, (*self.variables, *questions_of(self.margins))))

    @property
    @abstractmethod
    def variables(self) -> tuple[str | None, ...]:
        """Names of the variables; None for optional ones that are not set."""

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        return self._weighted(columns, weights if self.margins is None else raked(columns, self.margins).weights)

    @abstractmethod
    def _weighted(self, columns: Columns, weights: ArrayLike | None) -> Document:
        """Run the analysis with these weights."""


@dataclass(frozen=True, kw_only=True)
class CrosstabRequest(WeightedRequest):
    """Request for a table of two variables, optionally for each category of a third, public variable."""

    kind = "crosstab"
    rows: str = option(text)
    columns: str = option(text)
    within: str | None = option(text, None)
    among: str | None = option(one_of(AMONG), None)

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Variables of the rows, of the columns, and the stratifying one."""
        return self.rows, self.columns, self.within

    def _weighted(self, columns: Columns, weights: ArrayLike | None) -> Document:
        rule = Rule(among=self.among)
        if self.within is None:
            return crosstab_document(crosstab(columns, self.rows, self.columns, weights, rule))
        return crosstab_document(crosstab_within(columns, self.rows, self.columns, self.within, weights, rule))


@dataclass(frozen=True, kw_only=True)
class CompareRequest(WeightedRequest):
    """Request for the share of a category, or the mean of a number, in each group."""

    kind = "compare"
    outcome: str = option(text)
    groups: str = option(text)
    category: str | None = option(text, None)
    among: str | None = option(one_of(AMONG), None)

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Outcome variable, and the variable that defines the groups."""
        return self.outcome, self.groups

    def _weighted(self, columns: Columns, weights: ArrayLike | None) -> Document:
        rule = Rule(among=self.among)
        return comparison_document(compare(columns, self.outcome, self.groups, self.category or "", weights, rule))


@dataclass(frozen=True, kw_only=True)
class PairsRequest(Request):
    """Request for a test of independence of every pair of the survey's variables."""

    kind = "pairs"

    @property
    def names(self) -> tuple[str, ...]:
        """Return no names: the request covers all variables."""
        return ()

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return pairs_document(every_pair(columns))


@dataclass(frozen=True, kw_only=True)
class RegressionRequest(WeightedRequest):
    """Request for a regression of one answer on others."""

    kind = "regression"
    outcome: str = option(text)
    on: tuple[str, ...] = option(texts)
    model: str | None = option(one_of(MODELS), None)
    errors: str = option(one_of(tuple(KINDS)), "observed")
    among: str | None = option(one_of(AMONG), None)
    declining: str | None = option(one_of(DECLINING), None)
    cluster: str | None = option(text, None)
    at: People | None = option(people, None)

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Outcome variable, predictors, and cluster variable."""
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
            among=self.among,
            declining=self.declining,
        )
        return {
            **found.as_dict(),
            **({} if self.at is None else predictions_document(self.at, predict(found, self.at))),
        }


@dataclass(frozen=True, kw_only=True)
class WeightsRequest(Request):
    """Request for the design effect of raking weights to known margins."""

    kind = "weights"
    margins: Shares = option(read_shares)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the questions in the margins."""
        return questions_of(self.margins)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return weights_document(raked(columns, self.margins))


KINDS_OF_REQUEST: dict[str, type[Request]] = {
    each.kind: each for each in (CrosstabRequest, CompareRequest, PairsRequest, RegressionRequest, WeightsRequest)
}
"""Request classes by the last part of their URL."""


def parse_request(kind: str, given: Any) -> Request:  # noqa: ANN401 - JSON
    """
    Parse the options of an analysis.

    Args:
        kind: a key of ``KINDS_OF_REQUEST``.
        given: the options as a JSON object.

    Raises:
        OptionsError: options are missing, unknown or invalid; lists all problems.
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
        # All problems are collected, so that a client can fix them in one go.
        elif wanted.default is MISSING:
            problems.append(Problem(f"/{name}", "is missing"))
    if problems:
        raise OptionsError(problems)
    return KINDS_OF_REQUEST[kind](**read)
