"""The anytime-valid band excludes the truth at no time with the stated probability, by exact dynamic programming."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from sottovoce.aggregator.estimators.intervals import wilson
from sottovoce.aggregator.estimators.support import band, log_mixture

from tests.statistical.exact import CHANNELS, Array

COIN, WARNER = CHANNELS["coin"], CHANNELS["warner"]
Excludes = Callable[[int], Array]


def ever_excluded(excludes: Excludes, reported: float, reports: int) -> float:
    """P(some look at 1 .. reports excludes the truth); ``excludes(t)`` says so for each count 0 .. t."""
    alive, missed = np.ones(1), 0.0
    for t in range(1, reports + 1):
        grown = np.zeros(t + 1)
        grown[:-1] += alive * (1 - reported)
        grown[1:] += alive * reported
        out = excludes(t)
        missed += float(grown[out].sum())
        grown[out] = 0
        alive = grown
    return missed


@lru_cache(maxsize=8)
def mixtures(channel: tuple[float, float], reports: int) -> list[Array]:
    """The log mixture for every count at every t."""
    return [log_mixture(np.arange(t + 1), t, *channel) for t in range(reports + 1)]


def band_excludes(channel: tuple[float, float], p: float, reports: int, alpha: float = 0.05) -> Excludes:
    """The band's own rule at the true share."""
    a, b = channel
    reported = b + (a - b) * p
    table = mixtures(channel, reports)

    def excludes(t: int) -> Array:
        counts = np.arange(t + 1)
        log_likelihood = counts * math.log(reported) + (t - counts) * math.log1p(-reported)
        return log_likelihood <= table[t] + math.log(alpha)

    return excludes


def miss(channel: tuple[float, float], p: float, reports: int, alpha: float = 0.05) -> float:
    """Time-uniform miss of the band."""
    a, b = channel
    return ever_excluded(band_excludes(channel, p, reports, alpha), b + (a - b) * p, reports)


@pytest.mark.parametrize("channel", [COIN, WARNER])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5])
def test_band_excludes_the_truth_at_most_at_alpha(channel: tuple[float, float], p: float) -> None:
    assert miss(channel, p, 500) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("channel", [COIN, WARNER, CHANNELS["epsilon 3"]])
def test_band_excludes_the_truth_at_most_at_alpha_up_to_2000(channel: tuple[float, float]) -> None:
    for p in (0.0, 0.05, 0.1, 0.3, 0.5, 0.9):
        assert miss(channel, p, 2000) <= 0.05


@pytest.mark.slow
def test_band_misses_as_often_as_the_specification_says() -> None:
    """Exact figures for the coin flip and 2,000 looks: between .035 and .039."""
    misses = [miss(COIN, p, 2000) for p in (0.1, 0.3, 0.5)]

    assert min(misses) == pytest.approx(0.035, abs=1e-3)
    assert max(misses) == pytest.approx(0.039, abs=1e-3)


def test_band_limits_agree_with_its_rule() -> None:
    """A share lies between the limits exactly when its likelihood passes."""
    for t in (1, 7, 100):
        for p in (0.001, 0.1, 0.35, 0.7, 0.999):
            out = band_excludes(COIN, p, 500)(t)
            limits = [band(count, t, *COIN, 0.95) for count in range(t + 1)]

            assert [low <= p <= high for low, high in limits] == (~out).tolist()


def fixed_n_excludes(p: float, first: int = 20) -> Excludes:
    """An interval for a fixed n, used at every look from the first on."""

    def excludes(t: int) -> Array:
        low, high = wilson(np.arange(t + 1), t, *COIN, 0.95)
        return ((p < low) | (p > high)) & (t >= first)

    return excludes


def test_uniform_miss_catches_peeking_at_a_fixed_n_interval() -> None:
    """Folk error 5: after 500 looks the 95 percent interval has excluded the truth in a third of surveys."""
    assert ever_excluded(fixed_n_excludes(0.3), 0.4, 500) > 0.3


@pytest.mark.slow
def test_peeking_excludes_the_truth_as_often_as_the_specification_says() -> None:
    """Looks at every t from 20 to 2,000: 47.6 percent for Wilson's plain interval at p = .4; clipping helps little."""
    z = 1.959963984540054

    def plain(t: int) -> Array:
        count = np.arange(t + 1)
        half = z * np.sqrt(count * (t - count) / t + z * z / 4)
        centre = count + z * z / 2
        return ((centre - half > 0.45 * (t + z * z)) | (centre + half < 0.45 * (t + z * z))) & (t >= 20)

    assert ever_excluded(plain, 0.45, 2000) == pytest.approx(0.476, abs=1e-3)
    assert ever_excluded(fixed_n_excludes(0.3), 0.4, 2000) == pytest.approx(0.457, abs=1e-3)


def test_uniform_miss_catches_a_likelihood_ratio_without_mixture() -> None:
    """The maximum in the place of the mixture is no martingale: it misses more than alpha."""
    a, b = COIN
    counts = [np.arange(t + 1) for t in range(501)]

    def excludes(t: int) -> Array:
        best = np.clip(counts[t] / t, b, a)
        top = counts[t] * np.log(best) + (t - counts[t]) * np.log1p(-best)
        here = counts[t] * math.log(0.4) + (t - counts[t]) * math.log(0.6)
        return here <= top + math.log(0.05)

    assert ever_excluded(excludes, 0.4, 500) > 0.08


def test_uniform_miss_catches_a_wrong_channel() -> None:
    assert ever_excluded(band_excludes((0.80, 0.25), 0.9, 500), 0.25 + 0.5 * 0.9, 500) > 0.05


def test_uniform_miss_catches_a_larger_alpha() -> None:
    assert miss(COIN, 0.3, 500, alpha=0.1) > 0.05
