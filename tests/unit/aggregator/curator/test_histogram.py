"""Histograms: all cells, empty ones too, and one relation's noise."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sottovoce.aggregator.curator.count import histogram
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.audit.curator.noise_branches import noise_distribution

from tests.unit.aggregator.curator.noises import NoNoise

REPLACE, ADD = ReleaseTerms(Fraction(1)), ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE)


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
