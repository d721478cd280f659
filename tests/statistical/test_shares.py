"""Shares: unbiased with the variance of theory, jointly covered, pooled right; all exactly from the channel."""

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from sottovoce.aggregator.estimators import Estimate, IntervalRule, estimate
from sottovoce.aggregator.estimators.answered_shares import pool
from sottovoce.aggregator.estimators.support import estimate_share
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.kary_rr import KaryRR

from tests.statistical.exact import Array, binomial

Channel = tuple[Fraction, Fraction]
Pair = tuple[tuple[Channel, int], tuple[Channel, int]]
COIN = (Fraction(3, 4), Fraction(1, 4))
WARNER = (Fraction(2, 3), Fraction(1, 3))
FORCED = (Fraction(11, 12), Fraction(1, 6))
FOUR = (Fraction(1, 2), Fraction(1, 6))
SHARES = np.array([0.0, 0.05, 0.2, 0.5, 0.93, 1.0])


@lru_cache(maxsize=64)
def all_estimates(channel: Channel, n: int) -> list[Estimate]:
    """The estimates of the counts 0 .. n."""
    return [estimate_share("yes", count, n, *channel) for count in range(n + 1)]


def probabilities(channel: Channel, n: int, shares: Array = SHARES) -> Array:
    """P(count) by share (rows)."""
    a, b = map(float, channel)
    return binomial(n, b + (a - b) * shares)


def bias_and_ratio(true: Channel, told: Channel, n: int) -> tuple[float, float]:
    """Largest bias, and largest distance of MSE / theory from 1, of estimates that are told another channel."""
    a, b = map(float, true)
    raw = np.array([estimate.raw for estimate in all_estimates(told, n)], dtype=float)
    weights = probabilities(true, n)
    reported = b + (a - b) * SHARES
    theory = reported * (1 - reported) / (n * (a - b) ** 2)
    mean = weights @ raw
    mse = (weights * (raw[None, :] - SHARES[:, None]) ** 2).sum(axis=1)
    return float(np.abs(mean - SHARES).max()), float(np.abs(mse / theory - 1).max())


@pytest.mark.parametrize("channel", [COIN, WARNER, FORCED, FOUR])
@pytest.mark.parametrize("n", [2, 17, 100, 300])
def test_shares_are_unbiased_with_the_error_of_theory(channel: Channel, n: int) -> None:
    """Bias 0 and MSE / theory 1, to rounding."""
    bias, ratio = bias_and_ratio(channel, channel, n)

    assert bias < 1e-10
    assert ratio < 1e-9


@pytest.mark.parametrize(
    ("true", "told"),
    [(COIN, (Fraction(77, 100), Fraction(1, 4))), (COIN, WARNER), (FORCED, (Fraction(5, 6), Fraction(1, 12)))],
)
def test_bias_catches_wrong_channels(true: Channel, told: Channel) -> None:
    """Probabilities a few percent off, another design, the two sides swapped."""
    bias, ratio = bias_and_ratio(true, told, 100)

    assert bias > 0.01
    assert ratio > 0.05


@pytest.mark.parametrize("channel", [COIN, FORCED])
def test_squared_errors_are_unbiased(channel: Channel) -> None:
    """E[std_error^2] is the variance: i.i.d., and for a fixed population where no clipping acts."""
    a, b = map(float, channel)
    weights = probabilities(channel, 40)
    errors = np.array([estimate.std_error for estimate in all_estimates(channel, 40)], dtype=float)
    reported = b + (a - b) * SHARES

    assert weights @ errors**2 == pytest.approx(reported * (1 - reported) / (40 * (a - b) ** 2), rel=1e-9)


def test_clipping_before_averaging_is_biased() -> None:
    """Folk error 11: many strata of n = 300 at p = .02 average .006 too high and more when clipped; raw ones do not."""
    for p, least in ((0.02, 0.006), (0.0, 0.006)):
        weights = probabilities(COIN, 300, np.array([p]))[0]
        clipped = np.array([estimate.clipped for estimate in all_estimates(COIN, 300)], dtype=float)
        raw = np.array([estimate.raw for estimate in all_estimates(COIN, 300)], dtype=float)

        assert weights @ raw == pytest.approx(p, abs=1e-12)
        assert weights @ clipped - p > least


# Joint limits of several options.


@lru_cache(maxsize=4)
def joint_table(odds: int, n: int) -> tuple[Array, Array, Array]:
    """All tallies of n reports over three options, their log multiplicities, and (tally, option, four limits)."""
    tallies = [(x, y, n - x - y) for x in range(n + 1) for y in range(n + 1 - x)]
    logs = [math.lgamma(n + 1) - sum(math.lgamma(c + 1) for c in tally) for tally in tallies]
    mechanism = KaryRR(Fraction(odds), 3)
    limits = []
    for tally in tallies:
        estimates = estimate(mechanism, dict(enumerate(tally)), Domain(("x", "y", "z")))
        limits.append([(e.low, e.high, e.simultaneous_low, e.simultaneous_high) for e in estimates])
    return np.array(tallies), np.array(logs), np.array(limits)


