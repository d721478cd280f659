"""Weights as given."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.weights import checked_weights, kish_effect, weight_warnings
from sottovoce.shared.errors import EstimateError


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 1.0], "2 weights for 3 reports"),
        ([[1.0, 1.0, 1.0]], "3 weights for 3 reports"),
        ([1.0, float("nan"), 1.0], "row 2: the weight is missing"),
        ([1.0, 1.0, 0.0], "row 3"),
        ([1.0, float("inf"), 1.0], "row 2"),
        ([1.0, 51.0, 1.0], "more than 50 times"),
    ],
)
def test_unfit_weights_are_refused(weights: list[float], words: str) -> None:
    """With the row, and never the weight."""
    with pytest.raises(EstimateError, match=words):
        checked_weights(weights, 3)


def test_unequal_weights_are_warned_of() -> None:
    """From ten to one on."""
    assert weight_warnings(np.array([1.0, 10.0])) == []
    assert len(weight_warnings(np.array([1.0, 11.0]))) == 1


def test_equal_weights_cost_nothing() -> None:
    """Whatever they are."""
    assert kish_effect(np.full(600, 7.0)) == pytest.approx(1)
