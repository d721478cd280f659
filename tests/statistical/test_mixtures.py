"""Profile likelihood limits of designs with an unknown share hold their level, inside and at the edge of the region."""

from collections.abc import Callable

import numpy as np
import pytest
from sottovoce.aggregator import mixture

SAMPLES, PEOPLE = 2000, 500
LEAST = 0.9345
"""Coverage that limits with .95 reach in all but one of a thousand sets of 2,000 samples."""

P = (0.25, 0.75)
Design = Callable[[float, float, float], float]


def _unrelated(p: float, pi: float, q: float) -> float:
    return p * pi + (1 - p) * q


def _cheaters(p: float, pi: float, beta: float) -> float:
    return pi + p * beta


def _liars(p: float, pi: float, t: float) -> float:
    return pi * t + (1 - pi) * (1 - p)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "chance", "truth"),
    [
        ("unrelated_unknown", _unrelated, {"pi": 0.3, "q": 0.2}),
        ("unrelated_unknown", _unrelated, {"pi": 0.0, "q": 0.3}),
        ("cheater_detection", _cheaters, {"pi": 0.2, "beta": 0.6}),
        ("cheater_detection", _cheaters, {"pi": 0.1, "beta": 0.9}),
        ("cheater_detection", _cheaters, {"pi": 0.0, "beta": 0.8}),
        ("lie_detector", _liars, {"pi": 0.4, "t": 0.8}),
        ("lie_detector", _liars, {"pi": 0.4, "t": 1.0}),
        ("lie_detector", _liars, {"pi": 0.02, "t": 0.8}),
    ],
)
def test_limits_hold_their_level(design: str, chance: Design, truth: dict[str, float]) -> None:
    """Of every share, in 2,000 samples of 500 people in each of two groups."""
    drawn = np.random.Generator(np.random.PCG64(7)).binomial(
        PEOPLE, [chance(p, *truth.values()) for p in P], (SAMPLES, 2)
    )
    held = dict.fromkeys(truth, 0)
    # Many samples have the same two counts.
    for yes, often in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        shares = mixture(design, P, yes.tolist(), [PEOPLE, PEOPLE]).document["shares"]
        for name, value in truth.items():
            held[name] += int(often) * bool(shares[name]["low"] - 1e-9 <= value <= shares[name]["high"] + 1e-9)
    assert {name: count / SAMPLES for name, count in held.items() if count < LEAST * SAMPLES} == {}
