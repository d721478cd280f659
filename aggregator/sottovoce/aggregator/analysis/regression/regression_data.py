"""Select the reports that a regression uses, as arrays: the design of its formula, and who answers with care.

Design      Categories, expressions, products, and refusals of small groups.
Model       Where some people may answer at random, the reports of those who answer with care are modelled: a person is
            careless with probability D(x), and then chooses the answer evenly among the options shown,
            as in ``estimators.careless.anchors``. A report on outcome and anchors has the likelihood
            D L_careless + (1 - D) L_careful: ``CarelessModel``. Both parts are products of the outcome's likelihood
            and the anchors', so one search finds the coefficients and the careless people, and the standard errors
            take in that their share is estimated.
D(x)        A logit on the public predictors: careless people answer these at random too, so their share differs from
            one answer to another. The random arm is no answer, so it is left out of this logit.
Anchor      Careful people say yes with the known share pi. Of a public anchor only yes or not is used; of a randomized
            one with declining the share of careful people who decline is taken as estimated.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.availability import LEFT_OUT
from sottovoce.aggregator.analysis.careless_results import anchors_of, is_correctable
from sottovoce.aggregator.analysis.regression.covariance import Codes
from sottovoce.aggregator.analysis.regression.declining import DecliningModel, LatentModel
from sottovoce.aggregator.analysis.regression.design_matrix import (
    CONSTANT,
    SMALLEST_GROUP,
    STRATUM,
    Design,
    Factor,
    Recipe,
    Row,
    Term,
    known_categories,
    product_scores,
    refuse_small_cells,
)
from sottovoce.aggregator.analysis.regression.formula import Calculation, Factors, Formula, Scales, evaluate, scales_of
from sottovoce.aggregator.analysis.regression.latent_cells import with_constant
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.report_columns import Answers, Columns, answers_of
from sottovoce.aggregator.analysis.selection import EVERYBODY, DescribedPeople
from sottovoce.aggregator.analysis.tables.corrected_table import NOT_CORRECTED, careless_in
from sottovoce.aggregator.analysis.weights import checked_weights
from sottovoce.aggregator.estimators.blocks.joint_channel import blocks_of
from sottovoce.aggregator.estimators.careless.anchors import YES, Careless
from sottovoce.aggregator.estimators.intervals import normal_quantile, t_quantile
from sottovoce.shared.answers import random_answers
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.spec import Question

ALL_THE_SAME = "everybody has the same answer to '{variable}', so it can neither explain nor be explained"
ONE_SIDED = (
    "'{variable}': left out as too few for an estimate: {categories} (n = {n}); their reports are as one-sided as if "
    "no one, or everyone, had this answer"
)
LEVELS = "'{variable}' has more than {most} categories, each with a coefficient of its own: group them"
MOST_LEVELS = 100
"""Most categories of a predictor; models of 500 take minutes."""

PER_PARAMETER = 10
_SORTABLE = 2**62

Coding = dict[str, bool]
"""Categorical factors of one product, and whether each has full coding (True) or contrasts (False)."""


def codings(terms: Sequence[Factors], categorical: Collection[str]) -> list[list[Coding]]:
    """Return for each term the products of its categorical factors that it adds to the terms before it.

    A factor in full coding spans the constant and its contrasts, a term in full coding every subset of its factors.
    Subsets that an earlier term with the same numbers spans are left out, the rest is joined into as few products as
    possible: a*b is the constant, a and b in contrasts, and contrasts by contrasts; a:b alone is b in contrasts, and
    contrasts of a by all categories of b. So no column follows from others (Smith 2018, patsy); the columns are R's
    where R's have full rank.

    Args:
        terms: factors of each term, () for the constant; a margin comes before the terms that contain it.
        categorical: factors that are categorical; all others are numbers.
    """
    spanned: set[tuple[frozenset[str], frozenset[str]]] = set()
    found = []
    for term in terms:
        named = [factor for factor in term if factor in categorical]
        numbers = frozenset(term) - frozenset(named)
        subsets = [frozenset(subset) for size in range(len(named) + 1) for subset in combinations(named, size)]
        # A subset that an earlier term spans would make the columns collinear.
        new = [subset for subset in subsets if (numbers, subset) not in spanned]
        spanned |= {(numbers, subset) for subset in new}
        found.append([{factor: coding[factor] for factor in named if factor in coding} for coding in _joined(new)])
    return found


def _joined(subsets: Sequence[frozenset[str]]) -> list[Coding]:
    """Join products that differ by one factor in contrasts into one with this factor in full coding."""
    found: list[Coding] = [dict.fromkeys(subset, False) for subset in subsets]
    while (pair := _pair(found)) is not None:
        short, long = pair
        joined = {factor: long[factor] or factor not in short for factor in long}
        found = [joined if each is short else each for each in found if each is not long]
    return found


def _pair(found: Sequence[Coding]) -> tuple[Coding, Coding] | None:
    """Return the first two products of which the second has one factor more, in contrasts."""
    for place, short in enumerate(found):
        for long in found[place + 1 :]:
            more = long.keys() - short.keys()
            if len(more) == 1 and short.items() <= long.items() and not any(long[factor] for factor in more):
                return short, long
    return None


class _Builder:
    def __init__(self, formula: Formula, predictors: Mapping[str, Answers], rows: Row, smallest: int) -> None:
        self._formula = formula
        self._predictors = predictors
        self._rows = rows
        self._smallest = smallest
        self._variables = [name for name in predictors if name in formula.factors]
        self._groups = {
            name: self._categories(name) for name in self._variables if self._predictors[name].variable.categories
        }
        self._numbers, self._scales = self._public_numbers()

    def design(self, strata: NDArray[np.intp], names: Sequence[str]) -> Design:
        there = np.flatnonzero(np.bincount(strata)).tolist()
        terms = (*self._terms(), *(_stratum(names[each]) for each in there[1:]))
        if not terms:
            raise EstimateError("the formula has no term: name a predictor, or keep the constant")
        groups = {**self._groups, STRATUM: tuple(names[each] for each in there)}
        people = {**dict(self._public_groups()), **self._numbers, STRATUM: np.searchsorted(there, strata)}
        self._check_numbers(terms)
        recipe = Recipe(terms, groups, self._scales)
        public = recipe.columns(people)
        # A product of categories that no report has is 0 in every report.
        used = [place for place, column in enumerate(public) if column.any()]
        terms, public = tuple(terms[place] for place in used), np.ascontiguousarray(public[used])
        randomized = tuple(each for each in self._predictors.values() if not each.variable.public)
        scored = [column * self._randomized(term) for term, column in zip(terms, public, strict=True)]
        columns = np.stack(scored) if randomized else public
        units = {
            term.name: float(np.std(column)) if term.numbers else 1.0
            for term, column in zip(terms, public, strict=True)
            if not term.numbers or people.keys() >= {*term.names}
        }
        return Design(replace(recipe, terms=terms, units=units), columns, public, randomized, self._rows, people)

    def _public_groups(self) -> Iterator[tuple[str, Row]]:
        """Yield the place of each report's category in the groups, (m,), of each public predictor."""
        for name, groups in self._groups.items():
            answers = self._predictors[name]
            if answers.variable.public:
                places = [groups.index(each) if each in groups else -1 for each in answers.variable.categories]
                yield name, np.array(places)[known_categories(answers, self._rows)]

    def _categories(self, name: str) -> tuple[str, ...]:
        """Return the categories in use, the reference first; refuse small groups of a public answer."""
        answers = self._predictors[name]
        there = answers.variable.categories
        # Of a randomized answer all categories stay: the reports do not show which ones occur.
        if answers.variable.public:
            there = _occurring(answers, self._rows, self._smallest)
        if len(there) > MOST_LEVELS:
            raise EstimateError(Sentence(LEVELS, variable=name, most=MOST_LEVELS))
        reference = self._formula.references.get(name, there[0])
        if reference not in there:
            raise EstimateError("'{variable}' is one of: {categories}", variable=name, categories=there)
        return (reference, *(each for each in there if each != reference))

    def _public_numbers(self) -> tuple[dict[str, Array], Scales]:
        """Return the values of the public numbers, (m,) each, and the constants of the expressions."""
        numbers = {
            name: each.scores[each.codes[self._rows]]
            for name, each in self._predictors.items()
            if each.variable.public and not each.variable.categories
        }
        scales: dict[Calculation, tuple[float, float]] = {}
        for factor, calculation in self._formula.factors.items():
            self._check_factor(factor, calculation, numbers)
            if factor not in self._predictors:
                scales |= scales_of(calculation, numbers)
        return numbers, scales

    def _check_factor(self, factor: str, calculation: Calculation, numbers: Mapping[str, Array]) -> None:
        if factor in self._formula.references and factor not in self._groups:
            raise EstimateError("'{variable}' is a number, which has no reference category", variable=factor)
        if factor in self._predictors:
            return
        unfit = [name for name in calculation.names if name not in numbers]
        if unfit:
            raise EstimateError(
                "'{variable}' is no public number, so nothing can be computed from it", variable=unfit[0]
            )

    def _terms(self) -> Iterator[Term]:
        terms = ((), *self._formula.terms) if self._formula.intercept else self._formula.terms
        for factors, found in zip(terms, codings(terms, self._groups), strict=True):
            self._check_cells(factors)
            for coding in found:
                yield from self._products(factors, coding)

    def _products(self, factors: Factors, coding: Mapping[str, bool]) -> Iterator[Term]:
        """Yield the columns of one product of a term, the categories of its first factor changing fastest."""
        predictor = ":".join(factors) or CONSTANT
        numbers = tuple(self._formula.factors[factor] for factor in factors if factor not in self._groups)
        for categories in product(*reversed([self._groups[factor][not full :] for factor, full in coding.items()])):
            groups = dict(zip(coding, reversed(categories), strict=True))
            named = [f"{factor}={groups[factor]}" if factor in groups else factor
                     for factor in factors if factor in groups or factor not in self._groups]  # fmt: skip
            yield Term(":".join(named) or CONSTANT, predictor, factors, groups, numbers)

    def _check_cells(self, factors: Factors) -> None:
        """Refuse an interaction of public answers that a handful of people have in common."""
        public = [self._predictors[name] for name in factors if name in self._groups]
        public = [each for each in public if each.variable.public]
        # One number for each combination of answers, in mixed radix.
        cells = np.zeros(len(self._rows), np.intp)
        for each in public:
            cells = cells * len(each.variable.categories) + known_categories(each, self._rows)
        people = np.bincount(cells)
        if len(public) > 1 and np.any((people > 0) & (people < self._smallest)):
            raise EstimateError(
                "fewer than {least} people gave some combination of answers to {variables}; leave their "
                "interaction out",
                least=self._smallest,
                variables=tuple(each.name for each in public),
            )

    def _check_numbers(self, terms: Sequence[Term]) -> None:
        """Refuse an expression that has no finite value for a report."""
        for number in dict.fromkeys(number for term in terms for number in term.numbers):
            known = self._numbers.keys() >= {*number.names}
            if known and not np.isfinite(evaluate(number, self._numbers, self._scales)).all():
                raise EstimateError(
                    "'{term}' has no finite value for some of the reports, or for all", term=str(number)
                )

    def _randomized(self, term: Term) -> Array:
        """Return the product of the scores of the randomized factors of a column, (m,) or a single 1."""
        named = (*term.groups.items(), *((number.name, "") for number in term.numbers))
        known = [(self._predictors[name], group) for name, group in named if name in self._predictors]
        return product_scores([Factor(*each) for each in known if not each[0].variable.public], self._rows)


