"""
The figures of a table: its cells, the shares among its rows, with the rules for small groups by public answers.

Cells are the means of products of scores over the reports that tell of both variables; raw ones may be negative, shown
ones are forced into [0, 1] and never scaled to sum to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.independence_test import Independence, independence
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, cell_limits, clip, share_limits
from sottovoce.aggregator.analysis.tables.score_products import ScoreProducts
from sottovoce.aggregator.analysis.tables.small_groups import LEAST, hidden, merged
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import METHOD as INVERSION
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import Inverted
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, Variable
from sottovoce.shared.errors import EstimateError

SCORE = "score"
SCORE_PRODUCTS = "score-products"
SUPPRESSED = "suppressed"
TOO_WIDE = 0.5
TOO_FEW = "too few reports: the limits are more than half of the range apart"


@dataclass(frozen=True)
class Rule:
    """
    How a table is made.

    Attributes:
        confidence: nominal coverage of each interval, in (0, 1).
        simultaneous: the limits of all cells hold together (Bonferroni).
        least: respondents of a group by public answers; 0 for whoever has the rows themselves.
        balanced: shares of a choice sum to 1 also where scores do so on average only (Hadamard response).
    """

    confidence: float = 0.95
    simultaneous: bool = False
    least: int = LEAST
    balanced: bool = False

    def z(self, cells: int = 1) -> float:
        """The normal quantile for one of so many cells."""
        return normal_quantile(1 - (1 - self.confidence) / (cells if self.simultaneous else 1))


DEFAULT_RULE = Rule()


class TwoWayTable:
    """
    The reports of two variables as a table, and its figures.

    Args:
        whole: the reports.
        rule: how figures are made; its small groups by public answers are made one.
    """

    def __init__(self, whole: Joint, rule: Rule) -> None:
        self.joint = _merged(whole, rule)
        self.rule = rule
        self.shape = len(self.joint.first.categories), max(len(self.joint.second.categories), 1)
        self._shares = _shares(self.joint)
        self.raw = self._shares.cells
        self.hidden = _hidden(self.joint, self.shape, rule)

    @cached_property
    def channels(self) -> dict[tuple[int, int], list[CellChannel]]:
        """Those of each cell, by stratum."""
        return {(i, j): _channels(self.joint, i, j) for i in range(self.shape[0]) for j in range(self.shape[1])}

    def cell(self, row: int, column: int) -> Result:
        """The share of a cell."""
        if self.hidden[row, column]:
            return _suppressed(self.joint)
        raw = float(self.raw[row, column])
        margins = float(self._shares.rows[row]), float(self.raw[:, column].sum())
        limits = cell_limits(raw, self.channels[row, column], margins, self._z)
        return _result(self.joint, clip(raw), raw, float(self._shares.errors[row, column]), limits, SCORE)

    def share(self, row: int, column: int) -> Result:
        """The share of a column among a row."""
        if self.hidden[row, column]:
            return _suppressed(self.joint)
        raw, group = float(self.raw[row, column]), float(self._shares.rows[row])
        limits = share_limits(raw, self.channels[row, column], (group, float(self.raw[:, column].sum())), self._z)
        if group <= 0:
            return _result(self.joint, None, None, None, limits, SCORE)
        error = float(self._shares.in_row_errors[row, column])
        return _result(self.joint, clip(raw / group), raw / group, error, limits, SCORE)

    @property
    def _z(self) -> float:
        return self.rule.z(self.shape[0] * self.shape[1])


def shown_reports(whole: Joint, rule: Rule = DEFAULT_RULE) -> Joint | None:
    """
    The reports as they may be shown by public answers, whose small groups are one.

    Args:
        whole: the reports.
        rule: how small a group is.

    Returns:
        None where two public answers would make a cell that is too small.
    """
    if not (whole.first.public or whole.second.public):
        return whole
    found = _merged(whole, rule)
    shape = max(len(found.first.categories), 1), max(len(found.second.categories), 1)
    return None if _hidden(found, shape, rule).any() else found


def inverted_result(whole: Joint, found: Inverted, bounds: tuple[float, float]) -> Result:
    """
    A figure by inversion as a result.

    Args:
        whole: the reports.
        found: the figure.
        bounds: its possible range, into which it is forced.
    """
    shown = None if found.raw is None else min(max(found.raw, bounds[0]), bounds[1])
    high = None if found.high == np.inf else found.high
    return _result(whole, shown, found.raw, found.std_error, (found.low, high), INVERSION)


def _result(
    whole: Joint,
    shown: float | None,
    raw: float | None,
    error: float | None,
    limits: tuple[float, float | None],
    method: str,
) -> Result:
    low, high = limits
    wide = method == SCORE and high is not None and high - low > TOO_WIDE
    warnings = (TOO_FEW,) if wide else ()
    return Result(shown, raw, error, SCORE_PRODUCTS, low, high, method, whole.reports, whole.n, whole.deff, warnings)


def _suppressed(whole: Joint) -> Result:
    return Result(None, None, None, "", None, None, SUPPRESSED, whole.reports, whole.n, whole.deff)


def tested(strata: Sequence[Pairs]) -> Independence | None:
    """The test of independence; None where a variable does not vary."""
    try:
        return independence(strata)
    except EstimateError:
        return None


def _merged(whole: Joint, rule: Rule) -> Joint:
    """With small groups by public answers as one."""
    first, second = (
        merged(each, _respondents(whole, each, place), rule.least)
        for place, each in enumerate((whole.first, whole.second))
    )
    both = [(_as(each.first, first, rule), _as(each.second, second, rule)) for each in whole.strata]
    strata = [replace(each, first=one, second=other) for each, (one, other) in zip(whole.strata, both, strict=True)]
    return replace(whole, strata=tuple(strata))


def _as(own: Variable, changed: Variable, rule: Rule) -> Variable:
    """The stratum's own channel, unless it is public, where there is none."""
    if changed.public or not isinstance(own, ChoiceVariable):
        return changed if changed.public else own
    return replace(own, balanced=rule.balanced)


