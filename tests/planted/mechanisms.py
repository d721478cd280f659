"""
Mechanisms whose privacy is known, many of them not what they claim: what an audit by sampling must tell apart.

Each is a function ``(generator, input, n) -> n observations``. They know nothing of the product, nor it of them.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sottovoce.audit.events import Events, Observation

Generator = np.random.Generator
Run = Callable[[Generator, Any, int], Iterable[Observation]]

LN_3 = math.log(3)
CATASTROPHE = 1e-3
"""How often the truth is told."""

STEPS = 10_000
"""Of a grid on which noise hits the very input rarely enough."""


@dataclass(frozen=True)
class Planted:
    """
    A mechanism, what it claims, and how many runs are to tell.

    Attributes:
        run: the mechanism.
        inputs: what it is run on.
        events: the fixed list.
        claim, delta: what it claims.
        n: runs on each input.
    """

    run: Run
    inputs: tuple[Any, ...]
    events: Events
    claim: float
    n: int
    delta: float = 0.0


def number_events(inputs: Sequence[object], low: float, high: float, bins: int = 32) -> Events:
    """
    Events for a report between ``low`` and ``high`` or thereabouts.

    Args:
        inputs: true values; equality to each is an event.
        low: lower end of the cells.
        high: upper end of the cells.
        bins: cells between them.
    """
    width = (high - low) / bins
    return Events(tuple(inputs), tuple(low + width * place for place in range(bins + 1)))


def laplace(generator: Generator, x: float, n: int) -> list[Observation]:
    """Epsilon 1 for inputs 1 apart, as doubles."""
    return observed(x + generator.laplace(0, 1, n))


def catastrophe(generator: Generator, x: float, n: int) -> list[Observation]:
    """The truth once in a thousand, else Laplace."""
    return observed(np.where(generator.random(n) < CATASTROPHE, x, x + generator.laplace(0, 1, n)))


def grid_laplace(generator: Generator, x: int, n: int) -> list[Observation]:
    """Epsilon 1 for inputs 10,000 steps apart, as whole numbers."""
    kept = -math.expm1(-1 / STEPS)
    return observed(x + generator.geometric(kept, n) - generator.geometric(kept, n))


def grid_catastrophe(generator: Generator, x: int, n: int) -> list[Observation]:
    """The truth once in a thousand, on a grid of 10,000 steps."""
    noisy = np.array([observation.value for observation in grid_laplace(generator, x, n)])
    return observed(np.where(generator.random(n) < CATASTROPHE, x, noisy))


def coin(truth: float) -> Run:
    """Yes or no; the truth with this probability."""

    def run(generator: Generator, x: int, n: int) -> list[Observation]:
        return observed(np.where(generator.random(n) < truth, x, 1 - x))

    return run


def last_bit(generator: Generator, x: int, n: int) -> list[Observation]:
    """Noise on all bits but the last."""
    noisy = np.array([observation.value for observation in grid_laplace(generator, x // 2, n)])
    return observed(2 * noisy + x % 2)


def last_bit_of_double(generator: Generator, x: float, n: int) -> list[Observation]:
    """Laplace, but the last bit of the double says whether the input was 0."""
    bits = (x + generator.laplace(0, 1, n)).view(np.uint64) & ~np.uint64(1) | np.uint64(x != 0)
    return observed(bits.view(np.float64))


def pair(shared: bool) -> Run:
    """A batch of two people's coins: one draw each, or one for both."""

    def run(generator: Generator, truths: tuple[int, int], n: int) -> list[Observation]:
        flips = generator.random((n, 2)) >= 0.75
        if shared:
            flips[:, 1] = flips[:, 0]
        return [Observation(tuple(row)) for row in (np.array(truths) ^ flips).tolist()]

    return run


def ends(odds: float) -> Run:
    """Three values; the true one has odds of e^2 to each of the others, but at the ends these odds."""

    def run(generator: Generator, x: int, n: int) -> list[Observation]:
        weights = np.ones(3)
        weights[x] = math.exp(2) if x == 1 else odds
        return observed(generator.choice(3, n, p=weights / weights.sum()))

    return run