def _stratum(name: str) -> Term:
    return Term(f"{STRATUM}={name}", STRATUM, (STRATUM,), {STRATUM: name})


def _occurring(answers: Answers, rows: Row, smallest: int) -> tuple[str, ...]:
    """Return the categories of a public answer that occur, each in enough reports."""
    categories = answers.variable.categories
    people = np.bincount(known_categories(answers, rows), minlength=len(categories)).tolist()
    named = list(zip(categories, people, strict=True))
    few = [category for category, n in named if 0 < n < smallest]
    if few:
        raise EstimateError(
            "'{variable}': fewer than {least} people said {categories}; leave this predictor out",
            variable=answers.name,
            least=smallest,
            categories=tuple(few),
        )
    there = tuple(category for category, n in named if n)
    if len(there) < 2:
        raise EstimateError(ALL_THE_SAME, variable=answers.name)
    return there


@dataclass(frozen=True)
class RegressionOptions:
    """Options of a regression, as for ``regress``.

    Attributes:
        weights: (n,), for all reports, or None.
        cluster: a public question, or (n,) cluster labels; None for independent reports.
        described: people whom the model describes.
        declining: "modelled" or "common": declining has the public predictors, or one share; None chooses.
        at_edge: predictor and category of groups to leave out, if they are few for an estimate.
    """

    errors: str = "observed"
    weights: ArrayLike | None = None
    cluster: str | NDArray[Any] | None = None
    strata: bool = True
    confidence: float = 0.95
    smallest_group: int = SMALLEST_GROUP
    described: DescribedPeople = EVERYBODY
    declining: str | None = None
    at_edge: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Sample:
    """Data for fitting a model to the complete reports, with ``RegressionOptions``.

    Attributes:
        rows: (m,), indices of the complete reports.
        weights: (m,) positive, or None.
        clusters: (m,) cluster numbers 0, 1, .., or None.
        left_out: notes on small groups by public predictors whose reports are left out.
        waves: number of waves of the same people whose reports these are.
        squares: (m,), sums of squared weights where rows stand for equal reports; else None.
        reports: number of these reports; 0 if each row is one.
    """

    outcome: Answers
    rows: NDArray[np.intp]
    design: Design
    weights: Array | None
    clusters: Codes | None
    choices: RegressionOptions
    left_out: tuple[Sentence, ...] = ()
    waves: int = 1
    squares: Array | None = None
    reports: int = 0

    @cached_property
    def grouped(self) -> "Sample":
        """Sample with one row for equal reports, so that a search takes as long as there are different ones.

        The sample itself where randomized predictors do not make each step slow, and where most reports differ.
        """
        if self.clusters is not None or not self.design.randomized:
            return self
        codes = [each.codes[self.rows] for each in (self.outcome, *self.design.randomized)]
        changes = [column[1:] != column[:-1] for column in (*codes, *self.design.public, *self.design.people.values())]
        starts = np.flatnonzero(np.append(True, np.logical_or.reduce(changes)))
        if 2 * len(starts) > self.n:
            return self
        weights = np.ones(self.n) if self.weights is None else self.weights
        return replace(
            self,
            rows=self.rows[starts],
            design=self.design.at(starts),
            weights=np.add.reduceat(weights, starts),
            squares=np.add.reduceat(weights**2, starts),
            reports=self.n,
        )

    @property
    def declines(self) -> bool:
        """True if people may have declined, and the model describes those who answered."""
        return self.choices.described.answered and self.outcome.variable.absent

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories of the outcome among the people described."""
        return self.choices.described.categories(self.outcome.variable)

    @property
    def answered(self) -> Array | None:
        """Unbiased scores of having answered, (m,); None if everybody described did."""
        if not self.declines:
            return None
        return 1 - self.outcome.scores[:, -1][self.outcome.codes[self.rows]]

    @property
    def n(self) -> int:
        """Number of reports used, however many rows they have."""
        return self.reports or len(self.rows)

    @property
    def quantile(self) -> float:
        """Standard errors on either side of an estimate within its limits: normal, of clusters Student's t."""
        level = self.choices.confidence
        return t_quantile(level, self.df) if self.df else normal_quantile(level)

    @cached_property
    def df(self) -> int:
        """Clusters less the public columns that are the same within each, such as the constant; 0 without clusters."""
        if self.clusters is None:
            return 0
        columns, (firsts, of_rows) = self.design.public, np.unique(self.clusters, True, True)[1:]
        same = (columns[:, firsts][:, of_rows] == columns).all(axis=1).sum()
        return max(len(firsts) - max(int(same), 1), 1)

    @property
    def plain(self) -> bool:
        """True for independent reports of equal weight; only then are likelihood ratios valid."""
        return self.weights is None and self.clusters is None and self.waves == 1


