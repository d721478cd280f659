"""Square wave: a number is reported as one of a row of bins, the bins near it likelier: for distributions and
quantiles.

Channel
    The grid's steps 0 .. m fall into D bins, step v into bin i = floor(v D / (m + 1)). There are D + 2 w outputs.
    With odds g = r/s in lowest terms, g > 1: the outputs i .. i + 2 w (output i + w is the bin itself) have weight r
    and the other D - 1 have weight s; den = (2 w + 1) r + (D - 1) s.
Epsilon
    ln g, exactly.
Estimator
    Maximum likelihood of the D bins' shares by expectation-maximization over the matrix of weights; quantiles from
    the cumulated shares. Bin i holds the steps from ceil(i (m + 1) / D) to ceil((i + 1) (m + 1) / D) - 1.
Variance
    Of the mean by unbiased scores: 2.7 to 4.3 half ranges squared at odds 3 and 32 bins. Of bins: mostly bias, so
    they have no limits.
Sources
    Li et al. 2020 (square wave, expectation-maximization and the best width).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms import base

MAX_BINS = 1024
DEFAULT_BINS = 32


@dataclass(frozen=True)
class SquareWave(base.OfOdds, base.Table):
    """A channel for a number in ``bins`` bins, reported within ``width`` bins of its own with odds ``keep``.

    Attributes:
        keep: the odds g > 1 of an output inside the window against one outside.
        bins: number of bins D, 2 .. 1024 and at most steps + 1.
        width: half the width w of the window, in bins, 0 .. D.
        steps: number of steps m of the grid.
    """

    name: ClassVar[str] = "square_wave"
    serves: ClassVar[str] = "number"
    report_kind: ClassVar[str] = "range"
    parameters: ClassVar[Mapping[str, base.Parameter]] = {
        "odds": base.FRACTION,
        "bins": base.whole(2, MAX_BINS, required=False),
        "width": base.whole(0, MAX_BINS, required=False),
    }

    keep: Fraction
    bins: int
    width: int
    steps: int

    def __post_init__(self) -> None:
        if not 2 <= self.bins <= min(MAX_BINS, self.steps + 1):
            message = "bins must be at least 2 and at most {most} and the number of values on the grid"
            raise ValueError(Sentence(message, most=str(MAX_BINS)))
        if not 0 <= self.width <= self.bins:
            raise ValueError("width must lie between 0 and the number of bins")
        base.check_odds(self.keep, sum(self.weights(0)))

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: square_wave, odds: "3", bins: 32, width: 8}``; an author may leave bins and width out."""
        base.exact_fields(fields, cls.parameters)
        odds = base.fraction_field(fields, "odds")
        bins = base.integer_field(fields, "bins", 2, MAX_BINS) if "bins" in fields else default_bins(domain)
        width = base.integer_field(fields, "width", 0, MAX_BINS) if "width" in fields else best_width(odds, bins)
        return cls(odds, bins, width, domain.steps)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose 32 bins, or as many as there are values; the best width; the weight r rounded down."""
        bins = default_bins(domain)
        width = best_width(rational.exp_below(epsilon), bins)
        return cls(rational.odds_below(epsilon, 2 * width + 1, bins - 1), bins, width, domain.steps)

    def dump(self) -> dict[str, Any]:
        """Return the odds, bins and width; the grid is the question's."""
        return {**super().dump(), "bins": self.bins, "width": self.width}

    def bin(self, value: int) -> int:
        """Return the bin of step ``value``."""
        return value * self.bins // (self.steps + 1)

    def span(self, reported: int) -> tuple[int, int]:
        """Return the first and last step of output ``reported``; outputs outside the range extend the grid."""
        bin_ = reported - self.width
        start, end = (-(-edge * (self.steps + 1) // self.bins) for edge in (bin_, bin_ + 1))
        return start, end - 1

    def weights(self, value: int) -> tuple[int, ...]:
        """Return one weight per output when the truth is step ``value``."""
        first = self.bin(value)
        near, far = self.keep.numerator, self.keep.denominator
        return (far,) * first + ((near,) * (2 * self.width + 1)) + (far,) * (self.bins - 1 - first)

    def explain(self) -> dict[str, int | Fraction]:
        """Return the number of outputs, how many lie beyond the ends, and how many people send one near their own."""
        window = 2 * self.width + 1
        near = Fraction(window * self.keep.numerator, sum(self.weights(0)))
        return {"ranges": self.largest + 1, "beyond": window - 1, "window": window, "near": near}


def default_bins(domain: Domain) -> int:
    """Return 32, or the number of values on the grid if that is smaller."""
    return min(DEFAULT_BINS, domain.size)


def best_width(odds: Fraction, bins: int) -> int:
    """Return the w that lets an output say most about the bin: floor(h D), h = (g ln g - g + 1) / (2 g (g - 1 - ln g)).

    Li et al. 2020, equation 9; h falls from 1/2 towards 0 as g grows from 1.
    """
    if odds <= 1:
        return 0  # the constructor says what is wrong
    g, epsilon = float(odds), rational.log(odds)
    if epsilon < 0.001:  # the two differences cancel; the limit is 1/2
        return bins // 2
    return math.floor(bins * (g * epsilon - g + 1) / (2 * g * (g - 1 - epsilon)))
