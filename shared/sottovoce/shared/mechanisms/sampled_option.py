"""Sampled option: of several options one is drawn, and whether it was chosen goes through binary randomized response.

Channel
    One of k options, uniformly and whatever the truth; then its bit y with P(y = 1 | chosen) = a and
    P(y = 1 | not chosen) = b. The report is 2 * option + y.
Epsilon
    As for the one bit, ln max(a/b, (1-b)/(1-a)): the option drawn says nothing, and the other k - 1 bits are not
    read. Dividing epsilon among all k bits instead would cost 4 to 13 times the variance at ln 3.
Estimator
    Among the n_j reports on option j (n_j is random and public), those with y = 1 support it:
    p_j = (x_j/n_j - b) / (a - b).
Variance
    lambda (1 - lambda) / (n_j (a - b)^2), n_j near n/k. It gives no cross-table between options of one question.
Sources
    Duchi, Jordan and Wainwright 2018 (sampling one coordinate); Nguyen et al. 2016 (Harmony).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bits import ThroughBit, check_maskable


@dataclass(frozen=True)
class SampledOption(ThroughBit):
    """A channel that draws one of 2 .. 52 options, regardless of the truth, and sends its bit through ``bit``."""

    name: ClassVar[str] = "sampled_option"
    serves: ClassVar[str] = "options"
    report_kind: ClassVar[str] = "drawn_option"

    bit: BinaryRR
    options: int

    def __post_init__(self) -> None:
        check_maskable(self.options)

    @property
    def drawn_from(self) -> int:
        """The number of options of the question."""
        return self.options

    @property
    def largest(self) -> int:
        """The last option, with its bit set."""
        return 2 * self.options - 1

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the probability of the option (1/k) times the probability of its bit."""
        option, bit = divmod(reported, 2)
        return self.bit.probability(bit, value >> option & 1) / self.options
