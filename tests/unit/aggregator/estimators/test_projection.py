"""Shares for the bars of a chart."""

import math

import numpy as np
import pytest
from sottovoce.aggregator.estimators.projection import norm_sub
from sottovoce.shared.errors import EstimateError


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([0.7, 0.5, -0.2], [0.6, 0.4, 0.0]),
        ([1.5, -0.2, -0.3], [1.0, 0.0, 0.0]),
        ([0.5, 0.5, 0.5, 0.5], [0.25] * 4),
        ([3.0], [1.0]),
        ([-1.0, -1.0], [0.5, 0.5]),
    ],
)
def test_norm_sub_is_the_nearest_point_of_the_simplex(raw: list[float], expected: list[float]) -> None:
    """Worked examples."""
    assert norm_sub(raw) == pytest.approx(expected, abs=1e-12)


def test_norm_sub_is_nearer_than_any_other_point_of_the_simplex() -> None:
    """No random point of the simplex beats it, and none lies further from a truth than the raw shares do."""
    rng = np.random.default_rng(1)
    for raw in rng.normal(0.2, 0.3, (20, 5)):
        projected = np.array(norm_sub(raw.tolist()))
        others = rng.dirichlet(np.full(5, 0.5), 2000)

        assert projected.sum() == pytest.approx(1)
        assert np.sum((projected - raw) ** 2) <= np.sum((others - raw) ** 2, axis=1).min() + 1e-12
        assert np.all(np.sum((projected - others) ** 2, axis=1) <= np.sum((raw - others) ** 2, axis=1) + 1e-12)


def test_norm_sub_is_not_clipping_and_rescaling() -> None:
    """Folk error 12: that is further away."""
    raw = np.array([0.7, 0.5, -0.2])
    rescaled = np.clip(raw, 0, None) / np.clip(raw, 0, None).sum()

    assert np.sum((np.array(norm_sub(raw.tolist())) - raw) ** 2) < np.sum((rescaled - raw) ** 2)


@pytest.mark.parametrize("bad", [[], [math.nan, 1.0], [math.inf]])
def test_norm_sub_refuses_what_is_not_a_share(bad: list[float]) -> None:
    """Nothing, and what is not finite."""
    with pytest.raises(EstimateError):
        norm_sub(bad)
