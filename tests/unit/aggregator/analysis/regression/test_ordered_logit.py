"""Ordered logit: the worked example, and its edges."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import evaluate, maximize
from sottovoce.aggregator.analysis.regression.ordered_logit import Ordered

from tests.unit.aggregator.analysis.reports import COIN, GROUP, ONES, SAID, WEIGHTS, X, columns, ratings

ODDS_3 = np.ones((4, 4)) + 2 * np.eye(4)
MODEL = Ordered(columns(X, GROUP), ratings(), ODDS_3, WEIGHTS)


def test_ordered_logit_meets_the_worked_example() -> None:
    """Slopes and cuts."""
    fit = maximize(Ordered(columns(X, GROUP), ratings(), ODDS_3))

    assert fit.converged
    assert fit.theta == pytest.approx([0.8820, -0.5315, -1.2078, 0.3908, 1.2733], abs=5e-5)


def test_ordered_derivatives_are_those_of_the_likelihood() -> None:
    """Gradient and information against difference quotients, away from the maximum, with weights."""
    theta, step = np.array([0.3, -0.2, -1.0, 0.1, 1.4]), 1e-5
    ahead, behind = ([evaluate(MODEL, theta + sign * step * unit) for unit in np.eye(5)] for sign in (1, -1))
    here = evaluate(MODEL, theta)

    slopes = [
        (one.log_likelihood - other.log_likelihood) / (2 * step) for one, other in zip(ahead, behind, strict=True)
    ]
    curves = [(other.gradient - one.gradient) / (2 * step) for one, other in zip(ahead, behind, strict=True)]
    assert here.gradient == pytest.approx(np.array(slopes), abs=1e-6)
    assert here.information == pytest.approx(np.array(curves), abs=1e-6)
    assert MODEL.scores(theta, slice(None)) @ WEIGHTS == pytest.approx(here.gradient, abs=1e-9)


def test_two_categories_are_a_logit() -> None:
    """With the same slopes, and the cut as minus its constant."""
    ordered = maximize(Ordered(columns(X, GROUP), SAID, COIN))
    logit = maximize(Multinomial(columns(ONES, X, GROUP), SAID, COIN))

    assert ordered.theta == pytest.approx([*logit.theta[1:], -logit.theta[0]], abs=1e-7)
    assert ordered.log_likelihood == pytest.approx(logit.log_likelihood, abs=1e-9)


def test_category_that_nobody_can_have_has_no_maximum() -> None:
    """Of 4-ary reports fewer than noise alone gives: its two cuts would meet, or its end be infinitely far."""
    for rare in range(4):
        reports = np.concatenate([np.full(10 if value == rare else 90, value) for value in range(4)])
        fit = maximize(Ordered(columns(np.arange(280) % 2), reports, ODDS_3))

        assert not fit.converged, rare
        assert fit.runs_off is not None
