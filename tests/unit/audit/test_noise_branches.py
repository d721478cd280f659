"""The running samplers have the agreed distributions: every branch of their code, not a sample of it."""

import math
from fractions import Fraction

import pytest
from sottovoce.audit.curator.noise_branches import exp_bounds, noise_distribution
from sottovoce.shared.exact_noise import ExactNoise


@pytest.mark.parametrize(("n", "d"), [(0, 1), (1, 1), (1, 3), (2, 3), (3, 2), (9, 10)])
def test_bernoulli_exp_has_its_probability(n, d):
    """The sums of its branches are fractions that enclose e^(-n/d); the series encloses it too."""
    low, high = exp_bounds(n, d)
    terms = [Fraction(-n, d) ** k / math.factorial(k) for k in range(60)]

    assert low <= high
    assert high - low < Fraction(1, 10**24)
    assert low - Fraction(1, 10**24) <= sum(terms) <= high + Fraction(1, 10**24)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 2), (1, 10), (11, 10), (3, 2)])
def test_discrete_laplace_has_its_distribution(n, d):
    """P(x) = (1 - a) / (1 + a) a^|x|."""
    found = noise_distribution(lambda draws: draws.discrete_laplace(n, d))
    a = math.exp(-n / d)

    assert len(found) > 20
    assert max(abs(share - (1 - a) / (1 + a) * a ** abs(x)) for x, share in found.items()) < 1e-14


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (5, 2), (20, 1)])
def test_discrete_gaussian_has_its_distribution(p, q):
    """P(x) ~ e^(-x^2 / (2 p/q))."""
    found = noise_distribution(lambda draws: draws.discrete_gaussian(p, q))
    weights = {x: math.exp(-x * x * q / (2 * p)) for x in range(-60, 61)}
    whole = math.fsum(weights.values())

    assert len(found) > 8
    assert max(abs(share - weights[x] / whole) for x, share in found.items()) < 1e-13


def test_walk_runs_the_code_and_not_its_formula():
    """A sampler that forgets to draw a negative zero anew has zero too often, and is seen."""

    class Forgetful(ExactNoise):
        def laplace_attempt(self, n, d):
            size = self.geometric(n, d)
            return size if self.bernoulli(1, 2) else -size

    def draw(draws):
        return Forgetful.laplace_attempt(draws, 1, 1)

    assert noise_distribution(draw)[0] == pytest.approx(1 - math.exp(-1))
