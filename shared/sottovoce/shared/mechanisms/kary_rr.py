"""k-ary randomized response: one of k categories, kept or replaced by another.

Channel
    With odds g = r/s in lowest terms, g > 1: the row of the true category has weight r at the truth and s at each
    of the other k - 1 categories; den = r + s (k - 1).
Epsilon
    ln g, exactly.
Estimator
    A report supports category j when it is j: a = P(support | true) = r/den, b = P(support | other) = s/den;
    f_j = (n_j/n - b) / (a - b). The k estimates sum to 1.
Variance
    lambda (1 - lambda) / (n (a - b)^2), lambda = b + (a - b) f_j, for an i.i.d. sample.
Sources
    Warner 1965; Kairouz, Bonawitz and Ramage 2016 (k-ary randomized response).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.base import OfOdds, Table, check_odds


@dataclass(frozen=True)
class KaryRR(OfOdds, Table):
    """A channel of ``inputs`` >= 2 categories, with odds ``keep`` > 1 of the truth against any one other."""

    name: ClassVar[str] = "kary_rr"
    serves: ClassVar[str] = "option"
    report_kind: ClassVar[str] = "option"

    keep: Fraction
    inputs: int

    def __post_init__(self) -> None:
        if self.inputs < 2:
            raise ValueError("this mechanism needs at least two categories")
        check_odds(self.keep, self.denominator)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose the weight of the truth, rounded down, in a row that sums to nearly 2^32."""
        return cls(rational.odds_below(epsilon, 1, domain.size - 1), domain.size)

    @cached_property
    def denominator(self) -> int:
        """The sum of each row of weights."""
        return self.keep.numerator + self.keep.denominator * (self.inputs - 1)

    def weights(self, value: int) -> tuple[int, ...]:
        """Return one weight per category when the truth is category ``value``."""
        true, other = self.keep.numerator, self.keep.denominator
        return tuple(true if category == value else other for category in range(self.inputs))

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(report j | j) and P(report j | another category), the same for every category j."""
        return Fraction(self.keep.numerator, self.denominator), Fraction(self.keep.denominator, self.denominator)

    def explain(self) -> dict[str, int | Fraction]:
        """Return the shares that send their own answer, and any one of the others."""
        own, other = self.support
        return {"own": own, "other": other}
