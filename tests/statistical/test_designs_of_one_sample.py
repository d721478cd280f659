"""Limits of designs with one sample, and of list experiments, hold their level and are not wide."""

from collections.abc import Iterator

import numpy as np
import pytest
from sottovoce.aggregator import mixture
from sottovoce.aggregator.analysis.data_file.list_model import combined_share, difference_in_means
from sottovoce.aggregator.analysis.data_file.people_with_predictors import mean_share
from sottovoce.aggregator.analysis.regression.list_logit import ListLogit, ways_of_counts
from sottovoce.aggregator.analysis.regression.newton import inverse, maximize

from tests.statistical.test_mixtures import LEAST, SAMPLES

Z = 1.959964
ITEMS, HALF, SHARE, APPLIES, ADMIT = 3, 500, 0.3, 0.4, 0.5
"""Items of a list and people of each half; shares of yes, of each other item, and of those who admit their yes."""


@pytest.mark.slow
@pytest.mark.parametrize("pi", [0.3, 0.02, 0.0])
def test_limits_of_mangat_hold_their_level(pi: float) -> None:
    """With 500 people, p .7, inside and at the edge."""
    drawn = np.random.default_rng(3).binomial(500, pi + (1 - pi) * 0.3, SAMPLES)
    held = 0
    for yes, often in zip(*np.unique(drawn, return_counts=True), strict=True):
        share = mixture("mangat", [0.7], [int(yes)], [500]).document["shares"]["pi"]
        held += int(often) * bool(share["low"] - 1e-9 <= pi <= share["high"] + 1e-9)
    assert held >= LEAST * SAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("pi", [0.15, 0.0])
def test_limits_of_kuk_hold_their_level(pi: float) -> None:
    """Of 200 people with five cards each, .6 and .2 red."""
    draws, held = np.random.default_rng(5), 0
    for _ in range(SAMPLES):
        red = draws.binomial(5, np.where(draws.random(200) < pi, 0.6, 0.2))
        counts = dict(enumerate(np.bincount(red, minlength=6).tolist()))
        share = mixture("kuk", [0.6, 0.2], counts=counts, draws=5).document["shares"]["pi"]
        held += share["low"] - 1e-9 <= pi <= share["high"] + 1e-9
    assert held >= LEAST * SAMPLES


def lists() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Counts, halves and direct answers of 2,000 samples; who admits says so in the list, too."""
    draws, halves = np.random.default_rng(13), np.repeat([1, 0], HALF)
    for _ in range(SAMPLES):
        yes = draws.random(2 * HALF) < SHARE
        direct = yes & (draws.random(2 * HALF) < ADMIT)
        yield draws.binomial(ITEMS, APPLIES, 2 * HALF) + yes * halves, halves, direct.astype(int)


@pytest.mark.slow
def test_limits_of_list_experiments_hold_their_level() -> None:
    """By the difference in means, combined with the direct question, and by maximum likelihood.

    Standard errors are as large as the spread of the estimates, to a tenth.
    """
    ways, found = ways_of_counts(ITEMS), dict[str, list[tuple[float, float, bool]]]()
    for counts, halves, direct in lists():
        raw, error = difference_in_means(counts[halves == 1], counts[halves == 0])
        found.setdefault("difference", []).append((raw, error, abs(raw - SHARE) <= Z * error))
        both = combined_share(direct, halves, counts.astype(float), 0.95)
        held = both["low"] <= SHARE <= both["high"]
        found.setdefault("combined", []).append((both["share"], both["std_error"], held))
        model = ListLogit(np.ones((1, len(counts))), counts, ways, arms=halves - 1)
        fit = maximize(model)
        covariance = inverse(fit.information)
        assert fit.converged
        assert covariance is not None
        shares = model.sensitive(fit.theta, slice(None))[0]
        share, error, low, high = mean_share(model, shares, (shares * (1 - shares))[None], covariance[:1, :1], Z)
        found.setdefault("likelihood", []).append((share, error, low <= SHARE <= high))
    for way, samples in found.items():
        shares, errors, inside = np.array(samples).T
        assert inside.mean() >= LEAST, way
        assert errors.mean() / shares.std() == pytest.approx(1, abs=0.1), way
