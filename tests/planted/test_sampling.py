"""The audit by sampling judges every planted mechanism rightly."""

import math
from dataclasses import replace
from itertools import compress

import numpy as np
import pytest
from sottovoce.audit.events import Events
from sottovoce.audit.lower_bound import BoundVerdict, audit

from tests.planted.mechanisms import GUILTY, HONEST, NUMBERS, Planted, coin, laplace

ALPHA = 0.05


def judged(planted: Planted, seed: int = 1, n: int | None = None) -> BoundVerdict:
    """The verdict on a mechanism."""
    generator = np.random.Generator(np.random.PCG64(seed))

    def sample(x: object, count: int) -> object:
        return planted.run(generator, x, count)

    return audit(
        sample,  # type: ignore[arg-type]
        planted.inputs,
        planted.events,
        planted.claim,
        n or planted.n,
        ALPHA,
        planted.delta,
    )


@pytest.mark.parametrize("name", HONEST)
def test_honest_mechanism_passes(name: str) -> None:
    """Whose claim is true; and there were runs enough to find it false."""
    verdict = judged(HONEST[name])

    assert verdict.passed
    assert all(finding.tested for finding in verdict.findings)


@pytest.mark.parametrize("name", GUILTY)
def test_guilty_mechanism_is_flagged(name: str) -> None:
    """Whose claim is false."""
    assert not judged(GUILTY[name]).passed


class Without:
    """A list of events without those whose names contain a word."""

    def __init__(self, events: Events, word: str) -> None:
        self._events = events
        self._kept = [word not in name for name in events.names]
        self.names = list(compress(events.names, self._kept))

    def count(self, seen: object) -> list[int]:
        """How many of the observations are in each event."""
        return list(compress(self._events.count(seen), self._kept))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("catastrophe", "equal to"),
        ("catastrophe on a grid", "equal to"),
        ("last bit", "bit 0"),
        ("last bit of a double", "last bit of a double"),
        ("length", "length"),
    ],
)
def test_event_is_needed(name: str, word: str) -> None:
    """Without it the same samples would pass; bins and tails never see any of these."""
    planted = GUILTY[name]
    blind = replace(planted, events=Without(planted.events, word))  # type: ignore[arg-type]

    assert judged(blind).passed
    assert word in judged(planted).worst.event


def test_figures_are_those_of_the_coin() -> None:
    """A bound near, and not above, ln 3 for an honest coin; near ln 4 for one at .8."""
    honest, broken = judged(HONEST["coin"]).worst.epsilon, judged(GUILTY["coin at .8"]).worst.epsilon

    assert 1.0 < honest < math.log(3)
    assert 1.2 < broken < math.log(4)


def test_honest_laplace_is_hardly_ever_flagged() -> None:
    """Not once in 300 audits at alpha .05."""
    planted = Planted(laplace, (0.0, 1.0), NUMBERS, 1, 1_000)

    assert [seed for seed in range(300) if not judged(planted, seed).passed] == []


@pytest.mark.slow
def test_honest_laplace_is_hardly_ever_flagged_with_more_runs() -> None:
    """The same with 5,000 runs on each input."""
    planted = Planted(laplace, (0.0, 1.0), NUMBERS, 1, 5_000)

    assert [seed for seed in range(300) if not judged(planted, seed).passed] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["catastrophe", "catastrophe on a grid"])
def test_catastrophe_is_always_flagged(name: str) -> None:
    """In each of 30 audits, not by a lucky seed."""
    assert [seed for seed in range(30) if judged(GUILTY[name], seed).passed] == []


@pytest.mark.parametrize(
    ("claim", "n", "alpha", "delta"),
    [
        (math.nan, 100, 0.05, 0.0),
        (-1, 100, 0.05, 0.0),
        (math.inf, 100, 0.05, 0.0),
        (1, 0, 0.05, 0.0),
        (1, 100, 0.0, 0.0),
        (1, 100, math.nan, 0.0),
        (1, 100, 0.05, 1.0),
        (1, 100, 0.05, math.nan),
    ],
)
def test_nonsense_is_no_claim(claim: float, n: int, alpha: float, delta: float) -> None:
    """It is refused, not judged."""
    with pytest.raises(ValueError, match=r"must (be|lie)"):
        audit(
            lambda x, count: coin(0.75)(np.random.default_rng(1), x, count),  # type: ignore[arg-type, return-value]
            (0, 1),
            NUMBERS,
            claim,
            n,
            alpha,
            delta,
        )


def test_few_runs_test_nothing() -> None:
    """A verdict of five runs says that it could not have found anything."""
    verdict = judged(GUILTY["coin at .8"], n=5)

    assert verdict.passed
    assert not any(finding.tested for finding in verdict.findings)


def test_one_input_is_nothing_to_compare() -> None:
    """It is refused: it could only pass."""
    with pytest.raises(ValueError, match="at least two inputs"):
        judged(replace(GUILTY["coin at .8"], inputs=(1,)))
