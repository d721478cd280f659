"""Discrete noise: the error that is told of it, and the width that a delta asks for."""

import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from sottovoce.aggregator.curator.gaussian_delta import concentrated_delta, discrete_delta, gaussian_variance
from sottovoce.aggregator.curator.noise_distribution import gaussian_error, laplace_error, laplace_tail, largest_of
from sottovoce.audit.curator.noise_branches import noise_distribution

PHI = NormalDist().cdf


def analytic_delta(sigma, epsilon):
    """Of the continuous Gaussian with sensitivity 1."""
    return PHI(1 / (2 * sigma) - epsilon * sigma) - math.exp(epsilon) * PHI(-1 / (2 * sigma) - epsilon * sigma)


def analytic_sigma(epsilon, delta):
    """By bisection."""
    low, high = 0.01, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if analytic_delta(middle, epsilon) > delta else (low, middle)
    return high


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


@pytest.mark.parametrize(("p", "q", "shift", "epsilon"), [(1, 1, 1, 1.0), (5, 2, 2, 1.5), (9, 1, 3, 0.5)])
def test_delta_is_the_hockey_stick_of_the_running_sampler(p, q, shift, epsilon):
    """From all branches of the sampler, not from its formula."""
    found = noise_distribution(lambda draws: draws.discrete_gaussian(p, q))
    sticks = [share - math.exp(epsilon) * found.get(x - shift, 0.0) for x, share in found.items()]

    assert discrete_delta(Fraction(p, q), shift, epsilon) == pytest.approx(sum(s for s in sticks if s > 0), rel=1e-9)


@pytest.mark.parametrize(("steps", "epsilon", "ratio"), [(1, 3, 1.38), (4, 3, 1.03), (1, 1, 1.02)])
def test_sigma_of_the_continuous_law_is_too_small_on_a_grid(steps, epsilon, ratio):
    """By the printed factors, at delta 1e-6; the grown variance holds."""
    variance = Fraction(analytic_sigma(epsilon, 1e-6) * steps) ** 2

    assert discrete_delta(variance, steps, epsilon) / 1e-6 == pytest.approx(ratio, abs=0.005)
    grown, delta = gaussian_variance(Fraction(epsilon), Fraction(1, 10**6), steps**2, 1)
    assert delta == discrete_delta(grown, steps, epsilon) <= 1e-6
    assert 0.95 * variance < grown < 1.3 * variance


def test_several_numbers_hold_in_every_direction():
    """The conversion is above the exact delta of every whole shift of a vector of that length, and not by much."""
    variance, delta = gaussian_variance(Fraction(1), Fraction(1, 10**6), 25, 8)

    assert delta <= 1e-6
    assert all(discrete_delta(variance, shift, 1.0) <= 1e-6 for shift in range(1, 6))
    assert variance < 1.16 * gaussian_variance(Fraction(1), Fraction(1, 10**6), 25, 1)[0]


def test_concentrated_privacy_says_nothing_where_rho_is_large():
    """A delta is never above 1."""
    assert concentrated_delta(50.0, 0.1) == 1.0
