import math
from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables import pair_moments as module
from sottovoce.aggregator.analysis.tables.all_pairs import q_values
from sottovoce.aggregator.analysis.tables.ml_table import likeliest_table, seen_reports
from sottovoce.aggregator.analysis.tables.odds_ratio import odds_ratio
from sottovoce.aggregator.analysis.tables.pair_moments import Pairs, count_pairs, independence, joint
from sottovoce.aggregator.analysis.tables.score_intervals import forged, implausible, uniformity
from sottovoce.aggregator.analysis.tables.table import Rule, TwoWayTable
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import difference, mean_among, phi, ratio
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.shared.errors import EstimateError

from tests.documents import one_of, parsed, some_of
from tests.unit.aggregator.analysis.reports import noisy_numbers
from tests.unit.aggregator.analysis.samples import (
    Z,
    coin,
    geometric,
    kary,
    masks_by_coin,
    openly,
    pair,
    reported,
    subset,
    variable,
    warner,
)

COIN_COUNTS = [[319, 231], [206, 244]]

COINS = pair(coin, coin, COIN_COUNTS)

GROUPS = pair(openly, coin, [[420, 180], [190, 210]])


STRATA = [
    count_pairs(each, each, reported(counts))
    for each, counts in ((coin, [[96, 69], [62, 73]]), (warner, [[81, 68], [64, 67]]))
]


HADAMARD = variable(one_of(5, {"name": "hadamard_response", "odds": "3"}))

MASK = variable(one_of(13, {"name": "optimal_unary", "odds": "3"}))


@pytest.mark.parametrize(
    ("whole", "statistic", "df", "p"),
    [
        (COINS, 14.811128, 1, 0.000119),
        (GROUPS, 51.020807, 1, 0),
        (pair(kary, coin, [[190, 120], [130, 110], [100, 120]]), 13.018465, 2, 0.001490),
        (masks_by_coin(), 3.638246, 3, 0.303270),
    ],
)
def test_statistic_is_the_published_one(whole, statistic, df, p):
    found = independence(whole.strata)

    assert (found.statistic, found.p) == pytest.approx((statistic, p), abs=5e-7)
    assert found.df == df


def test_square_channels_give_pearsons_statistic_of_the_reports():
    """Times (n - 1) / n, whatever the odds."""
    counts = np.array([[31, 20, 12], [14, 25, 9], [11, 12, 26]])
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    pearson = ((counts - expected) ** 2 / expected).sum()

    found = independence(pair(kary, kary, counts).strata)

    assert found.statistic == pytest.approx(pearson * (counts.sum() - 1) / counts.sum(), rel=1e-12)
    assert found.df == 4


def test_strata_are_combined_by_inverse_variance():
    found = independence(STRATA)

    assert (found.statistic, found.p) == pytest.approx((5.302600, 0.021294), abs=5e-7)
    assert found.df == 1


def test_variable_that_does_not_vary_is_refused():
    assert independence(pair(openly, coin, [[30, 20], [0, 0]]).strata) is None
    assert independence([]) is None


