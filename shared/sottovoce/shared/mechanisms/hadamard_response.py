"""Hadamard response: a choice among many options is reported as one of the columns of a Hadamard matrix.

Channel
    K is the smallest power of two above the number of options k; columns are 0 .. K - 1. Option x owns the K/2
    columns y in which row x + 1 of the Hadamard matrix is +1: those where (x + 1) & y has an even number of bits.
    With odds g = r/s in lowest terms, g > 1: each of them has weight r, each other column weight s;
    den = (r + s) K/2. It is drawn in two stages: own or other with weights r and s, then one of K/2 columns.
Epsilon
    ln g, exactly.
Estimator
    A report supports option j when its column is one of j's: a = P(support | true) = g / (g + 1), and since any two
    rows agree in half of the columns b = P(support | other) = 1/2; f_j = (N_j/n - b) / (a - b). All N_j come from the
    counts of the columns by one fast Walsh-Hadamard transform.
Variance
    lambda (1 - lambda) / (n (a - b)^2), lambda = b + (a - b) f_j, for an i.i.d. sample: near ((g+1)/(g-1))^2 / n for
    every option, however many there are. For k > 52 it takes the place of ``subset_selection``.
Sources
    Acharya, Sun and Zhang 2019 (Hadamard response).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.base import OfOdds, check_odds


@dataclass(frozen=True)
class HadamardResponse(OfOdds):
    """A channel to one of ``columns`` columns, likelier by the odds ``keep`` if it belongs to the true option."""

    name: ClassVar[str] = "hadamard_response"
    serves: ClassVar[str] = "option"
    report_kind: ClassVar[str] = "own_mark"

    keep: Fraction
    options: int

    def __post_init__(self) -> None:
        if self.options < 2:
            raise ValueError("this mechanism needs at least two options")
        check_odds(self.keep, sum(self.inclusion))

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose the weight r, rounded down."""
        return cls(rational.odds_below(epsilon, 1, 1), domain.size)

    @property
    def columns(self) -> int:
        """K, the smallest power of two above k."""
        return 1 << self.options.bit_length()

    @property
    def inclusion(self) -> tuple[int, int]:
        """Weights of another's column and of an own one."""
        return self.keep.denominator, self.keep.numerator

    @property
    def largest(self) -> int:
        """The largest reported value: the last column."""
        return self.columns - 1

    def column(self, value: int, own: int, index: int) -> int:
        """Return the column with this index, 0 .. K/2 - 1, among an option's own (1) or other (0) columns.

        The lowest bit of the row's number is left free for the parity; the index fills the other bits.
        """
        row = value + 1
        free = row & -row
        column = (index & -free) << 1 | index & (free - 1)
        return column if ((row & column).bit_count() % 2 == 0) == bool(own) else column | free

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the probability of one column, given the true option."""
        own = (value + 1 & reported).bit_count() % 2 == 0
        return Fraction(self.inclusion[own], sum(self.inclusion) * (self.columns // 2))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(column of j | j) and P(column of j | another option), the same for every option j."""
        return self.keep / (self.keep + 1), Fraction(1, 2)

    def explain(self) -> dict[str, int | Fraction]:
        """Return the number of columns, how many send one of their own option's, how many one of any other's."""
        own, other = self.support
        return {"marks": self.columns, "own": own, "other": other}