def joint_coverage(odds: int, n: int, *, simultaneous: bool) -> float:
    """Least probability, over a grid of truths, that all three intervals hold their share."""
    tallies, logs, limits = joint_table(odds, n)
    side = 2 if simultaneous else 0
    least = 1.0
    for x, y in itertools.product(np.linspace(0, 1, 11), repeat=2):
        if x + y > 1:
            continue
        truth = np.array([x, y, max(1 - x - y, 0.0)])
        reported = (1 + (odds - 1) * truth) / (odds + 2)
        inside = (limits[:, :, side] <= truth + 1e-12) & (truth - 1e-12 <= limits[:, :, side + 1])
        least = min(least, float(np.exp(logs + tallies @ np.log(reported))[inside.all(axis=1)].sum()))
    return least


@pytest.mark.parametrize("odds", [3, 20])
def test_joint_limits_hold_together(odds: int) -> None:
    """Three options, n = 30, every tally, every truth on a grid: at least .95."""
    assert joint_coverage(odds, 30, simultaneous=True) >= 0.95


def test_joint_coverage_catches_single_limits() -> None:
    """Plain 95 percent limits hold together less often."""
    assert joint_coverage(20, 30, simultaneous=False) < 0.93


# Pooling.


def fields(estimates: list[list[Estimate]], name: str) -> Array:
    return np.array([[getattr(estimate, name) for estimate in row] for row in estimates], dtype=float)


def pooled(first: tuple[Channel, int], second: tuple[Channel, int]) -> list[list[Estimate]]:
    rows, columns = all_estimates(*first), all_estimates(*second)
    return [[pool([[row], [column]])[0] for column in columns] for row in rows]


def pair_weights(first: tuple[Channel, int], second: tuple[Channel, int], p: float) -> Array:
    """P(pair of counts) at share p."""
    at = np.array([p])
    return np.outer(probabilities(*first, at)[0], probabilities(*second, at)[0])


def test_pooling_has_the_variance_of_the_specification() -> None:
    """Coin flip n = 300 and Warner n = 700 at p = .2: .00153, where weighting by n gives .00179."""
    pair = (COIN, 300), (WARNER, 700)
    weights = pair_weights(*pair, 0.2)
    likely = [np.flatnonzero(weights.sum(axis=axis) > 1e-7)[::4] for axis in (1, 0)]
    estimates = [all_estimates(*stratum) for stratum in pair]
    # The weights move slowly with the counts: a quarter of the counts in each direction is enough.
    raw = np.array([[pool([[estimates[0][x]], [estimates[1][y]]])[0].raw for y in likely[1]] for x in likely[0]])
    mass = weights[np.ix_(*likely)]
    by_n = np.add.outer(
        *(share * np.array([estimates[i][x].raw for x in likely[i]], dtype=float) for i, share in ((0, 0.3), (1, 0.7)))
    )
    variances = [float((mass * (values - 0.2) ** 2).sum() / mass.sum()) for values in (raw, by_n)]

    assert variances == pytest.approx([0.00153, 0.001785], abs=5e-6)


@pytest.mark.parametrize(
    "pair",
    [((COIN, 20), (WARNER, 20)), ((COIN, 10), (WARNER, 40)), ((COIN, 20), (FORCED, 20)), ((FORCED, 6), (COIN, 40))],
)
def test_pooled_shares_are_covered_and_all_but_unbiased(pair: Pair) -> None:
    """Every pair of counts: coverage at least .95, bias below a thousandth, error near the best possible."""
    estimates = pooled(*pair)
    low, high, raw = (fields(estimates, name) for name in ("low", "high", "raw"))
    for p in np.linspace(0, 1, 21):
        weights = pair_weights(*pair, p)
        precision = 0.0
        for (a, b), n in pair:
            reported = float(b + (a - b) * Fraction(p))
            precision += n * float(a - b) ** 2 / (reported * (1 - reported))

        assert weights[(low <= p + 1e-12) & (p - 1e-12 <= high)].sum() >= 0.95
        assert abs((weights * raw).sum() - p) < 1e-3
        assert (weights * (raw - p) ** 2).sum() < 1.05 / precision


def test_pooled_coverage_catches_each_stratum_judging_itself() -> None:
    """Mutant: weights from each stratum's own standard error are biased towards the edge."""
    first, second = all_estimates(COIN, 10), all_estimates(FORCED, 10)
    worst = 0.0
    for p in (0.05, 0.95):
        weights = pair_weights((COIN, 10), (FORCED, 10), p)
        total = 0.0
        for (x, row), (y, column) in itertools.product(enumerate(first), enumerate(second)):
            precision = [1 / max(e.std_error or 0, 1e-6) ** 2 for e in (row, column)]
            raw = (precision[0] * (row.raw or 0) + precision[1] * (column.raw or 0)) / sum(precision)
            total += weights[x, y] * raw
        worst = max(worst, abs(total - p))

    assert worst > 0.02


def test_rule_reaches_every_estimator() -> None:
    """The registry's estimators take the interval rule."""
    rule = IntervalRule("wilson", 0.9)
    estimates = estimate(KaryRR(Fraction(3), 3), {0: 5, 1: 3}, Domain(("x", "y", "z")), rule)

    assert {(e.method, e.confidence) for e in estimates} == {("wilson", 0.9)}
