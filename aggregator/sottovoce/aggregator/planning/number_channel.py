"""
The mean of a number, as the planner sees it.

Variance    V(m) of ``ScoredChannel``: the largest variance of a report's score over all populations with mean m, which
            is what the shown interval uses.
Half-width  As shown: half of high - low of ``mean_interval``, with its correction for the gaps between scores; of the
            square wave also with what steps within one bin cannot tell. The mean of n scores is taken as normal about
            m with variance V(m) / n. Seen from any mean of scores, the half-width rises and then falls, since sqrt(V)
            is concave: the means from which it is too large are one stretch.
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
from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.level_table import LevelTable
from sottovoce.shared.questions import MAX_PUBLIC

_FAR = 8
_NARROWED = 30  # steps of the search for the largest half-width; each leaves .618
_HALVED = 30


@dataclass(frozen=True)
class NumberChannel(Measure):
    """
    A number with its scores.

    Attributes:
        scored: levels, scores and moments, in the number's own unit.
        low, high: the least and the largest value; the levels of a square wave lie within.
        step: from one value to the next.
        blur: how far a value may lie from the level that stands for it.
    """

    noun: ClassVar[str] = "mean"

    scored: ScoredChannel
    low: float
    high: float
    step: float
    blur: float = 0.0

    def variance(self, expected: float) -> float:
        """The largest of one score over all populations with this mean."""
        return self.scored.variance(self._level(expected))

    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """
        By the normal law of the mean of the scores.

        Args:
            expected: the true mean.
            half_width: wanted, in the number's own unit.
            reports: their number, at least 1.
            confidence: of the interval, in (0, 1).
        """

        def excess(raw: float) -> float:
            low, high = self.shown(raw, reports, confidence)
            return (high - low) / 2 - half_width

        centre = self._level(expected)
        error = math.sqrt(self.variance(expected) / reports)
        if error == 0:
            return float(excess(centre) <= 0)
        left, right = (self._level(centre + side * _FAR * error) for side in (-1, 1))
        within = _too_large(excess, left, right)
        if within is None:
            return 1.0
        law = NormalDist(centre, error)
        below = 0.0 if excess(left) > 0 else law.cdf(_edge(excess, within, left))
        above = 0.0 if excess(right) > 0 else 1 - law.cdf(_edge(excess, within, right))
        return below + above

    def shown(self, raw: float, reports: int, confidence: float) -> tuple[float, float]:
        """
        The limits that the product shows.

        Args:
            raw: mean of the scores.
            reports: their number, at least 1.
            confidence: of the interval, in (0, 1).
        """
        low, high = mean_interval(raw, reports, self.scored, confidence)
        return max(low - self.blur, self.low), min(high + self.blur, self.high)

    @property
    def openly(self) -> "NumberChannel":
        """The same values without noise."""
        return _asked_openly(self.low, self.high, self.step)

    def _level(self, value: float) -> float:
        return min(max(value, self.scored.levels[0]), self.scored.levels[-1])


def number_channel(mechanism: Any, domain: Domain) -> NumberChannel:  # noqa: ANN401 - each reads its own class
    """The channel of a number, or of a vector's coordinate, whose mechanism has an entry in ``SCORED``."""
    grid = grid_of(domain)
    scored, blur = SCORED[mechanism.name](mechanism, domain)
    return NumberChannel(scored, float(grid.low), float(grid.high), float(grid.step), blur)


def public_number(domain: Domain) -> NumberChannel:
    """A number that is asked openly."""
    grid = grid_of(domain)
    return _asked_openly(float(grid.low), float(grid.high), float(grid.step))


def _asked_openly(low: float, high: float, step: float) -> NumberChannel:
    """Every value is its own score; a number in between is as a mixture of the ends, as in ``estimators.public``."""
    # More values than a public question may have would only narrow a gap that is next to nothing.
    count = min(round((high - low) / step) + 1, MAX_PUBLIC)
    scores = tuple(np.linspace(low, high, count).tolist())
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
"""``scored(mechanism, domain) -> (channel, blur)`` by the mechanism's name: all mechanisms for numbers, no others."""


def _too_large(excess: Callable[[float], float], left: float, right: float) -> float | None:
    """A point with excess above 0, of a function that rises and then falls; None if there is none."""
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
    """Where the excess reaches 0 between the two, by bisection."""
    for _ in range(_HALVED):
        middle = (within + outside) / 2
        within, outside = (middle, outside) if excess(middle) > 0 else (within, middle)
    return outside
