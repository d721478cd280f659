"""
Distributions from the square wave; the channel is in ``sottovoce.shared.mechanisms.square_wave``.

Histogram   Shares f of the D bins that make the reported counts likeliest, by expectation-maximization from the
            uniform distribution: f_i <- f_i sum_y (n_y/n) P(y|i) / sum_j P(y|j) f_j. Below 3,000 reports neighbours
            are averaged with weights 1, 2, 1 after each step, which halves the error there; with more reports it would
            erase the modes of a distribution with two.
            Intervals by percentile bootstrap of the reported counts with a fixed seed, so that one tally has one
            interval. Approximate, and labelled so: maximum likelihood is biased where a share is near 0. A resample of
            an empty bin stays empty, so a bin's limits are never nearer than z sqrt(l (1 - l) / n) / (a - b), the
            normal margin of an empty bin from the reports inside and outside its window: l = b, a = P(window | bin),
            b = P(window | far from it).
Mean        By scores that are unbiased for the mean value c_i of each bin's steps, of least variance for a uniform
            truth: z = W^-1 P' (P W^-1 P')^-1 c with the channel's rows P and W its column sums on the diagonal; the
            likeliest shares would be biased by .1 of the range where people stand at an end. Interval of ``means``,
            widened by the largest distance of a step from its bin's c_i, since people may all stand on one step.
Quantiles   From the cumulated shares, linear within a bin. Interval by inversion, at the resolution of bins: the score
            interval of the share below each edge, by the unbiased scores of that share, tells which bins can hold the
            quantile. At least nominal for every population (.99 and more in those tried); often the whole range where
            reports are few.
Forged      1 % of forged reports: a mean moves by the most extreme score; for shares and quantiles the largest change
            of the likeliest shares over all values that the forged reports could have, all the same one.
Source      Li et al. 2020 (likelihood); Woodruff 1952 (quantiles by inversion).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, mean_interval
from sottovoce.aggregator.estimators.numbers import grid_of
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import NumberVariable, Variable, of_table
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.square_wave import SquareWave

METHOD = "bootstrap"
INVERTED = "inverted"
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
RESAMPLES = 200
SMOOTHED_BELOW = 3000
_ROUNDS = 400
_SEED = 20201
_SETTLED = 1e-7

Array = NDArray[np.float64]


def estimate(
    mechanism: SquareWave, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """
    The mean, the quantiles and the histogram.

    Args:
        mechanism: the channel from D bins to D + 2 w outputs.
        tally: number of reports by output; missing means none.
        domain: the question's grid.
        rule: its confidence is used.

    Returns:
        "mean", one estimate a quantile ("q10" ... "q90") in the number's own unit, and the share of each bin by its
        first and last value ("0 to 9").

    Raises:
        EstimateError: impossible counts.
    """
    counts = _counts(mechanism, tally)
    edges = _edges(mechanism, domain)
    n = int(counts.sum())
    shares, forged = _likeliest(mechanism, counts, rule)
    summary = _Summary(n, rule)
    margin = _margin(mechanism, n, rule)
    least, most = edges[0], edges[-1]
    possible = _possible_bins(mechanism, counts, rule)
    found = [_mean(mechanism, tally, domain, rule)]
    for level in QUANTILES:
        values = _Drawn(*(np.array([quantile(row, edges, level) for row in rows]) for rows in (shares, forged)))
        estimate = summary.of("quantile", f"q{level * 100:.0f}", values, least, most)
        found.append(_inverted(estimate, edges[possible.first(level)], edges[possible.last(level) + 1]))
    for bin_, name in enumerate(_names(mechanism, domain)):
        found.append(summary.of("share", name, _Drawn(shares[:, bin_], forged[:, bin_]), 0.0, 1.0, margin))
    return found


def maximum_likelihood(reported: Array, channel: Array, smooth: bool = False) -> Array:
    """
    The likeliest bin shares behind each row of reported shares.

    Args:
        reported: (R, outputs) shares of the reports.
        channel: (bins, outputs) P(output | bin).
        smooth: average neighbouring bins after each step.

    Returns:
        (R, bins), each row on the simplex.
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
    """
    The number below which a share ``level`` lies, linear within a bin.

    Args:
        shares: of the D bins, shape (D,), summing to 1.
        edges: the bins' limits in the question's units, shape (D + 1,), ascending.
        level: a share between 0 and 1.
    """
    cumulated = np.concatenate([[0.0], np.cumsum(shares)])
    return float(np.interp(level, cumulated / cumulated[-1], edges))


