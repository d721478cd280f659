"""Maximize the likelihood of a mixture with known channels over its whole region, edges included.

Region      Class weights w >= 0 that sum to 1. A share fixes one segment of it, on which the log likelihood is concave:
            P = A + x D, 0 <= x <= 1. Newton within a shrinking bracket finds the best x, also at an end.
Maximum     The profile over the first share is concave, too, and its derivative (envelope theorem) changes sign once.
            A maximum beyond an edge is thus found on the edge, where a search on the logit scale would run off. Over t
            it is flat where no one is a carrier, and is not searched.
Errors      Inside, the curvature of the profile: f_ss - f_sx^2 / f_xx, the information about s when x is unknown.
            At an edge there is none.
Limits      By profile likelihood on [0, 1], which end at an edge if the likelihood never falls far enough.
Few         With few people expected to give some report, the fall is no chi-square: of 100 people, 2 of whom say yes,
            limits at 1.92 hold .86. There the limit is where a fall as large as the one seen has the chance 1 - .95, at
            the best point with that share, by all counts of the groups (of many people every k-th count). With 30 to
            300 people in each of two groups such limits hold .939 and more, beside edges, too. Of three groups, where
            every k-th count would be too far from the next (a chance of .064 for .05), tables are drawn; by all tables
            limits of 150 people each hold .950 of pi, .02, and .951 of beta, .05.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.mixtures.designs import MixtureShare
from sottovoce.aggregator.analysis.regression.likelihood_ratio import false_position
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.estimators.intervals import halved

EDGE = 1e-9
"""A share that is closer to 0 or 1 lies at the edge."""
_HALVINGS = 12
_SETTLED, _SAME = 1e-10, 1e-6
_FARTHER, _TABLES, _POINTS, _DRAWS = 1.25, 3_000, 5, 800
"""How many errors beyond usual limits no share is inside; about how many tables of counts make a law; from how many
points between, and how often at each, tables are drawn."""


@dataclass(frozen=True)
class MixturePoint:
    """Points on the segments of a share, each (tables,): place, log likelihood, derivatives to s, of the profile.

    ``chances`` are those of all reports, (tables, m).
    """

    x: Array
    chances: Array
    log_likelihood: Array
    slope: Array
    curvature: Array


@dataclass(frozen=True)
class MixtureLikelihood:
    """Counts of all reports of all groups, (tables, m), and P(report | class, group), (classes, m)."""

    counts: Array
    chances: Array

    @np.errstate(all="ignore")
    def log_likelihood(self, chances: Array) -> Array:
        """Return the log likelihoods, (tables,), of chances, (tables or 1, m); minus infinity of what is impossible."""
        return np.asarray(np.where(self.counts > 0, self.counts * np.log(chances), 0.0).sum(axis=1))

    def _along(self, direction: Array, chances: Array) -> tuple[Array, Array]:
        """Return slopes and positive curvatures, (tables,) each."""
        parts = np.where((self.counts > 0) & (direction != 0), direction / chances, 0.0)
        return (self.counts * parts).sum(axis=1), (self.counts * parts**2).sum(axis=1)

    @np.errstate(all="ignore")
    def profile(self, share: MixtureShare, s: Array) -> MixturePoint:
        """Return the best points where the share is ``s``, (tables or 1,)."""
        zero, one = self.chances[list(share.zero)], self.chances[list(share.one)]
        to_zero, to_one = one - zero
        start = np.broadcast_to(zero[0] + np.outer(s, to_zero), self.counts.shape)
        across = zero[1] + np.outer(s, to_one) - start

        def derivatives(x: Array, some: NDArray[np.intp]) -> tuple[Array, Array]:
            turn = across[some]
            return replace(self, counts=self.counts[some])._along(turn, start[some] + x[:, None] * turn)

        x, turn = _climb(derivatives, len(self.counts)), to_one - to_zero
        chances, to_one = start + x[:, None] * across, to_zero + np.outer(x, turn)
        (slope, outer), (_, inner) = (self._along(each, chances) for each in (to_one, across))
        scale = np.where(self.counts > 0, self.counts / chances, 0.0)
        mixed = (scale * (turn - to_one * across / chances)).sum(axis=1)
        curvature = outer - np.where(inner > 0, mixed**2 / inner, 0.0)
        return MixturePoint(x, chances, self.log_likelihood(chances), slope, curvature)

    def maximum(self, share: MixtureShare) -> tuple[Array, MixturePoint]:
        """Return the values of the design's first share at the maxima, (tables,), and the points there."""

        def derivatives(s: Array, some: NDArray[np.intp]) -> tuple[Array, Array]:
            point = replace(self, counts=self.counts[some]).profile(share, s)
            return point.slope, point.curvature

        at = _climb(derivatives, len(self.counts))
        return at, self.profile(share, at)

    def with_tables(self, sizes: Array, yes: Array) -> "MixtureLikelihood":
        """Return these counts, and after them those of so many yes, (tables, groups), of groups of so many people."""
        counts = np.concatenate([self.counts, np.stack([sizes - yes, yes], axis=2).reshape(len(yes), -1)])
        return replace(self, counts=counts)

    def limits(self, share: MixtureShare, at: float, best: float, z: float) -> tuple[float, float]:
        """Return the profile likelihood limits of a share of one table, ``at`` where the log likelihood is ``best``."""

        def excess(s: float) -> float:
            # A report that is impossible at an edge would give infinity, which no interpolation survives.
            fallen = min(2 * (best - float(self.profile(share, np.array([s])).log_likelihood[0])), 1e6)
            return math.sqrt(max(fallen, 0.0)) - z

        low, high = (
            end if abs(end - at) < EDGE or excess(end) <= 0 else false_position(excess, (at, -z), (end, excess(end)))
            for end in (0.0, 1.0)
        )
        return low, high


