"""Limits of sum scores, of the 2PL model, and of cheater detection with a predictor hold their level, at edges too."""

import io
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.read_table import read_delimited
from sottovoce.aggregator.export.results_client.open_data import OpenData, of_table
from sottovoce.shared.errors import SurveyError

from tests.statistical.test_mixtures import LEAST, SAMPLES

Array = NDArray[np.float64]


def opened(rows: NDArray[np.int64], names: str, noise: tuple[float, float] | None = None) -> OpenData:
    """A file of whole numbers, whose columns but for the public ones were forced to yes or no."""
    text = "\n".join([names, *(",".join(map(str, row)) for row in rows.tolist())]).encode()
    told = "" if noise is None else f"forced_response yes={noise[0]} no={noise[1]}"
    return of_table(read_delimited(io.BytesIO(text), "a.csv"), dict.fromkeys(names.split(","), told) if told else {})


def answers(draws: np.random.Generator, people: int, levels: Array, slopes: Array) -> NDArray[np.int64]:
    """Answers of people to items, (people, items), by a trait with mean 0 and standard deviation 1."""
    odds = draws.standard_normal((people, 1)) * slopes - levels
    return (draws.random(odds.shape) * (1 + np.exp(-odds)) < 1).astype(np.int64)


def forced(draws: np.random.Generator, said: NDArray[np.int64], noise: tuple[float, float] | None) -> NDArray[np.int64]:
    """The reports, with chances of a forced yes and a forced no."""
    yes, no = noise or (0.0, 0.0)
    drawn = draws.random(said.shape)
    return np.where(drawn < yes, 1, np.where(drawn < yes + no, 0, said))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("people", "levels", "slope", "noise"),
    [
        (300, (0.5, 0.0, 1.5), 0.7, (1 / 6, 1 / 12)),
        (300, (3.0, 3.0, 3.0), 0.5, None),
        (100, (4.0, 4.0), 0.5, (0.02, 0.02)),
        (200, (-3.0, -3.0), 1.0, (0.1, 0.05)),
        (300, (50.0, 50.0, 50.0), 0.0, (1 / 6, 1 / 12)),
    ],
)
def test_limits_of_the_mean_sum_hold_their_level(
    people: int, levels: tuple[float, ...], slope: float, noise: tuple[float, float] | None
) -> None:
    """Also where nearly nobody, nearly everybody, or nobody at all says yes."""
    draws, held = np.random.default_rng(17), 0
    z = np.linspace(-8, 8, 1601)
    masses = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    truth = sum(float(masses @ (1 / (1 + np.exp(level - slope * z)))) for level in levels)
    names = ",".join(f"q{place}" for place in range(len(levels)))
    for _ in range(SAMPLES):
        said = answers(draws, people, np.array(levels), np.full(len(levels), slope))
        found = opened(forced(draws, said, noise), names, noise).items(*names.split(","), model="sum").document["mean"]
        held += found["low"] - 1e-9 <= truth <= found["high"] + 1e-9
    assert held >= LEAST * SAMPLES


