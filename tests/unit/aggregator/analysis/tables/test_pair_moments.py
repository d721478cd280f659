"""One test for all channels, against published figures."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.all_pairs import q_values
from sottovoce.aggregator.analysis.tables.pair_moments import count_pairs, independence

from tests.unit.aggregator.analysis.samples import coin, kary, masks_by_coin, openly, pair, reported, warner

COINS = [[319, 231], [206, 244]]


@pytest.mark.parametrize(
    ("whole", "statistic", "df"),
    [
        (pair(coin, coin, COINS), 14.811128, 1),
        (pair(openly, coin, [[420, 180], [190, 210]]), 51.020807, 1),
        (pair(kary, coin, [[190, 120], [130, 110], [100, 120]]), 13.018465, 2),
        (masks_by_coin(), 3.638246, 3),
    ],
)
def test_statistic_is_the_published_one(whole, statistic, df):
    """Coins, a public group, three categories, masks."""
    found = independence(whole.strata)

    assert found.statistic == pytest.approx(statistic, abs=5e-7)
    assert found.df == df


def test_two_coins_have_the_published_p_value():
    """From the chi-square distribution with one degree of freedom."""
    assert independence(pair(coin, coin, COINS).strata).p == pytest.approx(0.000119, abs=5e-7)


def test_square_channels_give_pearsons_statistic_of_the_reports():
    """Times (n - 1) / n, whatever the odds."""
    counts = np.array([[31, 20, 12], [14, 25, 9], [11, 12, 26]])
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    pearson = ((counts - expected) ** 2 / expected).sum()

    found = independence(pair(kary, kary, counts).strata)

    assert found.statistic == pytest.approx(pearson * (counts.sum() - 1) / counts.sum(), rel=1e-12)
    assert found.df == 4


def test_strata_are_combined_by_inverse_variance():
    """Coins in one, Warner's design in the other."""
    strata = [
        count_pairs(each, each, reported(counts))
        for each, counts in ((coin, [[96, 69], [62, 73]]), (warner, [[81, 68], [64, 67]]))
    ]

    found = independence(strata)

    assert (found.statistic, found.p) == pytest.approx((5.302600, 0.021294), abs=5e-7)
    assert found.df == 1


def test_variable_that_does_not_vary_is_refused():
    """There is nothing to test, in one stratum or in none."""
    assert independence(pair(openly, coin, [[30, 20], [0, 0]]).strata) is None
    assert independence([]) is None


def test_q_values_are_those_of_the_textbook():
    """Each is the least p m / rank from its place on, over all tests that could have been made."""
    assert q_values([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert q_values([0.01, 0.02], tests=10) == pytest.approx([0.1, 0.1])
    assert q_values([]) == []
