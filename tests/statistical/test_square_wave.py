"""Distributions from the square wave: Wasserstein distances as published, and what smoothing costs."""

from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.estimators.square_wave import (
    QUANTILES,
    _mean,
    channel_of,
    constrained_likelihood,
    estimate,
    maximum_likelihood,
    middles_of_bins,
    quantile_limits,
    unbiased_scores,
)
from sottovoce.aggregator.estimators.support import DEFAULT_RULE
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded, simulate
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.square_wave import SquareWave

from tests.bench.square_wave import coverage
from tests.documents import number, parsed

BINS, RUNS = 32, 20


def skewed(generator: np.random.Generator, n: int) -> np.ndarray:
    """Numbers that lean to the lower end."""
    return generator.beta(2, 5, n)


def bimodal(generator: np.random.Generator, n: int) -> np.ndarray:
    return np.where(generator.random(n) < 0.5, generator.beta(20, 80, n), generator.beta(80, 20, n))


POPULATIONS = {"skewed": skewed, "bimodal": bimodal}


def wave(most: int, **parameters: Any) -> tuple[Domain, SquareWave]:
    """The range 0 .. most in steps of one, and the mechanism with these parameters."""
    asked = parsed(number(0, most, 1, {"name": "square_wave", **parameters}))
    assert isinstance(asked.mechanism, SquareWave)
    return asked.domain, asked.mechanism


def distance(population: str, n: int, smooth: bool) -> float:
    """Mean Wasserstein distance, in parts of the range, between the estimated and the sample's distribution."""
    mechanism = wave(31, odds="3")[1]
    generator = np.random.Generator(np.random.PCG64(n))
    distances = []
    for run in range(RUNS):
        truth = np.minimum((POPULATIONS[population](generator, n) * BINS).astype(np.int64), BINS - 1)
        reported = simulate(mechanism, truth, BatchDraws(seeded(f"{population} {n} {run}")))
        counts = np.bincount(reported.astype(np.int64), minlength=mechanism.largest + 1)
        found = maximum_likelihood(counts[None, :] / n, channel_of(mechanism), smooth)[0]
        gap = np.cumsum(found) - np.cumsum(np.bincount(truth, minlength=BINS) / n)
        distances.append(np.abs(gap).sum() / BINS)
    return float(np.mean(distances))


@pytest.mark.parametrize(
    ("population", "n", "smooth", "published"),
    [
        ("skewed", 1000, False, 0.039),
        ("skewed", 1000, True, 0.024),
        ("skewed", 10_000, False, 0.018),
        ("bimodal", 10_000, False, 0.021),
    ],
)
def test_distance_is_as_published(population: str, n: int, smooth: bool, published: float) -> None:
    """Within a third of the published figure, which is for populations of the same kind."""
    assert distance(population, n, smooth) == pytest.approx(published, rel=1 / 3)


def test_smoothing_would_erase_the_modes_of_a_large_sample() -> None:
    """Why it is used below 3,000 reports only."""
    assert distance("bimodal", 10_000, smooth=True) > 1.5 * distance("bimodal", 10_000, smooth=False)


STEPS = 100


def on_grid(population: str) -> np.ndarray:
    """The share of people at each of the steps 0 .. 100."""
    steps = np.arange(STEPS + 1)
    zero = (steps == 0).astype(float)
    middles = (steps + 0.5) / (STEPS + 1)
    shares = {
        "all zero": zero,
        "70 % zero": 0.7 * zero + 0.3 / len(steps),
        "tens": (steps % 10 == 0).astype(float),
        "beta(2, 5)": middles * (1 - middles) ** 4,
        "beta(1, 15)": (1 - middles) ** 14,
    }[population]
    return shares / shares.sum()