@pytest.mark.slow
@pytest.mark.parametrize(("people", "noise"), [(1000, None), (2000, (1 / 6, 1 / 12))])
def test_limits_of_discriminations_hold_their_level(people: int, noise: tuple[float, float] | None) -> None:
    """And of difficulties, of people who answer openly or through noise; a missing limit holds every value."""
    draws, levels, slopes = np.random.default_rng(19), (0.5, 0.0, 1.0, -0.5), (1.2, 0.8, 1.5, 1.0)
    held, fitted = Counter[tuple[str, int]](), 0
    for _ in range(SAMPLES):
        said = forced(draws, answers(draws, people, np.array(levels), np.array(slopes)), noise)
        try:
            items = opened(said, "a,b,c,d", noise).items("a", "b", "c", "d", model="2pl").document["items"]
        except SurveyError:
            continue
        fitted += 1
        for key, truth in (("difficulty", levels), ("discrimination", slopes)):
            for place, value in enumerate(truth):
                low, high = items[place][key]["low"], items[place][key]["high"]
                held[key, place] += (low is None or low <= value) and (high is None or value <= high)
    assert fitted >= 0.99 * SAMPLES
    assert {name: count / fitted for name, count in held.items() if count < LEAST * fitted} == {}


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_limits_of_the_spread_hold_their_level(spread: float) -> None:
    """Of 1,000 people who do not differ, or differ, through noise; without an upper limit each larger value is held."""
    draws, held, noise = np.random.default_rng(31), 0, (1 / 6, 1 / 12)
    for _ in range(SAMPLES):
        said = forced(draws, answers(draws, 1000, np.array((0.5, 0.0, 1.0, -0.5)), np.full(4, spread)), noise)
        found = opened(said, "a,b,c,d", noise).items("a", "b", "c", "d", model="rasch").document["sd"]
        held += found["low"] <= spread and (found["high"] is None or spread <= found["high"])
    assert held >= LEAST * SAMPLES


@pytest.mark.slow
@pytest.mark.parametrize(("pi", "gamma"), [(0.2, 0.0), (0.0, 0.1)])
def test_limits_of_classes_without_people_hold_their_level(pi: float, gamma: float) -> None:
    """An empty class, or one near 0 in each group, refuses no sample; limits at 1.92 would hold .924 of beta."""
    draws, held, truth = np.random.default_rng(29), Counter[str](), {"beta": 1 - pi - gamma, "pi": pi, "gamma": gamma}
    x, arm = np.repeat([0, 1], 500), np.tile([0, 1], 500)
    chances = pi + (1 - pi - gamma) * np.array([0.25, 0.75])[arm]
    for _ in range(SAMPLES):
        rows = np.stack([(draws.random(len(x)) < chances).astype(np.int64), arm, x], axis=1)
        design = ("y", "cheater_detection", {"0": 0.25, "1": 0.75}, "arm")
        shares = opened(rows, "y,arm,x").mixture(*design, formula="~ x").document["model"]["shares"]
        for name, share in truth.items():
            held[name] += shares[name]["low"] - 1e-6 <= share <= shares[name]["high"] + 1e-6
    assert {name: count / SAMPLES for name, count in held.items() if count < LEAST * SAMPLES} == {}


@pytest.mark.slow
@pytest.mark.parametrize("people", [1000, 500])
def test_limits_of_classes_with_a_predictor_hold_their_level(people: int) -> None:
    """Of mean shares and of log odds; samples with a share at its edge have no model, and are refused."""
    draws, held, fitted, truth = np.random.default_rng(23), Counter[str](), 0, (-0.8, 0.5, -1.0, 0.3)
    x, arm = np.repeat([0, 1], people), np.tile([0, 1], people)
    rest = np.exp([truth[0] + truth[1] * x, truth[2] + truth[3] * x])
    pi, gamma = rest / (1 + rest.sum(axis=0))
    chances = pi + (1 - pi - gamma) * np.array([0.25, 0.75])[arm]
    known = {"pi": pi.mean(), "gamma": gamma.mean(), "beta": (1 - pi - gamma).mean()}
    design = ("y", "cheater_detection", {"0": 0.25, "1": 0.75}, "arm")
    for _ in range(SAMPLES):
        rows = np.stack([(draws.random(len(x)) < chances).astype(np.int64), arm, x], axis=1)
        try:
            model = opened(rows, "y,arm,x").mixture(*design, formula="~ x").document["model"]
        except SurveyError:
            continue
        fitted += 1
        for name, share in known.items():
            held[name] += model["shares"][name]["low"] <= share <= model["shares"][name]["high"]
        for place, (one, value) in enumerate(zip(model["coefficients"], truth, strict=True)):
            held[f"{place}"] += one["low"] <= value <= one["high"]
    assert fitted >= 0.9 * SAMPLES
    assert {name: count / fitted for name, count in held.items() if count < LEAST * fitted} == {}
