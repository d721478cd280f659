"""Clip integer vectors by norm: a declared ball, or the declared range of each coordinate, bounds the contribution of
one record to a sum of vectors.

A vector outside the ball is scaled towards zero, and each coordinate is then rounded towards zero, so that the
*integers* are inside. Rounding to nearest after clipping would make the norm up to a third too large (10 coordinates,
radius 10).

Shift of a coordinate  By how much the sum's coordinate changes at most: its width if a record becomes another one, its
                       largest distance from 0 if one comes or goes.
Sensitivity            The sum of shifts in L1, the root of their squares in L2. Both are reached by a pair of records
                       at opposite ends of every range. With a ball the ball's own bound counts where it is smaller.
Units                  Coordinates with different ranges get noise in proportion to their shifts, so that a mark is not
                       drowned by the noise of an income. In a ball all have the same scale.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_STEPS = 2**20
"""Largest radius, so that every product stays an exact 64-bit integer."""

MOST_COORDINATES = 2**12

Vectors = npt.NDArray[np.int64]


def clip_each(rows: npt.NDArray[Any], lows: Sequence[int], highs: Sequence[int]) -> Vectors:
    """Return each row with its coordinates in these ranges; ValueError for other numbers of coordinates."""
    if rows.ndim != 2 or rows.shape[1] != len(lows):
        raise ValueError("the vectors have another number of coordinates than declared")
    clipped: Vectors = np.clip(rows, np.array(lows), np.array(highs)).astype(np.int64)
    return clipped


@dataclass(frozen=True)
class Ball:
    """Integer vectors of at most this norm; ValueError if an attribute is out of range.

    Attributes:
        norm: 1 (sum of absolute values) or 2 (Euclidean).
        radius: in steps, 1 .. 2^20.
        coordinates: d, 1 .. 2^12.
    """

    norm: int
    radius: int
    coordinates: int

    def __post_init__(self) -> None:
        if self.norm not in {1, 2}:
            raise ValueError("the norm of a ball is 1 or 2")
        if not (1 <= self.radius <= MOST_STEPS and 1 <= self.coordinates <= MOST_COORDINATES):
            raise ValueError("a ball has a radius of 1 to 2^20 steps and 1 to 2^12 coordinates")

    def clip(self, rows: npt.NDArray[Any]) -> Vectors:
        """Return each row, scaled into the ball if it is outside; ValueError for other numbers of coordinates."""
        inside = clip_each(rows, [-16 * MOST_STEPS] * self.coordinates, [16 * MOST_STEPS] * self.coordinates)
        # Rows inside are divided too, by the radius, so that the running time depends on no value.
        over = np.maximum(self._lengths(inside), self.radius)[:, None]
        shrunk: Vectors = np.sign(inside) * (np.abs(inside) * self.radius // over)
        return shrunk

    def _lengths(self, rows: Vectors) -> Vectors:
        """Return the norm of each row, rounded up to an integer."""
        if self.norm == 1:
            found: Vectors = np.abs(rows).sum(axis=1)
            return found
        squares = np.einsum("ij,ij->i", rows, rows)
        roots = np.sqrt(squares).astype(np.int64)
        # Rounding up, so that a row that is just outside the ball is never taken for one inside.
        roots += roots * roots < squares
        rounded_up: Vectors = roots
        return rounded_up

    def sensitivity(self, records: int) -> tuple[int, int]:
        """Return the L1 and squared L2 sensitivity, in steps, of a sum of vectors in the ball.

        ``records`` is the number of vectors by which neighbouring sums differ: 1 for add/remove, 2 for replace-one.
        """
        reach = records * self.radius
        # In the L2 ball, L1 <= sqrt(d) * L2. Sums differ by integer vectors, so the integer part of that bound holds.
        return (reach if self.norm == 1 else math.isqrt(self.coordinates * reach * reach)), reach * reach


_TRIED, _NUMBERS = 10_000, 2**22
"""At most so many vectors from all over the box, of so many numbers, show how many a ball shrinks."""


@dataclass(frozen=True)
class VectorBox:
    """The integer vectors between declared ends.

    Attributes:
        lows, highs: ends of each coordinate, in steps, the lower one at most 0 and the upper one at least 0.
        ball: into which vectors are shrunk afterwards, or None.

    Raises:
        ValueError: the ends are out of range, or the ball has another number of coordinates.
    """

    lows: tuple[int, ...]
    highs: tuple[int, ...]
    ball: Ball | None = None

    def __post_init__(self) -> None:
        ends = list(zip(self.lows, self.highs, strict=True))
        if not 1 <= len(ends) <= MOST_COORDINATES:
            raise ValueError("a vector has 1 to 2^12 coordinates")
        if not all(-MOST_STEPS <= low <= 0 <= high <= MOST_STEPS and low < high for low, high in ends):
            raise ValueError("each coordinate of a vector has a range around 0 of at most 2^20 steps to either side")
        if self.ball and self.ball.coordinates != len(ends):
            raise ValueError("the ball and the ranges differ in their number of coordinates")

    @property
    def coordinates(self) -> int:
        """Number of coordinates of a vector."""
        return len(self.lows)

    def clip(self, rows: npt.NDArray[Any]) -> Vectors:
        """Return each row with its coordinates clipped to their ranges, then shrunk into the ball.

        Raises ValueError if the rows have a different number of coordinates.
        """
        clipped = clip_each(rows, self.lows, self.highs)
        return self.ball.clip(clipped) if self.ball else clipped

    def shifts(self, records: int) -> tuple[int, ...]:
        """Return the largest change of each coordinate of a sum.

        ``records`` vectors differ between neighbouring sums: 1 for add/remove, 2 for replace-one.
        """
        most = self.ball.radius if self.ball else MOST_STEPS
        ends = [(min(-low, most), min(high, most)) for low, high in zip(self.lows, self.highs, strict=True)]
        return tuple(below + above if records == 2 else max(below, above) for below, above in ends)

    def sensitivity(self, records: int) -> tuple[int, int]:
        """Return the (L1 sensitivity, squared L2 sensitivity) of a sum, in steps; ``records`` as in ``shifts``."""
        shifts = self.shifts(records)
        length, square = sum(shifts), sum(shift * shift for shift in shifts)
        if self.ball is None:
            return length, square
        others = self.ball.sensitivity(records)
        return min(length, others[0]), min(square, others[1])

    def units(self, records: int) -> tuple[int, ...]:
        """Return the noise of each coordinate in proportion; ``records`` as in ``shifts``."""
        shifts = self.shifts(records)
        return (1,) * len(shifts) if self.ball or len(set(shifts)) == 1 else shifts

    def shrunk(self) -> float:
        """Return the share of vectors from all over the box, each as likely as any other, that the ball shrinks."""
        tried = min(_TRIED, _NUMBERS // self.coordinates)
        generator = np.random.Generator(np.random.PCG64(0))
        rows = generator.integers(self.lows, np.array(self.highs) + 1, (tried, self.coordinates))
        return float((self.clip(rows) != rows).any(axis=1).mean())
