"""Channel of the mean of a number, for planning.

Variance    V(m) of ``ScoredChannel``: the largest variance of a report's score over all populations with mean m; the
            shown interval uses it too.
Half-width  Half of high - low of ``mean_interval``, as shown, with its correction for the gaps between scores; for the
            square wave also with the width that one bin cannot resolve. The mean of n scores is taken as normal about m
            with variance V(m) / n. As a function of the mean of scores the half-width rises and then falls, because
            sqrt(V) is concave. The means with too large a half-width are therefore one interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from sottovoce.aggregator.estimators import geometric, rounding_rr, square_wave
from sottovoce.aggregator.estimators.means import ScoredChannel, mean_interval
from sottovoce.aggregator.estimators.numbers import grid_of, in_units
from sottovoce.aggregator.estimators.public import LISTED
from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.level_table import LevelTable

_FAR = 8
_NARROWED = 30  # golden-section steps of the search for the largest half-width; each leaves .618 of the range
_HALVED = 30


@dataclass(frozen=True)
class NumberChannel(Measure):
    """Channel of the mean of a number, with its scores.

    Attributes:
        scored: levels, scores and moments, in the number's own unit.
        low, high: smallest and largest value; the levels of a square wave are inside this range.
        step: distance between neighbouring values.
        blur: largest distance of a value from the level that represents it.
    """

    noun: ClassVar[str] = "mean"

    scored: ScoredChannel
    low: float
    high: float
    step: float
    blur: float = 0.0

    def variance(self, expected: float) -> float:
        """Return the largest variance of one score over all populations with this mean."""
        return self.scored.variance(self._level(expected))

    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """Return the probability that the shown interval is narrow enough, for normal means of scores."""

        def excess(raw: float) -> float:
            low, high = self.shown(raw, reports, confidence)
            return (high - low) / 2 - half_width

        centre = self._level(expected)
        error = math.sqrt(self.variance(expected) / reports)
        if error == 0:
            return float(excess(centre) <= 0)
        left, right = (self._level(centre + side * _FAR * error) for side in (-1, 1))
        # The means with too large a half-width form one interval; the rest of the normal distribution is the chance.
        within = _too_large(excess, left, right)
        if within is None:
            return 1.0
        distribution = NormalDist(centre, error)
        below = 0.0 if excess(left) > 0 else distribution.cdf(_edge(excess, within, left))
        above = 0.0 if excess(right) > 0 else 1 - distribution.cdf(_edge(excess, within, right))
        return below + above

    def shown(self, raw: float, reports: int, confidence: float) -> tuple[float, float]:
        """Return the limits that results show for a mean of scores; ``reports`` and ``confidence`` as for ``chance``.

        Of a square wave they are the widest, since its limits use the sample's variance.
        """
        low, high = mean_interval(raw, reports, self.scored, confidence)
        return max(low - self.blur, self.low), min(high + self.blur, self.high)

    @property
    def openly(self) -> "NumberChannel":
        """Channel of the same values without noise."""
        return _asked_openly(self.low, self.high, self.step)

    def _level(self, value: float) -> float:
        return min(max(value, self.scored.levels[0]), self.scored.levels[-1])


def number_channel(mechanism: Any, domain: Domain) -> NumberChannel:  # noqa: ANN401 - each reads its own class
    """Return the channel of a number, or of a vector's coordinate, whose mechanism has an entry in ``SCORED``."""
    grid = grid_of(domain)
    scored, blur = SCORED[mechanism.name](mechanism, domain)
    return NumberChannel(scored, float(grid.low), float(grid.high), float(grid.step), blur)


def public_number(domain: Domain) -> NumberChannel:
    """Return the channel of a number that is asked as a public question."""
    grid = grid_of(domain)
    return _asked_openly(float(grid.low), float(grid.high), float(grid.step))


def _asked_openly(low: float, high: float, step: float) -> NumberChannel:
    """Return a channel in which every value is its own score, with two end levels, as in ``estimators.public``."""
    # Beyond so many values the correction for gaps between scores is negligible.
    scores = tuple(np.linspace(low, high, min(round((high - low) / step) + 1, LISTED)).tolist())
    return NumberChannel(ScoredChannel((low, high), scores, (low**2, high**2)), low, high, step)


def _level_table(mechanism: LevelTable, domain: Domain) -> ScoredChannel:
    grid = grid_of(domain)
    return ScoredChannel.from_table(in_units(mechanism.levels, grid), in_units(mechanism.scores, grid), mechanism.rows)


SCORED: dict[str, Callable[[Any, Domain], tuple[ScoredChannel, float]]] = {
    "rounding_rr": lambda mechanism, domain: (rounding_rr.channel(mechanism, domain), 0.0),
    "level_table": lambda mechanism, domain: (_level_table(mechanism, domain), 0.0),
    "square_wave": square_wave.mean_channel,
    "geometric": lambda mechanism, domain: (geometric.channel(mechanism, domain), 0.0),
    "sampled_coordinate": lambda mechanism, domain: (rounding_rr.channel(mechanism.number, domain), 0.0),
}
"""Functions ``scored(mechanism, domain) -> (channel, blur)`` by mechanism name, for all mechanisms of numbers."""


def _too_large(excess: Callable[[float], float], left: float, right: float) -> float | None:
    """Find a point with positive excess of a unimodal function by golden-section search; None if there is none."""
    share = (math.sqrt(5) - 1) / 2
    first, second = right - share * (right - left), left + share * (right - left)
    at_first, at_second = excess(first), excess(second)
    for _ in range(_NARROWED):
        if max(at_first, at_second) > 0:
            return first if at_first > at_second else second
        if at_first > at_second:
            right, second, at_second = second, first, at_first
            first = right - share * (right - left)
            at_first = excess(first)
        else:
            left, first, at_first = first, second, at_second
            second = left + share * (right - left)
            at_second = excess(second)
    return None


def _edge(excess: Callable[[float], float], within: float, outside: float) -> float:
    """Return the zero of the excess between the two points, by bisection."""
    for _ in range(_HALVED):
        middle = (within + outside) / 2
        within, outside = (middle, outside) if excess(middle) > 0 else (within, middle)
    return outside
