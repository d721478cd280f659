"""The width of Gaussian noise: delta of the discrete distribution."""

import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from sottovoce.aggregator.curator.gaussian_delta import concentrated_delta, discrete_delta, gaussian_variance
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
