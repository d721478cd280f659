"""Estimates from the square wave: histogram, mean, quantiles. The channel is in
``sottovoce.shared.mechanisms.square_wave``.

Histogram   Maximum likelihood shares f of the D bins, by expectation-maximization from the uniform distribution:
            f_i <- f_i sum_y (n_y/n) P(y|i) / sum_j P(y|j) f_j. Below 3,000 reports each step also averages neighbours
            with weights 1, 2, 1, which halves the error there; with more reports it would merge the modes of a
            bimodal distribution.
            Neither limits nor standard errors: most of the error is bias, which no resampling shows. Percentile
            bootstrap limits held the share of a bin with 60 % of the people in 0 of 10 samples of 2,000 reports,
            in 2 of 3,000 and in 0 of 100,000 (epsilon ln 3).
Mean        By scores that are unbiased for the mean value c_i of each bin's steps, of least variance for a uniform
            truth: z = W^-1 P' (P W^-1 P')^-1 c with the channel's rows P and W its column sums on the diagonal; the
            mean of the maximum likelihood shares would be biased by .1 of the range if the truth is at one end.
            Reports do not distinguish the steps within a bin, so the mean is known to be between L and U, the means if
            everyone is on the first or on the last step of their bin. Limits L^ - c s and U^ + c s, where s is the
            sample's standard error, one largest standard error of its own added, and at most the one in ``means``;
            Phi(c + d / s) - Phi(-c) = confidence, d the least distance of a bin's first and last step, so c is between
            the one-sided and the two-sided normal quantile.
Quantiles   From the cumulated shares, linear within a bin. Interval by inversion of the likelihood ratio test, at the
            resolution of bins: bins i whose largest likelihood with F(lower edge) <= level <= F(upper edge), F the
            share of people below, is at least exp(-z^2 / 2) of the maximum. F is constrained in one place; all else of
            the distribution is free, not smooth. The set is an interval around the maximum, since the constraint
            weakens with each bin towards it; its limits are the first step of the first bin and the last step of the
            last. The bound z^2 is for one free parameter; with shares near 0 it is approximate, mostly too large.
            Above 64 bins, since each likelihood takes bins^3 operations: by score intervals of the share below each
            edge, which cover .99 and more and with few reports are often the whole range.
Poisoning   1 % fake reports: a mean moves by the most extreme score; shares and quantiles by the largest change of the
            maximum likelihood shares if all fake reports have the same value, over all values.
Sources     Li et al. 2020 (likelihood); Woodruff 1952 (quantiles by inversion); Imbens and Manski 2004 (limits of the
            mean); Owen 1988 and Stanley, Patil and Kuusela 2022 (likelihood ratio under constraints of sign).
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.estimators.intervals import Array, halved, normal_quantile
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, grid_of, mean_interval
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import NumberVariable, of_table
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.square_wave import SquareWave

METHOD = "none"
"""Method of the bins, which have no limits."""
INVERTED = "inverted"
"""Method of the quantiles' intervals."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
RESAMPLES = 200
"""Bootstrap resamples."""
SMOOTHED_BELOW = 3000
"""Number of reports below which the histogram is smoothed."""
PROFILED_BINS = 64
"""Largest number of bins whose quantiles have likelihood ratio intervals."""
_ROUNDS = 400  # EM steps at most
_SEED = 20201  # fixed, so that equal tallies give equal intervals
_SETTLED = 1e-7  # largest change of a share at which EM has converged


class BinValues(NamedTuple):
    """First and last value of each bin, shape (D,)."""

    first: Array
    last: Array


def values_of_bins(mechanism: SquareWave, domain: Domain) -> BinValues:
    """Return the first and the last value of each bin, in the number's own unit."""
    grid, low = grid_of(domain), float(grid_of(domain).low)
    firsts = np.array(_first_steps(mechanism))
    return BinValues(low + float(grid.step) * firsts[:-1], low + float(grid.step) * (firsts[1:] - 1))


def channel_of(mechanism: SquareWave) -> Array:
    """Return P(output | bin), shape (D, D + 2 w)."""
    rows = np.array([mechanism.weights(step) for step in _first_steps(mechanism)[:-1]], dtype=float)
    channel: Array = rows / rows.sum(axis=1, keepdims=True)
    return channel


