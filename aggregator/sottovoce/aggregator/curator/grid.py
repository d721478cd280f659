"""Convert the values of a declared number, on a grid of bounds and step, to integers."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sottovoce.shared import answers


class NumberGrid(answers.Grid):
    """Numbers low, low + step, .., high of a survey grid, with the units that noisy sums need."""

    @property
    def noise_unit(self) -> Fraction:
        """Largest fraction of which the step and the bounds are integer multiples."""
        common = math.lcm(self.low.denominator, self.step.denominator)
        return Fraction(math.gcd(int(self.low * common), int(self.step * common)), common)

    def units(self, value: Fraction) -> int:
        """Convert a value of the grid to noise units."""
        return int(value / self.noise_unit)

    @property
    def middle(self) -> Fraction:
        """Value of the grid at or just below the middle."""
        return self.low + self.steps // 2 * self.step

    def total(self, values: npt.NDArray[Any]) -> int:
        """Return the sum of n values in steps, each clipped to 0 .. steps."""
        clipped = np.clip(values, 0, self.steps)
        # Summed in parts, because 2^31 values of 2^32 steps would overflow 64 bits.
        return sum(int(part.sum(dtype=np.int64)) for part in np.array_split(clipped, len(clipped) // 2**30 + 1))
