"""Base classes of mechanisms whose report is made of bits: one, or an option's each, drawn independently."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, Self

from sottovoce.shared.answers import MAX_MASK_OPTIONS, Domain
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms.base import Mask, Mechanism, Parameter
from sottovoce.shared.mechanisms.binary_rr import BinaryRR


class ThroughBit(Mechanism):
    """A mechanism of which one or more bits go through a channel ``bit``, and whatever else is drawn tells nothing."""

    parameters: ClassVar[Mapping[str, Parameter]] = BinaryRR.parameters

    bit: BinaryRR

    @classmethod
    def through(cls, bit: BinaryRR, domain: Domain) -> Self:
        """Return the mechanism with this channel for a question of this domain."""
        return cls(bit, domain.size)  # type: ignore[call-arg]

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: .., a: "3/4", b: "1/4"}``."""
        return cls.through(BinaryRR.explicit(fields), domain)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Spend the whole of epsilon on the one bit."""
        return cls.through(BinaryRR.for_epsilon(epsilon, domain), domain)

    def dump(self) -> dict[str, Any]:
        """Return the bit's a and b; what the bits stand for, and how many there are, is the question's."""
        return {**self.bit.dump(), "name": self.name}

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(bit set | true) and P(bit set | false) of a bit that is reported, the same for every one."""
        return self.bit.support

    @property
    def likelihood_ratio(self) -> Fraction:
        """The likelihood ratio of one bit."""
        return self.bit.likelihood_ratio

    def explain(self) -> dict[str, int | Fraction]:
        """Return the shares of the channel of the bit."""
        return self.bit.explain()


def check_maskable(options: int) -> None:
    """Refuse, by a ``ValueError``, numbers of options that no bit mask holds."""
    if not 2 <= options <= MAX_MASK_OPTIONS:
        raise ValueError(Sentence("this mechanism serves questions with 2 to {most} options", most=MAX_MASK_OPTIONS))


@dataclass(frozen=True)
class Bits(ThroughBit, Mask):
    """A mechanism that sends every one of ``options`` options (2 .. 52) through the binary channel ``bit``."""

    report_kind: ClassVar[str] = "bits"

    bit: BinaryRR
    options: int

    def __post_init__(self) -> None:
        check_maskable(self.options)

    @abstractmethod
    def selected_bits(self, value: Any) -> Any:  # noqa: ANN401 - an int, or an array of them
        """Return the mask of the options that are true for this true value; of arrays as of single ones."""

    @property
    def largest(self) -> int:
        """The mask of all options."""
        return (1 << self.options) - 1

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the product over the options."""
        bits = self.selected_bits(value)
        each = (self.bit.probability(reported >> j & 1, bits >> j & 1) for j in range(self.options))
        return prod(each, start=Fraction(1))
