"""Limits of a logit with a random intercept of each person hold their level, through noise and without, and are short.

The first setting is the fit of three crosswise items of 2,309 people; in others nobody differs, or all say what is so.
"""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.person_model import PersonModel, settled, spread
from sottovoce.shared.errors import EstimateError

from tests.statistical.test_mixtures import LEAST, SAMPLES

Array = NDArray[np.float64]
Z = 1.959964
WIDEST, WIDEST_NEAR_0 = 1.10, 1.15
"""Mean width, over the one of limits by the expected information at the truth: in general, and of a spread that is five
errors from 0 or less, where the likelihood becomes flat, so that limits in the lower samples are longer.
"""

LEVELS = (-0.5455, -0.1573, -1.5376)
FACTS = (0.1594625, 0.1594625, 0.1971293)
CELLS = [*product((0, 1), repeat=3)]


def shares(truth: Array, facts: Array) -> Array:
    """Share of people with each of the eight sets of reports, by an own integral; the spread is last in ``truth``."""
    z = np.linspace(-8, 8, 801)
    masses = np.exp(-(z**2) / 2)
    yes = 1 / (1 + np.exp(-(truth[:-1, None] + truth[-1] * z)))
    said = (1 - facts[:, None]) * yes + facts[:, None] * (1 - yes)
    sets = [np.prod([one if each else 1 - one for one, each in zip(said, cells, strict=True)], axis=0)
            for cells in CELLS]  # fmt: skip
    found: Array = np.array(sets) @ masses / masses.sum()
    return found


def expected_errors(truth: Array, facts: Array, people: int) -> Array:
    """Standard errors by the expected information, from differences of the shares."""
    steps = 1e-5 * np.eye(len(truth))
    slopes = np.array([shares(truth + step, facts) - shares(truth - step, facts) for step in steps]) / 2e-5
    found: Array = np.sqrt(np.diag(np.linalg.inv(people * (slopes / shares(truth, facts)) @ slopes.T)))
    return found


def limits(counts: Array, facts: Array) -> Array | None:
    """Low and high of three levels and of the spread, (4, 2); None without a maximum."""
    said = np.array([CELLS[place] for place in np.flatnonzero(counts)])
    likelihood = np.stack([np.where(said == 0, 1 - facts, facts), np.where(said == 1, 1 - facts, facts)], axis=-1)
    columns, loads = np.tile(np.eye(3), len(said)), np.ones((1, said.size))
    starts = np.arange(len(said) + 1) * 3
    model = PersonModel(columns, loads, likelihood.reshape(-1, 2), starts, weights=counts[counts > 0])
    try:
        model, fit, covariance = settled(model, "no maximum")
    except EstimateError:
        return None
    errors = np.sqrt(np.diag(covariance))
    found = spread(model, fit, float(errors[-1]), 0.95)
    ends = fit.theta[:-1, None] + errors[:-1, None] * [-Z, Z]
    return np.append(ends, [[found["low"], np.nan if found["high"] is None else found["high"]]], axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("facts", "sd", "people"),
    [(FACTS, 0.7096, 2309), ((0.0, 0.0, 0.0), 1.5, 300), (FACTS, 0.0, 2309), ((0.0, 0.0, 0.0), 0.0, 300)],
)
def test_limits_hold_their_level(facts: tuple[float, ...], sd: float, people: int) -> None:
    """Of each level and of the spread, in 2,000 samples; nor are limits of what is not 0 much longer than they need."""
    truth, known = np.array([*LEVELS, sd]), np.array(facts)
    drawn = np.random.Generator(np.random.PCG64(19)).multinomial(people, shares(truth, known), SAMPLES).astype(float)
    found = [limits(counts, known) for counts in drawn]
    ends = np.array([each for each in found if each is not None])

    assert len(ends) >= 0.995 * SAMPLES
    held = ((ends[:, :, 0] <= truth) & (truth <= np.nan_to_num(ends[:, :, 1], nan=np.inf))).mean(axis=0)
    assert (held >= LEAST).all(), held
    if sd:
        errors = expected_errors(truth, known, people)
        widths = (ends[:, :, 1] - ends[:, :, 0]).mean(axis=0) / (2 * Z * errors)
        assert (widths[:-1] <= WIDEST).all(), widths
        assert widths[-1] <= (WIDEST if sd > 5 * errors[-1] else WIDEST_NEAR_0), widths
