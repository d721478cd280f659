"""Sums: bounds, grid and relation make the noise."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.aggregator.curator.sum import noisy_sum
from sottovoce.audit.curator.noise_branches import noise_distribution

from tests.unit.aggregator.curator.noises import NoNoise

REPLACE, ADD = ReleaseTerms(Fraction(1)), ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE)
AGES = NumberGrid(Fraction(18), Fraction(98), Fraction(1))
ODD = NumberGrid(Fraction(-1, 2), Fraction(5, 2), Fraction(1, 3))


@pytest.mark.parametrize(
    ("grid", "terms", "rate", "number"),
    [
        (AGES, REPLACE, (1, 80), "80"),
        (AGES, ADD, (1, 98), "98"),
        (ODD, REPLACE, (1, 18), "3"),
        (ODD, ADD, (1, 15), "5/2"),
    ],
)
def test_noise_has_the_width_of_the_bounds(grid, terms, rate, number):
    """The largest value if a record comes or goes, the range if it becomes another one; in units of the grid."""
    draws = NoNoise()

    release = noisy_sum(np.array([0]), grid, terms, draws)

    assert draws.asked == [rate]
    assert f"at most {number} {terms.neighbours.in_words}" in release.sensitivity


def test_sum_is_exact_but_for_its_noise():
    """Fractions of the grid, values beyond the bounds clipped."""
    assert noisy_sum(np.array([0, 3, 9]), ODD, REPLACE, NoNoise()).values == {"sum": "5/2"}
    assert noisy_sum(np.array([-5, 1000]), AGES, REPLACE, NoNoise()).values == {"sum": str(18 + 98)}


def test_large_sums_do_not_overflow():
    """Three values of 2^31 steps of 2^40 each."""
    grid = NumberGrid(Fraction(0), Fraction(2**71), Fraction(2**40))

    assert noisy_sum(np.array([2**31] * 3), grid, REPLACE, NoNoise()).values == {"sum": str(3 * 2**71)}


def test_told_error_is_that_of_the_running_code():
    """Pr[|error| >= t] <= .05, and not at the next smaller value."""
    grid = NumberGrid(Fraction(0), Fraction(2), Fraction(1, 2))
    found = noise_distribution(lambda d: int(2 * Fraction(noisy_sum(np.array([1]), grid, REPLACE, d).values["sum"])))
    t = Fraction(noisy_sum(np.array([1]), grid, REPLACE, NoNoise()).error["t"])
    rare, common = (sum(p for x, p in found.items() if abs(Fraction(x - 1, 2)) >= e) for e in (t, t - Fraction(1, 2)))

    assert rare <= 0.05 < common


@pytest.mark.parametrize(("low", "high", "step"), [(1, 1, 1), (2, 1, 1), (0, 1, 0), (0, 5, 2), (0, 2**33, 1)])
def test_bounds_that_are_none_are_refused(low, high, step):
    """Equal, reversed, without a step, off the grid, too many steps."""
    with pytest.raises(ValueError, match=r"min must|step must|2\^32 steps"):
        NumberGrid(Fraction(low), Fraction(high), Fraction(step))
