"""What looks wrong, and what forged reports can do."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.analysis.cheater_detection import Design, self_protective
from sottovoce.aggregator.analysis.tables.table import Rule, TwoWayTable
from sottovoce.aggregator.analysis.tables.table_diagnostics import forged, implausible, uniformity
from sottovoce.shared.errors import EstimateError

from tests.documents import parsed, some_of
from tests.unit.aggregator.analysis.samples import Z, coin, openly, pair, variable


def test_alarm_has_the_published_figures():
    """Two coins with hardly a pair of yes."""
    table = TwoWayTable(pair(coin, coin, [[60, 70], [65, 5]]), Rule())

    alarm = implausible(table.raw, table.channels)

    assert alarm == pytest.approx((-5.441099, -3.399537), abs=5e-7)
    assert alarm.rings


def test_alarm_is_silent_where_nothing_is_wrong():
    """And there is none where nothing is randomized."""
    table = TwoWayTable(pair(coin, coin, [[319, 231], [206, 244]]), Rule())
    open_ = TwoWayTable(pair(openly, openly, [[30, 20], [20, 30]]), Rule())

    assert not implausible(table.raw, table.channels).rings
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


def test_self_protective_answers_have_the_published_figures():
    """Coins and a strong channel tell yes and self-protective no apart."""
    found = self_protective([Design(0.75, 0.25, 640, 2000), Design(0.9, 0.1, 480, 2000)], Z)

    assert (found.share.raw, found.protective.raw) == pytest.approx((0.205882, 0.093333), abs=5e-7)
    assert found.share.low < 0.205882 < found.share.high
    assert found.share.std_error == pytest.approx(0.032, abs=0.002)


def test_error_of_self_protective_answers_is_that_of_the_delta_method():
    """Held against differences of the two equations' solution."""
    designs = [Design(0.75, 0.25, 640, 2000), Design(0.9, 0.1, 480, 2000)]
    found = self_protective(designs, Z)

    def moved(first, second):
        """The raw share with other counts."""
        changed = [designs[0]._replace(yes=640 + first), designs[1]._replace(yes=480 + second)]
        return self_protective(changed, Z).share.raw

    slopes = [(moved(1, 0) - moved(-1, 0)) * 1000, (moved(0, 1) - moved(0, -1)) * 1000]
    variances = [share * (1 - share) / 1999 for share in (0.32, 0.24)]
    error = math.sqrt(sum(s**2 * v for s, v in zip(slopes, variances, strict=True)))
    assert found.share.std_error == pytest.approx(error, rel=1e-3)


def test_designs_that_cannot_be_told_apart_are_refused():
    """The same channel twice, or another with the same odds of b."""
    with pytest.raises(EstimateError, match="cannot be told apart"):
        self_protective([Design(0.75, 0.25, 640, 2000), Design(0.75, 0.25, 600, 2000)], Z)
    with pytest.raises(EstimateError, match="at least two reports"):
        self_protective([Design(0.75, 0.25, 1, 1), Design(0.9, 0.1, 600, 2000)], Z)


def test_bits_of_one_mask_make_a_table():
    """Two options of one bitwise question have the published table."""
    from sottovoce.aggregator.analysis.tables.pair_moments import count_pairs, joint
    from sottovoce.aggregator.estimators.question_variables import variables_of

    one, other = variables_of(parsed(some_of(2, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"})))
    masks = np.repeat([0, 2, 1, 3], [300, 200, 180, 320]).astype(np.uint8)

    table = TwoWayTable(joint([count_pairs(one, other, (masks, masks))], 1000), Rule())

    assert table.raw.ravel() == pytest.approx([0.47, 0.03, -0.01, 0.51], abs=1e-12)
    assert one.support == (Fraction(3, 4), Fraction(1, 4))
