"""The odds ratio and likeliest tables, against published figures."""

import pytest
from sottovoce.aggregator.analysis.tables.ml_table import likeliest_table, seen_reports
from sottovoce.aggregator.analysis.tables.odds_ratio import odds_ratio
from sottovoce.aggregator.analysis.tables.pair_moments import count_pairs, joint
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.samples import Z, coin, openly, pair, reported, warner


def test_odds_ratio_with_profile_limits():
    """To the three digits that are published."""
    point, low, high = odds_ratio(pair(coin, coin, [[319, 231], [206, 244]]), Z)

    assert point == pytest.approx(9.203, abs=5e-4)
    assert low == pytest.approx(2.763, abs=5e-4)
    assert high == pytest.approx(58.75, abs=5e-3)


def test_odds_ratio_of_public_answers_is_the_textbooks():
    """A d / (b c), with the limits of the likelihood ratio."""
    point, low, high = odds_ratio(pair(openly, openly, [[40, 10], [20, 30]]), Z)

    assert point == pytest.approx(6, rel=1e-4)
    assert (low, high) == pytest.approx((2.5, 15.3), abs=0.3)


def test_odds_ratio_at_the_edge_has_one_limit():
    """No upper one where a cell may be empty."""
    point, low, high = odds_ratio(pair(coin, coin, [[375, 175], [175, 275]]), Z)

    assert high is None
    assert low > 1
    assert point is None or point > 100


def test_likeliest_table_of_two_channels():
    """Coins and Warner's design together."""
    strata = [
        count_pairs(each, each, reported(counts))
        for each, counts in ((coin, [[96, 69], [62, 73]]), (warner, [[81, 68], [64, 67]]))
    ]

    table = likeliest_table([seen_reports(joint(strata, 580))], (2, 2))

    assert table.ravel() == pytest.approx([0.453103, 0.145858, 0.100248, 0.300791], abs=5e-7)


def test_likeliest_table_with_an_impossible_cell():
    """It stays empty, and the others are what is likeliest then."""
    seen = seen_reports(pair(coin, coin, [[375, 175], [244, 206]]))

    table = likeliest_table([seen], (2, 2), [(0, 1)])

    assert table.ravel() == pytest.approx([0.596976, 0, 0.148104, 0.254919], abs=5e-7)


def test_impossible_reports_are_told():
    """A public answer in a cell that nobody can be in, or no cell at all."""
    seen = seen_reports(pair(openly, openly, [[3, 1], [2, 2]]))

    with pytest.raises(EstimateError, match="is a cell possible after all"):
        likeliest_table([seen], (2, 2), [(0, 1)])
    with pytest.raises(EstimateError, match="no possible cell"):
        likeliest_table([seen], (2, 2), [(i, j) for i in (0, 1) for j in (0, 1)])