def _first_steps(mechanism: SquareWave) -> list[int]:
    """Return the first step of each bin, and the number of all steps."""
    return [-(-bin_ * (mechanism.steps + 1) // mechanism.bins) for bin_ in range(mechanism.bins + 1)]


def edges_of_bins(mechanism: SquareWave, domain: Domain) -> Array:
    """Return the D + 1 edges of the bins, inner ones halfway between neighbouring values."""
    grid = grid_of(domain)
    firsts = _first_steps(mechanism)
    inner = [float(grid.low + grid.step * (2 * first - 1) / 2) for first in firsts[1:-1]]
    return np.array([float(grid.low), *inner, float(grid.high)])


def middles_of_bins(mechanism: SquareWave, domain: Domain) -> Array:
    """Return the mean of the values in each bin, shape (D,)."""
    grid = grid_of(domain)
    firsts = _first_steps(mechanism)
    return np.array([float(grid.low + grid.step * (a + b - 1) / 2) for a, b in pairwise(firsts)])


def names_of_bins(mechanism: SquareWave, domain: Domain) -> list[str]:
    """Return the first and last value of each bin as words, such as "0 to 9"; one value if they are equal."""
    grid = grid_of(domain)
    spans = ((first, end - 1) for first, end in pairwise(_first_steps(mechanism)))
    return [f"{grid.text(low)} to {grid.text(high)}" if low < high else grid.text(low) for low, high in spans]


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
        likeliest = self._likeliest_bin(level)
        later = range(likeliest + 1, self._bins)
        return likeliest + bisect_left(later, True, key=lambda lower: not self._is_possible(lower, level))

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
        tolerance: error of the log-likelihood of one report that ends the search.

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
        shares = shares + _step_within(shares, move) * move
        slack, prices = slack + dual * looser, prices + dual * dearer
    return shares, short


def _step_within(values: Array, move: Array) -> float:
    """Return the longest step of at most 1 after which positive values keep a twentieth of themselves."""
    return min(1.0, 0.95 / float(np.max(-move / values, initial=0.95)))


def estimate(
    mechanism: SquareWave, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """Estimate the mean, the quantiles ("q10" ... "q90") and the share of each bin, named by its end values ("0 to 9").

    Of ``rule`` only confidence, waves and fakes are used.
    """
    if any(not mechanism.admits(value) or count < 0 for value, count in tally.items()):
        raise EstimateError("the counts are impossible")
    counts = np.array([tally.get(value, 0) for value in range(mechanism.largest + 1)], dtype=float)
    edges = edges_of_bins(mechanism, domain)
    n = int(counts.sum())
    shares, forged = _likeliest(mechanism, counts, rule)
    least, most = edges[0], edges[-1]
    estimates = [_mean(mechanism, tally, domain, rule)]
    for level, limits in zip(QUANTILES, quantile_limits(mechanism, counts, domain, rule), strict=True):
        values, others = (np.array([quantile(row, edges, level) for row in rows]) for rows in (shares, forged))
        estimates.append(_inverted(_summary(values, others, n, rule, f"q{level * 100:.0f}", (least, most)), *limits))
    for bin_, name in enumerate(names_of_bins(mechanism, domain)):
        estimates.append(_summary(shares[:1, bin_], forged[:, bin_], n, rule, name))
    return estimates


def maximum_likelihood(reported: Array, channel: Array, smooth: bool = False) -> Array:
    """Return the maximum likelihood bin shares for each row of reported shares, (R, bins), each row on the simplex.

    Args:
        reported: shares of reports by output, shape (R, outputs).
        channel: P(output | bin), shape (bins, outputs).
        smooth: average neighbouring bins after each step.
    """
    shares = np.full((len(reported), len(channel)), 1 / len(channel))
    for _ in range(_ROUNDS):
        better = shares * ((reported / (shares @ channel)) @ channel.T)
        if smooth:
            padded = np.pad(better, ((0, 0), (1, 1)), mode="edge")
            better = (padded[:, :-2] + 2 * better + padded[:, 2:]) / 4
        if np.abs(better - shares).max() < _SETTLED:
            return better
        shares = better
    return shares


def quantile(shares: Array, edges: Array, level: float) -> float:
    """Return the quantile of a histogram, linear within a bin.

    Args:
        shares: of the D bins, shape (D,).
        edges: of the bins, in the number's own unit, shape (D + 1,), ascending.
        level: share below the quantile, between 0 and 1.
    """
    cumulated = np.concatenate([[0.0], np.cumsum(shares)])
    return float(np.interp(level, cumulated / cumulated[-1], edges))


def unbiased_scores(channel: Array, values: Array) -> Array:
    """Return scores of the outputs whose mean with input i is ``values[i]``, of least variance for a uniform truth.

    ``channel`` is P(output | bin), shape (bins, outputs), of full rank; ``values`` are (bins,) or (bins, k), and so are
    the scores, with outputs for bins.

    Maths: least z' W z with P z = v, W the column sums of P: z = W^-1 P' (P W^-1 P')^-1 v.
    """
    weighted = channel / channel.sum(axis=0)
    scores: Array = weighted.T @ np.linalg.solve(weighted @ channel.T, values)
    return scores


def _mean(mechanism: SquareWave, tally: Mapping[int, int], domain: Domain, rule: IntervalRule) -> Estimate:
    """Estimate the mean, with limits for the mean of the bins' first values and for the mean of their last values."""
    estimate = estimate_mean("mean", tally, variables(mechanism, domain)[0].scored, rule)
    least, most = (float(edge) for edge in edges_of_bins(mechanism, domain)[[0, -1]])
    low, high = _mean_limits(mechanism, tally, values_of_bins(mechanism, domain), rule) or (least, most)
    return replace(
        estimate,
        clipped=None if estimate.raw is None else min(max(estimate.raw, least), most),
        low=low,
        high=high,
        simultaneous_low=low,
        simultaneous_high=high,
        lowest=least,
        highest=most,
    )


def _mean_limits(
    mechanism: SquareWave, tally: Mapping[int, int], values: BinValues, rule: IntervalRule
) -> tuple[float, float] | None:
    """Return the limits of the mean; None without reports."""
    channel = channel_of(mechanism)
    limits = []
    for side in values:
        scores = unbiased_scores(channel, side)
        scored = ScoredChannel(tuple(side), tuple(scores), tuple(channel @ scores**2))
        found = estimate_mean("mean", tally, scored, rule)
        if found.clipped is None:
            return None
        error = np.inf if found.std_error is None else found.std_error + float(np.ptp(scores)) / (2 * found.n)
        c = _quantile_between(rule.confidence, float((values.last - values.first).min()) / error)
        widest = mean_interval(found.raw, found.n, scored, 2 * NormalDist().cdf(c) - 1, rule.waves)
        margin = c * error + scored.gap / (2 * found.n)
        limits.append((max(widest[0], found.clipped - margin), min(widest[1], found.clipped + margin)))
    return limits[0][0], limits[1][1]


def _quantile_between(confidence: float, distance: float) -> float:
    """Return the c with Phi(c + distance) - Phi(-c) = confidence."""
    cdf = NormalDist().cdf
    return halved(lambda c: cdf(c + distance) - cdf(-c) < confidence, 0.0, normal_quantile(confidence))[1]


def quantile_limits(
    mechanism: SquareWave, counts: Array, domain: Domain, rule: IntervalRule, levels: Sequence[float] = QUANTILES
) -> list[tuple[float, float]]:
    """Return limits (low, high), low < high, of each quantile in the number's own unit; the whole range without
    reports.

    ``counts`` are of the outputs, shape (D + 2 w,); ``levels`` are shares below the quantiles, between 0 and 1; of
    ``rule`` only confidence and waves are used.
    """
    profiled = mechanism.bins <= PROFILED_BINS and counts.sum() > 0
    possible = (
        Profile(channel_of(mechanism), counts, rule.confidence, rule.waves)
        if profiled
        else _possible_bins(mechanism, counts, rule)
    )
    edges, values = edges_of_bins(mechanism, domain), values_of_bins(mechanism, domain)
    limits = []
    for level in levels:
        first, last = possible.first(level), possible.last(level)
        low, high = values.first[first], values.last[last]
        limits.append((float(low), float(high)) if low < high else (float(edges[first]), float(edges[last + 1])))
    return limits


class _Possible(NamedTuple):
    """Limits for the share of people below each of the D + 1 edges, shape (D + 1,); 0 at the first, 1 at the last."""

    low: Array
    high: Array

    def first(self, level: float) -> int:
        """Return the lowest bin that can contain the quantile: the upper limit at its upper edge reaches ``level``."""
        return int(np.argmax(self.high[1:] >= level))

    def last(self, level: float) -> int:
        """Return the highest bin that can contain the quantile: the lower limit at its lower edge is < ``level``."""
        return int(np.flatnonzero(self.low[:-1] < level)[-1])


def _possible_bins(mechanism: SquareWave, counts: Array, rule: IntervalRule) -> _Possible:
    bins, n = mechanism.bins, int(counts.sum())
    channel = channel_of(mechanism)
    below = np.triu(np.ones((bins, bins - 1)))  # column j: bins 0 .. j are below edge j + 1
    scores = unbiased_scores(channel, below)
    moments = channel @ scores**2
    low, high = [0.0], [1.0 if n == 0 else 0.0]
    for edge in range(bins - 1):
        outside, inside = moments[edge + 1 :, edge].max(), moments[: edge + 1, edge].max()
        scored = ScoredChannel((0.0, 1.0), tuple(scores[:, edge]), (float(outside), float(inside)))
        raw = float(counts @ scores[:, edge]) / n if n else None
        limits = mean_interval(raw, n, scored, rule.confidence, rule.waves)
        low.append(limits[0])
        high.append(limits[1])
    return _Possible(np.array([*low, 1.0]), np.array([*high, 1.0]))


def _inverted(estimate: Estimate, low: float, high: float) -> Estimate:
    # The point estimate is from maximum likelihood and may be slightly outside these limits.
    if estimate.raw is not None:
        low, high = min(low, estimate.raw), max(high, estimate.raw)
    return replace(estimate, low=low, high=high, method=INVERTED)


def _likeliest(mechanism: SquareWave, counts: Array, rule: IntervalRule) -> tuple[Array, Array]:
    """Return maximum likelihood shares of the counts and of bootstrap resamples, (1 + RESAMPLES, bins), and of poisoned
    counts.

    The last, (outputs, bins), has one row for each value that the fakes can have. Without reports neither has rows.
    """
    n = int(counts.sum())
    if n == 0:
        return np.empty((0, mechanism.bins)), np.empty((0, mechanism.bins))
    generator = np.random.Generator(np.random.PCG64(_SEED))
    # With several waves of the same people, only one report of each person is independent: resample n / waves.
    size = max(n // rule.waves, 1)
    resampled = generator.multinomial(size, counts / n, size=RESAMPLES) / size
    forged = (1 - rule.fakes) * counts / n + rule.fakes * np.eye(len(counts))
    rows = maximum_likelihood(np.vstack([counts / n, resampled, forged]), channel_of(mechanism), n < SMOOTHED_BELOW)
    return rows[: 1 + RESAMPLES], rows[1 + RESAMPLES :]


def _summary(
    values: Array, forged: Array, n: int, rule: IntervalRule, option: str, ends: tuple[float, float] | None = None
) -> Estimate:
    """Return an estimate without limits: of a share, or between ``ends`` a quantile.

    Args:
        values: of the reports, then of the resamples; without these it has no standard error.
        forged: values under poisoning.
    """
    raw = float(values[0]) if len(values) else None
    least, most = ends or (0.0, 1.0)
    return Estimate(
        option=option,
        raw=raw,
        clipped=raw,
        std_error=float(values[1:].std(ddof=1)) if len(values) > 1 else None,
        method=METHOD,
        confidence=rule.confidence,
        n=n,
        simultaneous_low=least,
        simultaneous_high=most,
        poisoning=most - least if raw is None else float(np.abs(forged - raw).max()),
        lowest=least,
        highest=most,
        kind="quantile" if ends else "share",
    )


def variables(mechanism: SquareWave, domain: Domain) -> list[NumberVariable]:
    """Return one number variable whose levels are the bins' mean values; for outcomes only."""
    channel, values = channel_of(mechanism), middles_of_bins(mechanism, domain)
    scores = unbiased_scores(channel, values)
    firsts = _first_steps(mechanism)
    return [
        NumberVariable(
            levels=tuple(values),
            only_outcome="was reported by ranges, which say nothing of its spread within them",
            marks=tuple(map(Fraction, scores)),
            moments=tuple(channel @ scores**2),
            blur=float(grid_of(domain).step) * max(end - 1 - first for first, end in pairwise(firsts)) / 2,
            chances=of_table(channel),
        )
    ]
