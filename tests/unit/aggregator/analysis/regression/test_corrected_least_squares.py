"""Linear regression on scores: the worked examples, and least squares without noise."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction, solve
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.reports import (
    GROUP,
    ONES,
    OTHER,
    OTHER_SCORE,
    ROW,
    SAWTOOTH,
    SCORE,
    WEIGHTS,
    X,
    columns,
    noisy_numbers,
)

R, M = 0.8, 10
Z1 = np.array([-R / (1 - R), *range(1, M), M + R / (1 - R)])
Z2 = np.array(
    [-R / (1 - R), *(y * y - 2 * R / (1 - R) ** 2 for y in range(1, M)), M * M + 2 * M * R / (1 - R) - R / (1 - R)]
)


def errors(covariance: np.ndarray) -> np.ndarray:
    """Standard errors."""
    return np.sqrt(np.diag(covariance))


def test_linear_probability_model_meets_the_worked_example() -> None:
    """Coin scores on 1, x, g, with HC0."""
    fit = solve(columns(ONES, X, GROUP), SCORE)

    assert fit.coefficients == pytest.approx([0.414335, 0.175114, -0.171813], abs=5e-7)
    assert errors(fit.covariance) == pytest.approx([0.048613, 0.033415, 0.082912], abs=5e-7)


def test_coin_answer_as_predictor_meets_the_worked_example() -> None:
    """Its own square is the score, an indicator being its square."""
    outcome = 2 + X + 0.8 * OTHER + SAWTOOTH
    fit = solve(columns(ONES, X, OTHER_SCORE), outcome, [Correction(2, 2, OTHER_SCORE)])

    assert fit.coefficients == pytest.approx([1.749126, 0.974445, 1.885082], abs=5e-7)
    assert errors(fit.covariance) == pytest.approx([0.055336, 0.056465, 0.174950], abs=5e-7)


def test_geometric_number_as_predictor_meets_the_worked_example() -> None:
    """With the score of its square; and its mean and variance."""
    truth, reported = noisy_numbers()
    z1, z2 = Z1[reported], Z2[reported]
    fit = solve(columns(ONES, z1), 0.3 * truth + SAWTOOTH, [Correction(1, 1, z2)])

    assert (z1.mean(), z2.mean(), z2.mean() - z1.mean() ** 2) == pytest.approx(
        (4.988333, 33.628333, 8.744864), abs=5e-7
    )
    assert fit.coefficients == pytest.approx([-0.234011, 0.346352], abs=5e-7)
    assert errors(fit.covariance) == pytest.approx([0.374018, 0.073234], abs=5e-7)


def test_correction_without_noise_changes_nothing() -> None:
    """The indicators of a public answer are their own squares."""
    indicators = np.array([ROW % 3 == 1, ROW % 3 == 2]).astype(float)
    design = np.vstack([columns(ONES, X), indicators])
    plain = solve(design, SCORE, weights=WEIGHTS, clusters=ROW // 6)
    known = [Correction(2, 2, indicators[0]), Correction(3, 3, indicators[1]), Correction(2, 3, None)]
    corrected = solve(design, SCORE, known, WEIGHTS, ROW // 6)

    assert corrected.coefficients == pytest.approx(plain.coefficients, abs=1e-12)
    assert corrected.covariance == pytest.approx(plain.covariance, abs=1e-12)


def test_clusters_are_summed_before_they_are_squared() -> None:
    """Each report twice, each pair a cluster, is as the reports once, but for G / (G - 1)."""
    design = columns(ONES, X, GROUP)
    once = solve(design, SCORE)
    twice = solve(np.repeat(design, 2, axis=1), np.repeat(SCORE, 2), clusters=np.repeat(ROW, 2))

    assert twice.coefficients == pytest.approx(once.coefficients, abs=1e-12)
    assert twice.covariance == pytest.approx(once.covariance * 600 / 599, rel=1e-10)


def test_predictor_drowned_by_its_noise_is_refused() -> None:
    """Its own variance is negative, and no coefficient means anything."""
    noise = columns(ONES, np.where(ROW % 2, 1.5, -0.5))
    with pytest.raises(EstimateError, match="drowned by its own noise"):
        solve(noise, SCORE, [Correction(1, 1, np.full(600, 0.1))])


def test_public_predictors_are_not_drowned_by_a_noise() -> None:
    """Where no predictor was randomized, one follows from the others."""
    with pytest.raises(EstimateError, match="one follows from the others; leave one out"):
        solve(columns(ONES, X, X), SCORE)
