import json
import math
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.curator.count import count, counts, histogram, weighted_count
from sottovoce.aggregator.curator.gaussian_delta import concentrated_delta, discrete_delta, gaussian_variance
from sottovoce.aggregator.curator.noise_distribution import gaussian_error, laplace_error, laplace_tail, largest_of
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.audit.curator.noise_branches import noise_distribution
from sottovoce.shared.exact_noise import ExactNoise

from tests.unit.aggregator.curator.noises import NoNoise
from tests.vectors.tape import Tape

REPLACE, ADD = ReleaseTerms(Fraction(1)), ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE)
MARKS = np.array([[1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 0, 1]])


def test_count_has_the_noise_of_its_epsilon():
    """One record more or less changes the chances of every answer by e^epsilon at most, in the running code."""
    met = np.array([1, 0, 1, 1])
    laws = [noise_distribution(lambda d, m=m: count(m, REPLACE, d).values["count"]) for m in (met, met * 0 + 1)]
    ratios = [math.log(laws[0][x] / laws[1][x]) for x in range(-10, 15)]

    assert sum(x * share for x, share in laws[0].items()) == pytest.approx(3)
    assert max(map(abs, ratios)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("terms", "most", "rate"),
    [(ADD, None, (1, 3)), (REPLACE, None, (1, 3)), (ADD, 1, (1, 1)), (REPLACE, 1, (1, 2)), (REPLACE, 2, (1, 3))],
)
def test_counts_have_the_sensitivity_of_their_relation(terms, most, rate):
    """The declared most p if a record comes or goes, min(m, 2 p) if it becomes another one; the sentence says so."""
    draws = NoNoise()

    release = counts(MARKS, terms, draws, most)

    assert set(draws.asked) == {rate}
    assert f"at most {rate[1]} in all {terms.neighbours.in_words}" in release.sensitivity


@pytest.mark.parametrize(("most", "expected"), [(None, [2, 2, 2]), (2, [2, 2, 1]), (1, [2, 1, 0])])
def test_nobody_is_counted_more_often_than_declared(most, expected):
    """Marks beyond the declared most are left out, the first ones stay."""
    assert counts(MARKS, ADD, NoNoise(), most).values == {"counts": expected}


@pytest.mark.parametrize("most", [0, 4])
def test_most_out_of_range_is_refused(most):
    with pytest.raises(ValueError, match="between 1 and"):
        counts(MARKS, ADD, NoNoise(), most)


def test_weights_are_clipped_and_told_in_their_unit():
    """Steps of a tenth; a weight of 3 or of -1 would be worth more than its noise."""
    draws = NoNoise()

    release = weighted_count(np.array([5, 30, -10, 10]), 10, REPLACE, draws)

    assert release.values == {"count": "5/2"}
    assert draws.asked == [(1, 10)]
    assert Fraction(release.error["t"]) < 4
    assert release.error["theorem"]["figure"] == pytest.approx(math.log(20))


def test_release_is_ready_to_be_recorded():
    one, other = (counts(MARKS, REPLACE, ExactNoise(Tape("counts"))) for _ in range(2))

    assert one == other
    assert json.loads(json.dumps([one.values, one.error])) == [one.values, one.error]
    assert (one.charge.epsilon, one.charge.delta, one.charge.rho) == (1, 0, Fraction(1, 2))


def test_bytes_do_not_depend_on_the_data():
    """Noise is drawn before it is added."""
    tapes = [Tape("same"), Tape("same")]

    for tape, marks in zip(tapes, (MARKS, 1 - MARKS), strict=True):
        counts(marks, REPLACE, ExactNoise(tape))

    assert tapes[0].taken == tapes[1].taken


def test_epsilon_of_nothing_is_refused():
    """It would need endless noise."""
    with pytest.raises(ValueError, match="above 0"):
        ReleaseTerms(Fraction(0))


@pytest.mark.parametrize(("terms", "rate", "number"), [(ADD, (1, 1), 1), (REPLACE, (1, 2), 2)])
def test_histogram_has_the_sensitivity_of_its_relation(terms, rate, number):
    """1 under add/remove, 2 under replace-one, in the noise and in the sentence; empty cells have noise too."""
    draws = NoNoise()

    release = histogram(np.array([0, 3, 3]), 5, terms, draws)

    assert release.values == {"counts": [1, 0, 0, 2, 0]}
    assert draws.asked == [rate] * 5
    assert f"at most {number} in all {terms.neighbours.in_words}" in release.sensitivity


@pytest.mark.parametrize(
    ("terms", "cells", "other"), [(ADD, [0, 0], [0]), (REPLACE, [0, 0], [0, 1]), (REPLACE, [0, 1], [1, 1])]
)
def test_neighbours_are_told_apart_by_epsilon_at_most(terms, cells, other):
    """The largest ratio over all pairs of counts of two cells, from the running code: e^1, and not less."""
    laws = [[_cell(data, place, terms) for place in range(2)] for data in (cells, other)]
    worst = max(
        abs(math.log(laws[0][0][x] * laws[0][1][y] / (laws[1][0][x] * laws[1][1][y])))
        for x, y in product(range(-5, 6), repeat=2)
    )

    assert worst == pytest.approx(1, abs=1e-9)


def _cell(data, place, terms):
    """The distribution of one cell's noisy count, the other cell's noise being none."""

    def draw(draws):
        return histogram(np.array(data), 2, terms, _Only(draws, place)).values["counts"][place]

    return noise_distribution(draw)


class _Only:
    """Noise for one of the cells; cells draw one after another, independently, so that one at a time is enough."""

    def __init__(self, draws, place):
        self.draws, self.place, self.at = draws, place, -1

    def discrete_laplace(self, n, d):
        self.at += 1
        return self.draws.discrete_laplace(n, d) if self.at == self.place else 0


def test_stray_index_is_no_cell_of_its_own():
    """Its count would be published without noise, or the histogram refused because of a value."""
    assert histogram(np.array([-7, 0, 9]), 2, ADD, NoNoise()).values == {"counts": [2, 1]}


@pytest.mark.parametrize("k", [0, -1, 2**24 + 1])
def test_number_of_cells_out_of_range_is_refused(k):
    with pytest.raises(ValueError, match="cells"):
        histogram(np.array([0]), k, ADD, NoNoise())


def test_error_of_ten_thousand_names_under_both_relations():
    """12.2061 under add/remove, twice that under replace-one."""
    nobody = np.zeros(0, dtype=np.int64)
    figures = [histogram(nobody, 10_000, terms, NoNoise()).error["theorem"]["figure"] for terms in (ADD, REPLACE)]

    assert figures == [pytest.approx(12.2061, abs=5e-5), pytest.approx(24.4121, abs=5e-5)]


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
    t = laplace_error(rate, cells)["t"]

    assert largest_of(laplace_tail(rate, t), cells) <= 0.05 < largest_of(laplace_tail(rate, t - 1), cells)


@pytest.mark.parametrize(("p", "q"), [(2, 1), (20, 1)])
def test_told_gaussian_error_is_that_of_the_running_sampler(p, q):
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
