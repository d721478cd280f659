"""Means from stochastic rounding; the maths is in ``sottovoce.shared.mechanisms.rounding_rr``."""

from collections.abc import Mapping

from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, exactly, grid_of, in_units
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import NumberVariable, Variable, of_table
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR

ENDS = "was reported as one of its two ends, which say nothing of its spread"
"""Reason why such a number cannot be a predictor, as the end of a sentence."""


def estimate(
    mechanism: RoundingRR, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """Estimate the mean: min + (x/n - b) / (a - b) (max - min), x reports of the largest value (1; 0 is the least)."""
    return [estimate_mean("mean", tally, channel(mechanism, domain), rule)]


def channel(mechanism: RoundingRR, domain: Domain) -> ScoredChannel:
    """Return the channel between the two ends of the grid, in the number's own unit."""
    grid = grid_of(domain)
    return ScoredChannel.from_table(
        levels=(float(grid.low), float(grid.high)),
        scores=in_units(mechanism.scores, grid),
        table=(mechanism.bit.weights(0), mechanism.bit.weights(1)),
    )


def variables(mechanism: RoundingRR, domain: Domain) -> list[Variable]:
    """Return one number variable, for outcomes only."""
    return [number(mechanism, domain)]


def number(mechanism: RoundingRR, domain: Domain) -> NumberVariable:
    """Return a variable whose reports identify the mean, not the variance: the likelihood is linear in the number."""
    grid = grid_of(domain)
    return NumberVariable(
        levels=(float(grid.low), float(grid.high)),
        only_outcome=ENDS,
        marks=exactly(mechanism.scores, grid),
        chances=of_table((mechanism.bit.weights(0), mechanism.bit.weights(1))),
    )
