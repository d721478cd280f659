"""Distances from a cone, and the law of a likelihood ratio beside edges.

Distance    Of x, with covariance C, from t >= 0: the least (x - t)' C^-1 (x - t), which is the largest -2 m'x - m'C m
            over m >= 0; call it Q(x, C). C may be singular. It is x' C^-1 x of some numbers whose m = -C^-1 x are all
            above 0, the largest of these; a search coordinate by coordinate hardly moves where C is nearly singular.
Ratio       Near the truth the estimate y of a parameter inside and those x of numbers that cannot be below 0 are
            normal; scaled to variance 1, with correlations r and R. Twice the fall of the profile log likelihood at
            the truth is the distance from where y = 0 and x >= 0 less the one from x >= 0:
                y^2 + Q(x - r y, R - r r') - Q(x, R).
            Without correlation it is chi-square with one degree of freedom. The more y depends on numbers at 0, the
            larger it is: of k independent ones, up to chi-square with Bin(k + 1, 1/2) degrees of freedom.
Source      Kudo 1963; Self and Liang 1987; Andrews and Soares 2010 (numbers above sqrt(ln n) errors are far from 0).
"""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DIRECTIONS, LENGTHS = 4_000, 5
"""Draws. The quantile is relative to the one of y^2 of the same draws, so the error of z is about .01."""
MOST = 6
"""Numbers whose subsets are all tried; of more, a quantile takes those that are nearest to 0, in errors."""
_MANY_SWEEPS, _NOTHING = 500, 1e-9


def multipliers(points: Array, covariance: Array) -> Array:
    """Return for each point, (n, k), the m >= 0 with the largest -2 m'x - m'C m, coordinate by coordinate."""
    pull = np.zeros_like(points)
    for _ in range(_MANY_SWEEPS):
        before = pull.copy()
        for place, row in enumerate(covariance):
            if row[place] > _NOTHING:
                pull[:, place] = np.maximum(0, pull[:, place] - (points[:, place] + pull @ row) / row[place])
        if np.abs(pull - before).max() < 1e-7:
            break
    return pull


def distances(points: Array, covariance: Array) -> Array:
    """Return Q of each point, (n,)."""
    if len(covariance) > MOST:
        pull = multipliers(points, covariance)
        return np.asarray(-2 * (pull * points).sum(axis=1) - (pull @ covariance * pull).sum(axis=1))
    found = np.zeros(len(points))
    for size in range(1, len(covariance) + 1):
        for some in map(list, combinations(range(len(covariance)), size)):
            inner, x = covariance[np.ix_(some, some)], points[:, some]
            if np.linalg.eigvalsh(inner)[0] > _NOTHING:
                pull = -x @ np.linalg.inv(inner)
                np.maximum(found, -(pull * x).sum(axis=1), out=found, where=(pull >= 0).all(axis=1))
    return found


def quantile_beside_edges(
    slopes: Array, covariance: Array, shares: Array, people: float, z: float, own: NDArray[np.bool_]
) -> float:
    """Return the z of likelihood limits of a parameter, where the truth of some shares may be 0.

    Args:
        slopes: (1 + k, d), derivatives of the parameter and of the shares.
        covariance: (d, d), of what they are derived by.
        shares: (k,), the estimates.
        own: (k,), True for shares whose edge is the parameter's own, which it may be far from, too.
    """
    joint = slopes @ covariance @ slopes.T
    errors = np.sqrt(np.diag(joint))
    correlation = joint / np.outer(errors, errors)
    far = shares / errors[1:]
    near = far < math.sqrt(math.log(max(people, math.e)))
    near[far.argsort(kind="stable")[MOST:]] = False
    others = near & ~own & (correlation[0, 1:] ** 2 < 1 - _NOTHING)
    sets = (np.flatnonzero(np.append(True, used)) for used in (near, others) if used.any())
    return max([z, *(_quantile(correlation[np.ix_(each, each)], z) for each in sets)])


def _quantile(correlation: Array, z: float) -> float:
    values, vectors = np.linalg.eigh(correlation)
    dice = np.random.default_rng(0)
    drawn = dice.standard_normal((DIRECTIONS, len(values)))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    # The symmetric root: where values are equal, rounding chooses the vectors, and so would choose another sample.
    drawn = np.concatenate([drawn, -drawn]) @ (vectors * np.sqrt(values * (values > _NOTHING)) @ vectors.T)
    y, x, r, rest = drawn[:, 0], drawn[:, 1:], correlation[0, 1:], correlation[1:, 1:]
    # With both ends of a share near it nothing falls, but for rounding below 0.
    fallen = y**2
    for points, spread, sign in ((x - np.outer(y, r), rest - np.outer(r, r), 1), (x, rest, -1)):
        fallen = fallen + sign * distances(points, spread)
    # Distances grow with the square of the length, which is independent of the direction.
    squares, level = dice.chisquare(len(values), (LENGTHS, len(drawn))), math.erf(z / math.sqrt(2))
    return z * math.sqrt(np.quantile(squares * np.maximum(fallen, 0), level) / np.quantile(squares * y**2, level))
