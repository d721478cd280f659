"""Questions for clusters: the textbook's ball is reachable, and its noise follows from its radius."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.curator.clusters.cluster import LloydOptions, cluster_question
from sottovoce.aggregator.curator.declaration import DataRecords, Declaration, NumberColumn
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.shared.errors import SpecError

from tests.unit.aggregator.curator.noises import NoNoise

ONE = NumberColumn(Fraction(-1), Fraction(1), Fraction(1, 100), Fraction(0))
DECLARED = Declaration("one point", {"x": ONE, "y": ONE})


class Middle(NoNoise):
    """Starts in the middle, without noise."""

    def below(self, bound: int) -> int:
        return bound // 2


@pytest.mark.parametrize(("terms", "twice"), [(Neighbours.REPLACE, 2), (Neighbours.ADD_REMOVE, 1)])
def test_unit_ball_shrinks_points_and_halves_the_noise(terms: Neighbours, twice: int) -> None:
    """A corner of the box becomes the middle of the ball's edge; sums change by 100 steps of 1/100, not by 200."""
    corner = DataRecords(2, {"x": np.array([200, 200]), "y": np.array([200, 200])}, {})
    in_ball, in_box = Middle(), Middle()

    ball = cluster_question(DECLARED, ["x", "y"], 1, LloydOptions(1, radius=100))
    box = cluster_question(DECLARED, ["x", "y"], 1, LloydOptions(1))
    found = ball.draw(corner, ReleaseTerms(Fraction(1), terms), in_ball)
    beside = box.draw(corner, ReleaseTerms(Fraction(1), terms), in_box)

    assert found.values["centres"] == [["1/2", "1/2"]]
    assert beside.values["centres"] == [["1", "1"]]
    assert in_ball.asked == [(1, 2 * twice)] + [(1, 2 * twice * 200)] * 2
    assert in_box.asked == [(1, 2 * twice)] + [(1, 2 * twice * 400)] * 2
    assert ball.form != box.form


@pytest.mark.parametrize("radius", [0, -1, 2**20])
def test_radius_out_of_range_is_refused(radius: int) -> None:
    """Before anything is counted."""
    with pytest.raises(SpecError, match="radius"):
        cluster_question(DECLARED, ["x", "y"], 1, LloydOptions(1, radius=radius))