def unbiased_scores(channel: Array, values: Array) -> Array:
    """
    The score of each output whose mean, with input i, is ``values[i]``: of all such scores the one of least variance
    for a uniform truth.

    Args:
        channel: (bins, outputs) P(output | bin), of full rank.
        values: (bins,) or (bins, k).

    Returns:
        (outputs,) or (outputs, k).

    Maths: least z' W z with P z = v, W the column sums of P: z = W^-1 P' (P W^-1 P')^-1 v.
    """
    weighted = channel / channel.sum(axis=0)
    scores: Array = weighted.T @ np.linalg.solve(weighted @ channel.T, values)
    return scores


def mean_channel(mechanism: SquareWave, domain: Domain) -> tuple[ScoredChannel, float]:
    """The bins' mean values with their scores; and how far a step may lie from its bin's, both in the number's unit."""
    channel, values = _channel(mechanism), _middles(mechanism, domain)
    scores = unbiased_scores(channel, values)
    firsts = [_first(mechanism, bin_) for bin_ in range(mechanism.bins + 1)]
    away = float(grid_of(domain).step) * max(end - 1 - first for first, end in pairwise(firsts)) / 2
    return ScoredChannel(tuple(values), tuple(scores), tuple(channel @ scores**2)), away


def _mean(mechanism: SquareWave, tally: Mapping[int, int], domain: Domain, rule: IntervalRule) -> Estimate:
    """By the scores of the bins' mean values; steps within a bin cannot be told apart, which widens the interval."""
    scored, away = mean_channel(mechanism, domain)
    found = estimate_mean("mean", tally, scored, rule)
    edges = _edges(mechanism, domain)
    least, most = float(edges[0]), float(edges[-1])
    return replace(
        found,
        clipped=None if found.raw is None else min(max(found.raw, least), most),
        low=max(found.low - away, least),
        high=min(found.high + away, most),
        simultaneous_low=max(found.simultaneous_low - away, least),
        simultaneous_high=min(found.simultaneous_high + away, most),
        lowest=least,
        highest=most,
    )


class _Possible(NamedTuple):
    """Limits for the share of people below each of the D + 1 edges, the first 0 and the last 1."""

    low: Array
    high: Array

    def first(self, level: float) -> int:
        """The lowest bin that can hold the quantile: not surely less than ``level`` lie below its upper edge."""
        return int(np.argmax(self.high[1:] >= level))

    def last(self, level: float) -> int:
        """The highest bin that can hold it: not surely as many lie below its lower edge."""
        return int(np.flatnonzero(self.low[:-1] < level)[-1])


def _possible_bins(mechanism: SquareWave, counts: Array, rule: IntervalRule) -> _Possible:
    bins, n = mechanism.bins, int(counts.sum())
    channel = _channel(mechanism)
    below = np.triu(np.ones((bins, bins - 1)))  # column j: bins 0 .. j lie below edge j + 1
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
    # The likeliest shares may put the quantile a little outside.
    if estimate.raw is None:
        return replace(estimate, method=INVERTED)
    return replace(estimate, low=min(float(low), estimate.raw), high=max(float(high), estimate.raw), method=INVERTED)


