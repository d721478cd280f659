"""Likelihood-ratio test of independence among the people who answered both variables.

Hypothesis  P(i, j) = a_i b_j P(both answered) for the answers i and j; the cells of people who gave no answer to one or
            both are free, so declining may go with the other variable.
Statistic   2 (l_free - l_independent), chi-square with (rows - 1)(columns - 1) degrees of freedom; rows and columns
            that no report supports are not counted. Both maxima by the EM algorithm, which keeps shares within [0, 1],
            so that the test holds its level or is conservative in small samples.
"""

import numpy as np
from sottovoce.aggregator.analysis.tables.answered_cells import answered_shape
from sottovoce.aggregator.analysis.tables.independence_test import Independence
from sottovoce.aggregator.analysis.tables.ml_table import (
    ObservedReports,
    expected_table,
    likeliest_table,
    log_likelihood,
    seen_together,
)
from sottovoce.aggregator.analysis.tables.pair_moments import Joint
from sottovoce.aggregator.estimators.distributions.chi_square import upper_tail
from sottovoce.aggregator.estimators.variable import Floats

MOST_LIKELIHOODS = 1_000_000
"""Most likelihoods of reports by cells for a test, as of two questions with 30 options each."""

_ROUNDS = 2000
_FLOOR = 1e-300
_SETTLED = 1e-8
"""Change of a share per step at which both searches end; the statistic is right to a hundredth of its df then."""
# EM multiplies shares, so a category without support approaches 0 but need not reach it.
_EMPTY = 1e-9


def answered_independence(joint: Joint) -> Independence | None:
    """Test independence among the people who answered both variables.

    Args:
        joint: the reports.

    Returns:
        The test; None if one of the variables has a single answer that occurs, or for too large tables.
    """
    cells = len(joint.first.categories) * len(joint.second.categories)
    if cells * sum(len(pairs.weights) for pairs in joint.strata) > MOST_LIKELIHOODS:
        return None
    seen, (rows, columns) = seen_together(joint), answered_shape(joint)
    # Rescale the weights to sum to the effective number of reports.
    size = sum(pairs.size for pairs in joint.strata)
    seen = ObservedReports(seen.rows, seen.weights * size / seen.weights.sum())
    shape = len(joint.first.categories), len(joint.second.categories)
    free = likeliest_table([seen], shape, settled=_SETTLED)
    block = free[:rows, :columns]
    occurring = [int((block.sum(axis=axis) > _EMPTY).sum()) for axis in (1, 0)]
    df = (occurring[0] - 1) * (occurring[1] - 1)
    if df < 1:
        return None
    bound = _independent(seen, free, (rows, columns))
    statistic = max(0.0, 2 * (log_likelihood([seen], free) - log_likelihood([seen], bound)))
    return Independence(statistic, df, upper_tail(statistic, df))


def _independent(seen: ObservedReports, start: Floats, shape: tuple[int, int]) -> Floats:
    """Return the likeliest table in which the answers are independent."""

    def step(table: Floats) -> Floats:
        return _bound(expected_table(seen, table), shape)

    table = _bound(start, shape)
    for _ in range(_ROUNDS):
        once = step(table)
        twice = step(once)
        if np.abs(twice - once).max() < _SETTLED:
            return twice
        # A jump can leave the hypothesis, so it is put back on it, and one plain step follows.
        tried = step(_bound(_extrapolated(table, once, twice), shape))
        better = log_likelihood([seen], tried) >= log_likelihood([seen], twice)
        table = tried if better else twice
    return table


def _extrapolated(start: Floats, once: Floats, twice: Floats) -> Floats:
    """Return the SQUAREM extrapolation of three points (Varadhan and Roland 2008); the last one if it is impossible."""
    change, bend = once - start, twice - 2 * once + start
    length = float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), _FLOOR)
    far: Floats = start + 2 * length * change + length**2 * bend
    return far / far.sum() if length > 1 and far.min() >= 0 else twice


def _bound(table: Floats, shape: tuple[int, int]) -> Floats:
    """Replace the answers by the product of their margins."""
    rows, columns = shape
    block, found = table[:rows, :columns], table.copy()
    total = float(block.sum())
    if total > 0:
        found[:rows, :columns] = np.outer(block.sum(axis=1), block.sum(axis=0)) / total
    return found
