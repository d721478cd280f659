"""The law of a likelihood ratio beside edges is the one of integrals over angles, and of mixtures of chi-square."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from sottovoce.aggregator.estimators.cone import distances, quantile_beside_edges
from sottovoce.aggregator.estimators.intervals import upper_tail

Z = 1.959964


def _beside(correlations: list[float], own: bool = False, at: float | Sequence[float] = 0.0) -> float:
    """The quantile of a parameter with these correlations with independent numbers, which are estimated as ``at``."""
    count = len(correlations)
    found = np.eye(count + 1)
    found[0, 1:] = found[1:, 0] = correlations
    return quantile_beside_edges(np.eye(count + 1), found, np.broadcast_to(at, count), 100, Z, np.full(count, own))


def test_distance_is_the_one_from_the_nearest_point_of_the_cone() -> None:
    """Of points with correlated coordinates, by a search over a grid of the cone."""
    covariance = np.array([[2.0, 0.9], [0.9, 1.0]])
    points = np.array([[-1.0, 0.5], [1.0, -2.0], [-1.0, -1.0], [0.3, 0.2]])
    grid = np.stack(np.meshgrid(*[np.linspace(0, 4, 801)] * 2), axis=-1).reshape(-1, 2)
    least = [np.einsum("ni,ij,nj->n", point - grid, np.linalg.inv(covariance), point - grid).min() for point in points]
    assert distances(points, covariance) == pytest.approx(least, abs=1e-4)


def test_distance_from_a_thin_wedge_is_exact() -> None:
    """|y| <= x / 1,000, its two sides nearly opposed, from its apex and from a side; and with a side written twice."""
    sides = np.array([[1e-3, 1], [1e-3, -1], [1e-3, -1]])
    points = np.array([[-1.0, 0.0], [1.0, 2.0]]) @ sides.T
    least = [1, (2 - 1e-3) ** 2 / (1 + 1e-6)]
    for used in (sides[:2], sides):
        assert distances(points[:, : len(used)], used @ used.T) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("r", [0.0, 0.6, 0.885, 0.97])
def test_one_number_at_its_edge_has_the_law_of_an_angle(r: float) -> None:
    """A half-plane and a ray in it: of a point in direction a, the difference of distances is its square times f(a)."""
    angles = (np.arange(20_000) + 0.5) * 2 * math.pi / 20_000
    ray = math.acos(r)
    along, across, below = np.cos(angles - ray), np.sin(angles - ray), np.minimum(np.sin(angles), 0)
    parts = np.maximum(np.where(along > 0, across**2, 1.0) - below**2, 1e-12)
    z = _beside([r])
    assert float(np.exp(-(z**2) / 2 / parts).mean()) == pytest.approx(0.05, abs=1.5e-3)


@pytest.mark.parametrize("numbers", [1, 2])
def test_numbers_that_fix_the_parameter_give_a_mixture_of_chi_squares(numbers: int) -> None:
    """Bin(k + 1, 1/2) degrees of freedom, where the parameter is all but the sum of k numbers at 0."""
    z = _beside([0.9999 / numbers**0.5] * numbers)
    tail = sum(math.comb(numbers + 1, df) / 2 ** (numbers + 1) * upper_tail(z**2, df) for df in range(1, numbers + 2))
    assert tail == pytest.approx(0.05, abs=3e-3)


def test_of_many_numbers_at_their_edges_the_nearest_make_the_law() -> None:
    """Twelve, of which four go with the parameter, the law of these; they are nearer to 0 than the rest."""
    at = [0.0] * 4 + [1.0] * 8
    assert _beside([0.45] * 4 + [0.0] * 8, at=at) == pytest.approx(_beside([0.45] * 4), abs=0.03)


def test_rounding_of_correlations_moves_the_law_no_more_than_itself() -> None:
    """Of numbers that are alike, rounding chooses the vectors that span them: the sample must not hang on these."""
    assert _beside([0.4, 0.4 + 1e-15, 0.4 - 1e-15]) == pytest.approx(_beside([0.4] * 3), abs=1e-9)


def test_own_edge_makes_no_limit_shorter() -> None:
    """At its own edge the statistic is half of chi-square; the parameter may be far from there, too."""
    assert _beside([1.0]) == _beside([0.9], own=True, at=3.0) == Z


def test_both_ends_beside_a_share_make_no_limit_shorter() -> None:
    """At 0 and 1 at once nothing is left to fall, but for rounding below 0, which has no root."""
    ends = np.array([[1.0], [-1.0], [1.0]])
    found = [
        quantile_beside_edges(ends, np.array([[error]]), np.array([1.0, 0.0]), 14, Z, np.zeros(2, bool))
        for error in np.linspace(0.5, 9, 40)
    ]
    assert found == [Z] * 40


def test_number_far_from_its_edge_makes_no_limit_longer() -> None:
    """Of 100 people from sqrt(ln 100) = 2.15 errors on."""
    assert _beside([0.95], at=2.2) == Z < _beside([0.95], at=2.1) == _beside([0.95])
