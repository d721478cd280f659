"""Means: with n public or noisy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.aggregator.curator.sum import noisy_mean
from sottovoce.audit.curator.noise_branches import noise_distribution

from tests.unit.aggregator.curator.noises import NoNoise

REPLACE, ADD = ReleaseTerms(Fraction(1)), ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE)
MARKS = NumberGrid(Fraction(1), Fraction(6), Fraction(1))


def test_public_n_needs_noise_for_the_range_only():
    """One noisy sum over n; the sensitivity of the mean is the range over n."""
    draws = NoNoise()

    release = noisy_mean(np.array([0, 5, 5, 9]), MARKS, REPLACE, draws)

    assert draws.asked == [(1, 5)]
    assert release.values == {"mean": "19/4", "n": 4}
    assert "at most 5/4 if one record is replaced" in release.sensitivity


def test_noisy_n_gets_half_of_epsilon():
    """N and the sum of distances from the middle, whose sensitivity is half the range; n itself is not shown."""
    draws = NoNoise()

    release = noisy_mean(np.array([0, 5, 5]), MARKS, ADD, draws)

    assert draws.asked == [(1, 2), (1, 6)]
    assert release.values == {"mean": "13/3", "noisy_n": 3, "noisy_sum_from_middle": "4", "middle": "3"}


@pytest.mark.parametrize("terms", [REPLACE, ADD])
def test_mean_of_nobody_is_within_the_range(terms):
    """Without a division by zero."""
    assert noisy_mean(np.zeros(0, dtype=int), MARKS, terms, NoNoise()).values["mean"] == "3"


def test_neighbours_are_told_apart_by_epsilon_at_most():
    """Replacing the least value by the greatest one, from the running code."""
    grid = NumberGrid(Fraction(0), Fraction(3), Fraction(1))
    laws = [
        noise_distribution(lambda d, v=v: Fraction(noisy_mean(np.array([1, v]), grid, REPLACE, d).values["mean"]))
        for v in (0, 3)
    ]
    worst = max(abs(math.log(laws[0][x] / laws[1][x])) for x in laws[0])

    assert 0.999 < worst <= 1 + 1e-9
    assert (min(laws[0]), max(laws[0])) == (0, 3)
