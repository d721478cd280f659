"""
What an analyst asks of reports, and the document that answers it: the same for the command line, HTTP and Python.

A dataclass for each kind of analysis; ``parse_request`` makes one of plain JSON values, and tells all mistakes at once.
"""

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
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
from sottovoce.aggregator.analysis.margins import questions_of, raked
from sottovoce.aggregator.analysis.options import (
    People,
    Shares,
    one_of,
    option,
    people,
    read_shares,
    text,
    texts,
    whole,
)
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.predictions import predict
from sottovoce.aggregator.analysis.regression.regression import MODELS, regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.group_comparison import compare
from sottovoce.aggregator.analysis.variable_lookup import find_variable
from sottovoce.shared.errors import EstimateError, OptionsError, Problem
from sottovoce.shared.sentence import Sentence


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
