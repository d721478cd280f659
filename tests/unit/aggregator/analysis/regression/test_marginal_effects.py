"""Average marginal effects and predictions: the worked examples, and derivatives by difference."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.marginal_effects import average_effects, predicted_shares
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import maximize

from tests.unit.aggregator.analysis.reports import (
    COIN,
    GROUP,
    MASK_LIKELIHOOD,
    ONES,
    SAID,
    WEIGHTS,
    X,
    columns,
    masks,
)

LOGIT = Multinomial(columns(ONES, X, GROUP), SAID, COIN)
CHOICE = Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD, WEIGHTS)


def test_effect_meets_the_worked_example() -> None:
    """With the share of its error that comes from the sample of predictors, and without."""
    fit = maximize(LOGIT)
    effects, errors = average_effects(LOGIT, fit.theta, covariance(LOGIT, fit, "observed"))
    sampling = average_effects(LOGIT, fit.theta, np.zeros((3, 3)))[1]

    assert effects[0, 1] == pytest.approx(0.163596, abs=5e-7)
    assert errors[0, 1] == pytest.approx(0.025905, abs=5e-7)
    assert np.sqrt(errors[0, 1] ** 2 - sampling[0, 1] ** 2) == pytest.approx(0.025806, abs=5e-7)


def test_sample_of_predictors_has_the_variance_of_a_sample() -> None:
    """Of twelve people: divided by eleven."""
    few = Multinomial(LOGIT.columns[:, :12], SAID[:12], COIN)
    theta = np.array([0.2, 0.7, -0.4])
    yes = 1 / (1 + np.exp(-theta @ few.columns))
    effects = theta[:, None] * yes * (1 - yes)

    assert average_effects(few, theta, np.zeros((3, 3)))[1][0] == pytest.approx(
        effects.std(axis=1, ddof=1) / np.sqrt(12)
    )


def test_effects_of_a_choice_are_derivatives_of_its_shares() -> None:
    """Each predictor moved a little for everybody, and the delta method likewise."""
    theta, step = maximize(CHOICE).theta, 1e-6

    def shares(beta: np.ndarray, shift: float) -> np.ndarray:
        odds = np.exp(beta.reshape(3, 2) @ (CHOICE.columns + np.array([[0.0], [shift]])))
        return odds / (1 + odds.sum(axis=0)) @ WEIGHTS / WEIGHTS.sum()

    def effect(beta: np.ndarray) -> np.ndarray:
        return average_effects(CHOICE, beta, np.zeros((6, 6)))[0]

    assert effect(theta)[:, 1] == pytest.approx((shares(theta, step) - shares(theta, -step)) / (2 * step), abs=1e-8)
    slopes = np.array([(effect(theta + step * unit) - effect(theta - step * unit)) / (2 * step) for unit in np.eye(6)])
    variance = covariance(CHOICE, maximize(CHOICE), "sandwich")
    with_sample, sample = (average_effects(CHOICE, theta, matrix)[1] for matrix in (variance, np.zeros((6, 6))))
    delta = np.einsum("dcj,de,ecj->cj", slopes, variance, slopes)
    assert with_sample**2 - sample**2 == pytest.approx(delta, rel=1e-5)


def test_prediction_meets_the_worked_example() -> None:
    """X = .5, g = 1."""
    fit = maximize(LOGIT)
    at = np.array([[1.0], [0.5], [1.0]])
    found = predicted_shares(fit.theta.reshape(1, 3), covariance(LOGIT, fit, "observed"), at)

    assert [float(part[1, 0]) for part in found] == pytest.approx([0.283639, 0.153142, 0.464360], abs=5e-7)


def test_predictions_of_a_choice_add_up_and_have_limits_within_0_and_1() -> None:
    """For each category; those of yes and no mirror each other."""
    fit = maximize(CHOICE)
    variance = covariance(CHOICE, fit, "sandwich")
    shares, low, high = predicted_shares(fit.theta.reshape(3, 2), variance, CHOICE.columns)

    assert shares.shape == (4, 600)
    assert shares.sum(axis=0) == pytest.approx(1)
    assert np.all((low > 0) & (low < shares) & (shares < high) & (high < 1))
    logit = maximize(LOGIT)
    yes_no = predicted_shares(logit.theta.reshape(1, 3), covariance(LOGIT, logit, "opg"), LOGIT.columns)
    assert yes_no[1][0] == pytest.approx(1 - yes_no[2][1])
