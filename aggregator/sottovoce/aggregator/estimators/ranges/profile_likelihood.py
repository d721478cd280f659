"""Quantiles of binned values by likelihood ratio tests: largest likelihoods with the share below an edge fixed.

The histogram is free otherwise: neither smooth nor of a known form. See ``square_wave`` for what is inverted.
"""

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.intervals import normal_quantile

Array = NDArray[np.float64]

_NEWTON = 60  # steps at most; about 13 are needed


class Profile:
    """Likelihood ratio tests of the share of people below an edge of the bins.

    Args:
        channel: P(output | bin), shape (bins, outputs).
        counts: of the outputs, shape (outputs,), not all 0.
        confidence: nominal coverage of the quantiles' limits, in (0, 1).
        waves: number of waves of the same people whose reports are summed.
    """

    def __init__(self, channel: Array, counts: Array, confidence: float, waves: int) -> None:
        self._channel, self._bins = channel, len(channel)
        self._reported = counts / counts.sum()
        # With several waves of the same people, only one report of each person is independent.
        self._n = max(float(counts.sum()) / waves, 1.0)
        self._most = normal_quantile(confidence) ** 2
        shares, _ = self._likeliest(np.ones((1, self._bins)), np.ones(1))
        self._top = float(np.log(shares @ channel) @ self._reported)
        self._below = np.cumsum(shares)

    def first(self, level: float) -> int:
        """Return the lowest bin that can contain the quantile: the share below its upper edge can be ``level``."""
        bins = range(1, self._likeliest_bin(level) + 1)
        return bisect_left(bins, True, key=lambda upper: self._is_possible(upper, level))

    def last(self, level: float) -> int:
        """Return the highest bin that can contain the quantile: the share below its lower edge can be ``level``."""
        low, high = self._likeliest_bin(level), self._bins - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._is_possible(middle, level) else (low, middle - 1)
        return low

    def _likeliest_bin(self, level: float) -> int:
        return int(np.searchsorted(self._below[:-1], level))

    def _is_possible(self, edge: int, level: float) -> bool:
        below = np.arange(self._bins) < edge
        shares, short = self._likeliest(np.array([below, ~below], dtype=float), np.array([level, 1 - level]))
        ratio = 2 * self._n * (self._top - short - float(np.log(shares @ self._channel) @ self._reported))
        return not ratio > self._most  # also if the search has failed and the ratio is not a number

    def _likeliest(self, groups: Array, totals: Array) -> tuple[Array, float]:
        return constrained_likelihood(self._reported, self._channel, groups, totals, 1e-3 / self._n)


def constrained_likelihood(
    reported: Array, channel: Array, groups: Array, totals: Array, tolerance: float
) -> tuple[Array, float]:
    """Return the maximum likelihood bin shares, shape (bins,), among those with given totals of groups.

    The second value bounds by how much their log-likelihood of one report is short of the maximum.

    Args:
        reported: shares of reports by output, shape (outputs,).
        channel: P(output | bin), shape (bins, outputs).
        groups: 1 for the bins of each group, 0 for others, shape (groups, bins); each bin is in one group.
        totals: sum of the shares in each group, shape (groups,), positive.
        tolerance: error of the log-likelihood of one report at which the search ends.

    Maths: a primal-dual interior point method. Minimize -r' log(P' f) with G f = t, f >= 0; slack s >= 0 and prices v
        with G' v - P (r / P' f) = s and f_i s_i = m, m a tenth of the mean f_i s_i at each Newton step.
    """
    shares = groups.T @ (totals / groups.sum(axis=1))
    slack, prices = 1 / (len(channel) * shares), np.ones(len(groups))
    short = np.inf
    for _ in range(_NEWTON):
        fitted = shares @ channel
        residual = groups.T @ prices - channel @ (reported / fitted) - slack
        short = float(shares @ slack + np.abs(residual).max())
        if short < tolerance:
            break
        centre = 0.1 * float(shares @ slack) / len(shares) / shares - slack
        curvature = (channel * (reported / fitted**2)) @ channel.T + np.diag(slack / shares)
        solved = np.linalg.solve(curvature, np.column_stack([centre - residual, groups.T]))
        move, answers = solved[:, 0], solved[:, 1:]
        dearer = np.linalg.solve(groups @ answers, groups @ (shares + move) - totals)
        move = move - answers @ dearer
        looser = centre - slack / shares * move
        dual = _step_within(slack, looser)
        shares, slack, prices = (
            shares + _step_within(shares, move) * move,
            slack + dual * looser,
            prices + dual * dearer,
        )
    return shares, short


def _step_within(values: Array, move: Array) -> float:
    """Return the longest step of at most 1 after which positive values keep a twentieth of themselves."""
    return min(1.0, 0.95 / float(np.max(-move / values, initial=0.95)))