def take_sample(
    columns: Columns, outcome: Answers, formula: Formula, predictors: Sequence[Answers], choices: RegressionOptions
) -> Sample:
    """Select the reports in which the outcome and all predictors were observed.

    Raises EstimateError if no report carries all variables, or weights, clusters or groups are invalid.
    """
    weights = None if choices.weights is None else checked_weights(choices.weights, len(columns))
    clusters, clustered = _clusters(columns, choices.cluster)
    asked = [] if choices.described.asked is None else [choices.described.asked]
    rows = np.flatnonzero(
        np.logical_and.reduce([clustered, *asked, *(each.observed for each in (outcome, *predictors))])
    )
    if not len(rows):
        raise EstimateError("no report contains all of these questions: they are never asked of the same person")
    grouped = [each for each in predictors if each.name in formula.factors]
    rows, one_sided = _without_edges(outcome, grouped, rows, choices.at_edge)
    rows, left = _without_small_groups(outcome, grouped, rows, choices.smallest_group)
    rows = _in_one_order(columns, rows, (outcome, *predictors))
    refuse_small_cells(outcome, predictors, rows, choices.smallest_group)
    # The model of all people less this one would describe those who were not asked.
    if choices.described.asked is not None:
        refuse_small_cells(outcome, predictors, np.flatnonzero(~choices.described.asked), choices.smallest_group)
    builder = _Builder(formula, {each.name: each for each in predictors}, rows, choices.smallest_group)
    return Sample(
        outcome,
        rows,
        builder.design(*_strata(columns, rows, choices.strata)),
        None if weights is None else weights[rows],
        None if clusters is None else np.unique(clusters[rows], return_inverse=True)[1],
        choices,
        (*one_sided, *left),
        1 if columns.survey.fresh_samples else len(np.unique(columns.wave[rows])),
    )


