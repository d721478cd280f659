"""Optimal unary encoding: a choice among k options is reported as a bit for each option, the true one's by a fair coin.

Channel
    With odds g = r/s in lowest terms, g > 1: the bit of the true option is 1 with probability p = 1/2, the bit of each
    other option with q = 1/(g + 1) = s/(r + s), all drawn independently. The report is a bit mask, bit j for option j;
    every mask can be reported, the empty and the full one too.
Epsilon
    ln g, exactly. Two truths differ in two bits, so that the worst ratio is p (1 - q) / ((1 - p) q) = (1 - q) / q = g.
Estimator
    A report supports option j when bit j is set: f_j = (n_j/n - q) / (p - q), each option by itself, so that the raw
    shares need not sum to 1. The tally kept is the number of reports that support each option, and n.
Variance
    lambda (1 - lambda) / (n (p - q)^2), lambda = q + (p - q) f_j; of a rare option near 4 g / (n (g - 1)^2), whatever
    k is. With d = k / (g + 1), ``subset_selection`` has the same p and a smaller q: (d - 1/2) / (k - 1). Therefore an
    epsilon alone never chooses this mechanism; it is for researchers who name it, to compare with other studies.
Sources
    Wang, Blocki, Li and Jha 2017 (Locally differentially private protocols for frequency estimation: OUE).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.base import FRACTION, Parameter, check_odds, exact_fields, fraction_field
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bits import Bits


@dataclass(frozen=True)
class OptimalUnary(Bits):
    """A mechanism that sends every option through ``bit``, with a = p = 1/2 and b = q; the true one alone is chosen."""

    name: ClassVar[str] = "optimal_unary"
    serves: ClassVar[str] = "option"
    parameters: ClassVar[Mapping[str, Parameter]] = {"odds": FRACTION}

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: optimal_unary, odds: "3"}``."""
        exact_fields(fields, cls.parameters)
        return cls(_bit(fraction_field(fields, "odds")), domain.size)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose the weight r, rounded down; room is left for twice r + s, the common denominator of p and q."""
        return cls(_bit(rational.odds_below(epsilon, 2, 2)), domain.size)

    def dump(self) -> dict[str, Any]:
        """Return the odds; the number of options is the question's."""
        return {"name": self.name, "odds": str(self.likelihood_ratio)}

    def selected_bits(self, value: Any) -> Any:  # noqa: ANN401 - an int, or an array of them
        """Return the mask of the true bits: the true option alone."""
        return 1 << value

    @property
    def likelihood_ratio(self) -> Fraction:
        """The odds themselves: one bit of the two that differ pays p/q, the other (1-q)/(1-p)."""
        p, q = self.bit.support
        return p / q * ((1 - q) / (1 - p))


def _bit(odds: Fraction) -> BinaryRR:
    whole = odds.numerator + odds.denominator
    check_odds(odds, math.lcm(2, whole))
    return BinaryRR(Fraction(1, 2), Fraction(odds.denominator, whole))
