"""
What looks wrong with a table, and what forged reports could make of it.

Implausible The lowest cell's (T_ij + gap/(2n)) / sqrt(V0_ij / n), V0 = alpha c' p_A + alpha' c p_B + c c' the variance
            at an empty cell, below the normal quantile of .00135 / cells: fewer than one false alarm in 1,000 samples;
            with the sample's own variance it would be up to one in five.
Drawn       Where devices draw an option, chi-square of the drawn ones against uniform; of two questions, of all pairs.
            Who forges reports draws the same option each time.
Forged      f forged reports of 100, all the same, move a cell by f max |z_A z_B|. Where honest reports tell of both
            variables with chance s only, forged ones all do, and are f' = f / (f + (1 - f) s) of the pair's reports.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, clip
from sottovoce.aggregator.estimators.chi_square import upper_tail
from sottovoce.aggregator.estimators.support import FAKES
from sottovoce.aggregator.estimators.variable import Floats, Variable

TAIL = 0.00135
"""Rate of false alarms of one side at three standard deviations, shared by all cells."""


class LowestCell(NamedTuple):
    """
    The lowest cell, in standard deviations of an empty one.

    Attributes:
        limit: how low chance alone lets it come.
    """

    statistic: float
    limit: float

    @property
    def rings(self) -> bool:
        """The reports cannot well have come through these channels."""
        return self.statistic < self.limit


class Forged(NamedTuple):
    """
    What forged reports do.

    Attributes:
        share: of the reports that tell of both variables, if 1 % of all are forged.
        shift: of a cell's share, at most.
    """

    share: float
    shift: float


def implausible(table: Floats, channels: Mapping[tuple[int, int], Sequence[CellChannel]]) -> LowestCell | None:
    """
    How far the lowest cell lies below 0; None where no answer is randomized.

    Args:
        table: raw shares.
        channels: of each (row, column) the channels of its strata.
    """
    p_a, p_b = table.sum(axis=1), table.sum(axis=0)
    found = []
    for (row, column), strata in channels.items():
        deviation = empty_deviation(strata, clip(float(p_a[row])), clip(float(p_b[column])))
        if deviation > 0:
            step = max(each.step for each in strata)
            found.append((float(table[row, column]) + step) / deviation)
    if not found:
        return None
    return LowestCell(min(found), NormalDist().inv_cdf(TAIL / len(channels)))


def empty_deviation(strata: Sequence[CellChannel], p_a: float, p_b: float) -> float:
    """
    The standard deviation of the raw share of an empty cell.

    Args:
        strata: its channels.
        p_a: the clipped share of its row.
        p_b: that of its column.
    """
    return math.sqrt(max(sum(each.factor * each.cell_variance(0.0, p_a, p_b) for each in strata), 0.0))


def uniformity(counts: Sequence[int]) -> float:
    """The p value of Pearson's test that all options, or all pairs of them, were drawn equally often."""
    expected = sum(counts) / len(counts)
    if not expected or len(counts) < 2:
        return 1.0
    return upper_tail(sum((count - expected) ** 2 for count in counts) / expected, len(counts) - 1)


def forged(first: Variable, second: Variable, seen: float, fakes: float = FAKES) -> Forged:
    """
    What so many forged reports do to a table.

    Args:
        first: one of its variables.
        second: the other one.
        seen: the chance that an honest report tells of both.
        fakes: share of forged reports among all.
    """
    share = fakes / (fakes + (1 - fakes) * seen)
    return Forged(share, share * _largest(first) * _largest(second))


def _largest(variable: Variable) -> float:
    """The largest score of a category, either way."""
    return max(max(1 - b, b) / (a - b) for a, b in variable.channels)
