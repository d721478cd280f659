"""Intervals of regressions hold the true slopes as often as they say, through every kind of channel."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction, solve
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array, Model, maximize
from sottovoce.aggregator.analysis.regression.ordered_logit import Ordered
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor

COIN = np.array([[0.75, 0.25], [0.25, 0.75]])
ODDS_3 = (np.ones((4, 4)) + 2 * np.eye(4)) / 6
MASKS = np.array([[mask >> option & 1 for option in range(4)] for mask in (3, 5, 6, 9, 10, 12)])
SUBSETS = np.where(MASKS, 3.0, 1.0) / 12

Generator = np.random.Generator


class Found(NamedTuple):
    """Estimates less the truth, and their standard errors; None where there is no maximum."""

    off: Array
    errors: Array


def drawn(channel: Array, truth: np.ndarray, generator: Generator) -> np.ndarray:
    """Reports through a channel, (reports, categories)."""
    return (np.cumsum(channel.T[truth], axis=1) < generator.random((len(truth), 1))).sum(axis=1)


def chosen(shares: Array, generator: Generator) -> np.ndarray:
    """True categories with these shares, (n, k)."""
    return (np.cumsum(shares, axis=1)[:, :-1] < generator.random((len(shares), 1))).sum(axis=1)


def fitted(model: Model, truth: list[float], slopes: list[int]) -> Found | None:
    fit = maximize(model)
    if not fit.converged:
        return None
    errors = np.sqrt(np.diag(covariance(model, fit, "observed")))
    return Found((fit.theta - truth)[slopes], errors[slopes])


def logit(generator: Generator, n: int = 1000) -> Found | None:
    """A coin flip on a number and a group."""
    columns = np.stack([np.ones(n), generator.normal(size=n), generator.random(n) < 0.4]).astype(float)
    truth = [-0.5, 1.0, -0.5]
    yes = (generator.random(n) < 1 / (1 + np.exp(-np.array(truth) @ columns))).astype(int)
    return fitted(Multinomial(columns, drawn(COIN, yes, generator), COIN), truth, [1, 2])


def multinomial(generator: Generator, n: int = 3000) -> Found | None:
    """Subset selection of 2 of 4 with odds 3 on a number."""
    columns = np.stack([np.ones(n), generator.normal(size=n)])
    truth = [0.2, 0.5, 0.0, -0.4, -0.3, 0.6]
    odds = np.exp(np.vstack([np.zeros(n), np.reshape(truth, (3, 2)) @ columns])).T
    reports = drawn(SUBSETS, chosen(odds / odds.sum(axis=1, keepdims=True), generator), generator)
    return fitted(Multinomial(columns, reports, SUBSETS), truth, [1, 3, 5])


def ordered(generator: Generator, n: int = 2000) -> Found | None:
    """A rating of four steps with odds 3 on a number and a group."""
    columns = np.stack([generator.normal(size=n), generator.random(n) < 0.5]).astype(float)
    truth = [0.8, -0.5, -1.0, 0.3, 1.5]
    u = generator.random(n)
    latent = np.array(truth[:2]) @ columns + np.log(u / (1 - u))
    answers = np.sum([latent > cut for cut in truth[2:]], axis=0)
    return fitted(Ordered(columns, drawn(ODDS_3, answers, generator), ODDS_3), truth, [0, 1])


def on_a_coin_answer(generator: Generator, n: int = 1000) -> Found | None:
    """A public yes/no on a number and a coin answer, in one likelihood."""
    columns = np.stack([np.ones(n), generator.normal(size=n)])
    answers = (generator.random(n) < 1 / (1 + np.exp(-(-0.3 + 0.4 * columns[1])))).astype(int)
    truth = [-0.6, 0.5, 1.0]
    yes = (generator.random(n) < 1 / (1 + np.exp(-np.array(truth) @ np.vstack([columns, answers])))).astype(int)
    predictor = Multinomial(columns, drawn(COIN, answers, generator), COIN)
    outcome = Multinomial(np.vstack([columns, np.ones(n)]), yes, np.eye(2))
    model = RandomizedPredictor(outcome, predictor, np.array([[1.0, 1, 0], [1, 1, 1]]), np.eye(2))
    return fitted(model, [*truth, -0.3, 0.4], [1, 2])


def corrected(generator: Generator, n: int = 1000) -> Found:
    """A number with skewed errors on a number and a coin answer, by the corrected equations."""
    x = generator.normal(size=n)
    answers = (generator.random(n) < 0.4).astype(int)
    scores = (drawn(COIN, answers, generator) - 0.25) / 0.5
    outcome = 1 + x + 0.5 * answers + generator.exponential(size=n)
    fit = solve(np.stack([np.ones(n), x, scores]), outcome, [Correction(2, 2, scores)])
    return Found((fit.coefficients - [2, 1, 0.5])[1:], np.sqrt(np.diag(fit.covariance))[1:])


def linear_share(generator: Generator, n: int = 1000) -> Found:
    """The share of a coin answer by a number and a coin answer."""
    x = generator.random(n) - 0.5
    answers = (generator.random(n) < 0.4).astype(int)
    said = drawn(COIN, (generator.random(n) < 0.3 + 0.4 * x + 0.2 * answers).astype(int), generator)
    scores, outcome = (drawn(COIN, answers, generator) - 0.25) / 0.5, (said - 0.25) / 0.5
    fit = solve(np.stack([np.ones(n), x, scores]), outcome, [Correction(2, 2, scores)])
    return Found((fit.coefficients - [0.3, 0.4, 0.2])[1:], np.sqrt(np.diag(fit.covariance))[1:])


def on_a_noisy_number(generator: Generator, n: int = 1000) -> Found:
    """A number on a number of ten steps with two-sided geometric noise, r = .64 (epsilon 4.46)."""
    r, m = 0.64, 10
    answers = generator.integers(0, m + 1, n)
    noise = generator.geometric(1 - r, n) - generator.geometric(1 - r, n)
    reported = np.clip(answers + noise, 0, m).astype(float)
    ends = [reported == 0, reported == m]
    z1 = np.select(ends, [-r / (1 - r), m + r / (1 - r)], reported)
    square = reported**2 - 2 * r / (1 - r) ** 2
    z2 = np.select(ends, [-r / (1 - r), m * m + 2 * m * r / (1 - r) - r / (1 - r)], square)
    outcome = 0.2 * answers + generator.normal(size=n)
    fit = solve(np.stack([np.ones(n), z1]), outcome, [Correction(1, 1, z2)])
    return Found((fit.coefficients - [0, 0.2])[1:], np.sqrt(np.diag(fit.covariance))[1:])


CASES: list[Callable[[Generator], Found | None]] = [
    logit,
    multinomial,
    ordered,
    on_a_coin_answer,
    corrected,
    linear_share,
    on_a_noisy_number,
]


def runs(case: Callable[[Generator], Found | None], count: int) -> tuple[Array, int]:
    """The estimates less the truth in standard errors, (runs, slopes); and how many had no maximum."""
    generator = np.random.Generator(np.random.PCG64(20261122))
    found = [case(generator) for _ in range(count)]
    return np.array([each.off / each.errors for each in found if each is not None]), found.count(None)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_true_slope(case: Callable[[Generator], Found | None]) -> None:
    off, missing = runs(case, 1000)
    covered = (np.abs(off) < 1.959964).mean(axis=0)

    assert missing <= 10
    assert np.all((covered >= 0.93) & (covered <= 0.97)), covered


@pytest.mark.parametrize("case", [logit, corrected, linear_share])
def test_errors_are_as_large_as_they_say(case: Callable[[Generator], Found | None]) -> None:
    """The small version: eighty runs of the quick ones, whose errors in standard errors scatter as they should."""
    off, missing = runs(case, 80)

    assert missing == 0
    assert np.all(np.abs(off.mean(axis=0)) < 0.45)
    assert np.all((off.std(axis=0) > 0.75) & (off.std(axis=0) < 1.3))
