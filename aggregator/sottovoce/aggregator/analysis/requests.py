"""Parse and answer analysis requests, for the command line, HTTP and Python.

There is one dataclass for each kind of analysis. ``parse_request`` builds one from plain JSON values and reports all
mistakes at once; the reader of each option raises ValueError with the expected form.

Margins     {question: {category: share}}; for several questions jointly {"a x b": {"one x other": share}}. Shares that
            sum to 1, or numbers of people.
People      [{predictor: category, or a number or its digits}]: rows for which to predict the outcome.
"""

import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.data_file.list_experiment import MOST_ITEMS, list_experiment
from sottovoce.aggregator.analysis.data_file.people_with_predictors import names_in, predictors_of
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.analysis.data_file.shares import codes_of, shares_of_file
from sottovoce.aggregator.analysis.documents import (
    Document,
    comparison_document,
    crosstab_document,
    pairs_document,
    predictions_document,
    test_document,
    weights_document,
)
from sottovoce.aggregator.analysis.item_response.items import MODELS as MODELS_OF_ITEMS, RASCH, items_document
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.mixtures.mixture import MOST_DRAWS, fielded_document, mixture_of_file, notes_alone
from sottovoce.aggregator.analysis.one_sample_test import PUBLIC_SUBSET, one_sample_test
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.declining import DECLINING
from sottovoce.aggregator.analysis.regression.formula import Formula, formula_of, parse_formula
from sottovoce.aggregator.analysis.regression.marginal_effects import predict
from sottovoce.aggregator.analysis.regression.person_model import FIRST_POINTS, MOST_POINTS
from sottovoce.aggregator.analysis.regression.regression import MODELS, regress
from sottovoce.aggregator.analysis.regression.regression_result import detectable_effects
from sottovoce.aggregator.analysis.report_columns import Columns, answers_of, find_variable
from sottovoce.aggregator.analysis.selection import AMONG, AMONG_WITH_ANCHORS, CAREFUL, parse_condition, subset
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.analysis.tables.crosstab import compare, crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.aggregator.analysis.token_reader import MOST_CHARACTERS
from sottovoce.aggregator.analysis.weights import CROSS_SEPARATOR, MarginShares, raked
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.question_variables import bare, is_long, num, points_of
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, OptionsError, Problem, Sentence
from sottovoce.shared.types.base import DayGrid

FEW_UNKNOWN = (
    "'{variable}': the file leaves out rare answers of {reports} reports as few, which has shares but is in no mean, "
    "model, test, weight or subset; to go without these reports, say --drop-few, in Python drop_few=True"
)
UNWEIGHTED = "{kind} and weights do not go together; crosstab, compare and regression take weights"
WEIGHTED_TWICE = "weights of reports and margins do not go together: margins make weights themselves; leave one out"
OF_ROWS = "{kind} takes a file with a row for each person; for a survey, download its files and analyze those"
WHOLE_FILE = "goes without this analysis, which takes all rows of a file"
DEFAULT_CONFIDENCE = 0.95
SCALES = NUMBERS, CATEGORIES = "numbers", "categories"
FEWEST_POINTS = 5

_OPTIONS_OF_MODELS = "model", "errors", "cluster", "cluster_effect", "points", "strata", "among", "declining"

People = tuple[Mapping[str, str | float], ...]
ColumnsOf = Callable[[FileTable], Columns]

MOST_PEOPLE = 1000
_DECIMAL = re.compile(r"([0-9]{1,15}(\.[0-9]{1,15})?|\.[0-9]{1,15})")


def variable_name(given: Any) -> str:  # noqa: ANN401 - JSON
    """Return the name of a variable, or raise ValueError."""
    if not isinstance(given, str) or not given:
        raise ValueError("must be the name of a question, or of a question and its option with a dot between them")
    return given


def category(given: Any) -> str:  # noqa: ANN401
    """Return the name of an answer, or raise ValueError."""
    return variable_name(given)


