"""Clamped geometric: a number plus two-sided geometric noise, kept within its range: for noisy values themselves.

It is the Laplace mechanism on a grid, and ``laplace`` is its other name for authors. The textbook's noise is a real
number, of which a computer's floating point draws only some, and not the same ones around every answer; here both noise
and answer are whole steps, so that epsilon is exact, and delta 0.

Channel
    The number is step v of a grid with steps 0 .. m. Noise k has P(k) = (1 - r)/(1 + r) r^|k| with a rational ratio
    r = p/q in lowest terms, 0 < r < 1, and the report is v + k forced into 0 .. m. So the ends have
    P(0 | v) = r^v / (1 + r) and P(m | v) = r^(m-v) / (1 + r). As one table of integers its denominator would be
    (p + q) q^m; it is drawn exactly in m stages instead, whose denominators are p + q and q:
      direction   none, up, down with weights q - p, p, p;
      magnitude   1, and one more for each success in a row among m - 1 trials with weight p against q - p. A
                  magnitude beyond m would be forced to the same end. All trials are always drawn, so that neither
                  the bytes read nor the time taken betray the noise.
Epsilon
    m ln(1/r): at the ends P(0 | 0) / P(0 | m) = r^-m, and no other ratio is larger.
Estimator
    The mean of the scores z(y) = y inside, z(0) = -r/(1-r), z(m) = m + r/(1-r): each is the mean of the unclamped
    value given the report, so E[z | v] = v exactly.
Variance
    At most 2 r / (1 - r)^2 steps^2 a report, the variance of the noise (Rao-Blackwell), plus the variance of v.
Sources
    Ghosh, Roughgarden and Sundararajan 2009 (the range-restricted geometric mechanism).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms.base import FRACTION, Mechanism, Parameter, exact_fields, fraction_field

MAX_STEPS = 1000
"""Most trials that are drawn for one report."""


@dataclass(frozen=True)
class Geometric(Mechanism):
    """Noise of ratio r = p/q, 0 < r < 1, p + q <= 2^32, on a number of ``steps`` steps, 1 .. 1000."""

    name: ClassVar[str] = "geometric"
    serves: ClassVar[str] = "number"
    report_kind: ClassVar[str] = "number"
    parameters: ClassVar[Mapping[str, Parameter]] = {"ratio": FRACTION}
    presets: ClassVar[Mapping[str, Mapping[str, Parameter]]] = {"laplace": parameters}

    ratio: Fraction
    steps: int

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= MAX_STEPS:
            message = "this mechanism serves grids of 1 to {most} steps; choose a larger step"
            raise ValueError(Sentence(message, most=str(MAX_STEPS)))
        if not 0 < self.ratio < 1:
            raise ValueError("ratio must lie between 0 and 1")
        if sum(self.ratio.as_integer_ratio()) > rational.MAX_DENOMINATOR:
            raise ValueError("numerator and denominator of ratio must not sum to more than 2^32")

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: geometric, ratio: "9/10"}``, or ``laplace`` in the place of the name."""
        exact_fields(fields, cls.parameters)
        return cls(fraction_field(fields, "ratio"), domain.steps)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose the ratio e^(-epsilon/m), rounded up, with a denominator of 2^31."""
        denominator = rational.MAX_DENOMINATOR // 2
        numerator = math.ceil(denominator / rational.exp_below(epsilon / max(1, domain.steps)))
        return cls(Fraction(numerator, denominator), domain.steps)

    def dump(self) -> dict[str, Any]:
        """Return the ratio; the grid is the question's."""
        return {"name": self.name, "ratio": str(self.ratio)}

    @property
    def known_as(self) -> str:
        """Laplace noise, whatever the ratio."""
        return "Laplace noise on a grid"

    @property
    def direction(self) -> tuple[int, int, int]:
        """Weights of no noise, noise upwards and noise downwards."""
        p, q = self.ratio.as_integer_ratio()
        return q - p, p, p

    @property
    def onward(self) -> tuple[int, int]:
        """Weights of stopping and of one step more."""
        p, q = self.ratio.as_integer_ratio()
        return q - p, p

    @property
    def largest(self) -> int:
        """The largest value of the grid."""
        return self.steps

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the two-sided geometric distribution, with the tails gathered at the ends."""
        r = self.ratio
        return r ** abs(reported - value) / (1 + r) * (1 if reported in {0, self.steps} else 1 - r)

    @property
    def scores(self) -> tuple[Fraction, ...]:
        """Unbiased number of steps for each reported value: E[score | v] = v."""
        tail = self.ratio / (1 - self.ratio)
        return (-tail, *(Fraction(y) for y in range(1, self.steps)), self.steps + tail)

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report: r^-m."""
        return 1 / self.ratio**self.steps

    def explain(self) -> dict[str, int | Fraction]:
        """Return the share of reports whose noise is 0."""
        return {"exact": (1 - self.ratio) / (1 + self.ratio)}
