"""A declared number: bounds and grid, and its values as integers."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sottovoce.shared import answers


class NumberGrid(answers.Grid):
    """The numbers low, low + step, .., high, as surveys have them, with what sums need of them."""

    @property
    def noise_unit(self) -> Fraction:
        """The largest fraction of which both the step and the bounds are whole multiples."""
        common = math.lcm(self.low.denominator, self.step.denominator)
        return Fraction(math.gcd(int(self.low * common), int(self.step * common)), common)

    def units(self, value: Fraction) -> int:
        """A value of the grid, in units."""
        return int(value / self.noise_unit)

    @property
    def middle(self) -> Fraction:
        """The value of the grid at or just below the middle."""
        return self.low + self.steps // 2 * self.step

    def total(self, values: npt.NDArray[Any]) -> int:
        """The sum of steps of n values, each clipped to 0 .. steps."""
        clipped = np.clip(values, 0, self.steps)
        # In parts, or 2^31 values of 2^32 steps would overflow.
        return sum(int(part.sum(dtype=np.int64)) for part in np.array_split(clipped, len(clipped) // 2**30 + 1))

    def question(self) -> dict[str, str]:
        """For the record."""
        return {"low": str(self.low), "high": str(self.high), "step": str(self.step)}
