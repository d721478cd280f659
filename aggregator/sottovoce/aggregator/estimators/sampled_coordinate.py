"""Means from a sampled coordinate; the maths is in ``sottovoce.shared.mechanisms.sampled_coordinate``."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sottovoce.aggregator.estimators import rounding_rr
from sottovoce.aggregator.estimators.means import estimate_mean
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import NumberVariable, Variable
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate


def estimate(
    mechanism: SampledCoordinate, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """Estimate the mean of each coordinate, named after it, as ``rounding_rr`` does from the n_c reports that drew it.

    Reported values are ``2 * coordinate + end``.
    """
    channel = rounding_rr.channel(mechanism.number, domain)
    # Worst case of poisoning: every fake report claims to have drawn the same coordinate.
    rule = rule.when_asked(Fraction(1, mechanism.coordinates))
    estimates = []
    for index, coordinate in enumerate(domain.options):
        ends = {end: tally.get(2 * index + end, 0) for end in (0, 1)}
        estimates.append(estimate_mean(coordinate, ends, channel, rule, means=mechanism.coordinates))
    return estimates


def variables(mechanism: SampledCoordinate, domain: Domain) -> list[Variable]:
    """Return one number variable for each coordinate, observed in the reports that drew it."""
    number = rounding_rr.number(mechanism.number, domain)
    return [_coordinate(number, index, name) for index, name in enumerate(domain.options)]


def _coordinate(number: NumberVariable, index: int, name: str) -> Variable:
    return replace(
        number,
        name=name,
        drawn=True,
        observed=lambda reported: reported // 2 == index,
        output=lambda reported: reported % 2,
    )
