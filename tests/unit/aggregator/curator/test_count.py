"""Counts: what is counted, with which noise, under which relation."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sottovoce.aggregator.curator.count import count, counts, histogram, weighted_count
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
    """Before anything is drawn."""
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
    """As JSON, with its charge, and the same from the same bytes."""
    one, other = (counts(MARKS, REPLACE, ExactNoise(Tape("counts"))) for _ in range(2))

    assert one == other
    assert json.loads(json.dumps([one.question, one.values, one.error]))[0] == {
        "mechanism": "counts",
        "predicates": 3,
        "most": 3,
        "epsilon": "1",
        "neighbours": "replace-one",
    }
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
    """Before anything is counted."""
    with pytest.raises(ValueError, match="cells"):
        histogram(np.array([0]), k, ADD, NoNoise())


def test_error_of_ten_thousand_names_under_both_relations():
    """12.2061 under add/remove, twice that under replace-one."""
    nobody = np.zeros(0, dtype=np.int64)
    figures = [histogram(nobody, 10_000, terms, NoNoise()).error["theorem"]["figure"] for terms in (ADD, REPLACE)]

    assert figures == [pytest.approx(12.2061, abs=5e-5), pytest.approx(24.4121, abs=5e-5)]
