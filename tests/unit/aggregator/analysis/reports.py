"""The reports of the worked examples: rows 0 .. 599 by arithmetic, so that any program can make them again."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.newton import Model, Sums, evaluate

ROW = np.arange(600)
ONES = np.ones(600)
X = ((37 * ROW) % 101 - 50) / 25
GROUP = (ROW % 3 == 0).astype(float)
COIN = np.array([[0.75, 0.25], [0.25, 0.75]])
"""The coin flip: a row of likelihoods for each report."""

U = ((7919 * ROW) % 1009 + 0.5) / 1009
SAID = (1 / 4 + 1 / 2 / (1 + np.exp(-(-0.6 + 0.9 * X - 0.5 * GROUP))) > U).astype(int)
"""Coin reports on a yes/no answer."""
OTHER = (17 * ROW % 10 < 4).astype(int)
"""Coin reports on another one."""
SCORE = (SAID - 0.25) / 0.5
OTHER_SCORE = (OTHER - 0.25) / 0.5
WEIGHTS = 1 + (ROW % 4) / 2
SAWTOOTH = ((53 * ROW % 97) - 48) / 40

MASKS = (3, 5, 6, 9, 10, 12)
MASK_LIKELIHOOD = np.array([[3.0 if mask >> option & 1 else 1.0 for option in range(4)] for mask in MASKS])


def masks() -> np.ndarray:
    """Reports through subset selection of 2 of 4 options with odds 3, as indices into ``MASKS``."""
    truth = (5 * ROW + ROW // 7) % 4
    holding = np.array([[index for index, mask in enumerate(MASKS) if mask >> option & 1] for option in range(4)])
    return np.where(31 * ROW % 8 < 6, holding[truth, 13 * ROW % 3], (7919 * ROW % 1009) % 6)


def ratings() -> np.ndarray:
    """Reports on a rating of four steps through 4-ary randomized response with odds 3."""
    s = ((6151 * ROW) % 1013 + 0.5) / 1013
    latent = 0.8 * X - 0.5 * GROUP + np.log(s / (1 - s))
    truth = (latent > -1).astype(int) + (latent > 0.3) + (latent > 1.5)
    return np.where((31 * ROW + ROW // 11) % 6 < 3, truth, (truth + 1 + (13 * ROW + ROW // 5) % 3) % 4)


def noisy_numbers() -> tuple[np.ndarray, np.ndarray]:
    """True numbers 0 .. 10, and their reports through the clamped geometric mechanism with ratio .8."""
    truth, q = 7 * ROW % 11, 17 * ROW % 9
    size = 1 + np.floor(np.log(((389 * ROW % 997) + 0.5) / 997) / np.log(0.8))
    noise = np.where(q == 0, 0, np.where(q < 5, size, -size))
    return truth, np.clip(truth + noise, 0, 10).astype(int)


def columns(*named: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.stack(named).astype(float))


def check_derivatives(model: Model, theta: np.ndarray, of_information: float = 1e-6) -> Sums:
    here, step = evaluate(model, theta), 1e-5
    ahead, behind = ([evaluate(model, theta + sign * step * unit) for unit in np.eye(len(theta))] for sign in (1, -1))
    sides = list(zip(ahead, behind, strict=True))
    slopes = [(one.log_likelihood - other.log_likelihood) / (2 * step) for one, other in sides]
    curves = [(other.gradient - one.gradient) / (2 * step) for one, other in sides]
    assert here.gradient == pytest.approx(np.array(slopes), abs=of_information)
    assert here.information == pytest.approx(np.array(curves), abs=of_information)
    return here
