"""Cross-tabulate two variables: cells, measures of association, and diagnostics.

The formulas are documented in ``table``, ``score_intervals``, ``test_inversion_intervals``, ``odds_ratio`` and
``pair_moments``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis import selection
from sottovoce.aggregator.analysis.availability import left_out, merged
from sottovoce.aggregator.analysis.innocuous_shares import with_innocuous_shares
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.corrected_table import CorrectedTable, corrected_table
from sottovoce.aggregator.analysis.tables.group_comparison import answered_difference
from sottovoce.aggregator.analysis.tables.odds_ratio import METHOD as PROFILE, odds_ratio
from sottovoce.aggregator.analysis.tables.pair_moments import Independence, across_waves, independence, joint
from sottovoce.aggregator.analysis.tables.score_intervals import Forged, LowestCell, forged, implausible
from sottovoce.aggregator.analysis.tables.table import (
    DEFAULT_RULE,
    Rule,
    TwoWayTable,
    between,
    independence_of,
    inverted_result,
    widened,
)
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import Inverted, difference, phi, ratio
from sottovoce.aggregator.analysis.tables.three_way import Cells, ThreeWayTable, three_way
from sottovoce.aggregator.analysis.weights import weights_of_reports
from sottovoce.aggregator.estimators.blocks.joint_channel import check_identified
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError, Sentence

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
    whole, seen = joint(pairs, len(columns), columns.repeats), _seen(columns, pair)
    table = TwoWayTable(whole, rule, selection.impossible_cells(columns, pair))
    found = _table(table, seen, (*cautions, *unequal))
    return replace(found, people=people.people, drawn_evenly=selection.drawn_evenly(columns, pair))


def _corrected(
    columns: Columns,
    pair: tuple[selection.SelectedVariable, selection.SelectedVariable],
    weights: ArrayLike | None,
    rule: Rule,
    cautions: tuple[str, ...],
) -> Crosstab:
    """Cross-tabulate two variables among careful people; without tests and measures, which would need a model."""
    table, found = corrected_table(columns, pair, weights, rule)
    return Crosstab(
        **_counted(table, found, _seen(columns, pair)),
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
            tables[category] = replace(_table(table, _seen(columns, pair), cautions), people=people.people)
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
    share = forged(first.newest, second.newest, _seen(columns, (third, first, second))).share
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
) -> tuple[tuple[selection.SelectedVariable, selection.SelectedVariable], selection.DescribedPeople, tuple[str, ...]]:
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


def _seen(columns: Columns, pair: Sequence[selection.SelectedVariable]) -> float:
    """Return the probability that a report carries both variables."""
    survey = columns.survey
    chance = float(share_asked(survey, *(survey.questions.index(each.question) for each in pair)))
    # Each device draws one option of these questions.
    for each in pair:
        chance /= len(each.question.domain.options) if each.newest.drawn else 1
    return chance
