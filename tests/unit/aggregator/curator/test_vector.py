"""Vectors: the noise with less error, chosen without a look at the data, and said."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.curator.clipping import Ball
from sottovoce.aggregator.curator.gaussian_delta import discrete_delta
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.aggregator.curator.vector import choose, vector

from tests.unit.aggregator.curator.noises import NoNoise

REPLACE, ADD = ReleaseTerms(Fraction(1)), ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE)
SMALL = Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("norm", "terms", "length"), [(1, ADD, 100), (1, REPLACE, 200), (2, ADD, 300), (2, REPLACE, 600)]
)
def test_laplace_has_the_l1_sensitivity(norm, terms, length):
    """R in an L1 ball, sqrt(d) R in an L2 ball, twice that if a record becomes another one."""
    draws = NoNoise()

    release = vector(np.array([[1] * 9, [2] * 9]), Ball(norm, 100, 9), terms, draws)

    assert release.values == {"vector": [3] * 9}
    assert draws.asked == [(1, length)] * 9
    assert f"at most {length} steps in L1" in release.sensitivity
    assert release.charge.delta == 0


@pytest.mark.parametrize(("coordinates", "name"), [(3, "discrete Laplace"), (100, "discrete Gaussian")])
def test_noise_with_less_error_is_taken_and_said(coordinates, name):
    """Laplace for few coordinates of an L2 ball, Gauss for many; the other one's error stands beside."""
    release = vector(np.zeros((1, coordinates), dtype=int), Ball(2, 100, coordinates), REPLACE, NoNoise(), SMALL)
    taken, other = choose(Ball(2, 100, coordinates), REPLACE, SMALL)

    assert taken.name == name
    assert taken.error["t"] <= other.error["t"]
    assert f"the noise is {name}" in release.notes[0]
    assert f"error of {other.error['t']}" in release.notes[0]


def test_laplace_is_not_taken_out_of_habit():
    """One number, a generous delta and a small epsilon: Gauss has the smaller error and is taken."""
    taken, _ = choose(Ball(1, 100, 1), ReleaseTerms(Fraction(1, 10)), Fraction(1, 10))

    assert taken.name == "discrete Gaussian"


def test_gaussian_charge_has_delta_and_rho_of_its_variance():
    """Every whole shift that a record can cause is within (epsilon, delta)."""
    taken, _ = choose(Ball(2, 4, 40), REPLACE, SMALL)

    assert taken.charge.delta == SMALL
    assert taken.charge.rho == 64 / (2 * taken.parameter)
    assert all(discrete_delta(taken.parameter, shift, 1.0) <= SMALL for shift in range(1, 9))


def test_vectors_outside_are_shrunk_before_they_are_added():
    """One record cannot move the sum by more than the radius."""
    rows = np.array([[1000, 0], [0, 0]])

    assert vector(rows, Ball(2, 10, 2), ADD, NoNoise()).values == {"vector": [10, 0]}


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_delta_out_of_range_is_refused(delta):
    """Gaussian noise has one above 0; pure privacy is asked for by none."""
    with pytest.raises(ValueError, match="delta between 0 and 1"):
        vector(np.zeros((1, 2), dtype=int), Ball(2, 10, 2), ADD, NoNoise(), delta)
