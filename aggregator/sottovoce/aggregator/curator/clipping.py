"""Clip integer vectors by norm: a declared ball bounds the contribution of one record to a sum of vectors.

A vector outside the ball is scaled towards zero, and each coordinate is then rounded towards zero, so that the
*integers* are inside. Rounding to nearest after clipping would make the norm up to a third too large (10 coordinates,
radius 10).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_STEPS = 2**20
"""Largest radius, so that every product stays an exact 64-bit integer."""

MOST_COORDINATES = 2**12

Vectors = npt.NDArray[np.int64]


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
        if rows.ndim != 2 or rows.shape[1] != self.coordinates:
            raise ValueError("the vectors have another number of coordinates than declared")
        inside: Vectors = np.clip(rows, -16 * MOST_STEPS, 16 * MOST_STEPS).astype(np.int64)
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
