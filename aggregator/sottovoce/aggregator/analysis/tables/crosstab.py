"""Cross-tabulate two variables, within the categories of a third one, too, and compare a variable among groups.

The formulas are documented in ``table``, ``score_intervals``, ``test_inversion_intervals``, ``odds_ratio`` and
``pair_moments``. Of groups, a share has a score interval; means and differences have intervals by test inversion, which
are valid for public groups and for groups that are randomized themselves.

A person's category of a randomized third question is unknown, so all reports with the three questions inform every
table:

Point       Shares of the likeliest table of all three, see ``ml_table``: questions of one block have the channel of the
            block, others the product of their channels, see ``joint_channel``.
Limits      By profile likelihood, see ``likeliest_cells``: the categories of the third question are the rows for the
            shares of cells, those of the third and the first together for shares within a row.
Raw         Ratios of means of unbiased scores, with standard errors by the delta method.
People      Of people who answered, cells with no answer are rows of their own, which no share counts.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis import selection
from sottovoce.aggregator.analysis.availability import left_out, merged, small
from sottovoce.aggregator.analysis.innocuous_shares import with_innocuous_shares
from sottovoce.aggregator.analysis.report_columns import Answers, Columns, answers_of, joint_answers
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.selection import SelectedVariable
from sottovoce.aggregator.analysis.tables.answered_cells import difference_among_answered
from sottovoce.aggregator.analysis.tables.corrected_table import CorrectedShare, CorrectedTable, corrected_table
from sottovoce.aggregator.analysis.tables.likeliest_cells import METHOD, MOST_LIKELIHOODS, LikeliestTable
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports
from sottovoce.aggregator.analysis.tables.odds_ratio import METHOD as PROFILE, odds_ratio
from sottovoce.aggregator.analysis.tables.pair_moments import Independence, across_waves, independence, joint
from sottovoce.aggregator.analysis.tables.score_intervals import Forged, LowestCell, forged, implausible
from sottovoce.aggregator.analysis.tables.table import (
    DEFAULT_RULE,
    SCORE_PRODUCTS,
    TOO_FEW,
    TOO_WIDE,
    Rule,
    TwoWayTable,
    between,
    independence_of,
    inverted_result,
    main_answer,
    widened,
)
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import Inverted, difference, mean_among, phi, ratio
from sottovoce.aggregator.analysis.weights import weights_of_reports
from sottovoce.aggregator.estimators.blocks.joint_channel import check_identified
from sottovoce.aggregator.estimators.careless.anchors import Careless
from sottovoce.aggregator.estimators.variable import Floats, Truths, Variable
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.errors import EstimateError, Sentence

TOO_MANY = "the three questions have too many combinations of answers; choose questions with fewer answers"

Cells = tuple[tuple[Result, ...], ...]


@dataclass(frozen=True)
class ThreeWayTable:
    """Reports of three variables, and the shares of two of them within each category of the third.

    Attributes:
        variables: the third variable, those of rows and of columns, in their newest revision.
        reports: number of reports considered.
        seen: distinct reports that carry all three, over the cells in row-major order.
        scores: unbiased scores of each cell for these reports, (m, cells).
        left_out: notes on small groups by public answers whose reports are left out.
    """

    variables: tuple[Variable, ...]
    reports: int
    seen: ObservedReports
    scores: Floats
    z: float
    left_out: tuple[Sentence, ...] = ()

    @property
    def n(self) -> int:
        """Number of reports that carry all three variables."""
        return int(self.seen.weights.sum())

    def cells(self, category: int) -> Cells:
        """Return the share of each cell among the people of a category, (rows, columns)."""
        return self._grid(lambda row, column: self._within(self._by_third, category, row * self._sizes[2] + column))

    def conditional(self, category: int) -> Cells:
        """Return the share of each column within its row among the people of a category, (rows, columns)."""
        return self._grid(lambda row, column: self._within(self._by_row, category * self._sizes[1] + row, column))

    def largest_shift(self, category: int, share: float) -> float:
        """Return the largest shift of a cell's share in a category by so large a share of forged reports, at most 1."""
        people = float(self._by_third.table[category].sum())
        return min(1.0, share * float(np.abs(self.scores).max()) / people) if people > 0 else 1.0

    def _grid(self, share: Callable[[int, int], Result]) -> Cells:
        rows, columns = (range(len(each.answered)) for each in self.variables[1:])
        return tuple(tuple(share(row, column) for column in columns) for row in rows)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(each.categories) for each in self.variables)

    @cached_property
    def _answered(self) -> Truths:
        """Cells in which the questions of rows and columns are answered."""
        found = np.ones(self._sizes, dtype=bool)
        for axis, each in enumerate(self.variables[1:], start=1):
            if each.absent:
                np.moveaxis(found, axis, 0)[-1] = False
        return found.ravel()

    @cached_property
    def _by_third(self) -> LikeliestTable:
        return self._arranged(self._sizes[0])

    @cached_property
    def _by_row(self) -> LikeliestTable:
        return self._arranged(self._sizes[0] * self._sizes[1])

    def _arranged(self, rows: int) -> LikeliestTable:
        """Return the table with so many rows, followed by as many for the cells without an answer, if there are any."""
        kept, likelihoods = self._answered, self.seen.rows
        if not kept.all():
            kept, likelihoods = np.concatenate([kept, ~kept]), np.hstack([likelihoods, likelihoods])
        shape = (rows * len(kept) // len(self._answered), len(self._answered) // rows)
        empty = frozenset((int(row), int(column)) for row, column in np.argwhere(~kept.reshape(shape)))
        return LikeliestTable(ObservedReports(likelihoods, self.seen.weights), shape, empty, self.z)

    def _within(self, table: LikeliestTable, row: int, column: int) -> Result:
        found = table.share(row, column)
        shown, low, high = (None, 0.0, 1.0) if found is None else found
        raw, error = self._raw(table.shape[1], row, column)
        notes = (TOO_FEW,) if high - low > TOO_WIDE else ()
        return Result(shown, raw, error, SCORE_PRODUCTS, low, high, METHOD, self.reports, self.n, 1.0, notes)

    def _raw(self, wide: int, row: int, column: int) -> tuple[float | None, float | None]:
        """Return the unbiased share of a column within a row, and its standard error; None if no one is in the row."""
        start = row * wide
        whole = self.scores[:, start : start + wide][:, self._answered[start : start + wide]].sum(axis=1)
        part, weights = self.scores[:, start + column], self.seen.weights
        people = float(weights @ whole) / self.n
        if people <= 0:
            return None, None
        share = float(weights @ part) / self.n / people
        return share, math.sqrt(float(weights @ (part - share * whole) ** 2)) / self.n / people


def three_way(columns: Columns, chosen: Sequence[SelectedVariable], inside: Truths | None, rule: Rule) -> ThreeWayTable:
    """Count the reports of three variables: a randomized third one, then those of rows and columns.

    Args:
        inside: mask of the reports to count, (n,); all by default.
        rule: options; small groups by public answers are left out as it says.

    Raises:
        EstimateError: no report carries all three, or they have too many combinations.
    """
    rows = np.ones(len(columns), dtype=bool) if inside is None else inside
    answers: list[Answers] = []
    notes: tuple[Sentence, ...] = ()
    # At most one of the rows' and the columns' is public, so neither changes the people of the other.
    for place, each in enumerate(chosen):
        shown, rows, left = _shown(columns, each, rows, rule) if place else (each.newest, rows, ())
        answers.append(answers_of(columns, each.newest.full_name).shown_as(shown))
        notes = left or notes
    there = np.flatnonzero(np.logical_and.reduce([rows, *(each.observed for each in answers)]))
    if not len(there):
        raise EstimateError("no report contains all of these questions: they are never asked of the same person")
    newest = tuple(each.variable for each in answers)
    joint, cells = joint_answers(answers, there), list(product(*(range(len(each.categories)) for each in newest)))
    counts = np.bincount(joint.codes).astype(float)
    if len(counts) * len(cells) > MOST_LIKELIHOODS:
        raise EstimateError(TOO_MANY)
    seen = ObservedReports(joint.likelihood.reshape(len(counts), -1), counts)
    scores = np.stack([joint.scores(cell) for cell in cells], axis=1)
    return ThreeWayTable(newest, int(rows.sum()), seen, scores, rule.z, notes)


def _shown(
    columns: Columns, each: SelectedVariable, rows: Truths, rule: Rule
) -> tuple[Variable, Truths, tuple[Sentence, ...]]:
    """Return the newest variable, and the reports of people in no small group by it, with a note on the others."""
    if not each.newest.public:
        return each.newest, rows, ()
    values = columns.values[each.question.name][rows]
    people = np.bincount(values[~is_null(values)], minlength=len(each.newest.categories)).tolist()
    shown, notes = left_out(each.newest, people, rule.least)
    if not notes:
        return merged(each.newest, people, rule.least), rows, ()
    return shown, rows & ~np.isin(columns.values[each.question.name], small(each.newest, people, rule.least)), notes


RARE = (
    "'{variable}': '{category}' is left out or counted together with other answers, since fewer than {least} people "
    "gave one of them; choose another answer, or compare a direct arm without weights and for all people"
)
LEFT_OUT = (
    "'{variable}': the file leaves out the answer '{category}' as few, so that its share is not known; choose one of: "
    "{categories}"
)
NO_GROUPS = "the reports show people in none of the groups of '{variable}'"


@dataclass(frozen=True)
class Compared:
    """A comparison of one variable among groups.

    Attributes:
        category: category of the outcome whose share is compared; "" for a number, whose mean is compared.
        group_names: the groups, the reference group first.
        values: share or mean in each group.
        differences: value of each later group minus the first group's value; empty if cells are suppressed.
        independence: test for any difference; None if suppressed, or if a variable does not vary.
        people: people whom the values describe, see ``described_people``.
        declined: share of people in each group who did not answer; empty if everybody did.
        ratios: value of each later group divided by the first group's, of arms; empty for others.
        parts: corrected shares, of which differences across arms consist; empty if not corrected.
        careless: share of careless people that they are corrected for; None if not corrected.
    """

    outcome: str
    groups: str
    category: str
    group_names: tuple[str, ...]
    values: tuple[Result, ...]
    differences: tuple[Result, ...]
    warnings: tuple[str, ...]
    independence: Independence | None = None
    people: str = selection.ALL
    declined: tuple[Result, ...] = ()
    ratios: tuple[Result, ...] = ()
    parts: tuple[CorrectedShare | None, ...] = ()
    careless: Careless | None = None


@with_innocuous_shares
def compare(
    columns: Columns,
    outcome: str,
    groups: str,
    category: str = "",
    weights: ArrayLike | None = None,
    rule: Rule = DEFAULT_RULE,
) -> Compared:
    """Compare an outcome among groups, the categories of a variable; ``weights`` (n,) are positive, equal by default.

    ``category`` is the one whose share is compared, by default the last answer ("yes" of a yes/no); "" for a number.
    Raises EstimateError if no report can carry both variables, the groups are numbers, or there is no such category.
    """
    (measured, grouped), people = selection.choose_described(columns, (outcome, groups), rule.among, rule.counted)
    if not grouped.newest.categories:
        raise EstimateError("'{variable}' is a number: groups are the categories of a question", variable=groups)
    cautions = (*people.cautions, *selection.check_together(columns, measured, grouped))
    if rule.among == selection.CAREFUL:
        careful = _compare_careful(columns, (grouped, measured), category, weights, rule)
        return replace(careful, warnings=(*cautions, *careful.warnings))
    weights, unequal = (None, ()) if weights is None else weights_of_reports(weights, len(columns))
    pairs = selection.count_strata(columns, (grouped, measured), weights, people.asked)
    whole = TwoWayTable(joint(pairs, len(columns), columns.repeats), rule)
    found = whole.joint
    place = _place(columns, measured.newest, category)
    if found.second.categories:
        place = _place_in(found.second, measured.newest.categories[place], rule)
    bounds = whole.bounds
    there = _groups(whole)
    values = [_value(whole, group, place, bounds, measured) for group in there]
    hidden = bool(whole.hidden.any())
    return Compared(
        outcome=measured.newest.full_name,
        groups=grouped.newest.full_name,
        category=found.second.categories[place] if found.second.categories else "",
        group_names=tuple(found.first.categories[group] for group in there),
        values=tuple(values),
        differences=() if hidden else _differences(whole, there, place, values),
        independence=None if hidden else independence_of(found),
        warnings=(*cautions, *unequal, *whole.few_people()),
        people=people.people,
        declined=tuple(whole.declined(group) for group in there if found.second.absent),
    )


def _compare_careful(
    columns: Columns, pair: selection.SelectedPair, category: str, weights: ArrayLike | None, rule: Rule
) -> Compared:
    """Compare the share of a category among careful people in each group; without a test, which would need a model."""
    whole, found = corrected_table(columns, pair, weights, rule)
    grouped, measured = (each.newest for each in pair)
    shown = whole.joint.second
    place = _place_in(shown, measured.categories[_place(columns, measured, category)], rule)
    there = _groups(whole)
    pairs = [] if whole.hidden.any() else [(there[0], group) for group in there[1:]]
    return Compared(
        outcome=measured.full_name,
        groups=grouped.full_name,
        category=shown.categories[place],
        group_names=tuple(whole.joint.first.categories[group] for group in there),
        values=tuple(found.share(group, place) for group in there),
        differences=tuple(found.difference(each, place) for each in pairs),
        warnings=(*found.notes, *whole.left_out),
        people=selection.CAREFUL,
        parts=tuple(found.part(group, place) for group in there),
        careless=found.careless,
    )


def _groups(whole: TwoWayTable) -> list[int]:
    """Return the places of the groups to compare: those that occur, by their estimated shares, or that are kept."""
    grouped, kept = whole.joint.first, whole.rule.kept
    there = (grouped.categories[group] in kept if kept else whole.occurs(group) for group in range(whole.shape[0]))
    found = [group for group, is_there in enumerate(there) if is_there]
    # A group without people has nothing to compare.
    if not found:
        raise EstimateError(NO_GROUPS, variable=grouped.full_name)
    return found


def _differences(whole: TwoWayTable, there: Sequence[int], place: int, values: Sequence[Result]) -> tuple[Result, ...]:
    least, most = whole.bounds
    # The largest possible difference is the range of the outcome.
    spread = least - most, most - least
    found = []
    for group, value in zip(there[1:], values[1:], strict=True):
        inverted = difference(whole.joint, (there[0], group), place, spread, whole.rule.z)
        if whole.by_mover or whole.joint.second.absent:
            inverted = answered_difference(whole, inverted, (there[0], group), place, (values[0], value))
        added = whole.added({there[0]: values[0], group: value})
        # Limits made of those of the values hold in several waves as they are.
        inverted = widened(inverted, added, spread, 0.0 if whole.by_mover else whole.rule.z)
        found.append(inverted_result(whole.joint, between(inverted, values[0], value), spread))
    return tuple(found)


def answered_difference(
    whole: TwoWayTable, inverted: Inverted, groups: tuple[int, int], place: int, values: tuple[Result, Result]
) -> Inverted:
    """Return a difference among the people who answered, with limits that hold in small and sparse groups.

    ``inverted`` is the difference with limits by inversion, ``groups`` are two rows of the table, ``place`` the column.
    """
    if whole.by_mover:
        return inverted._replace(**mover(*values))
    # The variance of the sample is too small where a cell is nearly empty, the one at the hypothesis where noise is
    # strong: alone they cover .91 and .92 in the worst of six settings, both together .95.
    low, high = difference_among_answered(whole.joint, whole.raw, groups, place, whole.rule.z)
    return inverted._replace(low=min(low, inverted.low), high=max(high, inverted.high))


def mover(first: Result, later: Result) -> dict[str, float]:
    """Return a difference of two displayed shares with limits from their own limits (MOVER; Zou and Donner 2008).

    The reports of two public groups are independent, and score limits hold in small groups, in which the sample
    covariance that inversion uses does not: without any yes in either group it is 0.
    """
    if first.estimate is None or later.estimate is None:
        return {"low": -1.0, "high": 1.0}
    (low, high), (from_low, from_high) = (
        (each.low or 0.0, 1.0 if each.high is None else each.high) for each in (later, first)
    )
    apart = later.estimate - first.estimate
    return {
        "shown": apart,
        "low": apart - math.hypot(later.estimate - low, from_high - first.estimate),
        "high": apart + math.hypot(high - later.estimate, first.estimate - from_low),
    }


def _place(columns: Columns, variable: Variable, category: str) -> int:
    """Return the place of a category, by default of yes or the last answer, also where a file leaves that out."""
    if not variable.categories:
        if category:
            raise EstimateError("'{variable}' is a number and has no categories", variable=variable.full_name)
        return 0
    before = columns.before.get(variable.question)
    names = variable.answered if before is None else tuple(before[0].domain.places)
    wanted = category or main_answer(names)
    if wanted not in variable.answered:
        words = LEFT_OUT if wanted in names else "'{variable}' has no category of this name; it has: {categories}"
        raise EstimateError(words, variable=variable.full_name, category=wanted, categories=variable.answered)
    return variable.categories.index(wanted)


def _place_in(shown: Variable, category: str, rule: Rule) -> int:
    """Return the place of a category; raise EstimateError if it is left out, or counted with others."""
    if category not in shown.answered:
        raise EstimateError(RARE, variable=shown.full_name, category=category, least=rule.least)
    return shown.answered.index(category)


def _value(
    whole: TwoWayTable, group: int, place: int, bounds: tuple[float, float], measured: selection.SelectedVariable
) -> Result:
    if whole.joint.second.categories:
        return whole.share(group, place)
    if whole.counts_numbers and whole.joint.second is measured.variables[-1]:
        return whole.public_mean(group, measured.question.domain)
    found = inverted_result(whole.joint, mean_among(whole.joint, group, place, bounds, whole.rule.z), bounds)
    return whole.of_waves(found, whole.people(group))


SMALL = "a cell of public answers of fewer than 5 respondents, or one that would tell it, is not shown"

HALF_SEEN = "{n} more reports contain one of the two questions; shares and limits use them too, by maximum likelihood"
RANDOMIZED = "'{variable}' is randomized, so all reports that contain the three questions are used for each table"
UNWEIGHTED = "weights are possible within a public question only"
TWO_PUBLIC = "'{variable}' and '{other}' are public: take one of them as the third question"
IMPOSSIBLE = "some cells are impossible, because a question was not shown; shares and limits use that"


class Measures(NamedTuple):
    """Measures of association of two yes/no variables: yes to the columns, given yes or no to the rows."""

    risk_difference: Result
    risk_ratio: Result
    odds_ratio: Result
    phi: Result


@dataclass(frozen=True)
class Crosstab:
    """A table of two variables.

    Attributes:
        rows, columns: names of the variables.
        n: number of reports considered.
        n_pair: number of those reports that carry both variables.
        cells: share of each cell, (rows, columns).
        conditional: share of each column within its row, (rows, columns).
        independence: test of independence; None if cells are suppressed, or a variable does not vary.
        measures: measures of association; None unless the table is 2 x 2 without suppressed cells.
        alarm: test for an implausibly low cell; None if no answer is randomized.
        forged: largest effect of 1 % forged reports on a cell.
        drawn_evenly: p value of the test that devices drew all options, or pairs of them, equally often, as forged
            reports often do not; None if no options are drawn, and in stratified tables.
        people: people whom the shares describe, see ``described_people``.
        declined: share of people in each row who did not answer the column's question; empty if everybody did.
    """

    rows: str
    columns: str
    row_categories: tuple[str, ...]
    column_categories: tuple[str, ...]
    n: int
    n_pair: int
    cells: Cells
    conditional: Cells
    forged: Forged
    warnings: tuple[str, ...]
    independence: Independence | None = None
    measures: Measures | None = None
    alarm: LowestCell | None = None
    drawn_evenly: float | None = None
    people: str = selection.ALL
    declined: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Stratified:
    """Tables of two variables for each category of a third one (``within``) that has reports.

    ``independence`` is the stratified test; None if a table has no test, or the third variable is randomized.
    """

    within: str
    tables: Mapping[str, Crosstab]
    independence: Independence | None


@with_innocuous_shares
def crosstab(
    columns: Columns, rows: str, across: str, weights: ArrayLike | None = None, rule: Rule = DEFAULT_RULE
) -> Crosstab:
    """Cross-tabulate two categorical variables; ``weights`` (n,) are positive, equal by default.

    Raises EstimateError if no report can carry both variables, one of them is a number, or there are no reports.
    """
    pair, people, cautions = _choose(columns, rows, across, rule.among)
    if rule.among == selection.CAREFUL:
        return _corrected(columns, pair, weights, rule, cautions)
    weights, unequal = (None, ()) if weights is None else weights_of_reports(weights, len(columns))
    pairs = selection.count_strata(columns, pair, weights, people.asked, halves=weights is None)
    whole = joint(pairs, len(columns), columns.repeats)
    table, seen = TwoWayTable(whole, rule, selection.impossible_cells(columns, pair)), _seen(columns, whole.n)
    found = _table(table, seen, (*cautions, *unequal))
    return replace(found, people=people.people, drawn_evenly=selection.drawn_evenly(columns, pair))


def _corrected(
    columns: Columns, pair: selection.SelectedPair, weights: ArrayLike | None, rule: Rule, cautions: tuple[str, ...]
) -> Crosstab:
    """Cross-tabulate two variables among careful people; without tests and measures, which would need a model."""
    table, found = corrected_table(columns, pair, weights, rule)
    return Crosstab(
        **_counted(table, found, _seen(columns, table.joint.n)),
        warnings=(*cautions, *found.notes, *table.left_out, *([SMALL] if table.hidden.any() else [])),
        people=selection.CAREFUL,
    )


@with_innocuous_shares
def crosstab_within(
    columns: Columns, rows: str, across: str, within: str, weights: ArrayLike | None = None, rule: Rule = DEFAULT_RULE
) -> Stratified:
    """Cross-tabulate two variables within each category of a third one, which is categorical.

    Takes weights as ``crosstab``, for a public third variable only. Raises EstimateError as ``crosstab``, or if the
    third variable is a number, or randomized and the channel of the three has a condition number above 1,000.
    """
    third = selection.choose(columns, within)
    if not third.newest.public or not third.newest.categories:
        return _within_randomized(columns, (within, rows, across), weights, rule)
    pair, people, cautions = _choose(columns, rows, across, rule.among)
    weights, unequal = (None, ()) if weights is None else weights_of_reports(weights, len(columns))
    cautions, impossible = (*cautions, *unequal), selection.impossible_cells(columns, pair)
    counts = np.bincount(columns.values[within], minlength=len(third.newest.categories))
    # Small categories of the stratifying variable are left out or merged, like those of rows and columns.
    sizes = counts[: len(third.newest.categories)].tolist()
    both = all(each.newest.public for each in pair)
    groups, left = (third.newest, ()) if both else left_out(third.newest, sizes, rule.least)
    groups, cautions = groups if left else merged(groups, sizes, rule.least), (*cautions, *left)
    memberships = groups.scores(columns.values[within]) > 0
    tables, all_pairs = {}, []
    for place, category in enumerate(groups.categories):
        inside = memberships[:, place] if people.asked is None else memberships[:, place] & people.asked
        counted = selection.count_strata(columns, pair, weights, inside, halves=weights is None)
        pairs = [each for each in counted if each.n]
        if pairs:
            whole = joint(pairs, int(inside.sum()), columns.repeats)
            table = TwoWayTable(whole, rule, impossible)
            tables[category] = replace(_table(table, _seen(columns, whole.n), cautions), people=people.people)
            # The test takes the reports of all tables, whose categories may differ.
            kept = zip(table.joint.strata, whole.strata, strict=True)
            all_pairs += [replace(each, first=own.first, second=own.second) for each, own in kept]
    # A stratified test would reveal something about a suppressed table, so one suppressed table withholds it.
    shown = all(table.independence for table in tables.values())
    # The stratified test counts no answer as an answer, so it is for tables in which everybody answered.
    free = not any(each.newest.absent for each in pair)
    test = across_waves(independence(all_pairs), all_pairs, columns.repeats) if shown and free else None
    return Stratified(within, tables, test)


def _within_randomized(
    columns: Columns, names: tuple[str, str, str], weights: ArrayLike | None, rule: Rule
) -> Stratified:
    """Cross-tabulate two variables, the last names, within each category of a randomized one, the first name."""
    if weights is not None:
        raise EstimateError(UNWEIGHTED)
    if columns.repeats > 1:
        raise EstimateError(selection.WAVES_DEPEND)
    pairs = (_choose(columns, one, other, rule.among) for one, other in combinations(names, 2))
    chosen, described, cautions = zip(*pairs, strict=True)
    (third, first), (_, second), _ = chosen
    if first.newest.public and second.newest.public:
        raise EstimateError(TWO_PUBLIC, variable=names[1], other=names[2])
    check_identified([each.newest for each in (third, first, second)])
    people = reduce(selection.both_described, described)
    table = three_way(columns, (third, first, second), people.asked, rule)
    share = forged(first.newest, second.newest, _seen(columns, table.n)).share
    told = chain(*cautions, [Sentence(RANDOMIZED, variable=third.newest.full_name)], table.left_out)
    notes = tuple(dict.fromkeys(told))
    tables = {
        category: _of_category(table, place, share, notes, people.people)
        for place, category in enumerate(table.variables[0].answered)
    }
    return Stratified(names[0], tables, None)


def _named(rows: Variable, across: Variable) -> dict[str, Any]:
    names = {"rows": rows.full_name, "columns": across.full_name}
    return {**names, "row_categories": rows.answered, "column_categories": across.answered}


def _counted(table: TwoWayTable, shown: TwoWayTable | CorrectedTable, seen: float) -> dict[str, Any]:
    """Return names, numbers of reports, and the shares ``shown`` of a table."""
    whole, places = table.joint, [[(row, column) for column in range(table.shape[1])] for row in range(table.shape[0])]
    return {
        **_named(whole.first, whole.second),
        "n": whole.reports,
        "n_pair": whole.n,
        "cells": tuple(tuple(shown.cell(*place) for place in line) for line in places),
        "conditional": tuple(tuple(shown.share(*place) for place in line) for line in places),
        "forged": forged(whole.first, whole.second, seen),
    }


def _of_category(table: ThreeWayTable, place: int, share: float, notes: tuple[str, ...], people: str) -> Crosstab:
    """Return the table of a category of a randomized variable; without tests and measures."""
    _, rows, across = table.variables
    return Crosstab(
        **_named(rows, across),
        n=table.reports,
        n_pair=table.n,
        cells=table.cells(place),
        conditional=table.conditional(place),
        forged=Forged(share, table.largest_shift(place, share)),
        warnings=notes,
        people=people,
    )


def _choose(
    columns: Columns, rows: str, across: str, among: str | None
) -> tuple[selection.SelectedPair, selection.DescribedPeople, tuple[str, ...]]:
    (first, second), people = selection.choose_described(columns, (rows, across), among)
    for each in (first, second):
        if not each.newest.categories:
            raise EstimateError(
                "'{variable}' is a number: compare its means among groups instead", variable=each.newest.full_name
            )
    return (first, second), people, (*people.cautions, *selection.check_together(columns, first, second))


def _table(table: TwoWayTable, seen: float, cautions: tuple[str, ...]) -> Crosstab:
    found, hide = table.joint, bool(table.hidden.any())
    # The measures use all four cells, so they would reveal a suppressed one.
    measured = table.shape == (2, 2) and not hide
    notes = [*cautions, *table.few_people(), *([SMALL] if hide else [])]
    if table.likeliest is not None:
        halves = sum(int(half.numbers.sum()) for pairs in found.strata for half in pairs.halves)
        notes += [Sentence(HALF_SEEN, n=halves)] if halves else []
        notes += [IMPOSSIBLE] if table.impossible else []
    return Crosstab(
        **_counted(table, table, seen),
        independence=None if hide else independence_of(found),
        measures=_measures(table, table.rule.z) if measured else None,
        alarm=implausible(table.raw, table.channels),
        warnings=tuple(notes),
        declined=tuple(table.declined(row) for row in range(table.shape[0]) if found.second.absent),
    )


def _measures(table: TwoWayTable, z: float) -> Measures:
    whole, shares = table.joint, (table.share(0, 1), table.share(1, 1))
    point, low, high = (None, None, None) if table.half_seen_only() else odds_ratio(whole, z)
    apart = difference(whole, (0, 1), 1, (-1.0, 1.0), z)
    if table.by_mover or whole.second.absent:
        apart = answered_difference(table, apart, (0, 1), 1, shares)
    rows = dict(enumerate(shares))
    by_share, by_log = table.added(rows), table.added(rows, lambda share: 1 / share)
    by_odds = table.added(rows, lambda share: 1 / (share * (1 - share)))
    people = [table.people(row) for row in rows]
    yes = sum(n * (each.estimate or 0.0) for n, each in zip(people, shares, strict=True))
    turn = math.sqrt(people[0] * people[1] / max(yes * (sum(people) - yes), 1.0))
    odds = widened(Inverted(point, None, low or 0.0, math.inf if high is None else high), by_odds, (0.0, math.inf), z)
    apart = widened(apart, by_share, (-1.0, 1.0), 0.0 if table.by_mover else z)
    return Measures(
        inverted_result(whole, between(apart, *shares), (-1.0, 1.0)),
        inverted_result(whole, widened(ratio(whole, (0, 1), 1, z), by_log, (0.0, np.inf), z), (0.0, np.inf)),
        replace(inverted_result(whole, odds, (0.0, np.inf)), std_error_kind="", method=PROFILE, low=low and odds.low),
        inverted_result(whole, widened(phi(whole, z), by_share * turn, (-1.0, 1.0), z), (-1.0, 1.0)),
    )


def _seen(columns: Columns, n: int) -> float:
    """Return the share of all reports that are the ``n`` of a table: a forger chooses questions and public answers."""
    return n / (columns.everybody or len(columns))
