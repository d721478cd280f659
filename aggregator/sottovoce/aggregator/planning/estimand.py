"""What a plan is for: a share or a mean, as its channel lets it be estimated."""

from abc import ABC, abstractmethod
from typing import ClassVar


class Measure(ABC):
    """
    A share of people, or the mean of a number, with the channel of its reports.

    Attributes:
        noun: what it is called.
        low, high: its least and its largest value.
        blur: how far the shown limits lie beyond those of sampling, however many reports there are.
    """

    noun: ClassVar[str]
    low: float
    high: float
    blur: float = 0.0

    @abstractmethod
    def variance(self, expected: float) -> float:
        """Of one report's score, people and noise together, where ``expected`` is true."""

    @abstractmethod
    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """
        The probability that the interval shown has at most this half-width.

        Args:
            expected: the true share or mean.
            half_width: wanted, in the measure's unit.
            reports: their number, at least 1.
            confidence: of the interval, in (0, 1).
        """

    @property
    @abstractmethod
    def openly(self) -> "Measure":
        """The same, asked as a public question."""

    def spread(self, expected: float) -> float:
        """The largest variance that people's own values can have with this mean."""
        return (expected - self.low) * (self.high - expected)
