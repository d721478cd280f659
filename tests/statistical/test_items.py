"""Limits of sum scores, of the 2PL model, and of cheater detection with a predictor hold their level, at edges too."""

import io
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.read_table import read_delimited
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS, MixtureShare
from sottovoce.aggregator.analysis.mixtures.likelihood import MixtureLikelihood
from sottovoce.aggregator.export.results_client.open_data import OpenData, of_table

from tests.statistical.test_mixtures import LEAST, SAMPLES, P, Z, check

Array = NDArray[np.float64]
Document = dict[str, Any]


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


COMBINATIONS = np.array([*product([0, 1], repeat=4)])


def of_patterns(theta: Array, noise: tuple[float, float] | None) -> tuple[Array, Array]:
    """Chances of all combinations of four reports, (samples, 16), and derivatives by difficulties and slopes."""
    z, masses = np.polynomial.hermite_e.hermegauss(41)
    yes, no = noise or (0.0, 0.0)
    chances = 1 / (1 + np.exp(theta[:, :4, None] - theta[:, 4:, None] * z))
    said = (yes + (1 - yes - no) * chances)[:, None]
    each = np.where(COMBINATIONS[:, :, None], said, 1 - said)
    both = each.prod(axis=2)
    curves = ((1 - yes - no) * chances * (1 - chances))[:, None]
    slopes = (both[:, :, None] / each * curves * (2 * COMBINATIONS - 1)[:, :, None]) @ np.stack(
        [-masses, masses * z], 1
    )
    return both @ masses / masses.sum(), slopes.swapaxes(2, 3).reshape(len(theta), 16, 8) / masses.sum()


def scored(
    counts: NDArray[Any], theta: Array, noise: tuple[float, float] | None, shape: Array
) -> tuple[Array, Array, Array]:
    """Log likelihoods of samples, their derivatives by the columns of ``shape``, and the expected information."""
    chances, slopes = of_patterns(theta, noise)
    slopes = slopes @ shape
    weighted = (slopes / chances[:, :, None]).swapaxes(1, 2)
    gradient = (weighted @ counts[:, :, None])[:, :, 0]
    return (counts * np.log(chances)).sum(axis=1), gradient, counts[0].sum() * weighted @ slopes


def highest(counts: NDArray[Any], theta: Array, noise: tuple[float, float] | None, shape: Array) -> tuple[Array, Array]:
    """Where likelihoods are largest, (samples, 8), and the log likelihoods, by Fisher's scoring."""
    theta = np.tile(theta, (len(counts), 1))
    for _ in range(40):
        _, gradient, information = scored(counts, theta, noise, shape)
        step = np.linalg.solve(information + 1e-9 * np.eye(shape.shape[1]), gradient[:, :, None])[:, :, 0]
        theta = theta + np.clip(step, -0.5, 0.5) @ shape.T
    return theta, scored(counts, theta, noise, shape)[0]


def drawn(seed: int, people: int, levels: Array, slopes: Array, noise: tuple[float, float] | None) -> NDArray[np.int64]:
    """People by combination of four reports of all samples, (samples, 16)."""
    draws = np.random.default_rng(seed)
    said = (forced(draws, answers(draws, people, levels, slopes), noise) for _ in range(SAMPLES))
    return np.array([np.bincount(each @ (8, 4, 2, 1), minlength=16) for each in said])


def shown_items(counts: NDArray[np.int64], noise: tuple[float, float] | None, model: str) -> Document:
    """The document of one sample."""
    rows = np.repeat(COMBINATIONS, counts, axis=0)
    return dict(opened(rows, "a,b,c,d", noise).items("a", "b", "c", "d", model=model).document)


def holds(limits: Document, value: float) -> bool:
    """Whether limits hold a value; a missing one holds every value on its side."""
    low, high = limits["low"], limits["high"]
    return bool((low is None or low <= value) and (high is None or value <= high))


