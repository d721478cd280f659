"""Base class of mechanisms that report a mask in which every option's bit is drawn independently."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

from sottovoce.shared.answers import MAX_MASK_OPTIONS
from sottovoce.shared.mechanisms.base import Mask
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.sentence import Sentence


@dataclass(frozen=True)
class Bits(Mask):
    """
    Every one of ``options`` options through the binary channel ``bit``.

    Attributes:
        bit: the channel of each option.
        options: number of options k, 2 .. 52.
    """

    report_kind: ClassVar[str] = "bits"

    bit: BinaryRR
    options: int

    def __post_init__(self) -> None:
        if not 2 <= self.options <= MAX_MASK_OPTIONS:
            raise ValueError(
                Sentence("this mechanism serves questions with 2 to {most} options", most=MAX_MASK_OPTIONS)
            )

    @abstractmethod
    def selected_bits(self, value: Any) -> Any:  # noqa: ANN401 - an int, or an array of them
        """The mask of the options that are true, when the true value is ``value``; of arrays as of single ones."""

    @property
    def largest(self) -> int:
        """The mask of all options."""
        return (1 << self.options) - 1

    def probability(self, reported: int, value: int) -> Fraction:
        """The product over the options."""
        bits = self.selected_bits(value)
        each = (self.bit.probability(reported >> j & 1, bits >> j & 1) for j in range(self.options))
        return prod(each, start=Fraction(1))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(bit j set | j chosen) and P(bit j set | j not chosen), the same for every option j."""
        return self.bit.support

    def explain(self) -> dict[str, int | Fraction]:
        """Shares of the channel of each bit."""
        return self.bit.explain()
