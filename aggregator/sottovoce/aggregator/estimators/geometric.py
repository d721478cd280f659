"""Means from clamped geometric noise; the maths is in ``sottovoce.shared.mechanisms.geometric``."""

from collections.abc import Mapping

from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean
from sottovoce.aggregator.estimators.numbers import grid_of, in_units
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.geometric import Geometric


def estimate(
    mechanism: Geometric, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """
    The mean.

    Args:
        mechanism: the channel on steps 0 .. m.
        tally: number of reports by step; missing means none.
        domain: the question's grid.
        rule: how the intervals are made.

    Returns:
        One estimate, "mean", in the number's own unit.

    Raises:
        EstimateError: impossible counts.

    Maths: mean of the scores z(y) = y inside, -r/(1-r) and m + r/(1-r) at the ends; E[z | v] = v.
    """
    return [estimate_mean("mean", tally, channel(mechanism, domain), rule)]


def channel(mechanism: Geometric, domain: Domain) -> ScoredChannel:
    """
    The steps with their scores and second moments, in the number's own unit.

    Maths: a score is the mean of the unclamped value X = v + K given the report, so
    Var(z | v) = Var(K) - P(0 | v) Var(X | X <= 0) - P(m | v) Var(X | X >= m)
               = (2 - P(0 | v) - P(m | v)) r / (1 - r)^2, a tail of K being geometric again.
    """
    grid = grid_of(domain)
    r, m = float(mechanism.ratio), mechanism.steps
    levels = in_units(range(m + 1), grid)
    tail = r / (1 - r) ** 2 * float(grid.step) ** 2
    at_ends = ((r**v + r ** (m - v)) / (1 + r) for v in range(m + 1))
    moments = tuple(level**2 + (2 - ends) * tail for level, ends in zip(levels, at_ends, strict=True))
    return ScoredChannel(levels, in_units(mechanism.scores, grid), moments)
