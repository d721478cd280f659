"""Logit with a randomized predictor: the worked example, and what it becomes without noise."""

from dataclasses import replace

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import evaluate, maximize
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor

from tests.unit.aggregator.analysis.reports import (
    COIN,
    MASK_LIKELIHOOD,
    ONES,
    OTHER,
    ROW,
    WEIGHTS,
    X,
    columns,
    masks,
    ratings,
)

OUTCOME = (35 + 15 * OTHER + 10 * (X > 0) > 41 * ROW % 100).astype(int)


def on_cells(outcome: Multinomial, predictor: Multinomial) -> RandomizedPredictor:
    """Outcome on its columns and on an indicator of each category of the predictor after the first."""
    later = predictor.shape[0]
    ones = np.ones((later, outcome.rows))
    cells = np.hstack([np.ones((later + 1, len(outcome.columns))), np.eye(later + 1)[:, 1:]])
    with_ones = replace(outcome, columns=np.vstack([outcome.columns, ones]))
    return RandomizedPredictor(with_ones, predictor, cells, np.eye(predictor.parameters))


def test_logit_on_a_coin_answer_meets_the_worked_example() -> None:
    """A public outcome; coefficients of 1, x and the coin answer, and observed errors."""
    of_x = columns(ONES, X)
    model = on_cells(Multinomial(of_x, OUTCOME, np.eye(2)), Multinomial(of_x, OTHER, COIN))
    fit = maximize(model)
    errors = np.sqrt(np.diag(covariance(model, fit, "observed")))

    assert fit.theta[:3] == pytest.approx([-0.5666, 0.1345, 1.3575], abs=5e-5)
    assert errors[:3] == pytest.approx([0.1512, 0.0855, 0.4422], abs=5e-5)


def test_predictor_without_noise_is_an_ordinary_one() -> None:
    """The two models are then fitted apart."""
    of_x = columns(ONES, X)
    both = maximize(on_cells(Multinomial(of_x, OUTCOME, COIN), Multinomial(of_x, OTHER, np.eye(2))))
    outcome = maximize(Multinomial(columns(ONES, X, OTHER), OUTCOME, COIN))
    predictor = maximize(Multinomial(of_x, OTHER, np.eye(2)))

    assert both.theta == pytest.approx([*outcome.theta, *predictor.theta], abs=1e-7)
    assert both.log_likelihood == pytest.approx(outcome.log_likelihood + predictor.log_likelihood, abs=1e-8)


def test_derivatives_hold_with_many_categories_on_both_sides() -> None:
    """A rating on a masked choice, both randomized, weighted: against difference quotients."""
    of_x = columns(ONES, X)
    rating = Multinomial(of_x, ratings(), np.ones((4, 4)) + 2 * np.eye(4), WEIGHTS)
    model = on_cells(rating, Multinomial(of_x, masks(), MASK_LIKELIHOOD))
    d, step = model.parameters, 1e-5
    theta = np.sin(np.arange(d))
    ahead, behind = ([evaluate(model, theta + sign * step * unit) for unit in np.eye(d)] for sign in (1, -1))
    here = evaluate(model, theta)

    slopes = [
        (one.log_likelihood - other.log_likelihood) / (2 * step) for one, other in zip(ahead, behind, strict=True)
    ]
    curves = [(other.gradient - one.gradient) / (2 * step) for one, other in zip(ahead, behind, strict=True)]
    assert d == 3 * (2 + 3) + 3 * 2
    assert here.gradient == pytest.approx(np.array(slopes), abs=1e-6)
    assert here.information == pytest.approx(np.array(curves), abs=1e-6)
    assert model.scores(theta, slice(None)) @ WEIGHTS == pytest.approx(here.gradient, abs=1e-9)


def test_linear_predictors_have_the_directions_that_are_said() -> None:
    """The log odds of one report, by their derivatives."""
    of_x = columns(ONES, X)
    model = on_cells(Multinomial(of_x, OUTCOME, COIN), Multinomial(of_x, masks(), MASK_LIKELIHOOD))
    theta = np.cos(np.arange(model.parameters))

    found = [float(predictor[0]) for predictor in model.predictors(theta, slice(7, 8))]
    assert model.directions(7) @ theta == pytest.approx(found, abs=1e-12)
