"""Means from a level table; the maths is in ``sottovoce.shared.mechanisms.level_table``."""

from collections.abc import Mapping

from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean
from sottovoce.aggregator.estimators.numbers import grid_of, in_units
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.level_table import LevelTable


def estimate(
    mechanism: LevelTable, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """
    The mean.

    Args:
        mechanism: the table.
        tally: number of reports by output; missing means none.
        domain: the question's grid.
        rule: how the intervals are made.

    Returns:
        One estimate, "mean", in the number's own unit.

    Raises:
        EstimateError: impossible counts.

    Maths: mean of the scores z(y); E[z | v] = v.
    """
    grid = grid_of(domain)
    levels, scores = in_units(mechanism.levels, grid), in_units(mechanism.scores, grid)
    channel = ScoredChannel.from_table(levels, scores, mechanism.rows)
    return [estimate_mean("mean", tally, channel, rule)]
