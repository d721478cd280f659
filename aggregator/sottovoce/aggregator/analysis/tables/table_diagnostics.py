"""Diagnose a table: implausible cells, uneven draws, and the possible effect of forged reports.

Implausible The lowest cell's (T_ij + gap/(2n)) / sqrt(V0_ij / n), V0 = alpha c' p_A + alpha' c p_B + c c' the variance
            at an empty cell, is below the normal quantile of .00135 / cells: fewer than one false alarm in 1,000
            samples. With the sample's own variance it would be up to one in five.
Drawn       Where devices draw an option: chi-square test of the drawn ones against uniform; for two questions, of all
            pairs. Forged reports often carry the same option each time.
Forged      A share f of identical forged reports moves a cell by at most f max |z_A z_B|. If honest reports carry both
            variables with probability s only, and all forged ones do, the latter are a share f' = f / (f + (1 - f) s)
            of the reports of the pair.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, clip
from sottovoce.aggregator.estimators.blocks.joint_channel import block_pair
from sottovoce.aggregator.estimators.intervals import upper_tail
from sottovoce.aggregator.estimators.support import FAKES
from sottovoce.aggregator.estimators.variable import Floats, Variable

TAIL = 0.00135
"""One-sided false alarm rate at three standard deviations, shared by all cells (Bonferroni)."""


class LowestCell(NamedTuple):
    """Raw share of the lowest cell, in standard deviations of an empty cell, and the smallest plausible one."""

    statistic: float
    limit: float

    @property
    def rings(self) -> bool:
        """True if the statistic is below the limit: the reports hardly come from these channels."""
        return self.statistic < self.limit


class Forged(NamedTuple):
    """Share of forged reports among those with both variables, and the largest shift of a cell's share by them."""

    share: float
    shift: float


def implausible(table: Floats, channels: Mapping[tuple[int, int], Sequence[CellChannel]]) -> LowestCell | None:
    """Test whether the lowest cell is implausibly far below 0; None if no answer is randomized."""
    p_a, p_b = table.sum(axis=1), table.sum(axis=0)
    found = []
    for (row, column), strata in channels.items():
        deviation = empty_deviation(strata, clip(float(p_a[row])), clip(float(p_b[column])))
        if deviation > 0:
            found.append((float(table[row, column]) + max(each.step for each in strata)) / deviation)
    if not found:
        return None
    # Bonferroni over the cells, because only the lowest one is tested.
    return LowestCell(min(found), NormalDist().inv_cdf(TAIL / len(channels)))


def empty_deviation(strata: Sequence[CellChannel], p_a: float, p_b: float) -> float:
    """Return the standard deviation of the raw share of an empty cell, at the clipped shares of its row and column."""
    return math.sqrt(max(sum(each.factor * each.cell_variance(0.0, p_a, p_b) for each in strata), 0.0))


def uniformity(counts: Sequence[int]) -> float:
    """Return the p value of Pearson's test that all options, or all pairs of them, were drawn equally often."""
    expected = sum(counts) / len(counts)
    if not expected or len(counts) < 2:
        return 1.0
    return upper_tail(sum((count - expected) ** 2 for count in counts) / expected, len(counts) - 1)


def forged(first: Variable, second: Variable, seen: float, fakes: float = FAKES) -> Forged:
    """Return the largest effect of forged reports on a table.

    Args:
        seen: probability that an honest report carries both variables.
        fakes: share of forged reports among all.
    """
    share = fakes / (fakes + (1 - fakes) * seen)
    # A forger gains most with the pair of reports that has the largest score of a cell.
    pair = block_pair(first, second)
    return Forged(share, share * (_largest(first) * _largest(second) if pair is None else max(map(abs, pair.scores))))


def _largest(variable: Variable) -> float:
    return max(max(1 - b, b) / (a - b) for a, b in variable.channels)
