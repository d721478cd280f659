import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sottovoce.aggregator.curator.clipping import Ball, VectorBox
from sottovoce.aggregator.curator.gaussian_delta import discrete_delta
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.noise_distribution import laplace_error
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.aggregator.curator.sum import choose, noisy_mean, noisy_sum, vector
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


@pytest.mark.parametrize(
    ("values", "grid", "found"),
    [
        ([0, 3, 9], ODD, "5/2"),
        ([-5, 1000], AGES, str(18 + 98)),
        # Three values of 2^31 steps of 2^40 do not overflow.
        ([2**31] * 3, NumberGrid(Fraction(0), Fraction(2**71), Fraction(2**40)), str(3 * 2**71)),
    ],
)
def test_sum_is_exact_but_for_its_noise(values, grid, found):
    assert noisy_sum(np.array(values), grid, REPLACE, NoNoise()).values == {"sum": found}


def test_told_error_is_that_of_the_running_code():
    grid = NumberGrid(Fraction(0), Fraction(2), Fraction(1, 2))
    found = noise_distribution(lambda d: int(2 * Fraction(noisy_sum(np.array([1]), grid, REPLACE, d).values["sum"])))
    t = Fraction(noisy_sum(np.array([1]), grid, REPLACE, NoNoise()).error["t"])
    rare, common = (sum(p for x, p in found.items() if abs(Fraction(x - 1, 2)) >= e) for e in (t, t - Fraction(1, 2)))

    assert rare <= 0.05 < common


@pytest.mark.parametrize(("low", "high", "step"), [(1, 1, 1), (2, 1, 1), (0, 1, 0), (0, 5, 2), (0, 2**33, 1)])
def test_bounds_that_are_none_are_refused(low, high, step):
    with pytest.raises(ValueError, match=r"min must|step must|2\^32 steps"):
        NumberGrid(Fraction(low), Fraction(high), Fraction(step))


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
    taken, _ = choose(Ball(2, 4, 40), REPLACE, SMALL)

    assert taken.charge.delta == SMALL
    assert taken.charge.rho == 64 / (2 * taken.parameters[0])
    assert all(discrete_delta(taken.parameters[0], shift, 1.0) <= SMALL for shift in range(1, 9))


def test_vectors_outside_are_shrunk_before_they_are_added():
    """One record cannot move the sum by more than the radius."""
    rows = np.array([[1000, 0], [0, 0]])

    assert vector(rows, Ball(2, 10, 2), ADD, NoNoise()).values == {"vector": [10, 0]}


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_delta_out_of_range_is_refused(delta):
    with pytest.raises(ValueError, match="delta between 0 and 1"):
        vector(np.zeros((1, 2), dtype=int), Ball(2, 10, 2), ADD, NoNoise(), delta)


def marks(many):
    return VectorBox((0,) * many, (1,) * many)


BOXES = [*(marks(many) for many in range(1, 7)), VectorBox((0, -1), (1, 2)), VectorBox((0, 0, -2), (1, 1, 0))]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("records", [1, 2])
def test_stated_sensitivity_is_the_largest_of_all_neighbours(box, records):
    every = np.array(list(product(*(range(low, high + 1) for low, high in zip(box.lows, box.highs, strict=True)))))
    changes = every if records == 1 else (every[:, None] - every).reshape(-1, box.coordinates)

    found = np.abs(changes).sum(axis=1).max(), (changes * changes).sum(axis=1).max()
    assert box.sensitivity(records) == tuple(map(int, found))
    assert box.shifts(records) == tuple(np.abs(changes).max(axis=0).tolist())


@pytest.mark.parametrize("terms", [REPLACE, ADD])
def test_five_marks_cost_what_five_counts_cost(terms):
    """The noise of five counts, not that of a ball around them."""
    taken, _ = choose(marks(5), ReleaseTerms(Fraction(1, 5), terms.neighbours), None)

    assert taken.error["t"] == laplace_error(Fraction(1, 25), 5)["t"]


