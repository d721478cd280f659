"""The likelihood of item counts: its derivatives, with several sensitive items and a predictor."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.list_logit import ListLogit, ways_of_counts
from sottovoce.aggregator.analysis.regression.newton import Sums, evaluate, maximize

COUNTS = np.array([0, 1, 2, 3, 4, 2, 1, 3, 0, 4, 2, 3] * 20)
ARMS = np.array([-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1] * 20)
COLUMNS = np.stack([np.ones(240), np.arange(240) % 7 / 7])


def _sums(theta: np.ndarray) -> Sums:
    return evaluate(ListLogit(COLUMNS, COUNTS, ways_of_counts(3), arms=ARMS), theta)


def test_gradient_and_information_are_the_derivatives_of_the_likelihood() -> None:
    """By central differences at a point that is no maximum, for two sensitive items and the control."""
    theta = np.array([0.3, -0.4, -0.7, 0.2, 0.1, 0.5])
    found, step = _sums(theta), 1e-5
    for place, unit in enumerate(np.eye(6) * step):
        above, below = _sums(theta + unit), _sums(theta - unit)
        slope = (above.log_likelihood - below.log_likelihood) / (2 * step)
        assert found.gradient[place] == pytest.approx(slope, abs=1e-6)
        assert found.information[place] == pytest.approx((below.gradient - above.gradient) / (2 * step), abs=1e-5)


def test_counts_of_a_share_that_is_fitted_exactly_give_it_back() -> None:
    """Two items of which half apply, and a sensitive one that applies to a quarter."""
    counts = [0, 1, 2, 0, 1, 2, 3]
    people = [100, 200, 100, 75, 175, 125, 25]
    y, arms = np.repeat(counts, people), np.repeat([-1, -1, -1, 0, 0, 0, 0], people)
    fit = maximize(ListLogit(np.ones((1, len(y))), y, ways_of_counts(2), arms=arms))
    assert 1 / (1 + np.exp(-fit.theta)) == pytest.approx([0.25, 0.5], abs=1e-8)
