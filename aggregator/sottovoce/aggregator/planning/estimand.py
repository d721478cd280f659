"""Estimand of a plan: a share or a mean, with the channel of its reports."""

from abc import ABC, abstractmethod
from typing import ClassVar


class Measure(ABC):
    """Share of people, or mean of a number, with the channel of its reports.

    Attributes:
        noun: name of the estimand in messages.
        low, high: its smallest and largest possible value.
        blur: widening of the shown limits that does not shrink with the number of reports.
    """

    noun: ClassVar[str]
    low: float
    high: float
    blur: float = 0.0

    @abstractmethod
    def variance(self, expected: float) -> float:
        """Return the variance of one report's score (sampling plus noise) if ``expected`` is the true value."""

    @abstractmethod
    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """Return the probability that the shown interval has at most this half-width, in the estimand's unit.

        ``reports`` is at least 1; ``confidence`` is in (0, 1).
        """

    @property
    @abstractmethod
    def openly(self) -> "Measure":
        """Same estimand, asked as a public question."""

    def spread(self, expected: float) -> float:
        """Return the largest variance of true values within [low, high] with this mean."""
        return (expected - self.low) * (self.high - expected)