OTHERS = ("all zero", "tens", "beta(2, 5)", "beta(1, 15)")
STANDING = ["70 % zero", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
"""Where people stand; in each run most of them at zero."""


@pytest.mark.parametrize("odds", [pytest.param("3", marks=pytest.mark.slow), "20"])
@pytest.mark.parametrize("population", STANDING)
def test_mean_is_unbiased_and_covered_wherever_people_stand(population: str, odds: str) -> None:
    """At n = 50, 300 and 4,000: .95 less three standard errors of 400 runs; bias at most half a step of the bins."""
    domain, mechanism = wave(STEPS, odds=odds)
    shares = on_grid(population)
    table = np.array([mechanism.weights(step) for step in range(STEPS + 1)], dtype=float)
    reported = shares @ (table / table.sum(axis=1, keepdims=True))
    truth = float(shares @ np.arange(STEPS + 1))
    generator = np.random.Generator(np.random.PCG64(7))
    for n in (50, 300, 4000):
        found = [
            _mean(mechanism, dict(enumerate(counts.tolist())), domain, DEFAULT_RULE)
            for counts in generator.multinomial(n, reported, size=400)
        ]
        covered = np.mean([estimate.low <= truth <= estimate.high for estimate in found])
        raw = np.array([estimate.raw for estimate in found])
        assert covered >= 0.95 - 3 * (0.95 * 0.05 / 400) ** 0.5
        assert all(estimate.low < estimate.high for estimate in found)
        # The steps of one bin cannot be told apart: 101 steps in 32 bins are at most 4, and the middle 1.5 away.
        assert abs(raw.mean() - truth) <= 1.5 + 4 * raw.std() / 20


@pytest.mark.parametrize("population", STANDING)
def test_quantiles_are_covered_wherever_people_stand(population: str) -> None:
    """Every quantile at n = 50 and 4,000, people heaped or not: .95 less three standard errors of 40 runs."""
    domain, mechanism = wave(STEPS, odds="20")
    shares = on_grid(population)
    table = np.array([mechanism.weights(step) for step in range(STEPS + 1)], dtype=float)
    reported = shares @ (table / table.sum(axis=1, keepdims=True))
    truths = np.array([int(np.argmax(np.cumsum(shares) >= level - 1e-12)) for level in QUANTILES])
    generator = np.random.Generator(np.random.PCG64(8))
    for n in (50, 4000):
        drawn = generator.multinomial(n, reported, size=40)
        found = np.array([quantile_limits(mechanism, counts, domain, DEFAULT_RULE) for counts in drawn])
        covered = (found[:, :, 0] <= truths) & (truths <= found[:, :, 1])
        assert covered.mean(axis=0).min() >= 0.95 - 3 * (0.95 * 0.05 / 40) ** 0.5


@pytest.mark.parametrize("n", [0, 1, 2999, 3000, 100_000])
def test_shares_of_ranges_have_no_limits_at_any_count(n: int) -> None:
    """Most of their error is bias, which resampling does not show; nor standard errors. Mean and quantiles have."""
    domain, mechanism = wave(STEPS, odds="3")
    spike = np.array(mechanism.weights(0), dtype=float)
    tally = dict(enumerate(np.random.Generator(np.random.PCG64(n)).multinomial(n, spike / spike.sum()).tolist()))
    found = estimate(mechanism, tally, domain)
    bars = [each for each in found if each.kind == "share"]

    assert {(each.low, each.high, each.std_error, each.method) for each in bars} == {(None, None, None, "none")}
    assert all(each.low is not None and each.high is not None for each in found if each.kind != "share")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "odds", "name", "n"),
    [(100, "3", "bimodal", 300), (100, "7389/1000", "point", 300), (31, "3", "point", 3000)],
)
def test_intervals_cover_at_a_thousand_runs(steps: int, odds: str, name: str, n: int) -> None:
    """Mean and median: at least .93, in the settings of ``tests.bench.square_wave`` that cover least or are biased."""
    found = coverage(steps, odds, name, n)

    assert found.mean >= 0.93
    assert found.median >= 0.93


@pytest.mark.parametrize(("n", "edge", "level"), [(20, 4, 0.5), (300, 12, 0.1), (3000, 7, 0.9)])
def test_constrained_likelihood_is_that_of_expectation_maximization(n: int, edge: int, level: float) -> None:
    """Both find one maximum under a fixed share below an edge; the shares there are not unique."""
    mechanism = wave(15, odds="3")[1]
    channel = channel_of(mechanism)
    reported = np.random.Generator(np.random.PCG64(n)).multinomial(n, channel[[2, 9]].mean(axis=0)) / n
    below = np.arange(mechanism.bins) < edge
    groups, totals = np.array([below, ~below], dtype=float), np.array([level, 1 - level])
    found, short = constrained_likelihood(reported, channel, groups, totals, 1e-9)
    shares = np.full(mechanism.bins, 1 / mechanism.bins)
    for _ in range(5000):
        shares = shares * ((reported / (shares @ channel)) @ channel.T)
        shares *= groups.T @ (totals / (groups @ shares))

    assert groups @ found == pytest.approx(totals)
    assert short <= 1e-9
    assert np.log(found @ channel) @ reported == pytest.approx(np.log(shares @ channel) @ reported, abs=1e-6)


@pytest.mark.parametrize("bins", [2, 8, 65])
def test_quantiles_have_limits_with_few_reports_and_with_many_bins(bins: int) -> None:
    """None, one, two and five reports: low < high within the range."""
    domain, mechanism = wave(STEPS, odds="3", bins=bins)
    for n in (0, 1, 2, 5):
        counts = np.zeros(mechanism.largest + 1)
        counts[mechanism.largest // 2] = n
        limits = quantile_limits(mechanism, counts, domain, DEFAULT_RULE)
        assert all(0 <= low < high <= STEPS for low, high in limits)
        assert n > 0 or set(limits) == {(0, STEPS)}


def test_linear_scores_are_those_of_the_specification() -> None:
    """Four bins, odds 3, one step a bin at -1, -1/3, 1/3, 1: scores -2.5, -2, -1.5, 1.5, 2, 2.5."""
    mechanism = wave(3, odds="3", bins=4, width=1)[1]
    scores = unbiased_scores(channel_of(mechanism), np.array([-1, -1 / 3, 1 / 3, 1]))

    assert scores == pytest.approx([-2.5, -2, -1.5, 1.5, 2, 2.5])


def test_forged_reports_move_what_the_channel_lets_them() -> None:
    """1 % of forged reports: the mean by the most extreme score, and shares by more than 1 % of the people."""
    domain, mechanism = wave(STEPS, odds="3")
    tally = dict.fromkeys(range(mechanism.largest + 1), 100)
    found = estimate(mechanism, tally, domain)
    scores = unbiased_scores(channel_of(mechanism), middles_of_bins(mechanism, domain))
    worst = max(scores.max() - 1.5, 98.5 - scores.min())

    assert found[0].poisoning == pytest.approx(0.01 * worst, rel=0.02)
    assert all(0 < each.poisoning < 60 for each in found if each.kind == "quantile")
    assert max(each.poisoning for each in found if each.kind == "share") > 0.01
