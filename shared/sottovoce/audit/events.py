"""
The events that samples are counted by: a list that is fixed before anything is drawn.

    value      equal to each listed value and to each input; within each cell, and on either side of each edge
    bits       of a whole number, each by itself; of another number the last one of its double
    oddities   not a number, infinite, every type
    length     of the message, and bytes read: at most each of a list of lengths, and each bit of the length

Equality to the inputs is what finds a mechanism that tells the truth once in a thousand: bins never see it. Nor do they
see a last bit that was left as it is.
Source: Gilbert and McMillan 2018; Ding et al. 2018 (sampled lower bounds); Lu et al. 2022 (atoms).
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from struct import pack
from typing import NamedTuple

LENGTHS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 65536)
"""Lengths, in characters or bytes, that messages and reads are compared with."""

LENGTH_BITS = 17
"""Bits of a length that are looked at: any two lengths differ in one."""

TYPES = ("bool", "int", "float", "str", "bytes", "tuple", "NoneType", "other")


class Observation(NamedTuple):
    """
    One run of a mechanism.

    Attributes:
        value: what it reported.
        length: of its message, in bytes; 0 if there is none.
        read: number of random bytes it read; 0 if not counted.
    """

    value: object
    length: int = 0
    read: int = 0


@dataclass(frozen=True)
class Events:
    """
    A list of events.

    Attributes:
        listed: values to which equality is an event; the inputs among them.
        edges: increasing; numbers are counted between them and on either side of each.
        bits: how many of the last bits of whole numbers are looked at.
    """

    listed: tuple[object, ...]
    edges: tuple[float, ...] = ()
    bits: int = 1

    @property
    def names(self) -> list[str]:
        """A name for each event, in the order of ``count``; it repeats no value."""
        cells = [f"cell {i}" for i in range(len(self.edges) + 1)]
        tails = [f"{side} edge {i}" for i in range(len(self.edges)) for side in ("at most", "above")]
        return [
            *(f"equal to listed value {i}" for i in range(len(self.listed))),
            *cells,
            *tails,
            *(f"bit {bit} {state}" for bit in range(self.bits) for state in ("set", "not set")),
            *(f"last bit of a double {state}" for state in ("set", "not set")),
            "not a number",
            "infinite",
            "minus infinite",
            *(f"type {name}" for name in TYPES),
            *_length_names("length"),
        ]

    def count(self, observations: Iterable[Observation]) -> list[int]:
        """Count the observations that belong to each event."""
        seen = list(observations)
        return self.count_of([observation.value for observation in seen], [observation.length for observation in seen])

    def count_of(self, values: Sequence[object], lengths: Iterable[int]) -> list[int]:
        """
        The same, of many runs quickly: what is reported often is looked at once.

        Args:
            values: what each run reported.
            lengths: of their messages, in bytes.
        """
        types: Counter[str] = Counter()
        equal: Counter[object] = Counter()
        numbers: list[tuple[float, int]] = []
        # Those of each type by themselves: True, 1 and 1.0 are equal to Python.
        for kind in dict.fromkeys(map(type, values)):
            alike = [value for value in values if type(value) is kind]
            name = kind.__name__ if kind.__name__ in TYPES else "other"
            types[name] += len(alike)
            if name != "other":
                equal.update(alike)
            if issubclass(kind, int | float) and kind is not bool:
                numbers += [(x, count) for x, count in Counter(alike).items() if isinstance(x, int | float)]
        oddities = (
            sum(count for x, count in numbers if x != x),  # noqa: PLR0124 - only what is no number differs from itself
            sum(count for x, count in numbers if x == math.inf),
            sum(count for x, count in numbers if x == -math.inf),
        )
        return [
            *(equal[value] for value in self.listed),
            *self._cells(numbers),
            *self._bits(numbers),
            *oddities,
            *(types[name] for name in TYPES),
            *_lengths(Counter(lengths)),
        ]

    def _cells(self, numbers: Sequence[tuple[float, int]]) -> list[int]:
        cells: Counter[int] = Counter()
        for x, count in numbers:
            if math.isfinite(x):
                cells[bisect_left(self.edges, x)] += count
        counts = [cells[cell] for cell in range(len(self.edges) + 1)]
        below = list(accumulate(counts))
        return [*counts, *(side for count in below[:-1] for side in (count, below[-1] - count))]

    def _bits(self, numbers: Sequence[tuple[float, int]]) -> list[int]:
        counts = []
        whole = [(x, count) for x, count in numbers if isinstance(x, int)]
        for bit in range(self.bits):
            counts += _set_or_not([(x >> bit & 1, count) for x, count in whole])
        doubles = [(x, count) for x, count in numbers if isinstance(x, float) and math.isfinite(x)]
        return [*counts, *_set_or_not([(pack("<d", x)[0] & 1, count) for x, count in doubles])]


def _length_names(what: str) -> list[str]:
    thresholds = [f"{what} {sign} {length}" for length in LENGTHS for sign in ("<=", ">")]
    return [*thresholds, *(f"{what}: bit {bit} {state}" for bit in range(LENGTH_BITS) for state in ("set", "not set"))]


READ_NAMES = _length_names("bytes read")


def count_read(observations: Iterable[Observation]) -> list[int]:
    """Count observations by bytes read, in the order of ``READ_NAMES``; the counts may not depend on the truth."""
    return _lengths(Counter(observation.read for observation in observations))


def _set_or_not(bits: Sequence[tuple[int, int]]) -> list[int]:
    """Sum the counts of (bit, count) pairs over the set bits and over the clear ones."""
    ones = sum(count for bit, count in bits if bit)
    return [ones, sum(count for _, count in bits) - ones]


def _lengths(lengths: "Counter[int]") -> list[int]:
    whole = lengths.total()
    counts = []
    for bound in LENGTHS:
        within = sum(count for length, count in lengths.items() if length <= bound)
        counts += [within, whole - within]
    for bit in range(LENGTH_BITS):
        counts += _set_or_not([(length >> bit & 1, count) for length, count in lengths.items()])
    return counts