def _without_edges(
    outcome: Answers, predictors: Sequence[Answers], rows: Row, groups: Collection[tuple[str, str]]
) -> tuple[Row, tuple[Sentence, ...]]:
    """Return the reports without few people of these groups, with notes on them.

    Where the estimate of a group runs off, its likelihood goes to a constant, so that the estimates of all others go to
    those without its reports. All stay where the outcome is public, and where fewer than two groups would be left.
    """
    # Randomization multiplies the variance by about (a - b)^-2, so the number of reports needed grows by as much.
    notes, least = [], PER_PARAMETER / outcome.sharpness**2
    for each in [] if outcome.variable.public else predictors:
        named = [place for place, name in enumerate(each.variable.categories) if (each.name, name) in groups]
        people = np.bincount(known_categories(each, rows) if named else [], minlength=len(each.variable.categories))
        few = [place for place in named if people[place] < least]
        if few and np.count_nonzero(people) > len(few) + 1:
            told, n = tuple(each.variable.categories[place] for place in few), sum(int(people[place]) for place in few)
            notes.append(Sentence(ONE_SIDED, variable=each.name, categories=told, n=n))
            rows = rows[~np.isin(known_categories(each, rows), few)]
    return rows, tuple(notes)


def _without_small_groups(
    outcome: Answers, predictors: Sequence[Answers], rows: Row, smallest: int
) -> tuple[Row, tuple[Sentence, ...]]:
    """Return the reports of people in no small group by a public predictor, with notes on the others.

    All stay where the outcome is public, since a model without a group would tell its answers beside one of everybody;
    and where fewer than two groups would be left. The design refuses those.
    """
    for each in [] if outcome.variable.public else predictors:
        categories = each.variable.categories if each.variable.public else ()
        people = np.bincount(known_categories(each, rows), minlength=len(categories)) if categories else np.zeros(0)
        few = np.flatnonzero((people > 0) & (people < smallest))
        if len(few) and int((people >= smallest).sum()) > 1:
            told, n = tuple(categories[place] for place in few.tolist()), int(people[few].sum())
            note = Sentence(LEFT_OUT, variable=each.name, least=smallest, categories=told, n=n)
            rows = rows[~np.isin(known_categories(each, rows), few)]
            # Without this group, one of an earlier predictor may be small.
            rows, more = _without_small_groups(outcome, predictors, rows, smallest)
            return rows, (note, *more)
    return rows, ()