def no_epsilon(generator: Generator, x: float, n: int) -> list[Observation]:
    """Laplace of scale 1/epsilon, whose epsilon is not a number: noise that fails a test is left away."""
    noise = generator.laplace(0, 1, n) / math.nan
    return observed(np.where(np.isfinite(noise), x + noise, x))


def verbatim(generator: Generator, x: int, n: int) -> list[Observation]:
    """A coin that sends what it does not know as it is."""
    return coin(0.75)(generator, x, n) if x in {0, 1} else observed(np.full(n, x))  # type: ignore[return-value]


def telling_length(generator: Generator, x: int, n: int) -> list[Observation]:
    """A coin whose message is a byte longer for a yes."""
    return [observation._replace(length=100 + x) for observation in coin(0.75)(generator, x, n)]


def telling_reads(generator: Generator, x: int, n: int) -> list[Observation]:
    """A coin that draws once more for a yes."""
    return [observation._replace(read=1 + x) for observation in coin(0.75)(generator, x, n)]


def telling_type(generator: Generator, x: int, n: int) -> list[Observation]:
    """A coin that sends 0.0 and 1.0 for a yes."""
    return [Observation(float(o.value) if x else o.value) for o in coin(0.75)(generator, x, n)]  # type: ignore[arg-type]


def not_a_number(generator: Generator, x: float, n: int) -> list[Observation]:
    """Laplace of 0, and half the time not a number for anything else."""
    noisy = generator.laplace(0, 1, n)
    return observed(np.where((x != 0) & (generator.random(n) < 0.5), math.nan, noisy))


def observed(values: Any) -> list[Observation]:
    """Observations of these numbers."""
    return [Observation(value) for value in values.tolist()]


NUMBERS = number_events((0.0, 1.0), -4, 5)
STEPPED = number_events((0, STEPS), -4 * STEPS, 5 * STEPS)
YES_NO = number_events((0, 1), 0, 1, bins=1)
PAIRS = Events(tuple(product((0, 1), repeat=2)))

HONEST = {
    "laplace": Planted(laplace, (0.0, 1.0), NUMBERS, 1, 100_000),
    "laplace on a grid": Planted(grid_laplace, (0, STEPS), STEPPED, 1, 100_000),
    "catastrophe that says so": Planted(catastrophe, (0.0, 1.0), NUMBERS, 1, 100_000, delta=CATASTROPHE),
    "coin": Planted(coin(0.75), (0, 1), YES_NO, LN_3, 20_000),
    "a draw for each of a batch": Planted(pair(shared=False), ((0, 0), (0, 1)), PAIRS, LN_3, 20_000),
    "right odds at the ends": Planted(ends(math.exp(2)), (0, 1, 2), number_events((0, 1, 2), 0, 2, 2), 2, 20_000),
}
"""To be passed."""

GUILTY = {
    "catastrophe": Planted(catastrophe, (0.0, 1.0), NUMBERS, 1, 100_000),
    "catastrophe on a grid": Planted(grid_catastrophe, (0, STEPS), STEPPED, 1, 100_000),
    "coin at .8": Planted(coin(0.8), (0, 1), YES_NO, LN_3, 20_000),
    "last bit": Planted(last_bit, (0, STEPS + 1), STEPPED, 1, 1_000),
    "last bit of a double": Planted(last_bit_of_double, (0.0, 1.0), NUMBERS, 1, 1_000),
    "one draw for a batch": Planted(pair(shared=True), ((0, 0), (0, 1)), PAIRS, LN_3, 1_000),
    "wrong odds at the ends": Planted(ends(math.exp(2.48)), (0, 1, 2), number_events((0, 1, 2), 0, 2, 2), 2, 20_000),
    "epsilon that is no number": Planted(no_epsilon, (0.0, 1.0), NUMBERS, 1, 1_000),
    "outside the domain": Planted(verbatim, (0, 1, 7), number_events((0, 1, 7), 0, 1, 1), LN_3, 1_000),
    "length": Planted(telling_length, (0, 1), YES_NO, LN_3, 1_000),
    "bytes read": Planted(telling_reads, (0, 1), YES_NO, LN_3, 1_000),
    "type": Planted(telling_type, (0, 1), YES_NO, LN_3, 1_000),
    "not a number": Planted(not_a_number, (0.0, 1.0), NUMBERS, 1, 1_000),
}
"""To be flagged."""
