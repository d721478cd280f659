"""Exact laws of an audit: every branch of the running samplers, and the mechanisms as the registry has them."""

import math
from fractions import Fraction

import pytest
from sottovoce.audit.curator.noise_branches import exp_bounds, noise_distribution
from sottovoce.audit.exact_channel import inputs_of
from sottovoce.audit.reference_distribution import _DISTRIBUTIONS, reference_distribution
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.exact_noise import ExactNoise
from sottovoce.shared.spec import Question

from tests.absences import absences
from tests.surveys import every_type, survey

QUESTIONS = [*survey(name="every", questions=every_type()).questions, *absences().questions]

PRIVATE = [question for question in QUESTIONS if question.mechanism is not None]


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


@pytest.mark.parametrize("question", PRIVATE, ids=lambda question: question.name)
def test_law_is_the_mechanisms(question: Question) -> None:
    """Two derivations agree, to the last digit; and each row sums to 1."""
    distribution = reference_distribution(question.mechanism.dump(), question.domain)
    reports = [y for y in range(question.largest + 1) if question.admits(y)]
    for value in inputs_of(question, 20):
        row = [distribution(reported, value) for reported in reports]
        assert row == [question.mechanism.probability(reported, value) for reported in reports]
        assert sum(row, start=Fraction(0)) == 1


def test_every_mechanism_has_its_law() -> None:
    assert set(_DISTRIBUTIONS) == set(RANDOMIZERS)
