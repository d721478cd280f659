"""
A table of two variables: how they hang together, and what looks wrong.

What each figure is stands with it: ``table``, ``score_intervals``, ``inversion``, ``odds_ratio``, ``independence``,
``alarms``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.selection import (
    SelectedVariable,
    check_together,
    choose,
    count_strata,
    drawn_evenly,
)
from sottovoce.aggregator.analysis.tables.independence_test import Independence
from sottovoce.aggregator.analysis.tables.odds_ratio import METHOD as PROFILE
from sottovoce.aggregator.analysis.tables.odds_ratio import odds_ratio
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, joint
from sottovoce.aggregator.analysis.tables.small_groups import merged
from sottovoce.aggregator.analysis.tables.table import DEFAULT_RULE, Rule, TwoWayTable, inverted_result, tested
from sottovoce.aggregator.analysis.tables.table_diagnostics import Forged, LowestCell, forged, implausible
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import correlation, difference, ratio
from sottovoce.aggregator.analysis.weights import weights_of_reports
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

SMALL = "a cell of public answers of fewer than 5 respondents, or one that would tell it, is not shown"

Cells = tuple[tuple[Result, ...], ...]


class Measures(NamedTuple):
    """How two yes/no variables hang together: the columns' yes among the rows' yes, against the rows' no."""

    risk_difference: Result
    risk_ratio: Result
    odds_ratio: Result
    phi: Result


@dataclass(frozen=True)
class Crosstab:
    """
    A table of two variables.

    Attributes:
        rows, columns: names of the variables.
        row_categories, column_categories: of its cells.
        n: reports that were looked at.
        n_pair: those of them that tell of both.
        cells: the share of each cell, (rows, columns).
        conditional: the share of each column among its row, likewise.
        independence: None where cells are not shown, or a variable does not vary.
        measures: of a table of two by two.
        alarm: None where no answer is randomized.
        forged: what 1 % forged reports could make of a cell.
        drawn_evenly: p value of the test that devices drew all options, or pairs of them, equally often, which forged
            reports do not; None where none is drawn, and within a third question.
        warnings: sentences about the whole table.
    """

    rows: str
    columns: str
    row_categories: tuple[str, ...]
    column_categories: tuple[str, ...]
    n: int
    n_pair: int
    cells: Cells
    conditional: Cells
    independence: Independence | None
    measures: Measures | None
    alarm: LowestCell | None
    forged: Forged
    drawn_evenly: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Stratified:
    """
    A table for each category of a third variable, which is public, and a test of independence within them.

    Attributes:
        within: name of the third variable.
        tables: by its category, those with no reports left out.
    """

    within: str
    tables: Mapping[str, Crosstab]
    independence: Independence | None


def crosstab(
    columns: Columns, rows: str, across: str, weights: ArrayLike | None = None, rule: Rule = DEFAULT_RULE
) -> Crosstab:
    """
    The table of two variables with categories.

    Args:
        columns: the reports.
        rows: name of the variable whose categories are the rows.
        across: name of the other one.
        weights: of the reports, (n,), above 0; all alike without.
        rule: how it is made.

    Raises:
        EstimateError: no report can tell of both, one is a number, or nothing was reported.
    """
    chosen, cautions = _choose(columns, rows, across)
    weights, unequal = weights_of_reports(weights, len(columns))
    pairs = count_strata(columns, chosen, weights)
    table = _table(joint(pairs, len(columns)), _seen(columns, chosen), rule, (*cautions, *unequal))
    return replace(table, drawn_evenly=drawn_evenly(columns, chosen))


