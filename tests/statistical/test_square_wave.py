"""Distributions from the square wave: Wasserstein distances as published, and what smoothing costs."""

import numpy as np
import pytest
from sottovoce.aggregator.estimators.square_wave import _channel, maximum_likelihood
from sottovoce.aggregator.planning.batch_randomizers import BatchDraws, seeded, simulate
from sottovoce.shared.mechanisms.square_wave import SquareWave

from tests.documents import number, parsed

BINS, RUNS = 32, 20


def skewed(generator: np.random.Generator, n: int) -> np.ndarray:
    """Numbers that lean to the lower end."""
    return generator.beta(2, 5, n)


def bimodal(generator: np.random.Generator, n: int) -> np.ndarray:
    """Two groups of equal size."""
    return np.where(generator.random(n) < 0.5, generator.beta(20, 80, n), generator.beta(80, 20, n))


POPULATIONS = {"skewed": skewed, "bimodal": bimodal}


def distance(population: str, n: int, smooth: bool) -> float:
    """Mean Wasserstein distance, in parts of the range, between the estimated and the sample's distribution."""
    mechanism = parsed(number(0, 31, 1, {"name": "square_wave", "odds": "3"})).mechanism
    assert isinstance(mechanism, SquareWave)
    generator = np.random.Generator(np.random.PCG64(n))
    distances = []
    for run in range(RUNS):
        truth = np.minimum((POPULATIONS[population](generator, n) * BINS).astype(np.int64), BINS - 1)
        reported = simulate(mechanism, truth, BatchDraws(seeded(f"{population} {n} {run}")))
        counts = np.bincount(reported.astype(np.int64), minlength=mechanism.largest + 1)
        found = maximum_likelihood(counts[None, :] / n, _channel(mechanism), smooth)[0]
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
