"""Stochastic rounding and randomized response: a number is rounded to the least or the largest value, then perturbed.

Channel
    The number is step v of a grid with steps 0 .. m. It is rounded up to m with probability v/m, else down to 0
    (drawn with the denominator m, unreduced, whatever v is), and the result goes through binary randomized response:
    P(report 1 | v) = b + (a - b) v/m.
Epsilon
    ln max(a/b, (1-b)/(1-a)): every v is a mixture of the two ends, which are themselves on the grid.
Estimator
    Reports of 1 support "high": p = (x/n - b) / (a - b) estimates the mean of v/m, so the mean is min + p (max - min).
    The scores m (y - b) / (a - b) of the reports y = 0, 1 are unbiased for v.
Variance
    lambda (1 - lambda) / (n (a - b)^2) in units of the range, lambda = b + (a - b) p, for an i.i.d. sample: the
    same as for a share. The best of all mechanisms up to epsilon 1.29 in the worst case.
Sources
    Duchi, Jordan and Wainwright 2018 (the one-dimensional mechanism, which this is).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bits import ThroughBit


@dataclass(frozen=True)
class RoundingRR(ThroughBit):
    """A channel for a number of ``steps`` steps (1 .. 2^32), rounded to one of its ends and sent through ``bit``.

    The largest value is its yes.
    """

    name: ClassVar[str] = "rounding_rr"
    serves: ClassVar[str] = "number"
    report_kind: ClassVar[str] = "end"

    bit: BinaryRR
    steps: int

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= rational.MAX_DENOMINATOR:
            raise ValueError("this mechanism serves grids of 1 to 2^32 steps")

    @classmethod
    def through(cls, bit: BinaryRR, domain: Domain) -> Self:
        """Return the mechanism for numbers of this domain."""
        return cls(bit, domain.steps)

    @property
    def largest(self) -> int:
        """1, for the largest value."""
        return 1

    def ends(self, value: int) -> tuple[int, int]:
        """Return the weights of rounding step ``value`` down to 0 and up to m; they sum to m for every value."""
        return self.steps - value, value

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the mixture of the two ends."""
        low, high = self.ends(value)
        at_low, at_high = (self.bit.probability(reported, end) for end in (0, 1))
        return (low * at_low + high * at_high) / self.steps

    @property
    def scores(self) -> tuple[Fraction, ...]:
        """Unbiased number of steps for each reported value: E[score | v] = v."""
        a, b = self.bit.support
        return tuple(self.steps * (y - b) / (a - b) for y in (0, 1))
