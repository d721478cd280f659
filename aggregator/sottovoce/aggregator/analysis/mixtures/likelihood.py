"""Maximize the likelihood of a mixture with known channels over its whole region, edges included.

Region      Class weights w >= 0 that sum to 1. A share fixes one segment of it, on which the log likelihood is concave:
            P = A + x D, 0 <= x <= 1. Newton within a shrinking bracket finds the best x, also at an end.
Maximum     The profile over the first share is concave, too, and its derivative (envelope theorem) changes sign once.
            A maximum beyond an edge is thus found on the edge, where a search on the logit scale would run off.
Errors      Inside, the curvature of the profile: f_ss - f_sx^2 / f_xx, the information about s when x is unknown.
            At an edge there is none.
Limits      By profile likelihood on [0, 1], which end at an edge if the likelihood never falls far enough.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.mixtures.designs import MixtureShare
from sottovoce.aggregator.analysis.regression.likelihood_ratio import false_position
from sottovoce.aggregator.analysis.regression.newton import Array

EDGE = 1e-9
"""A share that is closer to 0 or 1 lies at the edge."""
_STEPS = 100
_SETTLED = 1e-13


@dataclass(frozen=True)
class MixturePoint:
    """A point on the segment of a share: place on it, log likelihood, and derivatives to s, and of the profile."""

    x: float
    log_likelihood: float
    slope: float
    curvature: float


@dataclass(frozen=True)
class MixtureLikelihood:
    """Counts of all reports of all groups, (m,), and P(report | class, group), (classes, m)."""

    counts: Array
    chances: Array

    def log_likelihood(self, chances: Array) -> float:
        """Return the log likelihood of chances of reports, (m,); minus infinity where one is impossible."""
        with np.errstate(divide="ignore"):
            return float(self.counts @ np.where(self.counts > 0, np.log(chances), 0.0))

    def _slope(self, direction: Array, chances: Array) -> float:
        with np.errstate(all="ignore"):
            parts = np.where((self.counts > 0) & (direction != 0), self.counts * direction / chances, 0.0)
        return float(parts.sum())

    def profile(self, share: MixtureShare, s: float) -> MixturePoint:
        """Return the best point where the share is ``s``."""
        zero, one = self.chances[list(share.zero)], self.chances[list(share.one)]
        start, end = (1 - s) * zero + s * one
        x = self._best(start, end - start)
        chances = start + x * (end - start)
        to_one = (one - zero)[0] * (1 - x) + (one - zero)[1] * x
        turn = (one - zero)[1] - (one - zero)[0]
        with np.errstate(all="ignore"):
            scale = np.where(self.counts > 0, self.counts / chances, 0.0)
            squares = np.where(self.counts > 0, scale / chances, 0.0)
            across = end - start
            inner = float(squares @ across**2)
            mixed = float(scale @ turn - squares @ (to_one * across))
            curvature = float(squares @ to_one**2) - (mixed**2 / inner if inner > 0 else 0.0)
        return MixturePoint(x, self.log_likelihood(chances), self._slope(to_one, chances), curvature)

    def _best(self, start: Array, across: Array) -> float:
        """Return the x in [0, 1] of the largest log likelihood of ``start + x across``."""

        def derivatives(x: float) -> tuple[float, float]:
            chances = start + x * across
            with np.errstate(all="ignore"):
                squares = np.where(self.counts > 0, self.counts * (across / chances) ** 2, 0.0)
            return self._slope(across, chances), float(squares.sum())

        return _climb(derivatives) if across.any() else 0.0

    def maximum(self, share: MixtureShare) -> tuple[float, MixturePoint]:
        """Return the value of a share at the maximum, and the point there."""

        def derivatives(s: float) -> tuple[float, float]:
            point = self.profile(share, s)
            return point.slope, point.curvature

        at = _climb(derivatives)
        return at, self.profile(share, at)

    def limits(self, share: MixtureShare, at: float, best: float, z: float) -> tuple[float, float]:
        """Return the profile likelihood limits of a share that is ``at`` where the log likelihood is ``best``."""

        def excess(s: float) -> float:
            # A report that is impossible at an edge would give infinity, which no interpolation survives.
            fallen = min(2 * (best - self.profile(share, s).log_likelihood), 1e6)
            return math.sqrt(max(fallen, 0.0)) - z

        low, high = (
            end if abs(end - at) < EDGE or excess(end) <= 0 else false_position(excess, (at, -z), (end, excess(end)))
            for end in (0.0, 1.0)
        )
        return low, high


def _climb(derivatives: Callable[[float], tuple[float, float]]) -> float:
    """Return where in [0, 1] a concave function is largest, from its slope and its positive curvature."""
    low, high = 0.0, 1.0
    if derivatives(low)[0] <= 0:
        return low
    if derivatives(high)[0] >= 0:
        return high
    x = 0.5
    for _ in range(_STEPS):
        slope, curvature = derivatives(x)
        low, high = (x, high) if slope > 0 else (low, x)
        moved = x + slope / curvature if curvature > 0 else low
        # A step beyond the bracket comes from a curve that is far from a parabola.
        moved = moved if low < moved < high else (low + high) / 2
        if abs(moved - x) <= _SETTLED:
            break
        x = moved
    return x


def share_of(share: MixtureShare, weights: Array) -> float | None:
    """Return a share at class weights, (classes,); None where it divides by no people."""
    one, zero = ({*share.one} - {*share.zero}), ({*share.zero} - {*share.one})
    part, rest = float(weights[list(one)].sum()), float(weights[list(zero)].sum())
    return part / (part + rest) if abs(part + rest) > EDGE else None
