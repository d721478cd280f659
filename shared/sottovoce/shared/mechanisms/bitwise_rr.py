"""Bitwise randomized response: each of k options goes through binary randomized response, all of them in one report.

Channel
    For every option independently P(bit 1 | chosen) = a and P(bit 1 | not chosen) = b, 0 < b < a < 1.
    The report is a bit mask, bit j for option j.
Epsilon
    Two answers of at most m options (the question's max_choices) differ in up to m options switched on and up to m
    switched off, min(k, 2 m) in all. With u = a/b and v = (1-b)/(1-a) the worst odds are the largest u^on v^off with
    on, off <= m and on + off <= k: for a = 1 - b, min(k, 2 m) times the epsilon of one bit. It is not the one-hot
    figure of the literature: 6 options with a = 7/10, b = 1/5 and no limit cost 7.52.
Estimator
    A report supports option j when bit j is set: p_j = (n_j/n - b) / (a - b).
    The tally kept is the number of reports that support each option, and n.
Variance
    lambda (1 - lambda) / (n (a - b)^2) for each option. For the same total epsilon ``sampled_option`` is far more
    precise; this one is for researchers who need cross-tables between options and say so by naming it.
Sources
    Warner 1965; Erlingsson, Pihur and Korolova 2014 (basic RAPPOR).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bits import Bits


@dataclass(frozen=True)
class BitwiseRR(Bits):
    """A mechanism that sends every option through ``bit``; an answer names at most ``max_choices`` options, 1 .. k."""

    name: ClassVar[str] = "bitwise_rr"
    serves: ClassVar[str] = "options"

    max_choices: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.max_choices <= self.options:
            raise ValueError("max_choices must be at least 1 and at most the number of options")

    @classmethod
    def through(cls, bit: BinaryRR, domain: Domain) -> Self:
        """Return the mechanism for a question of this domain, whose max_choices it has."""
        return cls(bit, domain.size, domain.max_choices)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Share epsilon among the bits in which two answers may differ."""
        differing = max(1, min(domain.size, 2 * domain.max_choices))
        return super().for_epsilon(epsilon / differing, domain)

    def selected_bits(self, value: Any) -> Any:  # noqa: ANN401 - an int, or an array of them
        """Return the true value itself, which is the mask of the true bits."""
        return value

    @property
    def likelihood_ratio(self) -> Fraction:
        """The ratio for as many bits as may differ in the costlier direction, the rest in the other."""
        a, b = self.bit.support
        low, high = sorted((a / b, (1 - b) / (1 - a)))
        return high**self.max_choices * low ** min(self.max_choices, self.options - self.max_choices)
