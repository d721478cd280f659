"""Means from a level table; the maths is in ``sottovoce.shared.mechanisms.level_table``."""

from collections.abc import Mapping

import numpy as np
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, exactly, grid_of, in_units
from sottovoce.aggregator.estimators.square_wave import unbiased_scores
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import Floats, NumberVariable, Variable, of_table
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.level_table import LevelTable

_UNBIASED = 1e-9  # of the largest square: rounding errors only


def estimate(
    mechanism: LevelTable, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """Estimate the mean: the mean of the scores z(y); E[z | v] = v."""
    grid = grid_of(domain)
    levels, scores = in_units(mechanism.levels, grid), in_units(mechanism.scores, grid)
    channel = ScoredChannel.from_table(levels, scores, mechanism.rows)
    return [estimate_mean("mean", tally, channel, rule)]


def variables(mechanism: LevelTable, domain: Domain) -> list[Variable]:
    """Return one number variable; its squares are those of levels, since the device rounds to a level at random."""
    grid = grid_of(domain)
    levels = in_units(mechanism.levels, grid)
    rows = np.array(mechanism.rows, dtype=float)
    rows /= rows.sum(axis=1, keepdims=True)
    return [
        NumberVariable(
            levels=levels,
            marks=exactly(mechanism.scores, grid),
            squares=_squares(rows, np.array(levels)),
            coarse="its variance is up to 1/16 of the squared half range too large, since it was rounded to levels",
            chances=of_table(rows),
        )
    ]


def _squares(channel: Floats, levels: Floats) -> tuple[float, ...] | None:
    """Return unbiased scores of the squared levels, or None if the table does not identify them."""
    try:
        scores = unbiased_scores(channel, levels**2)
    except np.linalg.LinAlgError:
        return None
    biased = np.abs(channel @ scores - levels**2).max() > _UNBIASED * (levels**2).max()
    return None if biased else tuple(scores)