def variable_names(given: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return names of variables, at least one, or raise ValueError."""
    if not isinstance(given, list | tuple) or not given:
        raise ValueError("must be a list of at least one name")
    return tuple(variable_name(name) for name in given)


def whole(given: Any) -> int:  # noqa: ANN401
    """Return a whole number from 0, or raise ValueError."""
    # JSON's true is an int in Python, and no number of a wave.
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ValueError("must be a whole number from 0")
    return given


def one_within(numbers: range) -> Callable[[Any], int]:
    """Return a reader that accepts a whole number of a range and raises ValueError for any other value."""

    def read(given: Any) -> int:  # noqa: ANN401
        if whole(given) not in numbers:
            raise ValueError(Sentence("must be from {least} to {most}", least=numbers[0], most=numbers[-1]))
        return int(given)

    return read


def odds_of_groups(given: Any) -> Mapping[str, Any]:  # noqa: ANN401
    """Return p by name of the group, given as such, in their order, or as text such as 1=1/4 2=3/4.

    Each p is a number, or a text of one or two numbers. Raises ValueError if there is none.
    """
    named = given if isinstance(given, Mapping) else {}
    # A name may have spaces.
    parts = re.findall(r"[^=\s][^=]*=\s*\S+|\S+", given) if isinstance(given, str) else given
    texts = parts if isinstance(parts, list | tuple) else [parts]
    for number, each in enumerate([] if isinstance(given, Mapping) else texts, 1):
        name, equals, chance = each.rpartition("=") if isinstance(each, str) else ("", "", each)
        named = {**named, name.strip() if equals else str(number): chance}
        if len(named) < number:
            raise ValueError("names a group twice")
    if not named:
        raise ValueError("must name p of each group, such as 1=1/4 2=3/4")
    return named


def anchor_shares(given: Any) -> Mapping[str, str]:  # noqa: ANN401
    """Return known shares of yes by name of the column, given as such or as text such as a=0 b=1/20.

    Raises ValueError if there is none.
    """
    texts = re.findall(r"[^=]+=\s*\S+", given) if isinstance(given, str) else given
    pairs = texts.items() if isinstance(texts, Mapping) else [str(each).rsplit("=", 1) for each in texts]
    named = {each[0].strip(): str(each[-1]).strip() for each in pairs if len(each) > 1}
    if not named:
        raise ValueError("must name columns with their known shares of yes, such as moon=0")
    return named


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


def known_mean(given: Any) -> float | str:  # noqa: ANN401
    """Return a finite number or an ISO date, or raise ValueError."""
    if isinstance(given, str) and "-" in given[1:]:
        return DayGrid.write(DayGrid.read(given))
    if not (_is_number(given) or (isinstance(given, str) and _DECIMAL.fullmatch(given.removeprefix("-")))):
        raise ValueError("must be a number")
    return float(given)


def _is_number(given: Any) -> bool:  # noqa: ANN401
    # JSON's whole numbers have any number of digits.
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) <= sys.float_info.max


def _share(given: Any) -> float:  # noqa: ANN401
    """Return a number, given as such or as decimal digits in text, as survey files write decimals."""
    # Only plain digits: ``float`` would also accept "nan", "inf" and "1e999".
    if isinstance(given, str) and _DECIMAL.fullmatch(given):
        return float(given)
    if not _is_number(given):
        raise ValueError("must hold a number for each category")
    return float(given)


def people(given: Any) -> People:  # noqa: ANN401
    """Read rows of predictor values, or raise ValueError."""
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_PEOPLE:
        raise ValueError(Sentence("must be a list of 1 to {most} objects", most=MOST_PEOPLE))
    for row in given:
        if not isinstance(row, Mapping) or not all(isinstance(each, str) or _is_number(each) for each in row.values()):
            raise ValueError("must hold for each row an object of predictors, each with a category or a number")
    return tuple(dict(row) for row in given)


def confidence(given: Any) -> float:  # noqa: ANN401
    """Return a level between 1/2 and 1, or raise ValueError."""
    if not isinstance(given, float) or not 0.5 <= given < 1:
        raise ValueError("must be a number from 0.5 to below 1, such as 0.9")
    return given


def text_for(parse: Callable[[str], object]) -> Callable[[Any], str]:
    """Return a reader that accepts what ``parse`` does and raises ValueError, with the column of the mistake."""

    def read(given: Any) -> str:  # noqa: ANN401
        if not isinstance(given, str):
            raise ValueError("must be a text")
        try:
            parse(given)
        except EstimateError as refused:
            raise ValueError(refused.args[0]) from None
        return given

    return read


# The condition of a subset, a formula, and a formula of predictors alone.
condition, formula, predictors = map(text_for, (parse_condition, parse_formula, predictors_of))


def flag(given: Any) -> bool:  # noqa: ANN401
    """Return True or False, or raise ValueError."""
    if not isinstance(given, bool):
        raise ValueError("must be true or false")
    return given


_NAME = {"type": "string", "minLength": 1}
_NUMBERS = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": ["number", "string"], "pattern": f"^{_DECIMAL.pattern}$"},
}
_MARGINS = {"type": "object", "minProperties": 1, "additionalProperties": _NUMBERS}
_VALUES = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
_TEXT = {"type": "string", "maxLength": MOST_CHARACTERS}

_SCHEMAS: Mapping[Callable[[Any], Any], Mapping[str, Any]] = {
    variable_name: _NAME,
    category: _NAME,
    variable_names: {"type": "array", "minItems": 1, "items": _NAME},
    whole: {"type": "integer", "minimum": 0},
    read_shares: _MARGINS,
    known_shares: _NUMBERS,
    known_mean: {"type": ["number", "string"], "pattern": rf"^(-?{_DECIMAL.pattern}|\d{{4}}-\d\d-\d\d)$"},
    people: {"type": "array", "minItems": 1, "maxItems": MOST_PEOPLE, "items": _VALUES},
    confidence: {"type": "number", "minimum": 0.5, "exclusiveMaximum": 1},
    condition: _TEXT,
    formula: _TEXT,
    predictors: _TEXT,
    odds_of_groups: _VALUES,
    anchor_shares: _VALUES,
    flag: {"type": "boolean"},
}
"""JSON Schemas of what the readers accept."""

TEXTS: Mapping[str, Mapping[str, str]] = json.loads((Path(__file__).parent / "options.json").read_text("utf-8"))
"""Texts about each option, by its name or ``kind.name``: ``about`` in its JSON Schema, ``help`` on the command line."""


def option(
    read: Callable[[Any], Any] | tuple[str, ...] | range,
    *default: Any,  # noqa: ANN401 - JSON
    is_needed: bool | None = None,
) -> Any:  # noqa: ANN401 - the type is the field's
    """Define a dataclass field that ``parse_request`` reads with ``read``, or that has one of some names or numbers.

    ``default`` makes the option optional, so that null is none given; ``is_needed`` where another can take its place.
    """
    is_needed = not default if is_needed is None else is_needed
    schema: dict[str, Any]
    if isinstance(read, tuple):
        schema, read = {"enum": [*read]}, one_of(read)
    elif isinstance(read, range):
        schema, read = {"type": "integer", "minimum": read[0], "maximum": read[-1]}, one_within(read)
    else:
        schema = dict(_SCHEMAS[read])
    if not is_needed:
        kinds = np.atleast_1d(schema.get("type", "")).tolist()
        schema |= {"enum": [*schema["enum"], None]} if "enum" in schema else {"type": [*kinds, "null"]}
    return field(metadata={"read": read, "schema": schema}, **{"default": default[0]} if default else {})


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """Options common to all analyses; ``wave`` and ``where`` (a subset of people) are None for all reports."""

    kind: ClassVar[str]
    about: ClassVar[str]
    wave: int | None = option(whole, None)
    where: str | None = option(condition, None)

    @classmethod
    def texts(cls, option: str) -> Mapping[str, str]:
        """Return the texts about an option, of this kind or of all."""
        return TEXTS.get(f"{cls.kind}.{option}") or TEXTS.get(option, {})

    @classmethod
    def schema(cls) -> Document:
        """Return the JSON Schema of the options, as ``parse_request`` accepts them."""
        about = {each.name: cls.texts(each.name).get("about", "").format(default=each.default) for each in fields(cls)}
        options = {
            each.name: each.metadata["schema"] | ({"description": about[each.name]} if about[each.name] else {})
            for each in fields(cls)
        }
        needed = [each.name for each in fields(cls) if each.default is MISSING]
        return {
            "description": cls.about,
            "type": "object",
            "properties": options,
            **({"required": needed} if needed else {}),
            "additionalProperties": False,
        }

    @property
    def shared(self) -> int:
        """Number of the names, the first ones, of which the analysis has shares and no model."""
        return len([*filter(None, self.variables)]) if isinstance(self, CrosstabRequest | CompareRequest) else 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables of the request, and of its subset."""
        return (*self.own_names, *(() if self.where is None else parse_condition(self.where).names))

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of all variables of the request and of its margins, without those of its subset."""
        margins = getattr(self, "margins", None) or {}
        crossed = (question for named in margins for question in named.split(CROSS_SEPARATOR))
        return tuple(filter(None, (*self.variables, *crossed)))

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Names of the variables; None for optional ones that are not given."""
        return tuple(getattr(self, each.name) for each in fields(self) if each.metadata["read"] is variable_name)

    def mistakes(self) -> Iterator[Problem]:
        """Yield mistakes of the options together; each alone is well formed."""
        yield from ()

    def document(self, columns: Columns, weights: ArrayLike | None = None) -> Document:
        """Run the analysis and return its JSON document, with one weight per report instead of margins.

        Raises EstimateError if the reports do not allow this analysis; the message says why.
        """
        if weights is not None and not isinstance(self, WeightedRequest):
            raise EstimateError(UNWEIGHTED.format(kind="associations" if self.kind == "pairs" else self.kind))
        if weights is not None and getattr(self, "margins", None) is not None:
            raise EstimateError(WEIGHTED_TWICE)
        # Names first, so that a misspelt variable is reported before anything about the reports.
        for name in self.names:
            if name not in columns.labels:
                find_variable(columns, name)
        # Reports from a folder contain all waves; those from a database only the requested one.
        rows = np.ones(len(columns), bool) if self.wave is None else columns.wave == self.wave
        if not rows.any():
            raise EstimateError("there are no reports yet")
        inside = columns if rows.all() else columns.among(rows)
        inside = self._with_few(inside) if inside.few else inside
        if self.where is not None:
            mask = subset(inside, parse_condition(self.where))
            inside, rows[rows] = replace(inside.among(mask), everybody=len(inside)), mask
        if isinstance(self, WeightedRequest) and self.margins is not None:
            weights = raked(inside, self.margins).weights
        elif weights is not None and not rows.all():
            weights = np.asarray(weights)[rows]
        level = getattr(self, "confidence", None)
        found = self._answer(inside, weights) | ({} if level is None else {"confidence": level})
        # A design has one document, whichever of its questions is named.
        names = () if isinstance(self, MixtureRequest) else self.own_names
        found["warnings"] = [*found["warnings"], *notes_alone(inside.survey, names)]
        # Columns of clusters are no questions.
        asked = {name: find_variable(inside, name)[0] for name in names if name not in inside.labels}
        more = {"randomized": [name for name, question in asked.items() if question.mechanism is not None],
                "dates": [name for name, question in asked.items() if isinstance(question.domain.grid, DayGrid)],
                "where": self.where}  # fmt: skip
        return {**found, **{key: value for key, value in more.items() if value}}

    def of_file(self, table: FileTable, columns: ColumnsOf, weights: ArrayLike | None = None) -> Document:
        """Run the analysis on a data file, of which ``columns`` gives the reports, and return it as ``document``."""
        return self.document(columns(table), weights)

    def _with_few(self, columns: Columns) -> Columns:
        """Return the reports with the rare answers that a file leaves out as an answer where shares can take them in.

        Raises EstimateError where a mean, a model, a test, weights or a subset would have to guess them.
        """
        guessed = {*self.names[self.shared :]} & columns.few.keys() | {*self.names} & columns.few_numbers
        for name in sorted(guessed):
            left = columns.few[name] & ~columns.asked(name)
            raise EstimateError(FEW_UNKNOWN, variable=name, reports=int(left.sum()))
        return columns.with_few(self.names)

    @property
    def _level(self) -> float:
        return getattr(self, "confidence", None) or DEFAULT_CONFIDENCE

    @abstractmethod
    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        """Run the analysis on at least one report."""


@dataclass(frozen=True, kw_only=True)
class WeightedRequest(Request):
    """An analysis that accepts weights.

    Attributes:
        margins: known margins to rake the reports to; None for explicit weights, or none.
        confidence: nominal coverage of the intervals; None for .95.
    """

    margins: MarginShares | None = option(read_shares, None)
    confidence: float | None = option(confidence, None)


@dataclass(frozen=True, kw_only=True)
class CrosstabRequest(WeightedRequest):
    """A request for a table of two variables, optionally for each category of a third variable."""

    kind = "crosstab"
    about = "Two questions against each other."
    rows: str = option(variable_name)
    columns: str = option(variable_name)
    within: str | None = option(variable_name, None)
    among: str | None = option(AMONG_WITH_ANCHORS, None)

    def mistakes(self) -> Iterator[Problem]:
        """Yield the mistake of correcting the tables of a third variable."""
        if self.within is not None and self.among == CAREFUL:
            yield Problem("/within", "goes without the correction for careless answers")

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        rule = Rule(self._level, least=columns.least, among=self.among)
        if self.within is None:
            return crosstab_document(crosstab(columns, self.rows, self.columns, weights, rule))
        return crosstab_document(crosstab_within(columns, self.rows, self.columns, self.within, weights, rule))


@dataclass(frozen=True, kw_only=True)
class CompareRequest(WeightedRequest):
    """A request for the share of a category, or the mean of a number, in each group."""

    kind = "compare"
    about = "An outcome among groups."
    outcome: str = option(variable_name)
    groups: str = option(variable_name)
    against: str | None = option(variable_name, None)
    category: str | None = option(category, None)
    among: str | None = option(AMONG_WITH_ANCHORS, None)

    def mistakes(self) -> Iterator[Problem]:
        """Yield the mistake of comparing two questions otherwise than by arm."""
        if self.against is not None and self.groups != ARM:
            yield Problem("/against", "goes with the groups arm")

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        rule = Rule(self._level, least=columns.least, among=self.among)
        category = self.category or ""
        # A subset beside all people would tell the answers of few.
        everybody = self.where is None
        if self.groups == ARM:
            questions = tuple(filter(None, (self.outcome, self.against)))
            return comparison_document(compare_across_arms(columns, questions, category, weights, rule, everybody))
        return comparison_document(compare(columns, self.outcome, self.groups, category, weights, rule))


@dataclass(frozen=True, kw_only=True)
class PairsRequest(Request):
    """A request for a test of independence of every pair of the survey's variables."""

    kind = "pairs"
    about = "Every pair of questions tested for independence."

    def _with_few(self, columns: Columns) -> Columns:
        # Whether a number goes with an answer would depend on the numbers that are left out.
        return replace(columns.with_few(columns.few), withheld=columns.withheld | columns.few_numbers)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return pairs_document(every_pair(columns))


@dataclass(frozen=True, kw_only=True)
class TestRequest(Request):
    """A request for a test of a question against known shares (one may be left out; None for equal ones) or a mean."""

    # Pytest would take it for a class of tests.
    __test__ = False
    kind = "test"
    about = "One question against known shares, or a known mean."
    question: str = option(variable_name)
    shares: Mapping[str, float] | None = option(known_shares, None)
    mean: float | str | None = option(known_mean, None)
    among: str | None = option(AMONG, None)
    confidence: float | None = option(confidence, None)

    def mistakes(self) -> Iterator[Problem]:
        """Yield the mistake of giving both shares and a mean."""
        if self.shares is not None and self.mean is not None:
            yield Problem("/mean", "goes without shares: a question has either of them")

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        question, _ = find_variable(columns, self.question)
        # A subset of a public question's exact counts is a table with another public question.
        if question.mechanism is None and self.where is not None and columns.least:
            raise EstimateError(PUBLIC_SUBSET, variable=self.question)
        known = self.shares if self.mean is None else self.mean
        return test_document(one_sample_test(columns, self.question, known, self._level, self.among))


@dataclass(frozen=True, kw_only=True)
class MixtureRequest(Request):
    """A request for the shares of the design of the survey's plan in which a question stands."""

    kind = "mixture"
    about = "A question of a design that the survey's analysis_plan names."
    question: str = option(variable_name)
    formula: str | None = option(predictors, None)
    confidence: float | None = option(confidence, None)

    @property
    def variables(self) -> tuple[str, ...]:
        """The question, and the predictors of the formula."""
        return self.question, *names_in(self.formula)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return fielded_document(columns, self.question, self._level, self.formula)


@dataclass(frozen=True, kw_only=True)
class ItemsRequest(Request):
    """A request for one trait behind several yes/no questions of each person, or for the number of their yes."""

    kind = "items"
    about = "Several yes/no questions of each person: a Rasch or 2PL model, or their sum."
    questions: tuple[str, ...] = option(variable_names)
    model: str = option(MODELS_OF_ITEMS, RASCH)
    confidence: float | None = option(confidence, None)

    @property
    def variables(self) -> tuple[str, ...]:
        """The questions whose answers are modelled together."""
        return self.questions

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return items_document(columns, self.questions, self.model, self._level)


class FileRequest(Request):
    """An analysis that a survey has not: of the columns of a data file as they are, with a row for each person."""

    def mistakes(self) -> Iterator[Problem]:
        """Yield the options of surveys."""
        yield from (Problem(f"/{name}", WHOLE_FILE) for name in ("wave", "where") if getattr(self, name) is not None)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - has no file
        raise EstimateError(OF_ROWS, kind=self.kind)


@dataclass(frozen=True, kw_only=True)
class EstimateRequest(FileRequest):
    """A request for the shares of all columns; as ``shares_of_file``."""

    kind = "estimate"
    about = "Shares of all columns, weighted or corrected by anchors."
    weights: str | None = option(variable_name, None)
    strata: str | None = option(variable_name, None)
    clusters: str | None = option(variable_name, None)
    anchors: Mapping[str, str] | None = option(anchor_shares, None)
    confidence: float | None = option(confidence, None)

    def of_file(self, table: FileTable, columns: ColumnsOf, weights: ArrayLike | None = None) -> Document:
        """Run the analysis on the table."""
        rule, weights = replace(DEFAULT_RULE, confidence=self._level), self.weights or weights
        return shares_of_file(table, columns(table), (), rule, weights, self.strata, self.clusters, self.anchors)


@dataclass(frozen=True, kw_only=True)
class ListExperimentRequest(FileRequest):
    """A request for the share of a sensitive item, from numbers of items that apply; as ``list_experiment``."""

    kind = "list_experiment"
    about = "Numbers of items that apply, of random arms."
    count: tuple[str, ...] = option(variable_names)
    second: tuple[str, ...] | None = option(variable_names, None)
    arm: str = option(variable_name)
    treated: tuple[str, ...] | None = option(variable_names, None)
    items: int | None = option(range(1, MOST_ITEMS + 1), None)
    formula: str | None = option(predictors, None)
    direct: str | None = option(variable_name, None)
    confidence: float | None = option(confidence, None)

    def of_file(self, table: FileTable, columns: ColumnsOf, weights: ArrayLike | None = None) -> Document:  # noqa: ARG002
        """Run the analysis on the table; raise EstimateError for weights."""
        if weights is not None:
            raise EstimateError(UNWEIGHTED, kind="list-experiment")
        lists = [each for each in (self.count, self.second) if each]
        own = (self.arm, self.treated or (), self.items, self._level, self.formula, self.direct)
        return list_experiment(table, lists, *own)


@dataclass(frozen=True, kw_only=True)
class DesignRequest(FileRequest):
    """A request for the shares of a design with an unknown share in its channel; as ``mixture_of_file``."""

    kind = "design"
    about = "Groups of people with p of their own."
    response: str = option(variable_name)
    group: str | None = option(variable_name, None)
    design: str = option(tuple(DESIGNS))
    p: Mapping[str, Any] = option(odds_of_groups)
    draws: int | None = option(range(1, MOST_DRAWS + 1), None)
    weights: str | None = option(variable_name, None)
    formula: str | None = option(predictors, None)
    confidence: float | None = option(confidence, None)

    def of_file(self, table: FileTable, columns: ColumnsOf, weights: ArrayLike | None = None) -> Document:  # noqa: ARG002
        """Run the analysis on the table."""
        own = (self.response, self.group, self.design, self.p, self.draws or 1, self.weights or weights)
        return mixture_of_file(table, *own, self._level, self.formula)


@dataclass(frozen=True, kw_only=True)
class RegressionRequest(WeightedRequest):
    """A request for a regression of one answer on others; ``formula`` takes the place of ``outcome`` and ``on``."""

    kind = "regression"
    about = "One answer explained by others: outcome and on, or a formula."
    outcome: str | None = option(variable_name, None, is_needed=True)
    on: tuple[str, ...] | None = option(variable_names, None, is_needed=True)
    formula: str | None = option(formula, None)
    strata: bool = option(flag, True)
    model: str | None = option(MODELS, None)
    errors: str = option(tuple(KINDS), "observed")
    among: str | None = option(AMONG_WITH_ANCHORS, None)
    declining: str | None = option(DECLINING, None)
    cluster: str | None = option(variable_name, None)
    cluster_effect: str | None = option(variable_name, None)
    points: int = option(range(FEWEST_POINTS, MOST_POINTS + 1), FIRST_POINTS)
    at: People | None = option(people, None)
    scales: str | None = option(SCALES, None)

    @classmethod
    def schema(cls) -> Document:
        """Return the JSON Schema, with either of the two ways to name a model."""
        return super().schema() | {"anyOf": [{"required": ["outcome", "on"]}, {"required": ["formula"]}]}

    @property
    def variables(self) -> tuple[str | None, ...]:
        """Outcome variable, predictors, and cluster variables."""
        return self._explained, *map(bare, self._terms.predictors), self.cluster, self.cluster_effect

    @property
    def _explained(self) -> str:
        return self.outcome or self._terms.outcome

    @property
    def _terms(self) -> Formula:
        return formula_of(self.on or ()) if self.formula is None else parse_formula(self.formula)

    def mistakes(self) -> Iterator[Problem]:
        """Yield what is missing or given twice: a formula, or outcome and predictors."""
        if self.formula is None:
            yield from (Problem(f"/{name}", "is missing") for name in ("outcome", "on") if not getattr(self, name))
        elif self.on is not None:
            yield Problem("/on", "goes without a formula, which names the predictors itself")
        elif self.scales is not None:
            yield Problem("/scales", "goes without a formula, which says num(name) for each scale that is a number")
        # The outcome has one place: two could contradict each other.
        elif bool(self.outcome) == bool(self._terms.outcome):
            yield Problem("/formula", "must begin with the outcome and ~, such as y ~ a + b")
        if self.cluster_effect and (self.at or self.declining):
            yield Problem("/cluster_effect", "goes without at and declining: its coefficients hold within a cluster")

    def of_file(self, table: FileTable, columns: ColumnsOf, weights: ArrayLike | None = None) -> Document:
        """Run the analysis on the columns; those of ids are clusters, too."""
        ids = {name: codes_of(table, name, np.arange(0)) for name in (self.cluster_effect,) if name}
        found = columns(table)
        # The table is not kept: a model of a large file takes all the memory that there is.
        del table
        return self.document(replace(found, labels=ids), weights)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:
        terms = self._numbered(columns) if self.formula is None else self._terms
        own: dict[str, Any] = {name: getattr(self, name) for name in _OPTIONS_OF_MODELS}
        own |= {"weights": weights, "confidence": self._level, "smallest_group": columns.least}
        found = regress(columns, self._explained, terms, **own)
        rows = [dict(_as_predictors(columns, each, terms.predictors)) for each in self.at or ()]
        at = {} if self.at is None else predictions_document(self.at, predict(found, rows, self._level))
        written = {} if self.formula is None else {"formula": self.formula}
        # Rows of one person are no people, whose number for an effect these figures give.
        effects = () if self.cluster_effect else detectable_effects(found)
        detectable = {"detectable": [each.as_dict() for each in effects]}
        return {**found.as_dict(), **at, **written, **detectable}

    def _numbered(self, columns: Columns) -> Formula:
        """Return the terms of the predictors, ratings as numbers as ``scales`` says; None for long ones."""
        named = []
        for name in self.on or ():
            question, _ = find_variable(columns, name)
            is_number = question.type == "rating" if self.scales == NUMBERS else is_long(question)
            named.append(num(name) if is_number and self.scales != CATEGORIES else name)
        return formula_of(tuple(named))


def _as_predictors(columns: Columns, row: Mapping[str, str | float], predictors: tuple[str, ...]) -> Iterator[Any]:
    """Yield predictor and value of a row; an answer on a scale that is a number in the model becomes its number."""
    for name, value in row.items():
        if num(name) not in predictors:
            yield name, value
            continue
        variable = answers_of(columns, num(name)).latent.variable
        places = dict(zip(variable.answered, points_of(variable.answered), strict=True))
        yield num(name), places.get(str(value), value)


@dataclass(frozen=True, kw_only=True)
class WeightsRequest(Request):
    """A request for the design effect of raking weights to known margins."""

    kind = "weights"
    about = "Known margins of public questions."
    margins: MarginShares = option(read_shares)

    def _answer(self, columns: Columns, weights: ArrayLike | None) -> Document:  # noqa: ARG002 - for the others
        return weights_document(raked(columns, self.margins))


KINDS_OF_REQUEST: dict[str, type[Request]] = {
    each.kind: each
    for each in (CrosstabRequest, CompareRequest, PairsRequest, TestRequest, MixtureRequest, ItemsRequest,
                 RegressionRequest, WeightsRequest)
}  # fmt: skip
"""Request classes by the last part of their URL."""
OF_FILES = EstimateRequest, ListExperimentRequest, DesignRequest
EVERY_KIND: dict[str, type[Request]] = KINDS_OF_REQUEST | {each.kind: each for each in OF_FILES}
"""The same, and those of files alone."""


def parse_request(kind: str, given: Any) -> Request:  # noqa: ANN401 - JSON
    """Parse the options of an analysis from a JSON object; ``kind`` is a key of ``EVERY_KIND``.

    Raises OptionsError, which lists all problems, if options are missing, unknown or invalid.
    """
    if not isinstance(given, dict):
        raise OptionsError([Problem("", "must be an object of options")])
    options = {each.name: each for each in fields(EVERY_KIND[kind])}
    problems = list[Problem]()
    if given.keys() - options.keys():
        problems.append(Problem("", Sentence("unknown option; there are: {known}", known=", ".join(options))))
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
    if not problems:
        request = EVERY_KIND[kind](**read)
        problems = list(request.mistakes())
    if problems:
        raise OptionsError(problems)
    return request