def test_fifty_marks_with_a_small_delta_err_by_less_than_130():
    """Each count; a ball around them had 284."""
    taken, _ = choose(marks(50), REPLACE, Fraction(1, 10**8))

    assert taken.name == "discrete Gaussian"
    assert taken.error["t"] <= 130


def test_mark_and_number_have_scales_of_their_own():
    """Half of epsilon each, and an error for each, the number's first."""
    draws = NoNoise()
    release = vector(np.array([[1, 30], [0, 99]]), VectorBox((0, 0), (1, 40)), REPLACE, draws)

    assert draws.asked == [(1, 2), (1, 80)]
    assert release.values == {"vector": [1, 70]}
    assert [each["t"] for each in release.error.values()] == [
        laplace_error(Fraction(1, 80), 2)["t"], laplace_error(Fraction(1, 2), 2)["t"]
    ]  # fmt: skip
    taken, _ = choose(VectorBox((0,) * 60, (1,) * 59 + (40,)), REPLACE, SMALL)
    assert taken.parameters[-1] == 1600 * taken.parameters[0]
    assert taken.charge.rho == 60 / (2 * taken.parameters[0])


def test_radius_says_how_many_records_it_shrinks():
    """Of all that can be declared, each as likely; four of nine points are outside an L1 ball of radius 1."""
    box = VectorBox((-1, -1), (1, 1), Ball(1, 1, 2))
    release = vector(np.array([[1, 1]]), box, REPLACE, NoNoise())

    assert box.sensitivity(2) == (2, 4)
    assert box.shrunk() == pytest.approx(4 / 9, abs=0.02)
    assert "spread evenly over what is declared these are 4" in release.notes[1]


@pytest.mark.parametrize(
    ("lows", "highs", "ball"),
    [((), (), None), ((0,), (0,), None), ((1,), (2,), None), ((0,), (2**21,), None), ((0,), (1,), Ball(1, 1, 2))],
)
def test_box_out_of_range_is_refused(lows, highs, ball):
    with pytest.raises(ValueError, match="coordinate"):
        VectorBox(lows, highs, ball)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("coordinates", "radius"), [(1, 1), (2, 3), (10, 10), (8, 1024), (64, 2**20)])
def test_clipped_vectors_lie_inside_as_integers(norm, coordinates, radius):
    """Exactly, by Python's own integers; corners, ties and values far outside."""
    generator = np.random.Generator(np.random.PCG64(norm))
    scale = [1, radius, 3 * radius + 1, 2**62]
    rows = np.concatenate([generator.integers(-s, s + 1, (200, coordinates)) for s in scale])

    for row in Ball(norm, radius, coordinates).clip(rows).tolist():
        length = sum(map(abs, row)) if norm == 1 else math.sqrt(sum(x * x for x in row))
        assert length <= radius


@pytest.mark.parametrize("norm", [1, 2])
def test_vectors_inside_stay_as_they_are(norm):
    rows = np.array([[0, 0], [5, 0], [0, -5], [3, -2] if norm == 1 else [3, -4]])

    assert (Ball(norm, 5, 2).clip(rows) == rows).all()


def test_rounding_to_the_nearest_would_leave_the_ball():
    """By a tenth and more at ten coordinates and a radius of ten steps."""
    rows = np.array([[35] * 8 + [9, 9]])
    assert np.linalg.norm(np.rint(rows * 10 / np.linalg.norm(rows))) > 11
    assert np.linalg.norm(Ball(2, 10, 10).clip(rows)) <= 10


@pytest.mark.parametrize(("norm", "radius", "coordinates"), [(3, 1, 1), (1, 0, 1), (2, 2**20 + 1, 1), (1, 1, 0)])
def test_ball_out_of_range_is_refused(norm, radius, coordinates):
    with pytest.raises(ValueError, match="ball"):
        Ball(norm, radius, coordinates)


def test_vectors_of_another_space_are_refused():
    """A missing coordinate would be clipped as if it were none."""
    with pytest.raises(ValueError, match="coordinates"):
        Ball(1, 5, 3).clip(np.zeros((4, 2), dtype=int))
