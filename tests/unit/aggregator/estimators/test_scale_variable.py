"""An ordered choice as a number: its points, and scores that are right on average."""

import numpy as np
import pytest
from sottovoce.aggregator.estimators.scale_variable import as_number, bare, num, points_of

from tests.documents import one_of
from tests.unit.aggregator.analysis.samples import variable


def test_points_are_the_numbers_in_the_names_or_the_places() -> None:
    """0 to 10 stays 0 to 10; words are 1, 2, 3."""
    assert points_of(["r0", "r5", "r10"]) == (0.0, 5.0, 10.0)
    assert points_of(["never", "once", "often"]) == (1.0, 2.0, 3.0)
    assert points_of(["a1", "b7", "a2"]) == (1.0, 2.0, 3.0)
    assert (bare(num("a.b")), bare("a.b")) == ("a.b", "a.b")


def test_scores_of_a_randomized_scale_are_right_on_average() -> None:
    """Of the number and of its square, by the exact channel."""
    scale = as_number(variable(one_of(5, {"name": "kary_rr", "odds": "3"})))
    for truth, level in enumerate(scale.levels):
        chances = np.where(np.arange(5) == truth, 3 / 7, 1 / 7)
        for power, scores in ((1, scale.scores), (2, scale.square_scores)):
            assert chances @ scores(np.arange(5)) == pytest.approx(level**power)
