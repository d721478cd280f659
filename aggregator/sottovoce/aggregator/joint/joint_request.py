"""
What an analyst asks of reports, and the document that answers it: the same for the command line, HTTP and Python.

Options     A dataclass for each kind; ``parse_request`` makes one of plain JSON values, and tells all mistakes at once.
Margins     {question: {category: share}}; of several questions together {"a x b": {"one x other": share}}. Shares that
            sum to 1, or numbers of people.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sottovoce.aggregator.joint.answers import Answers, answers_of
from sottovoce.aggregator.joint.columns import Columns
from sottovoce.aggregator.joint.compare import compare
from sottovoce.aggregator.joint.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.joint.documents import Document, comparison_document, crosstab_document, weights_document
from sottovoce.aggregator.joint.named import find_variable
from sottovoce.aggregator.joint.raking import Margin, Weights, rake
from sottovoce.aggregator.joint.regression import MODELS, regress
from sottovoce.aggregator.joint.standard_errors import KINDS
from sottovoce.shared.errors import EstimateError, OptionsError, Problem

Shares = Mapping[str, Mapping[str, float]]

BESIDE = " x "
"""Between the questions, and the categories, of a margin of several."""

_DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")


def _text(given: Any) -> str:  # noqa: ANN401 - JSON
    if not isinstance(given, str) or not given:
        raise ValueError("must be the name of a question, or of a question and its option with a dot between them")
    return given


def _texts(given: Any) -> tuple[str, ...]:  # noqa: ANN401
    if not isinstance(given, list | tuple) or not given:
        raise ValueError("must be a list of at least one name")
    return tuple(_text(name) for name in given)


def _whole(given: Any) -> int:  # noqa: ANN401
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ValueError("must be a whole number from 0")
    return given


def _one_of(names: tuple[str, ...]) -> Callable[[Any], str]:
    def read(given: Any) -> str:  # noqa: ANN401
        if not isinstance(given, str) or given not in names:
            raise ValueError(f"must be one of: {', '.join(names)}")
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


def _option(read: Callable[[Any], Any], *default: Any) -> Any:  # noqa: ANN401 - the type is the field's
    given = {"default": default[0]} if default else {}
    return field(metadata={"read": read}, **given)


@dataclass(frozen=True, kw_only=True)
class Request:
    """
    Options that every analysis has.

    Attributes:
        wave: only its reports; None for all.
    """

    kind: ClassVar[str]
    wave: int | None = _option(_whole, None)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that are asked for."""
        raise NotImplementedError

    def document(self, columns: Columns, weights: ArrayLike | None = None) -> Document:
        """
        The answer.

        Args:
            columns: the reports.
            weights: one a report, in the place of margins; only a regression takes them.

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

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class CrosstabRequest(Request):
    """A table of two variables, for each category of a public third one if there is one."""

    kind = "crosstab"
    rows: str = _option(_text)
    columns: str = _option(_text)
    within: str | None = _option(_text, None)

    @property
    def names(self) -> tuple[str, ...]:
        """Rows, columns, and within."""
        return tuple(filter(None, (self.rows, self.columns, self.within)))

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for regressions
        if self.within is None:
            return crosstab_document(crosstab(columns, self.rows, self.columns))
        return crosstab_document(crosstab_within(columns, self.rows, self.columns, self.within))


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request):
    """The share of a category, or the mean of a number, in each group."""

    kind = "compare"
    outcome: str = _option(_text)
    groups: str = _option(_text)
    category: str | None = _option(_text, None)

    @property
    def names(self) -> tuple[str, ...]:
        """Outcome and groups."""
        return self.outcome, self.groups

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for regressions
        return comparison_document(compare(columns, self.outcome, self.groups, self.category or ""))


@dataclass(frozen=True, kw_only=True)
class RegressionRequest(Request):
    """One answer explained by others."""

    kind = "regression"
    outcome: str = _option(_text)
    on: tuple[str, ...] = _option(_texts)
    model: str | None = _option(_one_of(MODELS), None)
    errors: str = _option(_one_of(tuple(KINDS)), "observed")
    cluster: str | None = _option(_text, None)
    margins: Shares | None = _option(read_shares, None)

    @property
    def names(self) -> tuple[str, ...]:
        """Outcome, predictors, cluster and the questions of margins."""
        return tuple(filter(None, (self.outcome, *self.on, self.cluster, *_questions(self.margins))))

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        if self.margins is not None:
            weights = raked(columns, self.margins).weights
        found = regress(
            columns,
            self.outcome,
            self.on,
            model=self.model,
            errors=self.errors,
            weights=weights,
            cluster=self.cluster,
        )
        return found.as_dict()


@dataclass(frozen=True, kw_only=True)
class WeightsRequest(Request):
    """What weights that make margins hold would cost."""

    kind = "weights"
    margins: Shares = _option(read_shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The questions of margins."""
        return _questions(self.margins)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for regressions
        return weights_document(raked(columns, self.margins))


KINDS_OF_REQUEST: dict[str, type[Request]] = {
    each.kind: each for each in (CrosstabRequest, CompareRequest, RegressionRequest, WeightsRequest)
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
    problems = [Problem("", f"unknown option; there are: {', '.join(options)}")] if set(given) - set(options) else []
    read: dict[str, Any] = {}
    for name, option in options.items():
        if given.get(name) is not None:
            try:
                read[name] = option.metadata["read"](given[name])
            except ValueError as error:
                problems.append(Problem(f"/{name}", str(error)))
        elif option.default is MISSING:
            problems.append(Problem(f"/{name}", "is missing"))
    if problems:
        raise OptionsError(problems)
    return KINDS_OF_REQUEST[kind](**read)


def raked(columns: Columns, margins: Shares) -> Weights:
    """
    The weights of the reports that make margins hold.

    Raises:
        EstimateError: as ``rake``.
    """
    made = []
    for named, shares in margins.items():
        questions = named.split(BESIDE)
        several = len(questions) > 1
        cells = {tuple(cell.split(BESIDE)) if several else cell: share for cell, share in shares.items()}
        answers = tuple(answers_of(columns, question) for question in questions)
        _check_cells(named, answers, [cell.split(BESIDE) if several else [cell] for cell in shares])
        made.append(Margin(answers, cells))
    return rake(made)


def _check_cells(named: str, answers: Sequence[Answers], cells: Sequence[Sequence[str]]) -> None:
    categories = [each.variable.categories for each in answers]
    for cell in cells:
        if len(cell) != len(answers) or not all(map(operator.contains, categories, cell)):
            known = "; ".join(", ".join(names) for names in categories)
            raise EstimateError(f"a share of '{named}' names no cell; the categories are: {known}")


def _questions(margins: Shares | None) -> tuple[str, ...]:
    return tuple(question for named in margins or {} for question in named.split(BESIDE))
