"""
Tapes: the random bytes that make the running randomizer report a chosen value, whatever the truth.

The randomizer's ways are walked as by ``branching_draws``, and the way that ends at the wanted report is written in the
bytes that ``Draws`` turns into it: for each draw below m, ceil(bits(m - 1) / 8) bytes, big-endian. Both languages read
these bytes alike; a client that leaves the way reads or reports something else, and that is what an audit looks for.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sottovoce.audit.branching_draws import BranchingDraws, TooManyPaths, following
from sottovoce.shared.answers import Value

ENUMERATED = 512
"""Ways up to which all of them are walked; of more, one is looked for that comes nearer draw by draw."""

KEPT = 4
"""Ways that are kept to one report: that all of them look alike from outside is part of what is tried."""

MAX_SOUGHT = 200_000
"""Draws that looking for one way may take."""


Draw = tuple[int, Sequence[int] | None, int]
"""One draw on a way: uniform below a bound; the weights by which that was divided, if it was; and what came."""

Way = tuple[Draw, ...]


class SteeringDraws(BranchingDraws):
    """Notes for each draw which values would have gone the same way."""

    def __init__(self, script: Sequence[int]) -> None:
        super().__init__(script)
        self.way: list[Draw] = []

    def _branch(self, bound: int, weights: Sequence[int] | None, live: Sequence[int]) -> int:
        index = self._choose(live)
        # Of most ways nothing is asked, so that a draw is noted as it came.
        self.way.append((bound, weights, index))
        return index


class Steering:
    """
    The ways of one randomizer, walked when they are first asked for.

    Args:
        run: from a true value and draws to what is reported.
        masks: reports are bit masks, so that two are as far apart as the options in which they differ.
    """

    def __init__(self, run: Callable[[Any, Any], Any], masks: bool = False) -> None:
        self._run = run
        self._masks = masks
        self._walked: dict[Value, dict[Any, list[Way]]] = {}
        self._sought: dict[tuple[Value, Any], Way | None] = {}
        self._too_many = False

    def tape(self, value: Value, reported: object, turn: int = 0) -> bytes | None:
        """
        Bytes from which ``reported`` comes when the truth is ``value``; None if no way to it was found.

        Args:
            value: the true value.
            reported: what is to be reported.
            turn: chooses among the ways, and among the values of a draw that keep to one.
        """
        ways = self._ways(value, reported)
        if not ways:
            return None
        return b"".join(_tape(draw, turn // len(ways) + place) for place, draw in enumerate(ways[turn % len(ways)]))

    def walks(self, value: Value) -> bool:
        """Whether all ways from a truth can be walked."""
        self._ways(value, None)
        return not self._too_many

    def first(self, value: Value) -> tuple[Any, int]:
        """What the first way from a truth reports, and how many draws it takes."""
        draws = SteeringDraws([])
        return self._run(value, draws), len(draws.taken)

    def _ways(self, value: Value, reported: Any) -> list[Way]:  # noqa: ANN401 - a number, or a set of questions
        if not self._too_many and value not in self._walked:
            try:
                self._walked[value] = self._walk(value)
            except TooManyPaths:
                self._too_many = True
        if not self._too_many:
            return self._walked[value].get(reported, [])
        if reported is None:
            return []
        if (value, reported) not in self._sought:
            self._sought[value, reported] = self._seek(value, reported)
        way = self._sought[value, reported]
        return [] if way is None else [way]

    def _walk(self, value: Value) -> dict[Any, list[Way]]:
        found: dict[Any, list[Way]] = {}
        for draws, reported in following(lambda draws: self._run(value, draws), SteeringDraws, ENUMERATED):
            kept = found.setdefault(reported, [])
            if len(kept) < KEPT:
                kept.append(tuple(draws.way))
        return found

    def _seek(self, value: Value, wanted: int) -> Way | None:
        """A way that comes nearer choice by choice; from another beginning if that ends before it is there."""
        for beginning in ([], [1]):
            draws, distance = self._approach(value, wanted, beginning)
            if not distance:
                return tuple(draws.way)
        return None

    def _approach(self, value: Value, wanted: int, beginning: Sequence[int]) -> tuple[SteeringDraws, int]:
        """From the first choice to the last, each as it comes nearest, until nothing does any more."""
        draws, best = self._follow(value, beginning, wanted)
        drawn, improved = 0, True
        while best and improved and drawn < MAX_SOUGHT:
            improved = False
            for step, choices in enumerate(draws.choices):
                tried = [[*draws.taken[:step], choice, *draws.taken[step + 1 :]] for choice in range(choices)]
                for script in tried:
                    other, distance = self._follow(value, script, wanted)
                    drawn += len(other.taken)
                    if distance < best:
                        draws, best, improved = other, distance, True
                if not best or drawn > MAX_SOUGHT:
                    break
        return draws, best

    def _follow(self, value: Value, script: Sequence[int], wanted: int) -> tuple[SteeringDraws, int]:
        """The draws of one way, and how far from the wanted report it ends."""
        draws = SteeringDraws(script)
        reported = self._run(value, draws)
        return draws, (reported ^ wanted).bit_count() if self._masks else abs(reported - wanted)


def _tape(draw: Draw, turn: int) -> bytes:
    """The bytes of one of the values that keep to a way, another one for another ``turn``."""
    bound, weights, came = draw
    first, size = (came, 1) if weights is None else (sum(weights[:came]), weights[came])
    return (first + turn % size).to_bytes(((bound - 1).bit_length() + 7) // 8)