def crosstab_within(
    columns: Columns,
    rows: str,
    across: str,
    within: str,
    weights: ArrayLike | None = None,
    rule: Rule = DEFAULT_RULE,
) -> Stratified:
    """
    The tables of two variables within each category of a public third one.

    Args:
        columns: the reports.
        rows: name of the variable whose categories are the rows.
        across: name of the other one.
        within: name of the third, which is public and has categories.
        weights: of the reports, (n,), above 0; all alike without.
        rule: how they are made.

    Raises:
        EstimateError: as ``crosstab``, or the third variable is randomized or a number.
    """
    third = choose(columns, within)
    if not third.newest.public or not third.newest.categories:
        raise EstimateError(
            Sentence(
                "'{variable}' is not public: only public questions can stratify a table",
                variable=within,
            )
        )
    chosen, cautions = _choose(columns, rows, across)
    weights, unequal = weights_of_reports(weights, len(columns))
    cautions = (*cautions, *unequal)
    counts = np.bincount(columns.values[within], minlength=len(third.newest.categories))
    groups = merged(third.newest, counts[: len(third.newest.categories)].tolist(), rule.least)
    memberships = groups.scores(columns.values[within]) > 0
    tables, all_pairs = {}, []
    for place, category in enumerate(groups.categories):
        inside = memberships[:, place]
        pairs = [each for each in count_strata(columns, chosen, weights, inside) if each.n]
        if pairs:
            tables[category] = _table(joint(pairs, int(inside.sum())), _seen(columns, chosen), rule, cautions)
            all_pairs += pairs
    # A table that is not shown is not tested either.
    shown = all(table.independence for table in tables.values())
    return Stratified(within, tables, tested(all_pairs) if shown else None)


def _choose(
    columns: Columns, rows: str, across: str
) -> tuple[tuple[SelectedVariable, SelectedVariable], tuple[str, ...]]:
    first, second = choose(columns, rows), choose(columns, across)
    for each in (first, second):
        if not each.newest.categories:
            raise EstimateError(
                Sentence(
                    "'{variable}' is a number: compare its means among groups instead", variable=each.newest.full_name
                )
            )
    return (first, second), check_together(columns, first, second)


def _table(whole: Joint, seen: float, rule: Rule, cautions: tuple[str, ...]) -> Crosstab:
    table = TwoWayTable(whole, rule)
    found, hide = table.joint, bool(table.hidden.any())
    places = [[(row, column) for column in range(table.shape[1])] for row in range(table.shape[0])]
    return Crosstab(
        rows=found.first.full_name,
        columns=found.second.full_name,
        row_categories=found.first.categories,
        column_categories=found.second.categories,
        n=found.reports,
        n_pair=found.n,
        cells=tuple(tuple(table.cell(*place) for place in line) for line in places),
        conditional=tuple(tuple(table.share(*place) for place in line) for line in places),
        independence=None if hide else tested(found.strata),
        measures=_measures(found, rule.z()) if table.shape == (2, 2) and not hide else None,
        alarm=implausible(table.raw, table.channels),
        forged=forged(found.first, found.second, seen),
        drawn_evenly=None,
        warnings=(*cautions, *([SMALL] if hide else [])),
    )


def _measures(whole: Joint, z: float) -> Measures:
    point, low, high = odds_ratio(whole, z)
    return Measures(
        inverted_result(whole, difference(whole, (0, 1), 1, (-1.0, 1.0), z), (-1.0, 1.0)),
        inverted_result(whole, ratio(whole, (0, 1), 1, z), (0.0, np.inf)),
        Result(point, point, None, "", low, high, PROFILE, whole.reports, whole.n, whole.deff),
        inverted_result(whole, correlation(whole, z), (-1.0, 1.0)),
    )


def _seen(columns: Columns, chosen: Sequence[SelectedVariable]) -> float:
    """The chance that a report tells of both variables."""
    chance = 1.0
    for each in chosen:
        chance /= len(each.question.domain.options) if each.newest.drawn else 1
    private = [each for each in chosen if each.question.mechanism is not None]
    ask, total = columns.survey.ask, len(columns.survey.private)
    if ask is None or not private:
        return chance
    names = {each.question.name for each in private}
    return chance * (ask / total if len(names) == 1 else ask * (ask - 1) / (total * (total - 1)))