def _in_one_order(columns: Columns, rows: NDArray[np.intp], used: Sequence[Answers]) -> NDArray[np.intp]:
    """Return the rows in an order that follows from their values.

    A search without a maximum ends where rounding takes it, and files have the same reports in another order.
    """
    keys = [*(each.codes[rows] for each in used), columns.revision[rows], columns.wave[rows]]
    sizes = [int(key.max()) + 1 for key in keys]
    if prod(sizes) >= _SORTABLE:
        return rows[np.lexsort(keys)]
    # One number for each combination sorts faster than its parts.
    return rows[np.argsort(np.ravel_multi_index(keys, sizes), kind="stable")]


def _clusters(columns: Columns, cluster: str | NDArray[Any] | None) -> tuple[NDArray[Any] | None, NDArray[np.bool_]]:
    """Return the cluster labels, (n,) or None, and a mask of the reports that have one, (n,)."""
    everybody = np.ones(len(columns), bool)
    if cluster is None:
        return None, everybody
    cluster = columns.labels.get(cluster, cluster) if isinstance(cluster, str) else cluster
    if not isinstance(cluster, str):
        if len(cluster) != len(columns):
            raise EstimateError(f"there are {len(cluster)} clusters for {len(columns)} reports; give each report one")
        return cluster, everybody
    answers = answers_of(columns, cluster)
    if not answers.variable.public:
        raise EstimateError(
            "'{variable}' is randomized, so its clusters are not known; choose a public question", variable=cluster
        )
    truth = answers.scores if answers.scores.ndim == 1 else answers.scores.argmax(axis=1)
    return truth[answers.codes], answers.observed


