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
"""Mean width, over the one of limits that know everything. These are, of the spread, by the likelihood of the expected
reports; and of all by the expected information at the truth. The latter, symmetric ones are too short for a spread
within five errors of 0: the likelihood is flat at 0, where a quarter of the limits end.
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
    return np.array(sets) @ masses / masses.sum()


def expected_errors(truth: Array, facts: Array, people: int) -> Array:
    """Standard errors by the expected information, from differences of the shares."""
    steps = 1e-5 * np.eye(len(truth))
    slopes = np.array([shares(truth + step, facts) - shares(truth - step, facts) for step in steps]) / 2e-5
    return np.sqrt(np.diag(np.linalg.inv(people * (slopes / shares(truth, facts)) @ slopes.T)))


def likelihood_width(truth: Array, facts: Array, people: int) -> float:
    """Width of the likelihood limits of the spread if the reports are the expected ones, by an own profile."""
    counts, steps = people * shares(truth, facts), 1e-5 * np.eye(len(truth))[:-1]

    def fallen(spread_at: float) -> float:
        at = np.append(truth[:-1], spread_at)
        for _ in range(8):
            slopes = np.array([shares(at + step, facts) - shares(at - step, facts) for step in steps]) / 2e-5
            now = shares(at, facts)
            at[:-1] += np.linalg.solve(people * (slopes / now) @ slopes.T, slopes @ (counts / now))
        return float(2 * counts @ np.log(counts / people / shares(at, facts)))

    ends = []
    for outer in (0.0, 3 * truth[-1]):
        inside, outside = truth[-1], outer
        for _ in range(30):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if fallen(middle) < Z**2 else (inside, middle)
        ends.append(inside)
    return float(ends[1] - ends[0])


def limits(counts: Array, facts: Array) -> Array | None:
    """Estimate, low and high of three levels and of the spread, (4, 3); None without a maximum."""
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
    found = spread(model, fit, covariance, 0.95)
    ends = fit.theta[:-1, None] + errors[:-1, None] * [0, -Z, Z]
    high = np.nan if found["high"] is None else found["high"]
    return np.append(ends, [[found["estimate"], found["low"], high]], axis=0)


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
    at, low, high = np.array([each for each in found if each is not None]).transpose(2, 0, 1)

    assert len(at) >= 0.995 * SAMPLES
    held = ((low <= truth) & (truth <= np.nan_to_num(high, nan=np.inf))).mean(axis=0)
    assert (held >= LEAST).all(), held
    if sd:
        errors, mean = expected_errors(truth, known, people), (high - low).mean(axis=0)
        widths = mean / (2 * Z * errors)
        assert (widths[:-1] <= WIDEST).all(), widths
        assert mean[-1] <= WIDEST * likelihood_width(truth, known, people)
        # Near 0 limits by the expected information are shorter, but they do not hold their level.
        near = sd <= 5 * errors[-1]
        assert widths[-1] <= (WIDEST_NEAR_0 if near else WIDEST), widths
        assert not near or (np.abs(at[:, -1] - sd) <= Z * errors[-1]).mean() < LEAST
