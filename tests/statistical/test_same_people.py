"""Waves of the same people, added up: intervals hold, by exact enumeration."""

from functools import lru_cache

import numpy as np
import pytest
from sottovoce.aggregator.estimators.intervals import same_people, score_cc
from sottovoce.aggregator.estimators.means import ScoredChannel, mean_interval

from tests.statistical.exact import CHANNELS, Array, binomial

SHARES = np.linspace(0.01, 0.99, 33)


@lru_cache(maxsize=64)
def reported(people: int, waves: int, a: float, b: float) -> Array:
    """P(x reports of yes) for each number of people whose truth is yes in every wave: (people + 1, n + 1)."""
    rows = []
    for yes in range(people + 1):
        (of_yes,), (of_no,) = (
            binomial(waves * size, np.array([rate])) if size else np.ones((1, 1))
            for size, rate in ((yes, a), (people - yes, b))
        )
        rows.append(np.convolve(of_yes, of_no))
    return np.array(rows)


def coverage(limits: tuple[Array, Array], people: int, waves: int, a: float, b: float) -> Array:
    """P(low <= p <= high) for each share p of ``SHARES``; ``limits`` are those of the counts 0 .. n."""
    low, high = limits
    inside = (low[None, :] <= SHARES[:, None]) & (SHARES[:, None] <= high[None, :])
    counts = binomial(people, SHARES) @ reported(people, waves, a, b)
    covered: Array = (counts * inside).sum(axis=1)
    return covered


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("people", "waves"), [(5, 2), (20, 2), (20, 5), (60, 3)])
def test_same_people_in_several_waves_are_covered(channel: str, people: int, waves: int) -> None:
    """No share gets less than .945, but for epsilon 5 and five people, .941."""
    a, b = CHANNELS[channel]
    n = people * waves
    least = coverage(same_people(np.arange(n + 1), n, a, b, 0.95, waves), people, waves, a, b).min()

    assert least >= (0.941 if (channel, people) == ("epsilon 5", 5) else 0.945)


def test_interval_for_independent_reports_would_not_hold() -> None:
    """Epsilon 3, five waves: what the second term is for."""
    a, b = CHANNELS["epsilon 3"]

    assert coverage(score_cc(np.arange(101), 100, a, b, 0.95), 20, 5, a, b).min() < 0.7


@pytest.mark.parametrize("channel", CHANNELS)
def test_one_wave_has_the_interval_it_always_had(channel: str) -> None:
    """To the last digits: no second kind of interval."""
    counts = np.arange(58)
    one, other = same_people(counts, 57, *CHANNELS[channel], 0.95, 1), score_cc(counts, 57, *CHANNELS[channel], 0.95)

    assert np.abs(np.array(one) - np.array(other)).max() < 1e-9


def test_mean_of_two_scores_has_the_limits_of_the_share() -> None:
    """Among means, too, the second term is the variance of a truth that never changes."""
    a, b, n, waves = 0.75, 0.25, 60, 3
    scores = (-b / (a - b), (1 - b) / (a - b))
    channel = ScoredChannel((0.0, 1.0), scores, tuple(r * scores[1] ** 2 + (1 - r) * scores[0] ** 2 for r in (b, a)))
    low, high = same_people(np.arange(n + 1), n, a, b, 0.95, waves)
    for count in (0, 15, 21, 30, 45, 60):
        found = mean_interval((count / n - b) / (a - b), n, channel, 0.95, waves)
        assert found == pytest.approx((low[count], high[count]), abs=1e-9)
