"""Sampled coordinate: of several numbers one is drawn, and goes through stochastic rounding and randomized response.

Channel
    One of d coordinates, uniformly and whatever the truth; then its step through ``rounding_rr`` with the question's
    grid. The report is 2 * coordinate + y. A yes/no coordinate is a grid of one step.
Epsilon
    As for the one number, ln max(a/b, (1-b)/(1-a)): the coordinate drawn says nothing, and the others are not read.
Estimator
    Among the n_c reports on coordinate c (n_c is random and public) the mean is estimated as for ``rounding_rr``.
Variance
    As for ``rounding_rr`` with n_c near n/d: d times as large as for one number, against d^2 times for dividing
    epsilon among all of them.
Sources
    Duchi, Jordan and Wainwright 2018; Nguyen et al. 2016 (Harmony); Wang et al. 2019 (several numbers).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bits import ThroughBit
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR


@dataclass(frozen=True)
class SampledCoordinate(ThroughBit):
    """A channel that draws one of at least 2 numbers, regardless of the truth, and sends it through ``number``."""

    name: ClassVar[str] = "sampled_coordinate"
    serves: ClassVar[str] = "numbers"
    report_kind: ClassVar[str] = "drawn_end"

    number: RoundingRR
    coordinates: int

    def __post_init__(self) -> None:
        if self.coordinates < 2:
            raise ValueError("this mechanism serves vectors of at least two coordinates")

    @classmethod
    def through(cls, bit: BinaryRR, domain: Domain) -> Self:
        """Return the mechanism for vectors of this domain."""
        return cls(RoundingRR.through(bit, domain), len(domain.options))

    @property
    def bit(self) -> BinaryRR:  # type: ignore[override]
        """The channel of the end that is reported for the coordinate."""
        return self.number.bit

    @property
    def drawn_from(self) -> int:
        """The number of coordinates of the question."""
        return self.coordinates

    @property
    def largest(self) -> int:
        """The last coordinate, reported high."""
        return 2 * self.coordinates - 1

    def probability(self, reported: int, value: tuple[int, ...]) -> Fraction:
        """Return the probability of the coordinate (1/d) times the probability of the end reported for it."""
        coordinate, y = divmod(reported, 2)
        return self.number.probability(y, value[coordinate]) / self.coordinates

    @property
    def scores(self) -> tuple[Fraction, ...]:
        """Unbiased number of steps of the coordinate drawn, for y = 0 and 1."""
        return self.number.scores

    def explain(self) -> dict[str, int | Fraction]:
        """Return the number of coordinates, and the shares of the end."""
        return {"coordinates": self.coordinates, **super().explain()}
