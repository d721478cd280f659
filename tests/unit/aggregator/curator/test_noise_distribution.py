"""The error that is told is that of the discrete noise."""

import math
from fractions import Fraction

import pytest
from sottovoce.aggregator.curator.noise_distribution import gaussian_error, laplace_error, laplace_tail, largest_of
from sottovoce.audit.curator.noise_branches import noise_distribution


@pytest.mark.parametrize(
    ("cells", "beta", "continuous", "discrete"), [(10, 0.05, 0.04889, 0.035657), (5, 0.5, 0.40951, 0.314701)]
)
def test_accuracy_theorem_meets_its_oracles(cells, beta, continuous, discrete):
    """Pr[largest error >= ln(k/beta) D/epsilon]: by the formula, and by the running sampler."""
    bound = math.log(cells / beta)
    found = noise_distribution(lambda draws: draws.discrete_laplace(1, 1))
    tail = sum(share for x, share in found.items() if abs(x) >= bound)

    assert 1 - (1 - math.exp(-bound)) ** cells == pytest.approx(continuous, abs=5e-6)
    assert largest_of(tail, cells) == pytest.approx(discrete, abs=5e-7)
    assert largest_of(laplace_tail(Fraction(1), math.ceil(bound)), cells) == pytest.approx(discrete, abs=5e-7)


def test_theorem_fails_as_it_is_told_and_holds_as_it_is_said_here():
    """Four cells under replace-one at epsilon 1: .0542 at the bound, less than .05 beyond its ceiling."""
    rate = Fraction(1, 2)
    bound = math.ceil(math.log(4 / 0.05) / rate)

    assert largest_of(laplace_tail(rate, bound), 4) == pytest.approx(0.0542, abs=5e-5)
    assert largest_of(laplace_tail(rate, bound + 1), 4) < 0.05


@pytest.mark.parametrize("cells", [1, 4, 10, 10_000])
@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(40)])
def test_told_laplace_error_is_the_smallest(cells, rate):
    """At t it is rare enough, at t - 1 not."""
    t = laplace_error(rate, cells)["t"]

    assert largest_of(laplace_tail(rate, t), cells) <= 0.05 < largest_of(laplace_tail(rate, t - 1), cells)


def test_ten_thousand_names():
    """ln(10,000 / .05) = 12.2061 at epsilon 1 under add/remove, and twice that under replace-one."""
    assert laplace_error(Fraction(1), 10_000)["theorem"]["figure"] == pytest.approx(12.2061, abs=5e-5)
    assert laplace_error(Fraction(1, 2), 10_000)["theorem"]["figure"] == pytest.approx(24.4121, abs=5e-5)


@pytest.mark.parametrize(("p", "q"), [(2, 1), (20, 1)])
def test_told_gaussian_error_is_that_of_the_running_sampler(p, q):
    """The smallest t, from all branches."""
    found = noise_distribution(lambda draws: draws.discrete_gaussian(p, q))
    told = gaussian_error(Fraction(p, q), 3)["t"]
    rare, common = (sum(share for x, share in found.items() if abs(x) >= t) for t in (told, told - 1))

    assert largest_of(rare, 3) <= 0.05 < largest_of(common, 3)


def test_very_wide_gaussian_errs_to_the_safe_side():
    """Beyond what is summed, by one step at most."""
    sigma = 10**6

    assert 1.959964 * sigma <= gaussian_error(Fraction(sigma**2), 1)["t"] <= 1.959964 * sigma + 3
