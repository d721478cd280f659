"""Shares and means of public answers: a channel without noise, a = 1 and b = 0.

A number of many values, such as an income in euros, is never listed: only the values that occur are computed.

Interval    Of a mean: Student's t, since the reports show their own spread s; for at least ``FEWEST`` people, and more
            than 25 times the squared skewness of their answers (Cochran). Else as in ``means``, wide enough for every
            population, since so few people may not show the answers that decide the mean.
Waves       Of n reports of the same people in W waves the mean has at most the variance s^2 W / n (Cauchy and Schwarz).
Coverage    .93 and more in 12 populations, n = 30 .. 2,000 (t alone: .80 for a skewed one); but .81 where one answer in
            a hundred is 20 s away, which few samples have. No limits from the answers alone can know of it.
Source      Cochran 1977, 2.15.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from sottovoce.aggregator.estimators.intervals import t_quantile
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, exactly, in_units
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, NumberVariable, Reported, Truths, Variable
from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.errors import EstimateError

LISTED = 10_001
"""Most values of a number whose scores are listed."""

OF_MEANS = "t"
"""Method of the limits of a mean by the spread of its reports."""

FEWEST = 30
_TIMES_SKEWNESS = 25


@dataclass(frozen=True)
class EvenScores(ScoredChannel):
    """Channel whose reports are the numbers themselves, ``step`` apart, of which only those that occur are listed."""

    step: float = 0.0

    @cached_property
    def gap(self) -> float:
        """Widest gap between neighbouring scores."""
        return self.step


@dataclass(frozen=True, kw_only=True)
class EvenNumber(NumberVariable):
    """Public number of many values, on ``grid``; its levels are the two ends."""

    grid: Grid

    def scores(self, reported: Reported) -> Floats:
        """Return the numbers, shape (u,)."""
        different, places = np.unique(reported, return_inverse=True)
        return np.array(in_units(different.tolist(), self.grid))[places]


def estimate(tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE) -> Sequence[Estimate]:
    """Estimate the share of each option, or the mean of a number; ``tally`` is by true value."""
    if domain.grid is None:
        counts = counts_of(tally, domain.size)
        return estimate_shares(domain.options, counts, counts.sum(), Fraction(1), Fraction(0), rule)
    if domain.size > LISTED:
        return [_by_spread(_mean_of_many(tally, domain.size, domain.grid, rule), tally, domain.grid, rule)]
    values = in_units(range(domain.size), domain.grid)
    # Two levels are enough: for given mean, the variance is largest if all numbers are at the two ends.
    ends = (values[0], values[-1])
    found = estimate_mean("mean", tally, ScoredChannel(ends, values, (ends[0] ** 2, ends[1] ** 2)), rule)
    return [_by_spread(found, tally, domain.grid, rule)]


def _by_spread(found: Estimate, tally: Mapping[int, int], grid: Grid, rule: IntervalRule) -> Estimate:
    """Return the mean with limits by Student's t, or as it is where its reports are few or skewed."""
    people = found.n // rule.waves
    values, counts = np.array(in_units(tally, grid)), np.array([*tally.values()], dtype=float)
    off = values - (found.raw or 0.0)
    squares, cubes = counts @ off**2, counts @ off**3
    # The squared skewness is cubes^2 n / squares^3.
    if people < FEWEST or people * squares**3 <= _TIMES_SKEWNESS * cubes**2 * found.n:
        return found
    error = math.sqrt(squares / (found.n - 1) / people)
    half, centre = t_quantile(rule.confidence, people - 1) * error, found.clipped or 0.0
    low, high = max(centre - half, found.lowest), min(centre + half, found.highest)
    found = replace(found, method=OF_MEANS, std_error=error, low=low, high=high)
    return replace(found, simultaneous_low=low, simultaneous_high=high)


def _mean_of_many(tally: Mapping[int, int], size: int, grid: Grid, rule: IntervalRule) -> Estimate:
    places = sorted({0, size - 1, *tally})
    if places[0] or places[-1] >= size:
        raise EstimateError("the counts are impossible")
    values, squares = in_units(places, grid), exactly((0, size - 1), grid)
    ends, place = (values[0], values[-1]), {value: index for index, value in enumerate(places)}
    channel = EvenScores(ends, values, (float(squares[0] ** 2), float(squares[1] ** 2)), float(grid.step))
    return estimate_mean("mean", {place[value]: count for value, count in tally.items()}, channel, rule)


def variables(domain: Domain) -> list[Variable]:
    """Return one variable, the public answer itself."""
    size = domain.size
    if domain.grid is None:
        support = Fraction(1), Fraction(0)
        return [
            ChoiceVariable(
                categories=domain.options, public=True, support=support, odds=None, supports=lambda y: _equal(y, size)
            )
        ]
    grid = domain.grid

    def squares(reported: Reported) -> Floats:
        different, places = np.unique(reported, return_inverse=True)
        return np.array([float(value**2) for value in exactly(different.tolist(), grid)])[places]

    if size > LISTED:
        low, high = exactly((0, size - 1), grid)
        return [
            EvenNumber(levels=(float(low), float(high)), public=True, marks=(low, high), squares=squares,
                       chances=lambda y: np.stack([size - 1.0 - y, y + 0.0], axis=1), grid=grid)
        ]  # fmt: skip
    values = exactly(range(size), grid)
    return [
        NumberVariable(
            levels=tuple(map(float, values)),
            public=True,
            marks=values,
            squares=squares,
            chances=lambda y: _equal(y, size).astype(float),
        )
    ]


def _equal(reported: Reported, size: int) -> Truths:
    equal: Truths = reported[:, None] == np.arange(size)
    return equal
