"""Differences, ratios and correlations against published figures."""

import math

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.pair_moments import count_pairs, joint
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import correlation, difference, mean_among, ratio
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.shared.errors import EstimateError

from tests.documents import number, parsed
from tests.unit.aggregator.analysis.samples import Z, coin, geometric, openly, pair

COINS = pair(coin, coin, [[319, 231], [206, 244]])
GROUPS = pair(openly, coin, [[420, 180], [190, 210]])


def limits(found):
    """The two ends."""
    return found.low, found.high


def test_difference_between_two_randomized_groups():
    """Its limits by inversion, and its error by the delta method."""
    found = difference(COINS, (0, 1), 1, (-1.0, 1.0), Z)

    assert (found.raw, found.std_error) == pytest.approx((0.504167, 0.130535), abs=5e-7)
    assert limits(found) == pytest.approx((0.248994, 0.761364), abs=5e-7)


def test_difference_between_public_groups():
    """Without noise in the groups."""
    found = difference(GROUPS, (0, 1), 1, (-1.0, 1.0), Z)

    assert (found.raw, *limits(found)) == pytest.approx((0.45, 0.327598, 0.572402), abs=5e-7)


def test_ratio_between_groups():
    """Randomized and public ones."""
    found = ratio(COINS, (0, 1), 1, Z)

    assert (found.raw, *limits(found)) == pytest.approx((3.030201, 1.703610, 6.646819), abs=5e-7)
    assert limits(ratio(GROUPS, (0, 1), 1, Z)) == pytest.approx((3.053888, 20.791136), abs=5e-7)


def test_ratio_over_a_share_that_may_be_nothing_has_no_upper_limit():
    """Nobody among the first group seems to say yes."""
    found = ratio(pair(openly, coin, [[76, 24], [40, 60]]), (0, 1), 1, Z)

    assert found.raw is None
    assert math.isinf(found.high)
    assert found.low > 1


def test_phi_of_two_answers():
    """The correlation of two indicators."""
    found = correlation(COINS, Z)

    assert (found.raw, *limits(found)) == pytest.approx((0.496469, 0.245284, 0.748149), abs=5e-7)


def test_phi_of_an_impossible_margin_is_anything():
    """Where a share of yes is below 0, as sampled by chance."""
    found = correlation(pair(coin, coin, [[160, 60], [40, 10]]), Z)

    assert (found.raw, *limits(found)) == (None, -1, 1)


def test_mean_among_a_group_lies_where_the_share_does():
    """The share of a category is the mean of its indicator."""
    found = mean_among(COINS, 1, 1, (0.0, 1.0), Z)

    assert found.raw == pytest.approx(0.7525)
    assert found.low < 0.7525 < found.high


def noisy(i):
    """Report i of the clamped geometric with r = .8 on 0 .. 10, of the published sample."""
    u, q = (389 * i % 997 + 0.5) / 997, 17 * i % 9
    size = 1 + math.floor(math.log(u) / math.log(0.8))
    return min(max(7 * i % 11 + (0 if q == 0 else size if q < 5 else -size), 0), 10)


def test_moments_of_a_geometric_number():
    """Its mean, the mean of its square and its variance, from the published reports."""
    reports = np.array([noisy(i) for i in range(600)])

    mean, square = geometric.scores(reports).mean(), geometric.square_scores(reports).mean()

    assert (mean, square, square - mean**2) == pytest.approx((4.988333, 33.628333, 8.744864), abs=5e-7)


def test_correlation_of_two_numbers_is_corrected_for_noise():
    """Reports of a number against the number itself: 1 is within the limits, and the noisy figure is not."""
    (true,) = variables_of(
        parsed({**{k: v for k, v in number(0, 10, 1, {}).items() if k != "mechanism"}, "public": True})
    )
    reports, truth = (np.array([f(i) for i in range(600)], np.uint8) for f in (noisy, lambda i: 7 * i % 11))

    found = correlation(joint([count_pairs(geometric, true, (reports, truth))], 600), Z)

    assert found.low <= 1 <= found.high
    assert np.corrcoef(reports, truth)[0, 1] < found.low


def test_number_without_a_spread_has_no_correlation():
    """Two ends tell the mean alone."""
    (ends,) = variables_of(parsed(number(0, 10, 1, {"name": "rounding_rr", "a": "3/4", "b": "1/4"})))

    with pytest.raises(EstimateError, match="which say nothing of its spread"):
        correlation(pair(ends, coin, [[10, 20], [30, 40]]), Z)
