"""Means from clamped geometric noise; the maths is in ``sottovoce.shared.mechanisms.geometric``."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean, exactly, grid_of, in_units
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import Floats, NumberVariable, Reported, Variable
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.geometric import Geometric


def estimate(
    mechanism: Geometric, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """Estimate the mean: the mean of the scores z(y) = y inside, -r/(1-r) and m + r/(1-r) at the ends; E[z | v] = v."""
    return [estimate_mean("mean", tally, channel(mechanism, domain), rule)]


def channel(mechanism: Geometric, domain: Domain) -> ScoredChannel:
    """Return the channel's levels, scores and second moments, in the number's own unit.

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


def variables(mechanism: Geometric, domain: Domain) -> list[Variable]:
    """Return one number variable, with unbiased scores of the number and of its square.

    Maths: z2(0) = -r/(1-r), z2(y) = y^2 - 2 r/(1-r)^2, z2(m) = m^2 + 2 m r/(1-r) - r/(1-r): E[z2 | v] = v^2 exactly.
    """
    grid = grid_of(domain)
    pairs = zip(mechanism.scores, squares_of_steps(mechanism), strict=True)
    squares = (grid.low**2 + 2 * grid.low * grid.step * z + grid.step**2 * square for z, square in pairs)
    return [
        NumberVariable(
            levels=in_units(range(mechanism.steps + 1), grid),
            marks=exactly(mechanism.scores, grid),
            squares=tuple(map(float, squares)),
            chances=lambda outputs: _chances(mechanism, outputs),
        )
    ]


def squares_of_steps(mechanism: Geometric) -> tuple[Fraction, ...]:
    """Return exact scores of the squared number of steps, by output."""
    r, m = mechanism.ratio, mechanism.steps
    tail = r / (1 - r)
    inside = (y * y - 2 * r / (1 - r) ** 2 for y in range(1, m))
    return (-tail, *inside, m * m + 2 * m * tail - tail)


def _chances(mechanism: Geometric, outputs: Reported) -> Floats:
    r, m = float(mechanism.ratio), mechanism.steps
    distance = np.abs(outputs.astype(np.int64)[:, None] - np.arange(m + 1))
    chances: Floats = r**distance * np.where((outputs == 0) | (outputs == m), 1, 1 - r)[:, None]
    return chances