def _strata(columns: Columns, rows: NDArray[np.intp], wanted: bool) -> tuple[NDArray[np.intp], list[str]]:
    """Return the stratum of each report used, and the names of all strata; a single one if ``wanted`` is False."""
    if not wanted:
        return np.zeros(len(rows), np.intp), ["all"]
    waves = int(columns.wave.max()) + 1
    # One number per (revision, wave).
    strata = columns.revision[rows].astype(np.intp) * waves + columns.wave[rows]
    people = np.bincount(strata, minlength=len(columns.revisions) * waves)
    # Strata with a handful of people join the largest one: their own effect could not be estimated.
    strata = np.where(people < SMALLEST_GROUP, people.argmax(), np.arange(len(people)))[strata]
    revisions = [survey.revision for survey in columns.revisions]
    return strata, [f"revision {revisions[each // waves]}, wave {each % waves}" for each in range(len(people))]


_TINY = 1e-30

NOT_THIS_MODEL = "a model is corrected for careless answers with public predictors only, and not if it is linear"


class CarelessModel(DecliningModel):
    """The likelihood in the module docstring: ``absent`` is L_careless, ``answered`` the model of careful people."""


@dataclass(frozen=True)
class CarelessReports:
    """Anchors of the reports, and answers of people who choose at random.

    Attributes:
        known: share of careless people by the anchors alone.
        codes: (n,), combination of anchor reports of each report.
        careful: (a,), likelihood of each combination for careful people.
        careless: (a,), the same for careless people.
        chances: (k,), probability of each category of the outcome for a careless person.
        drawn: names of the predictors that are no answers.
    """

    known: Careless
    codes: NDArray[np.intp]
    careful: Array
    careless: Array
    chances: Array
    drawn: frozenset[str]


