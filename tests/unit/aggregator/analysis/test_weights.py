"""Weights as given, and shares with them."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.weights import (
    checked_weights,
    kish_effect,
    raking_cells,
    weight_warnings,
    weighted_share,
)
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.reports import ROW, SCORE, WEIGHTS


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
    """And the share is the mean of the scores."""
    share = weighted_share(SCORE, np.full(600, 7.0))

    assert share.deff == kish_effect(np.ones(3)) == pytest.approx(1)
    assert share.estimate == pytest.approx(SCORE.mean())
    assert share.std_error == pytest.approx(SCORE.std() / np.sqrt(600))


def test_residual_error_is_for_raked_weights_of_many_reports() -> None:
    """By least squares of its own; below a thousand reports the sandwich stays."""
    cells = raking_cells([ROW % 2, ROW % 3])
    assert cells.shape == (4, 600)
    assert weighted_share(SCORE, WEIGHTS, cells).std_error_kind == "sandwich"

    scores, weights, many = np.tile(SCORE, 2), np.tile(WEIGHTS, 2), np.tile(cells, 2)
    share, root = weighted_share(scores, weights, many), np.sqrt(weights)
    fitted = np.linalg.lstsq((many * root).T, scores * root, rcond=None)[0] @ many
    expected = np.sqrt(np.sum((weights * (scores - fitted)) ** 2) * 1200 / 1196) / weights.sum()
    assert share.std_error_kind == "residual"
    assert share.std_error == pytest.approx(expected, rel=1e-9)