def test_q_values_are_those_of_the_textbook():
    """Each is the least p m / rank from its place on, over all tests that could have been made."""
    assert q_values([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert q_values([0.01, 0.02], tests=10) == pytest.approx([0.1, 0.1])
    assert q_values([]) == []


@pytest.mark.parametrize(
    ("found", "raw", "between"),
    [
        (difference(COINS, (0, 1), 1, (-1.0, 1.0), Z), 0.504167, (0.248994, 0.761364)),
        (difference(GROUPS, (0, 1), 1, (-1.0, 1.0), Z), 0.45, (0.327598, 0.572402)),
        (ratio(COINS, (0, 1), 1, Z), 3.030201, (1.703610, 6.646819)),
        (ratio(GROUPS, (0, 1), 1, Z), 5.5, (3.053888, 20.791136)),
        (phi(COINS, Z), 0.496469, (0.245284, 0.748149)),
    ],
    ids=["difference", "of public groups", "ratio", "of public ones", "phi"],
)
def test_measures_of_two_groups_have_the_published_limits(found, raw, between):
    assert (found.raw, found.low, found.high) == pytest.approx((raw, *between), abs=5e-7)


def test_error_of_a_difference_is_that_of_the_delta_method():
    assert difference(COINS, (0, 1), 1, (-1.0, 1.0), Z).std_error == pytest.approx(0.130535, abs=5e-7)


def test_ratio_over_a_share_that_may_be_nothing_has_no_upper_limit():
    """Nobody among the first group seems to say yes."""
    found = ratio(pair(openly, coin, [[76, 24], [40, 60]]), (0, 1), 1, Z)

    assert found.raw is None
    assert math.isinf(found.high)
    assert found.low > 1


def test_phi_of_an_impossible_margin_is_anything():
    """Where a share of yes is below 0, as sampled by chance."""
    found = phi(pair(coin, coin, [[160, 60], [40, 10]]), Z)

    assert (found.raw, found.low, found.high) == (None, -1, 1)


def test_mean_among_a_group_lies_where_the_share_does():
    """The share of a category is the mean of its indicator."""
    found = mean_among(COINS, 1, 1, (0.0, 1.0), Z)

    assert found.raw == pytest.approx(0.7525)
    assert found.low < 0.7525 < found.high


def test_moments_of_a_geometric_number():
    _, reports = noisy_numbers()
    mean, square = geometric.scores(reports).mean(), geometric.square_scores(reports).mean()

    assert (mean, square, square - mean**2) == pytest.approx((4.988333, 33.628333, 8.744864), abs=5e-7)


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
    table = likeliest_table(seen_reports(joint(STRATA, 580)), (2, 2))

    assert table.ravel() == pytest.approx([0.453103, 0.145858, 0.100248, 0.300791], abs=5e-7)


def test_likeliest_table_with_an_impossible_cell():
    seen = seen_reports(pair(coin, coin, [[375, 175], [244, 206]]))

    table = likeliest_table(seen, (2, 2), [(0, 1)])

    assert table.ravel() == pytest.approx([0.596976, 0, 0.148104, 0.254919], abs=5e-7)


def test_impossible_reports_are_told():
    """A public answer in a cell that nobody can be in, or no cell at all."""
    seen = seen_reports(pair(openly, openly, [[3, 1], [2, 2]]))

    with pytest.raises(EstimateError, match="is a cell possible after all"):
        likeliest_table(seen, (2, 2), [(0, 1)])
    with pytest.raises(EstimateError, match="no possible cell"):
        likeliest_table(seen, (2, 2), [(i, j) for i in (0, 1) for j in (0, 1)])


def test_alarm_is_silent_where_nothing_is_wrong():
    """Two coins with hardly a pair of yes ring; and there is no alarm where nothing is randomized."""
    samples = ((coin, coin, [[60, 70], [65, 5]]), (coin, coin, COIN_COUNTS), (openly, openly, [[30, 20], [20, 30]]))
    tables = [TwoWayTable(pair(*each), Rule()) for each in samples]
    few, usual, known = (implausible(table.raw, table.channels) for table in tables)

    assert few == pytest.approx((-5.441099, -3.399537), abs=5e-7)
    assert usual[0] >= usual[1]
    assert known is None


def test_forged_reports_of_two_drawn_options():
    """The published share in a pair, and shift of a cell."""
    drawn = variable(some_of(4, {"name": "sampled_option", "a": "3/4", "b": "1/4"}))

    assert forged(drawn, drawn, 1 / 16) == pytest.approx((0.139130, 0.313043), abs=5e-7)
    assert forged(coin, coin, 1) == pytest.approx((0.01, 0.0225), abs=1e-12)


def test_drawn_options_should_come_equally_often():
    """Ten of a hundred forged reports on one option of four are seen."""
    assert uniformity([25, 25, 25, 25]) == 1
    assert uniformity([400, 225, 225, 225]) < 1e-6
    assert uniformity([0, 0]) == uniformity([7]) == 1


def test_bits_of_one_mask_make_a_table():
    """Two options of one bitwise question have the published table."""
    one, other = variables_of(parsed(some_of(2, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"})))
    masks = np.repeat([0, 2, 1, 3], [300, 200, 180, 320]).astype(np.uint8)

    table = TwoWayTable(joint([count_pairs(one, other, (masks, masks))], 1000), Rule())

    assert table.raw.ravel() == pytest.approx([0.47, 0.03, -0.01, 0.51], abs=1e-12)
    assert one.support == (Fraction(3, 4), Fraction(1, 4))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (coin, openly), (kary, coin), (subset, HADAMARD), (geometric, subset), (coin, geometric), (MASK, subset),
        (MASK, MASK), (MASK, coin),
    ],
)  # fmt: skip
def test_sums_are_those_of_the_scores(monkeypatch, first, second, weighted):
    monkeypatch.setattr(module, "ROWS", 64)
    places = np.arange(1000)
    reported = tuple(_values(each)[places * step % len(_values(each))] for each, step in ((first, 7), (second, 11)))
    weights = 1 + places % 5 / 4 if weighted else np.ones(1000)

    found = Pairs(first, second, reported, weights, weights**2, np.ones(1000)).products

    v = np.column_stack([np.ones(1000), first.scores(reported[0]), second.scores(reported[1])])
    for sums, left, right, power in zip(found, (v, v, v**2, v**2), (v, v, v, v**2), (1, 2, 2, 2), strict=True):
        assert sums == pytest.approx((left * weights[:, None] ** power).T @ right, rel=1e-9, abs=1e-7)


def _values(each):
    if each is MASK:
        return np.arange(1 << 13, dtype=np.uint16)[::37]
    if each is subset:
        return np.array([3, 12, 5, 10, 6, 9])
    return np.array([1, 0, 2, 7, 4][: 2 if each in {coin, openly} else 3 if each is kary else 5])


def test_sums_over_no_report_are_zeros():
    nothing = np.array([], dtype=np.uint8)

    found = Pairs(coin, geometric, (nothing, nothing), *[nothing.astype(float)] * 3).products

    assert all((sums == 0).all() for sums in found)
