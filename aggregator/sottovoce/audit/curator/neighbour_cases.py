"""Releases at a curator and neighbours that are as far apart as their domain allows, for enumeration of all branches.

Small data are enough where the noise does not look at the data: what counts is how far neighbours can be apart, and
those at the ends of each range are tried. Of clusters it is one iteration, from fixed starts: starts are drawn without
a look at the data, so that whatever a release promises, it promises from each start.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.aggregator.curator.clipping import Ball
from sottovoce.aggregator.curator.clusters import cluster as clusters
from sottovoce.aggregator.curator.count import column_counts, count, counts, histogram, weighted_count
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.noisy_max import quantiles, top_cell, top_mark
from sottovoce.aggregator.curator.release import Release, ReleaseTerms
from sottovoce.aggregator.curator.sum import noisy_mean, noisy_sum, vector
from sottovoce.aggregator.curator.unknown_names import names_histogram
from sottovoce.aggregator.curator.vector_box import VectorBox
from sottovoce.audit.curator.noise_branches import FLOOR
from sottovoce.shared.exact_noise import ExactNoise

EPSILON = Fraction(2)
_GRID = NumberGrid(Fraction(-1), Fraction(2), Fraction(1))
_THREE = NumberGrid(Fraction(0), Fraction(2), Fraction(1))

NeighbourPair = tuple[Any, Any]


@dataclass(frozen=True)
class NeighbourCase:
    """A release and two neighbours of each relation.

    Attributes:
        pairs: in the second data set one record of the first is replaced, or there is one record more.
        epsilon: that the release is asked for.
        delta: of Gaussian noise, or 0.
        floor: answers less likely than this are not compared.
        least: ways less likely than this are not followed.
    """

    name: str
    run: Callable[[Any, ReleaseTerms, ExactNoise], Release]
    pairs: Mapping[Neighbours, NeighbourPair]
    epsilon: Fraction = EPSILON
    delta: Fraction = Fraction(0)
    floor: float = FLOOR
    least: float = 1e-14

    def answer(self, relation: Neighbours) -> Callable[[Any, ExactNoise], str]:
        """Return the function that gives what is released under a relation, hashable."""
        terms = ReleaseTerms(self.epsilon, relation)
        return lambda data, draws: repr(self.run(data, terms, draws).values)


def _both(replaced: tuple[Any, Any], added: tuple[Any, Any]) -> Mapping[Neighbours, NeighbourPair]:
    """Turn lists of records into two pairs of arrays."""
    return {
        Neighbours.REPLACE: (np.array(replaced[0]), np.array(replaced[1])),
        Neighbours.ADD_REMOVE: (np.array(added[0]), np.array(added[1])),
    }


class _Started(ExactNoise):
    """Noise whose uniform numbers come from a list."""

    def __init__(self, starts: Sequence[int], noise: ExactNoise) -> None:
        self._starts = iter(starts)
        self._noise = noise

    def below(self, _bound: int) -> int:
        return next(self._starts)

    def discrete_laplace(self, n: int, d: int) -> int:
        return self._noise.discrete_laplace(n, d)


def _lloyd(lloyd: clusters.Lloyd, *starts: int) -> Callable[[Any, ReleaseTerms, ExactNoise], Release]:
    return lambda data, terms, draws: clusters.cluster(data, lloyd, terms, _Started(starts, draws))


ENUMERATED = (
    NeighbourCase("count", count, _both(([0, 1], [1, 1]), ([1], [1, 1]))),
    NeighbourCase("counts", counts, _both(([[1, 0]], [[0, 1]]), ([[0, 0]], [[0, 0], [1, 1]]))),
    NeighbourCase(
        "weighted_count",
        lambda data, terms, draws: weighted_count(data, 3, terms, draws),
        _both(([0], [9]), ([1], [1, 9])),
    ),
    NeighbourCase(
        "histogram", lambda data, terms, draws: histogram(data, 2, terms, draws), _both(([0, 0], [0, 1]), ([0], [0, 1]))
    ),
    NeighbourCase(
        "sum", lambda data, terms, draws: noisy_sum(data, _GRID, terms, draws), _both(([-9], [9]), ([1], [1, 9]))
    ),
    NeighbourCase(
        "mean", lambda data, terms, draws: noisy_mean(data, _GRID, terms, draws), _both(([0, 1], [3, 1]), ([1], [1, 3]))
    ),
    NeighbourCase(
        "vector (Laplace)",
        lambda data, terms, draws: vector(data, Ball(1, 1, 2), terms, draws),
        _both(([[9, 0]], [[0, -9]]), ([[0, 0]], [[0, 0], [9, 0]])),
    ),
    NeighbourCase(
        "vector of a mark and a number",
        lambda data, terms, draws: vector(data, VectorBox((0, -1), (1, 2)), terms, draws),
        _both(([[-9, -9]], [[9, 9]]), ([[0, 0]], [[0, 0], [9, 9]])),
        Fraction(4),
    ),
    NeighbourCase(
        "vector (Gaussian)",
        lambda data, terms, draws: vector(data, Ball(2, 1, 1), terms, draws, Fraction(1, 10)),
        _both(([[9]], [[-9]]), ([[0]], [[0], [9]])),
        Fraction(1, 4),
        Fraction(1, 10),
    ),
    NeighbourCase(
        "top",
        lambda data, terms, draws: top_cell(data, 2, terms, draws),
        _both(([0, 0], [0, 1]), ([0], [0, 1])),
        Fraction(8),
    ),
    NeighbourCase(
        "names",
        lambda data, terms, draws: names_histogram(data, terms, draws, Fraction(1, 10)),
        _both(([[1], [2]], [[1], [1]]), ([[1]], [[1], [2]])),
        Fraction(1),
        Fraction(1, 10),
    ),
    NeighbourCase(
        "top_mark",
        lambda data, terms, draws: top_mark(column_counts(data, 2), terms, draws),
        _both(([[1, 0], [1, 0]], [[1, 0], [0, 1]]), ([[1, 0]], [[1, 0], [0, 1]])),
        Fraction(8),
    ),
    NeighbourCase(
        "quantiles",
        lambda data, terms, draws: quantiles(data, _THREE, [Fraction(1, 4)], terms, draws),
        _both(([0, 1, 1, 2], [1, 1, 2, 2]), ([1, 1, 2], [0, 1, 1, 2])),
        Fraction(4),
        floor=1e-3,
        least=1e-7,
    ),
    NeighbourCase(
        "grid of clusters",
        lambda data, terms, draws: clusters.grid_cluster(data, clusters.Box((1,)), 2, terms, draws),
        _both(([[9], [9], [-9]], [[9], [-9], [-9]]), ([[9]], [[9], [9]])),
        Fraction(4),
        least=1e-18,
    ),
    NeighbourCase(
        "one cluster",
        _lloyd(clusters.Lloyd(Ball(1, 1, 1), 1, 1, keep_empty=True), 1, 0),
        _both(([[9]], [[-9]]), ([[9]], [[9], [9]])),
        Fraction(8),
        least=1e-18,
    ),
    NeighbourCase(
        "two clusters",
        _lloyd(clusters.Lloyd(clusters.Box((1,)), 2, 1, keep_empty=True), 2, 0),
        {Neighbours.REPLACE: (np.array([[9], [9], [-9]]), np.array([[9], [-9], [-9]]))},
        Fraction(20),
        floor=1e-4,
        least=1e-17,
    ),
)
"""Releases whose likely answers are few enough to be enumerated.

One cluster hides that a record that becomes another one can move two counts, and two clusters show it.
"""
