"""Shares and means of public answers: a channel without noise, a = 1 and b = 0.

A number of many values, such as an income in euros, is never listed: only the values that occur are computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, exactly, in_units
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, NumberVariable, Reported, Truths, Variable
from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.errors import EstimateError

LISTED = 10_001
"""Most values of a number whose scores are listed."""


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
        return [_mean_of_many(tally, domain.size, domain.grid, rule)]
    values = in_units(range(domain.size), domain.grid)
    # Two levels are enough: for given mean, the variance is largest if all numbers are at the two ends.
    ends = (values[0], values[-1])
    return [estimate_mean("mean", tally, ScoredChannel(ends, values, (ends[0] ** 2, ends[1] ** 2)), rule)]


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