def _respondents(whole: Joint, variable: Variable, place: int) -> list[int]:
    """How many gave each public answer."""
    if not variable.public or not variable.categories:
        return []
    counts = np.zeros(len(variable.categories))
    for pairs in whole.strata:
        counts += np.bincount(pairs.reported[place].astype(np.int64), pairs.numbers, len(counts))
    return [int(count) for count in counts]


class _Shares(NamedTuple):
    """Raw shares of the cells and of the rows, (k, m) and (k,), and standard errors of cells and of shares in rows."""

    cells: Floats
    rows: Floats
    errors: Floats
    in_row_errors: Floats


def _shares(whole: Joint) -> _Shares:
    parts = [share / pairs.products.once[0, 0] for share, pairs in zip(whole.shares, whole.strata, strict=True)]
    found = list(zip(parts, (pairs.products for pairs in whole.strata), strict=True))
    end = 1 + len(whole.first.categories)
    once = np.sum([part * sums.once for part, sums in found], axis=0)
    cells, rows = once[1:end, end:], once[1:end, 0]
    spread, crossed, of_rows = (
        np.sum([part**2 * each for (part, _), each in zip(found, column, strict=True)], axis=0)
        for column in zip(*(_centred(sums, cells, rows) for _, sums in found), strict=True)
    )
    # Of a row that nobody seems to be in there is no share, and no error.
    groups = np.where(rows == 0, np.nan, rows)[:, None]
    share = cells / groups
    # The slopes of T_ij / T_i are 1 / T_i and - T_ij / T_i^2.
    in_rows = (spread - 2 * share * crossed + share**2 * of_rows[:, None]) / groups**2
    factor = whole.n / max(whole.n - 1, 1)
    return _Shares(cells, rows, *(np.sqrt(np.maximum(each, 0.0) * factor) for each in (spread, in_rows)))


def _centred(sums: ScoreProducts, cells: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of w^2 times the squares and the product of z_A z_B and z_A, about their means."""
    end = 1 + len(rows)
    total, of_cells, of_rows = sums.twice[0, 0], sums.twice[1:end, end:], sums.twice[1:end, 0]
    spread = sums.fourth[1:end, end:] - 2 * cells * of_cells + cells**2 * total
    crossed = sums.squared[1:end, end:] - cells * of_rows[:, None] - rows[:, None] * of_cells
    variance = sums.squared[1:end, 0] - 2 * rows * of_rows + rows**2 * total
    return spread, crossed + cells * rows[:, None] * total, variance


def _channels(whole: Joint, row: int, column: int) -> list[CellChannel]:
    return [
        CellChannel(pairs.first.channels[row], pairs.second.channels[column], pairs.size, share)
        for pairs, share in zip(whole.strata, whole.shares, strict=True)
    ]


def _hidden(whole: Joint, shape: tuple[int, int], rule: Rule) -> NDArray[np.bool_]:
    both = whole.first.categories and whole.second.categories
    if not (both and whole.first.public and whole.second.public and rule.least):
        return np.zeros(shape, dtype=bool)
    counts = np.zeros(shape)
    for pairs in whole.strata:
        one, other = pairs.first.scores(pairs.reported[0]), pairs.second.scores(pairs.reported[1])
        counts += (one * pairs.numbers[:, None]).T @ other
    return hidden(counts.round().astype(np.int64), rule.least)