@pytest.mark.slow
@pytest.mark.parametrize(("people", "noise"), [(1000, None), (2000, (1 / 6, 1 / 12))])
def test_limits_of_discriminations_hold_their_level(people: int, noise: tuple[float, float] | None) -> None:
    """And of difficulties, of people who answer openly or through noise."""
    truth, every = np.array([0.5, 0.0, 1.0, -0.5, 1.2, 0.8, 1.5, 1.0]), np.eye(8)
    counts = drawn(19, people, truth[:4], truth[4:], noise)
    theta, best = highest(counts, truth, noise, every)
    # The observed information, as limits of difficulties are by errors and those of slopes by profile likelihood.
    apart = [scored(counts, theta + side * 1e-4 * each, noise, every)[1] for each in every for side in (1, -1)]
    variances = np.linalg.inv(np.stack(apart, axis=2).reshape(SAMPLES, 8, 8, 2) @ (-5e3, 5e3))
    variances = np.diagonal(variances, axis1=1, axis2=2)
    # A few samples have no maximum.
    settled = (variances > 0).all(axis=1) & (abs(scored(counts, theta, noise, every)[1]).max(axis=1) < 1e-3)
    assert settled.mean() >= 0.99
    counts, theta, best, errors = counts[settled], theta[settled], best[settled], np.sqrt(variances[settled])
    missed = {at: {*np.flatnonzero(abs(theta - truth)[:, at] > Z * errors[:, at]).tolist()} for at in range(4)}
    for at in range(4, 8):
        fallen = best - highest(counts, truth, noise, np.delete(every, at, axis=1))[1]
        missed[at] = {*np.flatnonzero(2 * fallen > Z**2).tolist()}

    def inside(place: int) -> dict[int, bool]:
        items = shown_items(counts[place], noise, "2pl")["items"]
        figures = [items[at % 4][("difficulty", "discrimination")[at // 4]] for at in range(8)]
        assert [each["estimate"] for each in figures] == pytest.approx(theta[place], abs=1e-4)
        assert [each["std_error"] for each in figures] == pytest.approx(errors[place], rel=1e-3)
        return {at: holds(each, truth[at]) for at, each in enumerate(figures)}

    check(missed, inside, len(counts))


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_limits_of_the_spread_hold_their_level(spread: float) -> None:
    """Of 1,000 people who do not differ, or differ, through noise."""
    levels, noise = np.array([0.5, 0.0, 1.0, -0.5]), (1 / 6, 1 / 12)
    counts = drawn(31, 1000, levels, np.full(4, spread), noise)
    shape = np.pad(np.eye(4), ((0, 4), (0, 1)))
    shape[4:, 4] = 1
    best = highest(counts, np.append(levels, np.full(4, 0.5)), noise, shape)[1]
    alike = highest(counts, np.append(levels, np.full(4, spread)), noise, shape[:, :4])[1]
    missed = {*np.flatnonzero(2 * (best - alike) > Z**2).tolist()}
    check({"sd": missed}, lambda place: {"sd": holds(shown_items(counts[place], noise, "rasch")["sd"], spread)})


def groups(yes: NDArray[np.int64], people: int) -> tuple[MixtureLikelihood, ...]:
    """The likelihoods of both values of x, of yes by x and arm, (samples, 2, 2), of so many people each."""
    counts = np.stack([people - yes, yes], axis=3).reshape(len(yes), 2, -1).astype(float)
    chances = np.concatenate([np.array(DESIGNS["cheater_detection"].channel((p,), 1)) for p in P], axis=1)
    return MixtureLikelihood(counts[:, 0], chances), MixtureLikelihood(counts[:, 1], chances)


def far(yes: NDArray[np.int64], people: int, share: MixtureShare, truth: float) -> set[int]:
    """Samples of which the profile likelihood of a mean share falls by more than 1.92 at the truth."""
    of_x, first = groups(yes, people), DESIGNS["cheater_detection"].shares[0]
    low, high = np.full(len(yes), max(0.0, 2 * truth - 1)), np.full(len(yes), min(1.0, 2 * truth))
    for _ in range(40):
        middle = (low + high) / 2
        points = [each.profile(share, s) for each, s in zip(of_x, (middle, 2 * truth - middle), strict=True)]
        rises = points[0].slope > points[1].slope
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    best = sum(each.maximum(first)[1].log_likelihood for each in of_x)
    return {*np.flatnonzero(2 * (best - sum(each.log_likelihood for each in points)) > Z**2).tolist()}


def shown_classes(cells: NDArray[np.int64], people: int) -> Document:
    """The model in x of yes by x and arm, (2, 2), of so many people each."""
    said = np.concatenate([np.arange(people) < count for count in cells.ravel()])
    rows = np.stack([said, np.repeat([0, 1, 0, 1], people), np.repeat([0, 0, 1, 1], people)], axis=1)
    design = ("y", "cheater_detection", dict(zip("01", P, strict=True)), "arm")
    found: Document = opened(rows.astype(np.int64), "y,arm,x").mixture(*design, formula="~ x").document["model"]
    return found


def check_shares(yes: NDArray[np.int64], people: int, known: dict[str, float]) -> None:
    """Check limits of mean shares, which are at 1.92 or farther."""
    named = {each.name: each for each in DESIGNS["cheater_detection"].shares}

    def inside(place: int) -> dict[str, bool]:
        shares = shown_classes(yes[place], people)["shares"]
        return {name: shares[name]["low"] - 1e-6 <= at <= shares[name]["high"] + 1e-6 for name, at in known.items()}

    check({name: far(yes, people, named[name], at) for name, at in known.items()}, inside)


@pytest.mark.slow
@pytest.mark.parametrize(("pi", "gamma"), [(0.2, 0.0), (0.0, 0.1)])
def test_limits_of_classes_without_people_hold_their_level(pi: float, gamma: float) -> None:
    """An empty class, or one near 0 in each group, refuses no sample; limits at 1.92 would hold .924 of beta."""
    chances = [pi + (1 - pi - gamma) * p for p in P]
    yes = np.random.default_rng(29).binomial(250, chances, (SAMPLES, 2, 2))
    check_shares(yes, 250, {"beta": 1 - pi - gamma, "pi": pi, "gamma": gamma})


@pytest.mark.slow
@pytest.mark.parametrize("people", [500, 250])
def test_limits_of_classes_with_a_predictor_hold_their_level(people: int) -> None:
    """Of mean shares and of log odds, which have closed forms where no share is at its edge."""
    truth, at = np.array([[-0.8, 0.5], [-1.0, 0.3]]), np.array(P)
    rest = np.exp(truth @ [[1, 1], [0, 1]])
    pi, gamma = rest / (1 + rest.sum(axis=0))
    known = {"pi": pi.mean(), "gamma": gamma.mean(), "beta": (1 - pi - gamma).mean()}
    chances = pi[:, None] + np.outer(1 - pi - gamma, at)
    yes = np.random.default_rng(23).binomial(people, chances, (SAMPLES, 2, 2))
    # Shares of (carriers, always no, honest) by those of yes in both arms, and log odds against the honest.
    by_yes = np.array([[1.5, -0.5], [0.5, -1.5], [-2, 2]])
    shares = yes / people @ by_yes.T + [0, 1, 0]
    assert shares.min() > 0
    chosen = yes / people
    odds = np.log(shares[..., :2] / shares[..., 2:])
    slopes = by_yes[:2] / shares[..., :2, None] - (by_yes[2] / shares[..., 2:])[..., None, :]
    errors = (slopes**2 * (chosen * (1 - chosen) / people)[..., None, :]).sum(axis=3)
    found = np.stack([odds[:, 0], odds[:, 1] - odds[:, 0]], axis=2)
    errors = np.sqrt(np.stack([errors[:, 0], errors.sum(axis=1)], axis=2))
    assert ((np.abs(found - truth) <= Z * errors).mean(axis=0) >= LEAST).all()
    check_shares(yes, people, known)
    for place in range(0, len(yes), 200):
        for each, *own in zip(
            shown_classes(yes[place], people)["coefficients"], found[place].ravel(), errors[place].ravel(), strict=True
        ):
            assert [each["estimate"], each["std_error"]] == pytest.approx(own, abs=1e-5)