@dataclass(frozen=True)
class LawOfFew:
    """The law of the likelihood ratio of groups of which few people are expected to say yes, or no.

    Attributes:
        tables: the observed counts, and then those that are likely where they are.
        often: (tables,), logarithms of the number of ways to get each, less a constant; minus infinity of the observed.
        best: (tables,), the largest log likelihoods.
    """

    observed: MixtureLikelihood
    tables: MixtureLikelihood
    often: Array
    best: Array

    @classmethod
    def near(
        cls, observed: MixtureLikelihood, fitted: Array, sizes: Array, first: MixtureShare, z: float
    ) -> "LawOfFew":
        """Return the law near the fitted shares of yes, (groups,), of groups of so many people."""
        far, axes, ways = z + _FARTHER, [], []
        for n, yes in zip(sizes.tolist(), (sizes * fitted).tolist(), strict=True):
            half = far * math.sqrt(yes * (1 - yes / n) + far**2 / 4)
            ends = yes + far**2 / 2 - half, yes + far**2 / 2 + half
            low, high = (end + side * far * math.sqrt(max(end, 1)) for end, side in zip(ends, (-1, 1), strict=True))
            low, high = math.floor(max(low, 0)), math.ceil(min(high, n))
            axes.append(range(low, high + 1, math.ceil((high - low + 1) / _TABLES ** (1 / len(sizes)))))
            ways.append([-math.lgamma(n - some + 1) - math.lgamma(some + 1) for some in axes[-1]])
        yes, often = (np.array([*itertools.product(*each)], dtype=float) for each in (axes, ways))
        tables = observed.with_tables(sizes, yes)
        return cls(observed, tables, np.append(-math.inf, often.sum(axis=1)), tables.maximum(first)[1].log_likelihood)

    @classmethod
    def drawn(
        cls, observed: MixtureLikelihood, sizes: Array, first: MixtureShare,
        share: MixtureShare, at: float, best: float, z: float,
    ) -> "LawOfFew":  # fmt: skip
        """Return the law between and beside the limits of a share, of tables that are likely at points there."""
        held = np.linspace(*observed.limits(share, at, best, z + _FARTHER), _POINTS)
        chances = replace(observed, counts=np.repeat(observed.counts, _POINTS, axis=0)).profile(share, held).chances
        yes = np.random.default_rng(0).binomial(sizes.astype(int), np.repeat(chances[:, 1::2], _DRAWS, axis=0))
        yes, drawn = np.unique(yes, axis=0, return_counts=True)
        tables = observed.with_tables(sizes, yes.astype(float))
        # A table counts the less the more of its kind are drawn; the number of ways to get it is in both.
        often = np.append(-math.inf, np.log(drawn))
        often -= np.logaddexp.reduce([tables.log_likelihood(each[None]) for each in chances])
        return cls(observed, tables, often, tables.maximum(first)[1].log_likelihood)

    def limits(self, share: MixtureShare, at: float, best: float, z: float) -> tuple[float, float]:
        """Return the limits of a share that is ``at`` where the log likelihood of what was observed is ``best``."""

        def inside(s: float) -> bool:
            points = self.tables.profile(share, np.array([s]))
            logs = self.often + self.tables.log_likelihood(points.chances[:1])
            likely, fallen = np.exp(logs - logs.max()), self.best - points.log_likelihood
            return float(likely @ (fallen >= fallen[0] - _SAME)) > math.erfc(z / math.sqrt(2)) * float(likely.sum())

        low, high = (
            end if abs(end - at) < EDGE or inside(end) else halved(inside, at, end, _HALVINGS)[1]
            for end in self.observed.limits(share, at, best, z + _FARTHER)
        )
        return low, high


@np.errstate(all="ignore")
def _climb(derivatives: Callable[[Array, NDArray[np.intp]], tuple[Array, Array]], count: int) -> Array:
    """Return where in [0, 1] concave functions are largest, from slopes and positive curvatures of some of them."""
    low, high, some = np.zeros(count), np.ones(count), np.arange(count)
    # A segment may end in a point, from which it falls in one direction and rises in another: ask beside it.
    falls, rises = derivatives(low + EDGE, some)[0] <= 0, derivatives(high - EDGE, some)[0] >= 0
    x, step = np.where(falls, low, np.where(rises, high, 0.5)), np.ones(count)
    some = np.flatnonzero(~(falls | rises))
    # Brackets and steps are halved, so it ends.
    while len(some):
        before = x[some]
        slope, curvature = derivatives(before, some)
        low[some[slope > 0]], high[some[slope <= 0]] = before[slope > 0], before[slope <= 0]
        moved = before + slope / curvature
        # Other steps come from a curve that is far from a parabola, or has a corner, over which they jump for ever.
        good = (low[some] <= moved) & (moved <= high[some]) & (np.abs(moved - before) <= step[some] / 2)
        x[some] = np.where(good, moved, (low[some] + high[some]) / 2)
        step[some] = np.abs(x[some] - before)
        some = some[step[some] > _SETTLED]
    return x


def share_of(share: MixtureShare, weights: Array) -> float | None:
    """Return a share at class weights, (classes,); None where it divides by no people."""
    part, rest = (float(weights[some].sum()) for some in share.ends)
    return part / (part + rest) if abs(part + rest) > EDGE else None
