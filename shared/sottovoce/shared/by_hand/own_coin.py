"""Derive the procedure by hand, with a coin or a die, for a yes/no channel from the channel's integers.

Coin        a and b in quarters or eighths: as many flips as the denominator needs, read as a number whose parts are
            truth (a - b), yes (b) and no (1 - a), the larger parts first, so that most people stop after one flip.
            3/4 and 1/4: heads, the truth; tails then heads, yes; tails then tails, no.
Die         a and b in thirds or sixths, one throw. With a = 1 - b (Warner): the truth on the first 6 a numbers, the
            opposite on the rest. Otherwise the truth, yes and no, in this order.

Any other channel has no procedure. The parts have the channel's own weights, so its epsilon and its estimator hold.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

FLIPS = {4: 2, 8: 3}
FACES = 6


class Part(NamedTuple):
    """A thing to do, and when.

    Attributes:
        action: ``truth``, ``opposite``, ``yes`` or ``no``.
        outcomes: beginnings of a row of flips, such as "H" or "TH"; for a die its first and last number.
    """

    action: str
    outcomes: tuple[str, ...] | tuple[int, int]


class Procedure(NamedTuple):
    """Steps to run a channel by hand: at most ``flips`` flips of a coin, or 0 for one throw of a die."""

    flips: int
    parts: tuple[Part, ...]


def procedure(mechanism: Mechanism) -> Procedure | None:
    """Return the procedure for a channel; None if neither a coin nor a die gives its odds."""
    if not isinstance(mechanism, BinaryRR):
        return None
    whole = mechanism.denominator
    if FACES % whole and whole not in FLIPS:
        return None
    whole = whole if whole in FLIPS else FACES
    yes, no = int(mechanism.b * whole), int((1 - mechanism.a) * whole)
    weights = [("truth", whole - yes - no), ("yes", yes), ("no", no)]
    if whole in FLIPS:
        weights.sort(key=lambda part: -part[1])
        return Procedure(FLIPS[whole], _parts(weights, lambda first, end: _beginnings(first, end, FLIPS[whole])))
    if yes == no:
        weights = [("truth", whole - yes), ("opposite", yes)]
    return Procedure(0, _parts(weights, lambda first, end: (first + 1, end)))


def _parts(weights: list[tuple[str, int]], outcomes: Callable[[int, int], Any]) -> tuple[Part, ...]:
    starts = accumulate((weight for _, weight in weights), initial=0)
    return tuple(
        Part(action, outcomes(start, start + weight)) for (action, weight), start in zip(weights, starts, strict=False)
    )


def _beginnings(first: int, end: int, flips: int) -> tuple[str, ...]:
    """Return the fewest beginnings that stand for the rows of flips numbered first .. end - 1, heads before tails."""
    found = []
    while first < end:
        # The largest block that starts here, ends in time and is one beginning.
        size = next(size for size in (4, 2, 1) if first % size == 0 and first + size <= end)
        found.append("".join("HT"[first >> flips - 1 - place & 1] for place in range(flips - size.bit_length() + 1)))
        first += size
    return tuple(found)
