"""Intervals for a mean keep their promise: exact laws of the sum of scores, by convolution."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, mean_interval

from tests.statistical.exact import Array


@dataclass(frozen=True)
class Tabled(ScoredChannel):
    """A scored channel that remembers its table, for exact convolutions."""

    table: tuple[tuple[int, ...], ...] = ()


def tabled(levels: tuple[float, ...], scores: tuple[float, ...], table: tuple[tuple[int, ...], ...]) -> Tabled:
    made = ScoredChannel.from_table(levels, scores, table)
    return Tabled(made.levels, made.scores, made.second_moments, table)


LN3 = tabled(
    levels=(-1.0, -0.5, 0.0, 0.5, 1.0),
    scores=(-2.5, -2.25, -1.75, -1.5, 0.0, 1.5, 1.75, 2.25, 2.5),
    table=(
        (54, 45, 45, 30, 8, 10, 15, 15, 18),
        (18, 45, 45, 30, 24, 30, 15, 15, 18),
        (18, 15, 45, 30, 24, 30, 45, 15, 18),
        (18, 15, 15, 30, 24, 30, 45, 45, 18),
        (18, 15, 15, 10, 8, 30, 45, 45, 54),
    ),
)
"""A linear program's table on five levels with epsilon ln 3; scores on a grid of 1/4."""

TWO = tabled(
    levels=(-1.0, -0.5, 0.0, 0.5, 1.0),
    scores=(-1.5, -1.25, -1.0, 0.0, 1.0, 1.25, 1.5),
    table=(
        (621474493, 55980998, 154329657, 55644974, 20886248, 7576204, 84107426),
        (288141159, 55980998, 154329657, 388978308, 20886248, 7576204, 84107426),
        (84107426, 55980998, 154329657, 411163838, 154329657, 55980998, 84107426),
        (84107426, 7576204, 20886248, 388978308, 154329657, 55980998, 288141159),
        (84107426, 7576204, 20886248, 55644974, 154329657, 55980998, 621474493),
    ),
)
"""The same for epsilon 2, five levels by seven scores; entries rounded to parts of 10^9."""