def careless_reports(
    columns: Columns, outcome: Answers, predictors: Sequence[Answers], confidence: float, linear: bool
) -> CarelessReports:
    """Return what the anchors say of each report; ``linear`` for a linear model.

    Raises EstimateError if there is no anchor, the outcome is not corrected, or the model is not.
    """
    question = columns.question(outcome.variable.question)
    known = careless_in(columns, confidence)
    named = {each.name for each in known.anchors}
    anchors = [each for each in anchors_of(columns.survey) if each.name in named]
    answers = [answers_of(columns, each.name) for each in anchors]
    alone = len(blocks_of([each.variable for each in (outcome, *answers)])) == 1 + len(answers)
    fit = question is not None and all(is_correctable(survey, question) for survey in columns.revisions)
    if question is None or not fit or not alone or outcome.variable.name:
        raise EstimateError(NOT_CORRECTED, variable=outcome.name)
    if linear or not all(each.variable.public for each in predictors):
        raise EstimateError(NOT_THIS_MODEL)
    codes, careful, careless = np.zeros(len(columns), np.intp), np.ones(1), np.ones(1)
    for asked, each in zip(anchors, answers, strict=True):
        own = _anchor(asked, each, known)
        # A report that was not asked this anchor has the last row, which says nothing.
        codes = codes * len(own) + np.where(each.observed, each.codes, len(own) - 1)
        careful, careless = (
            np.outer(before, column).ravel() for before, column in zip((careful, careless), own.T, strict=True)
        )
    chances = np.array([float(each) for each in random_answers(question.domain, question.absent)])
    drawn = frozenset({ARM} if columns.survey.arms else ())
    # A likelihood of 0 among careful people would have no logarithm.
    return CarelessReports(known, codes, np.maximum(careful, _TINY), careless, chances, drawn)


def _anchor(question: Question, answers: Answers, known: Careless) -> Array:
    """Return the likelihood of each different report for careful and careless people, and a row of ones, (u + 1, 2)."""
    own = next(each for each in known.anchors if each.name == question.name)
    chances = np.array([float(each) for each in random_answers(question.domain, question.absent)])
    if question.mechanism is None:
        yes = answers.likelihood[:, YES]
        found = np.stack([np.where(yes, share, 1 - share) for share in (own.known, chances[YES])], axis=1)
        return np.vstack([found, np.ones(2)])
    careful = np.array([1 - own.known, own.known])
    if question.domain.absent:
        declined = float(answers.scores[answers.codes[answers.observed], -1].mean())
        rest = (declined - known.clipped * chances[-1]) / max(1 - known.clipped, 1e-9)
        rest = min(max(rest, 0.0), 1 - own.known)
        careful = np.array([1 - own.known - rest, own.known, rest])
    return np.vstack([answers.likelihood @ np.stack([careful, chances], axis=1), np.ones(2)])


def among_careful(model: LatentModel, sample: Sample, reports: CarelessReports) -> CarelessModel:
    """Return the likelihood of all reports, whose parameters are those of ``model`` (of careful people), then D's."""
    columns, *_ = with_constant(sample.design.without(reports.drawn))
    careless = np.outer(sample.outcome.likelihood @ reports.chances, reports.careless).ravel()
    codes = sample.outcome.codes[sample.rows] * len(reports.careful) + reports.codes[sample.rows]
    return CarelessModel(_with_anchors(model, codes, reports.careful), columns, careless, reports.known.clipped)


def _with_anchors(model: LatentModel, codes: NDArray[np.intp], careful: Array) -> LatentModel:
    """Return the model of the reports on outcome and anchors, whose combinations are numbered by ``codes``."""
    if isinstance(model, DecliningModel):
        absent = np.outer(model.absent, careful).ravel()
        return replace(model, answered=_with_anchors(model.answered, codes, careful), absent=absent)
    likelihood = (model.likelihood[:, None] * careful[:, None]).reshape(-1, model.likelihood.shape[1])
    return replace(model, codes=codes, likelihood=likelihood)
