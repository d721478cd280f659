"""Subset selection: a choice among k options is reported as a set of d options, in which the truth is likelier.

Channel
    With odds g = r/s in lowest terms, g > 1: each set of d options has weight r if it holds the truth and s if not.
    The set holds the truth with probability a = d r / (d r + (k - d) s), and given that, every such set is equally
    likely. The report is a bit mask, bit j for option j; only masks with exactly d bits are admitted.
Epsilon
    ln g, exactly: two sets differ in weight by r/s at most. With d = 1 this is k-ary randomized response.
Estimator
    A report supports option j when bit j is set: a = P(support | true), and by symmetry over the other options
    b = P(support | other) = ((d - 1) a + d (1 - a)) / (k - 1); f_j = (n_j/n - b) / (a - b).
    The tally kept is the number of reports that support each option, and n.
Variance
    lambda (1 - lambda) / (n (a - b)^2), lambda = b + (a - b) f_j, for an i.i.d. sample. The size d that is best for
    the sum over all options minimizes k b (1 - b) / (a - b)^2 + (1 - a - b) / (a - b); it is near k / (g + 1).
Sources
    Wang et al. 2016 and Ye and Barg 2018 (subset selection and its optimality).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import MAX_MASK_OPTIONS, Domain
from sottovoce.shared.mechanisms import base
from sottovoce.shared.mechanisms.bits import check_maskable


@dataclass(frozen=True)
class SubsetSelection(base.OfOdds, base.Mask):
    """A channel to a set of ``size`` of ``options`` options, likelier by the odds ``keep`` if it holds the truth.

    ``size`` d is 1 .. k - 1, ``options`` k 2 .. 52, ``keep`` g above 1.
    """

    name: ClassVar[str] = "subset_selection"
    serves: ClassVar[str] = "option"
    report_kind: ClassVar[str] = "set"
    parameters: ClassVar[Mapping[str, base.Parameter]] = {
        "odds": base.FRACTION,
        "size": base.whole(1, MAX_MASK_OPTIONS - 1, required=False),
    }

    keep: Fraction
    size: int
    options: int

    def __post_init__(self) -> None:
        check_maskable(self.options)
        base.check_odds(self.keep, sum(self.inclusion))
        if not 1 <= self.size < self.options:
            raise ValueError("size must be at least 1 and less than the number of options")

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: subset_selection, odds: "3", size: 2}``; an author may leave the size out."""
        base.exact_fields(fields, cls.parameters)
        odds = base.fraction_field(fields, "odds")
        if "size" in fields:
            return cls(odds, base.integer_field(fields, "size", 1, MAX_MASK_OPTIONS - 1), domain.size)
        return cls(odds, best_size(odds, domain.size), domain.size)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose the best size, and the weight r rounded down."""
        k = domain.size
        size = best_size(rational.exp_below(epsilon), k)
        return cls(rational.odds_below(epsilon, size, k - size), size, k)

    def dump(self) -> dict[str, Any]:
        """Return the odds and the size; the number of options is the question's."""
        return {**super().dump(), "size": self.size}

    @property
    def inclusion(self) -> tuple[int, int]:
        """Weights of leaving the truth out of the set and of including it."""
        return (self.options - self.size) * self.keep.denominator, self.size * self.keep.numerator

    @property
    def largest(self) -> int:
        """The mask of the last d options."""
        return ((1 << self.size) - 1) << (self.options - self.size)

    def admits(self, reported: int) -> bool:
        """Return True for a mask of exactly d of the k options."""
        return 0 <= reported <= self.largest and reported.bit_count() == self.size

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the probability of one set of d options, given the true option."""
        a, _ = self.support
        if reported >> value & 1:
            return a / comb(self.options - 1, self.size - 1)
        return (1 - a) / comb(self.options - 1, self.size)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(j in the set | j) and P(j in the set | another option), the same for every option j."""
        return _support(self.keep, self.size, self.options)

    def explain(self) -> dict[str, int | Fraction]:
        """Return the shares of sets that contain the truth, and any one other option."""
        held, other = self.support
        return {"size": self.size, "options": self.options, "held": held, "other": other}


def best_size(odds: Fraction, k: int) -> int:
    """Return the size d with the least total variance over k options; the smaller of two that are equally good."""

    def total_variance(size: int) -> Fraction:
        a, b = _support(odds, size, k)
        return k * b * (1 - b) / (a - b) ** 2 + (1 - a - b) / (a - b)

    if not 2 <= k <= MAX_MASK_OPTIONS or odds <= 1:
        return 1  # the constructor says what is wrong
    return min(range(1, k), key=total_variance)


def _support(odds: Fraction, size: int, k: int) -> tuple[Fraction, Fraction]:
    a = size * odds / (size * odds + k - size)
    return a, ((size - 1) * a + size * (1 - a)) / (k - 1)
