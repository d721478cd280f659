"""Limits of a logit with a random intercept hold their level, through a noisy channel and at no spread of people."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.newton import inverse
from sottovoce.aggregator.analysis.regression.person_model import PersonModel, settled, spread

SAMPLES, PEOPLE, ROWS = 400, 300, 4
LEAST = 0.9125
"""Coverage that limits with .95 reach in all but one of a thousand sets of 400 samples."""

LOG_ODDS = np.array([-0.5, 0.8])


@pytest.mark.slow
@pytest.mark.parametrize(("sd", "a"), [(1.0, 0.75), (1.0, 1.0), (0.0, 1.0)])
def test_limits_hold_their_level(sd: float, a: float) -> None:
    """Of the slope, and of the standard deviation, which is an edge at 0."""
    dice, held = np.random.default_rng(9), np.zeros(2)
    channel = np.array([[a, 1 - a], [1 - a, a]])
    for _ in range(SAMPLES):
        x = np.stack([np.ones(PEOPLE * ROWS), dice.integers(0, 2, PEOPLE * ROWS)])
        odds = LOG_ODDS @ x + sd * np.repeat(dice.normal(size=PEOPLE), ROWS)
        truth = (dice.random(odds.size) < 1 / (1 + np.exp(-odds))).astype(int)
        reports = np.where(dice.random(odds.size) < a, truth, 1 - truth)
        starts = np.arange(PEOPLE + 1) * ROWS
        model, fit = settled(PersonModel(x, np.ones((1, odds.size)), channel[reports], starts))
        covariance = inverse(fit.information)
        assert covariance is not None
        errors = np.sqrt(np.diag(covariance))
        found = spread(model, fit, float(errors[2]), 0.95)
        held += [
            abs(fit.theta[1] - LOG_ODDS[1]) <= 1.96 * errors[1],
            found["low"] <= sd and (found["high"] is None or sd <= found["high"]),
        ]
    assert (held >= LEAST * SAMPLES).all(), held