def _likeliest(mechanism: SquareWave, counts: Array, rule: IntervalRule) -> tuple[Array, Array]:
    """
    The likeliest shares, (1 + RESAMPLES, bins), of the counts and of resamples; and, (outputs, bins), of the counts
    with the rule's share of fakes, for each value that they could have. Without reports there are none.
    """
    n = int(counts.sum())
    if n == 0:
        return np.empty((0, mechanism.bins)), np.empty((0, mechanism.bins))
    generator = np.random.Generator(np.random.PCG64(_SEED))
    # Of the same people in several waves only one report each is surely independent of the others.
    size = max(n // rule.waves, 1)
    resampled = generator.multinomial(size, counts / n, size=RESAMPLES) / size
    forged = (1 - rule.fakes) * counts / n + rule.fakes * np.eye(len(counts))
    rows = maximum_likelihood(np.vstack([counts / n, resampled, forged]), _channel(mechanism), n < SMOOTHED_BELOW)
    return rows[: 1 + RESAMPLES], rows[1 + RESAMPLES :]


class _Drawn(NamedTuple):
    """A figure: its value and those of its resamples; and what forged reports would make of it."""

    values: Array
    forged: Array


class _Summary:
    """Makes estimates of figures."""

    def __init__(self, n: int, rule: IntervalRule) -> None:
        self._n, self._rule = n, rule

    def of(self, kind: str, option: str, drawn: _Drawn, least: float, most: float, margin: float = 0.0) -> Estimate:
        """One estimate, its limits at least ``margin`` away; the whole range without reports."""
        values = drawn.values
        raw = float(values[0]) if len(values) else None
        tail = (1 - self._rule.confidence) / 2
        limits: Sequence[float] = (least, most)
        if raw is not None:
            # The figure itself always lies within, however skewed its resamples are.
            low, high = np.quantile(values[1:], [tail, 1 - tail]).tolist()
            limits = (max(min(low, raw - margin), least), min(max(high, raw + margin), most))
        return Estimate(
            option=option,
            a=None,
            b=None,
            raw=raw,
            clipped=raw,
            std_error=None if raw is None else float(values[1:].std(ddof=1)),
            low=limits[0],
            high=limits[1],
            method=METHOD,
            confidence=self._rule.confidence,
            n=self._n,
            count=None,
            std_error_fixed=None,
            simultaneous_low=least,
            simultaneous_high=most,
            implausible=False,
            poisoning=most - least if raw is None else float(np.abs(drawn.forged - raw).max()),
            lowest=least,
            highest=most,
            kind=kind,
        )


def _margin(mechanism: SquareWave, n: int, rule: IntervalRule) -> float:
    if n == 0:
        return 1.0
    n = max(n // rule.waves, 1)
    near, far, window = mechanism.keep.numerator, mechanism.keep.denominator, 2 * mechanism.width + 1
    total = sum(mechanism.weights(0))
    a, b = window * near / total, window * far / total
    return normal_quantile(rule.confidence) * float(np.sqrt(b * (1 - b) / n)) / (a - b)


def _counts(mechanism: SquareWave, tally: Mapping[int, int]) -> Array:
    if any(not mechanism.admits(value) or count < 0 for value, count in tally.items()):
        raise EstimateError("the counts are impossible")
    return np.array([tally.get(value, 0) for value in range(mechanism.largest + 1)], dtype=float)


def _channel(mechanism: SquareWave) -> Array:
    rows = np.array([mechanism.weights(_first(mechanism, bin_)) for bin_ in range(mechanism.bins)], dtype=float)
    channel: Array = rows / rows.sum(axis=1, keepdims=True)
    return channel


def _first(mechanism: SquareWave, bin_: int) -> int:
    """The first step of a bin."""
    return -(-bin_ * (mechanism.steps + 1) // mechanism.bins)


def _edges(mechanism: SquareWave, domain: Domain) -> Array:
    """Where each bin begins, half a step below its first value, and where the last one ends."""
    grid = grid_of(domain)
    firsts = [_first(mechanism, bin_) for bin_ in range(mechanism.bins + 1)]
    inner = [float(grid.low + grid.step * (2 * first - 1) / 2) for first in firsts[1:-1]]
    return np.array([float(grid.low), *inner, float(grid.high)])


def _middles(mechanism: SquareWave, domain: Domain) -> Array:
    """The middle of the values in each bin."""
    grid = grid_of(domain)
    firsts = [_first(mechanism, bin_) for bin_ in range(mechanism.bins + 1)]
    return np.array([float(grid.low + grid.step * (a + b - 1) / 2) for a, b in pairwise(firsts)])


def _names(mechanism: SquareWave, domain: Domain) -> list[str]:
    grid = grid_of(domain)
    names = []
    for bin_ in range(mechanism.bins):
        first, last = _first(mechanism, bin_), _first(mechanism, bin_ + 1) - 1
        low, high = (grid.text(step) for step in (first, last))
        names.append(low if first == last else f"{low} to {high}")
    return names


def variables(mechanism: SquareWave, domain: Domain) -> list[Variable]:
    """One number, a level for the mean value of each bin's steps; within a bin a report tells nothing."""
    scored, _ = mean_channel(mechanism, domain)
    return [
        NumberVariable(
            levels=scored.levels,
            only_outcome="was reported by ranges, which say nothing of its spread within them",
            marks=tuple(map(Fraction, scored.scores)),
            chances=of_table(_channel(mechanism)),
        )
    ]
