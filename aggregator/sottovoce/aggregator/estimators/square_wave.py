"""
Distributions from the square wave; the channel is in ``sottovoce.shared.mechanisms.square_wave``.

Histogram   Shares f of the D bins that make the reported counts likeliest, by expectation-maximization from the
            uniform distribution: f_i <- f_i sum_y (n_y/n) P(y|i) / sum_j P(y|j) f_j. Below 3,000 reports neighbours
            are averaged with weights 1, 2, 1 after each step, which halves the error there; with more reports it would
            erase the modes of a distribution with two.
Quantiles   From the cumulated shares, linear within a bin.
Mean        Of the bins' middle values.
Intervals   Percentile bootstrap of the reported counts with a fixed seed, so that one tally has one interval.
            Approximate, and labelled so: maximum likelihood is biased where a share is near 0. A resample of an empty
            bin stays empty, so a bin's limits are never nearer than z sqrt(l (1 - l) / n) / (a - b), the normal
            margin of an empty bin from the reports inside and outside its window: l = b, a = P(window | bin),
            b = P(window | far from it).
Source      Li et al. 2020.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.numbers import grid_of
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, FAKES, Estimate, IntervalRule
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.square_wave import SquareWave

METHOD = "bootstrap"
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
    if n == 0:
        shares = np.empty((0, mechanism.bins))
    else:
        generator = np.random.Generator(np.random.PCG64(_SEED))
        resampled = generator.multinomial(n, counts / n, size=RESAMPLES)
        shares = maximum_likelihood(np.vstack([counts, resampled]) / n, _channel(mechanism), n < SMOOTHED_BELOW)
    summary = _Summary(n, rule)
    margin = _margin(mechanism, n, rule)
    least, most = edges[0], edges[-1]
    middles = _middles(mechanism, domain)
    found = [summary.of("mean", "mean", shares @ middles, least, most)]
    for level in QUANTILES:
        values = np.array([quantile(row, edges, level) for row in shares])
        found.append(summary.of("quantile", f"q{level * 100:.0f}", values, least, most))
    names = _names(mechanism, domain)
    found += [summary.of("share", name, shares[:, bin_], 0.0, 1.0, margin) for bin_, name in enumerate(names)]
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


class _Summary:
    """Makes estimates of columns whose first entry is the figure and whose others are its resamples."""

    def __init__(self, n: int, rule: IntervalRule) -> None:
        self._n, self._rule = n, rule

    def of(
        self, kind: str, option: str, values: Array, least: float, most: float, margin: float = 0.0
    ) -> Estimate:
        """One estimate, its limits at least ``margin`` away; the whole range without reports."""
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
            poisoning=FAKES * (most - least),
            lowest=least,
            highest=most,
            kind=kind,
        )


def _margin(mechanism: SquareWave, n: int, rule: IntervalRule) -> float:
    if n == 0:
        return 1.0
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
