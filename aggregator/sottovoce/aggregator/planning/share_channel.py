"""Channel of the share of one option, for planning.

Variance    l (1 - l) / (a - b)^2 per report, l = b + (a - b) p: noise of the channel plus sampling of people,
            noise = (p a (1 - a) + (1 - p) b (1 - b)) / (a - b)^2, people = p (1 - p). (The noise alone, common in the
            literature, treats the population as fixed: 3,202 reports where 4,269 are needed, coin flip, p = .5.)
Half-width  Half of high - low of the score interval with continuity correction, clipped into [0, 1], as shown. Its
            distribution is enumerated over the count of supporting reports, Bin(n, l), within _FAR standard deviations.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.intervals import score_cc
from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.shared.errors import EstimateError

_FAR = 8
_MORE = 40  # extra counts on either side, because binomial tails with small means are longer than normal ones


@dataclass(frozen=True)
class ShareChannel(Measure):
    """Channel of an option: ``a`` is P(support | true), in (0, 1], ``b`` P(support | not true), in [0, a)."""

    noun: ClassVar[str] = "prevalence"
    low = 0.0
    high = 1.0

    a: float
    b: float

    def __post_init__(self) -> None:
        if not 0 <= self.b < self.a <= 1:
            raise EstimateError("a channel needs 0 <= b < a <= 1")

    def reported(self, p: float) -> float:
        """Return the expected share of reports that support the option: l = b + (a - b) p."""
        return self.b + (self.a - self.b) * p

    def noise(self, p: float) -> float:
        """Return the variance that the channel adds to one report's score."""
        return (p * self.a * (1 - self.a) + (1 - p) * self.b * (1 - self.b)) / (self.a - self.b) ** 2

    def variance(self, expected: float) -> float:
        """Return the variance of one report's score: noise plus sampling."""
        # As a sum of two terms it is exactly 0 if both are; l (1 - l) / (a - b)^2 could suffer from rounding.
        return self.noise(expected) + self.spread(expected)

    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """Return the probability that the shown interval is narrow enough, by enumeration of counts."""
        counts, weights = binomial_window(reports, self.reported(expected))
        low, high = score_cc(counts, reports, self.a, self.b, confidence)
        return float(weights[(high - low) / 2 <= half_width].sum())

    @property
    def openly(self) -> "ShareChannel":
        """Channel of the direct question, without noise."""
        return DIRECT


DIRECT = ShareChannel(1.0, 0.0)
"""Channel of a direct question, for comparison."""


def binomial_window(n: int, share: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the counts of Bin(n, share) and their probabilities, without tails of about 1e-14 together."""
    if share in {0.0, 1.0}:
        return np.array([round(n * share)]), np.ones(1)
    reach = _FAR * math.sqrt(n * share * (1 - share)) + _MORE
    first, last = max(math.floor(n * share - reach), 0), min(math.ceil(n * share + reach), n)
    counts = np.arange(first, last + 1)
    # P(x + 1) / P(x) = (n - x) / (x + 1) share / (1 - share), summed as logarithms from the first count on.
    ratios = np.log((n - counts[:-1]) / (counts[:-1] + 1)) + math.log(share / (1 - share))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    weights = np.exp(logs - logs.max())
    return counts, weights / weights.sum()
