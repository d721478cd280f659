"""Variables of numbers, by mechanism, but for the square wave; the maths is in ``sottovoce.shared.mechanisms``."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from sottovoce.aggregator.estimators.means import exactly, grid_of, in_units, moments_of
from sottovoce.aggregator.estimators.square_wave import unbiased_scores
from sottovoce.aggregator.estimators.variable import Floats, NumberVariable, Reported, of_table
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.level_table import LevelTable
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate

ENDS = "was reported as one of its two ends, which say nothing of its spread"
"""Reason why such a number cannot be a predictor, as the end of a sentence."""

_UNBIASED = 1e-9  # of the largest square: rounding errors only


def rounding_rr(mechanism: RoundingRR, domain: Domain) -> list[NumberVariable]:
    """Return a variable whose reports identify the mean, not the variance: the likelihood is linear in the number."""
    grid = grid_of(domain)
    levels = float(grid.low), float(grid.high)
    table, marks = (mechanism.bit.weights(0), mechanism.bit.weights(1)), exactly(mechanism.scores, grid)
    moments = moments_of(levels, marks, table)
    return [NumberVariable(levels=levels, only_outcome=ENDS, marks=marks, moments=moments, chances=of_table(table))]


def sampled_coordinate(mechanism: SampledCoordinate, domain: Domain) -> list[NumberVariable]:
    """Return one variable for each coordinate, observed in the reports that drew it: ``2 * coordinate + end``."""
    [number] = rounding_rr(mechanism.number, domain)
    return [_coordinate(number, index, name) for index, name in enumerate(domain.options)]


def _coordinate(number: NumberVariable, index: int, name: str) -> NumberVariable:
    return replace(
        number,
        name=name,
        drawn=True,
        observed=lambda reported: reported // 2 == index,
        output=lambda reported: reported % 2,
    )


def level_table(mechanism: LevelTable, domain: Domain) -> list[NumberVariable]:
    """Return a variable whose squares are those of levels, since the device rounds to a level at random."""
    grid = grid_of(domain)
    levels, marks = in_units(mechanism.levels, grid), exactly(mechanism.scores, grid)
    rows = np.array(mechanism.rows, dtype=float)
    rows /= rows.sum(axis=1, keepdims=True)
    return [
        NumberVariable(
            levels=levels,
            marks=marks,
            moments=moments_of(levels, marks, mechanism.rows),
            squares=_squares(rows, np.array(levels)),
            coarse="its variance is up to 1/16 of the squared half range too large, since it was rounded to levels",
            chances=of_table(rows),
        )
    ]


def _squares(channel: Floats, levels: Floats) -> Callable[[Reported], Floats] | None:
    """Return unbiased scores of the squared levels, or None if the table does not identify them."""
    try:
        scores = unbiased_scores(channel, levels**2)
    except np.linalg.LinAlgError:
        return None
    biased = np.abs(channel @ scores - levels**2).max() > _UNBIASED * (levels**2).max()
    return None if biased else lambda outputs: scores[outputs]


def geometric(mechanism: Geometric, domain: Domain) -> list[NumberVariable]:
    """Return one variable, with unbiased scores of the number and of its square.

    Maths: a score is the mean of the unclamped value X = v + K given the report, so
    Var(z | v) = Var(K) - P(0 | v) Var(X | X <= 0) - P(m | v) Var(X | X >= m)
               = (2 - P(0 | v) - P(m | v)) r / (1 - r)^2, a tail of K being geometric again.
    z2(0) = -r/(1-r), z2(y) = y^2 - 2 r/(1-r)^2, z2(m) = m^2 + 2 m r/(1-r) - r/(1-r): E[z2 | v] = v^2 exactly.
    """
    grid, r, m = grid_of(domain), float(mechanism.ratio), mechanism.steps
    levels, marks = in_units(range(m + 1), grid), exactly(mechanism.scores, grid)
    tail = r / (1 - r) ** 2 * float(grid.step) ** 2
    at_ends = ((r**v + r ** (m - v)) / (1 + r) for v in range(m + 1))

    def squares(outputs: Reported) -> Floats:
        pairs = zip(mechanism.scores, squares_of_steps(mechanism), strict=True)
        scores = (grid.low**2 + 2 * grid.low * grid.step * z + grid.step**2 * square for z, square in pairs)
        return np.array([float(score) for score in scores])[outputs]

    def chances(outputs: Reported) -> Floats:
        distance = np.abs(outputs.astype(np.int64)[:, None] - np.arange(m + 1))
        found: Floats = r**distance * np.where((outputs == 0) | (outputs == m), 1, 1 - r)[:, None]
        return found

    return [
        NumberVariable(
            levels=levels,
            marks=marks,
            moments=tuple(level**2 + (2 - ends) * tail for level, ends in zip(levels, at_ends, strict=True)),
            squares=squares,
            chances=chances,
        )
    ]


def squares_of_steps(mechanism: Geometric) -> tuple[Fraction, ...]:
    """Return exact scores of the squared number of steps, by output."""
    r, m = mechanism.ratio, mechanism.steps
    tail, noise = r / (1 - r), 2 * r / (1 - r) ** 2
    return (-tail, *(y * y - noise for y in range(1, m)), m * m + 2 * m * tail - tail)
