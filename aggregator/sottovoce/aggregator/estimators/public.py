"""Shares and means of public answers: a channel without noise, a = 1 and b = 0."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean
from sottovoce.aggregator.estimators.numbers import exactly, in_units
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of, estimate_shares
from sottovoce.aggregator.estimators.variable import ChoiceVariable, NumberVariable, Reported, Truths, Variable
from sottovoce.shared.answers import Domain


def estimate(tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE) -> Sequence[Estimate]:
    """
    Estimate the share of each option, or the mean of a number.

    Args:
        tally: number of reports by true value; missing means none.
        domain: the question's true values.
        rule: how the intervals are made.

    Returns:
        One estimate for each option, or "mean".

    Raises:
        EstimateError: impossible counts.
    """
    if domain.grid is None:
        counts = counts_of(tally, domain.size)
        return estimate_shares(domain.options, counts, counts.sum(), Fraction(1), Fraction(0), rule)
    values = in_units(range(domain.size), domain.grid)
    # Two levels are enough: for given mean, the variance is largest if all numbers are at the two ends.
    ends = (values[0], values[-1])
    return [estimate_mean("mean", tally, ScoredChannel(ends, values, (ends[0] ** 2, ends[1] ** 2)), rule)]


def variables(domain: Domain) -> list[Variable]:
    """Return one variable, the public answer itself."""
    size = domain.size
    if domain.grid is None:
        support = Fraction(1), Fraction(0)
        categories = domain.options
        return [
            ChoiceVariable(
                categories=categories, public=True, support=support, odds=None, supports=lambda y: _equal(y, size)
            )
        ]
    values = exactly(range(size), domain.grid)
    return [
        NumberVariable(
            levels=tuple(map(float, values)),
            public=True,
            marks=values,
            squares=tuple(float(value**2) for value in values),
            chances=lambda y: _equal(y, size).astype(float),
        )
    ]


def _equal(reported: Reported, size: int) -> Truths:
    equal: Truths = reported[:, None] == np.arange(size)
    return equal
