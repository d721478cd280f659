"""What looks wrong in a table, and what forged reports can do to it."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.score_intervals import forged, implausible, uniformity
from sottovoce.aggregator.analysis.tables.table import Rule, TwoWayTable

from tests.documents import parsed, some_of
from tests.unit.aggregator.analysis.samples import coin, openly, pair, variable


def test_alarm_has_the_published_figures():
    """Two coins with hardly a pair of yes."""
    table = TwoWayTable(pair(coin, coin, [[60, 70], [65, 5]]), Rule())

    assert implausible(table.raw, table.channels) == pytest.approx((-5.441099, -3.399537), abs=5e-7)


def test_alarm_is_silent_where_nothing_is_wrong():
    """And there is none where nothing is randomized."""
    table = TwoWayTable(pair(coin, coin, [[319, 231], [206, 244]]), Rule())
    open_ = TwoWayTable(pair(openly, openly, [[30, 20], [20, 30]]), Rule())

    statistic, limit = implausible(table.raw, table.channels)
    assert statistic >= limit
    assert implausible(open_.raw, open_.channels) is None


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
    from sottovoce.aggregator.analysis.tables.pair_moments import count_pairs, joint
    from sottovoce.aggregator.estimators.question_variables import variables_of

    one, other = variables_of(parsed(some_of(2, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"})))
    masks = np.repeat([0, 2, 1, 3], [300, 200, 180, 320]).astype(np.uint8)

    table = TwoWayTable(joint([count_pairs(one, other, (masks, masks))], 1000), Rule())

    assert table.raw.ravel() == pytest.approx([0.47, 0.03, -0.01, 0.51], abs=1e-12)
    assert one.support == (Fraction(3, 4), Fraction(1, 4))