def geometric(steps: int, inverse: int) -> Tabled:
    """The clamped geometric on 0 .. steps with ratio r = 1 / inverse, with its unbiased edge scores.

    Weights in units that make them whole: P(noise = j) is r^|j| (1 - r) / (1 + r), the tails pile up at the edges.
    """
    r, top = inverse, inverse**steps  # r^-1 and a common multiple of the powers
    rows = []
    for x in range(steps + 1):
        row = [(r - 1) * top // r ** abs(y - x) for y in range(steps + 1)]
        row[0] = r * top // r**x
        row[steps] = r * top // r ** (steps - x)
        rows.append(tuple(row))
    edge = 1 / (inverse - 1)
    scores = (-edge, *map(float, range(1, steps)), steps + edge)
    return tabled(tuple(map(float, range(steps + 1))), scores, tuple(rows))


def kary_scores(levels: int, odds: int) -> Tabled:
    """A rating through k-ary randomized response: scores (v - b sum v) / (a - b)."""
    den = odds + levels - 1
    total = sum(range(levels)) / den
    scores = tuple((value - total) * den / (odds - 1) for value in range(levels))
    table = tuple(tuple(odds if x == y else 1 for y in range(levels)) for x in range(levels))
    return tabled(tuple(map(float, range(levels))), scores, table)


CHANNELS: dict[str, tuple[Tabled, int]] = {
    "table ln 3": (LN3, 4),
    "table 2": (TWO, 4),
    "geometric 4, 1/2": (geometric(4, 2), 1),
    "geometric 6, 1/3": (geometric(6, 3), 2),
    "rating 5, odds 3": (kary_scores(5, 3), 2),
}
"""Channel, and the number that makes its scores whole (after a shift)."""


def beta_levels(levels: int) -> Array:
    """Beta(2, 5) over the range, rounded at random to its levels: exact weights by fine summation."""
    t = (np.arange(20_000) + 0.5) / 20_000
    density = t * (1 - t) ** 4
    place = t * (levels - 1)
    base = place.astype(int)
    weights = np.bincount(base, density * (1 - place + base), levels) + np.bincount(
        base + 1, density * (place - base), levels
    )
    return weights / weights.sum()


def populations(levels: int) -> dict[str, Array]:
    """Shares of the levels in five populations: an edge, a constant near the middle, both edges, uniform, skewed."""
    edge, constant, split = np.zeros(levels), np.zeros(levels), np.zeros(levels)
    edge[0] = 1
    constant[levels // 2], constant[levels // 2 + 1] = 0.94, 0.06
    split[[0, -1]] = 0.5
    uniform = np.full(levels, 1 / (levels - 1))
    uniform[[0, -1]] /= 2
    return {"edge": edge, "constant": constant, "split": split, "uniform": uniform, "skewed": beta_levels(levels)}


@lru_cache(maxsize=64)
def power(base: tuple[float, ...], n: int) -> Array:
    """The law of a sum of n, by repeated squaring."""
    if n == 1:
        return np.array(base)
    half = power(base, n // 2)
    whole = np.convolve(half, half)
    return np.convolve(whole, np.array(base)) if n % 2 else whole


def distribution(channel: Tabled, whole: int, shares: Array, n: int) -> tuple[Array, Array]:
    """(values of the mean of n scores, their probabilities)."""
    table = np.array(channel.table, dtype=float)
    reports = shares @ (table / table.sum(axis=1, keepdims=True))
    scores = np.array(channel.scores)
    places = np.rint((scores - scores.min()) * whole).astype(int)
    assert np.allclose(places / whole + scores.min(), scores)
    base = np.zeros(places.max() + 1)
    np.add.at(base, places, reports)
    probabilities = power(tuple(base), n)
    return np.arange(len(probabilities)) / whole / n + scores.min(), probabilities


Interval = Callable[[float, int, ScoredChannel, float], tuple[float, float]]


def least_coverage(name: str, n: int, interval: Interval = mean_interval) -> float:
    channel, whole = CHANNELS[name]
    covers = []
    for shares in populations(len(channel.levels)).values():
        values, probabilities = distribution(channel, whole, shares, n)
        truth = float(shares @ channel.levels)
        likely = probabilities > 1e-12  # together below 1e-8: counted as misses
        limits = np.array([interval(float(v), n, channel, 0.95) for v in values[likely]])
        inside = (limits[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= limits[:, 1])
        covers.append(probabilities[likely][inside].sum())
    return float(min(covers))


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("n", [5, 20, 50, pytest.param(200, marks=pytest.mark.slow)])
def test_mean_intervals_cover_at_least_95_percent(name: str, n: int) -> None:
    """Five populations, exactly."""
    assert least_coverage(name, n) >= 0.95


@pytest.mark.parametrize("name", CHANNELS)
def test_means_are_unbiased_with_the_variance_of_theory(name: str) -> None:
    """E of the estimate is the mean and its variance is at most V / n; E of the squared error estimate is right."""
    channel, whole = CHANNELS[name]
    for shares in populations(len(channel.levels)).values():
        values, probabilities = distribution(channel, whole, shares, 20)
        truth = float(shares @ channel.levels)
        variance = float(probabilities @ (values - truth) ** 2)
        own = float(shares @ channel.second_moments) - truth**2

        assert float(probabilities @ values) == pytest.approx(truth, abs=1e-7)
        assert variance == pytest.approx(own / 20, rel=1e-6)
        assert variance <= channel.variance(truth) / 20 * (1 + 1e-6)


def test_squared_std_error_is_unbiased() -> None:
    """All tallies of two reports through the ln 3 table, uniform truths."""
    shares = populations(5)["uniform"]
    reports = shares @ (np.array(LN3.table) / 240)
    expected = total = 0.0
    for first in range(9):
        for second in range(9):
            tally = {first: 1, second: 1} if first != second else {first: 2}
            error = estimate_mean("mean", tally, LN3).std_error
            assert error is not None
            expected += reports[first] * reports[second] * error**2
            total += reports[first] * reports[second]

    assert total == pytest.approx(1)
    assert expected == pytest.approx(float(shares @ LN3.second_moments) / 2, rel=1e-9)


# Mutants.


def test_coverage_catches_the_spread_of_the_sample() -> None:
    """A normal interval with the sample's own standard deviation covers .78 to .92 at n = 5 and 20."""
    channel, _ = CHANNELS["table ln 3"]
    reports = populations(5)["skewed"] @ (np.array(channel.table) / 240)
    rng = np.random.default_rng(20)
    scores, truth = np.array(channel.scores), float(populations(5)["skewed"] @ channel.levels)
    for n, most in ((5, 0.90), (20, 0.945)):
        drawn = rng.choice(scores, (20_000, n), p=reports)
        half = 1.96 * drawn.std(axis=1, ddof=1) / math.sqrt(n)

        assert np.mean(np.abs(drawn.mean(axis=1) - truth) <= half) < most


def test_coverage_catches_noise_in_the_place_of_the_variance() -> None:
    """The channel's noise alone takes the population as given."""

    class NoiseOnly(ScoredChannel):
        def variance(self, mean: float) -> float:
            return self.noise(mean)

    def noise_only(raw: float, n: int, channel: Tabled, confidence: float) -> tuple[float, float]:
        return mean_interval(raw, n, NoiseOnly(channel.levels, channel.scores, channel.second_moments), confidence)

    assert least_coverage("table 2", 50, noise_only) < 0.9


def test_coverage_catches_scores_a_few_percent_off() -> None:
    """Scores of another epsilon are refused as biased, and a wrong range misses."""
    with pytest.raises(Exception, match="not unbiased"):
        tabled(LN3.levels, tuple(score * 1.03 for score in LN3.scores), LN3.table)

    def shrunk(raw: float, n: int, channel: Tabled, confidence: float) -> tuple[float, float]:
        low, high = mean_interval(raw, n, channel, confidence)
        middle = (low + high) / 2
        return middle + (low - middle) * 0.9, middle + (high - middle) * 0.9

    assert least_coverage("table ln 3", 200, shrunk) < 0.95
