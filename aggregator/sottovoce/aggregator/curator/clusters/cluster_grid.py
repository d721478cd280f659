"""Run differentially private k-means of one to ten numbers: a noisy grid, and k-means on it.

Grid         The declared box in equal cells: 400 of one number, 20 x 20, 10^3, 6^4, 6^5, 4^6, of seven to ten numbers 3
             of each; or fewer if a number has fewer values. The counts of all cells, empty ones too, are one histogram
             with exact discrete Laplace noise of rate epsilon / m, m = 1 under add/remove and 2 under replace-one.
Centres      Weighted k-means on the cells' middles with 50 starts, the best of which is taken. It sees noisy counts
             only, so that it costs nothing (post-processing); its own random numbers are the same every time.
Weights      Noisy counts of at least 3 / rate, and with more than 400 cells ln(cells / 20) / rate; others are taken as
             empty, since noise alone is so large in at most ten empty cells on average.
Sizes        The sum of the noisy counts, the small and negative ones too, of the cells nearest to a centre.
Goodness     The mean squared distance of the weights from their centres, from the same noisy grid.
Privacy      epsilon-differentially private, delta = 0, for any k.
Sources      Su, Cao, Li, Bertino and Jin 2016 (EUGkM); Arthur and Vassilvitskii 2007 (starts).
"""

import math
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from sottovoce.aggregator.curator.add_noise import add_laplace
from sottovoce.aggregator.curator.clipping import Vectors
from sottovoce.aggregator.curator.clusters.cluster import Box
from sottovoce.aggregator.curator.histogram import SENSITIVITY, cell_counts
from sottovoce.aggregator.curator.noise_distribution import laplace_error
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

Floats = npt.NDArray[np.float64]

_SIDES = {1: 400, 2: 20, 3: 10, 4: 6, 5: 6, 6: 4, 7: 3, 8: 3, 9: 3, 10: 3}
"""
Cells of each number, by how many numbers there are: fixed, since the number of records may not be public.

Measured on four clouds of 2,000 and 20,000 points at epsilon 1, where this grid errs less than DP-Lloyd on average.
"""

MOST_NUMBERS = max(_SIDES)
_STARTS, _ROUNDS = 50, 100

TINY = "a size adds up the noise of its cells: one that is negative or tiny says nothing, nor does its centre"


def grid_cluster(rows: npt.NDArray[Any], box: Box, k: int, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the centres of k clusters, their noisy sizes and the mean squared distance from them.

    Args:
        rows: n x d integers, in steps; others are clipped to the box.
        k: number of clusters, 1 .. 256.

    Raises:
        ValueError: the box has more than ten coordinates, k is out of range, or the rows have other coordinates.
    """
    check_grid(box, k)
    sides = tuple(min(_SIDES[box.coordinates], half + 1) for half in box.halves)
    index, cells = _cells(box.clip(rows), box, sides), int(np.prod(sides))
    records = terms.neighbours.of(1, 2)
    rate = terms.epsilon / records
    noisy = add_laplace(cell_counts(index, cells), rate, draws)
    return Release(
        question=terms.question("grid_cluster", box=list(box.halves), sides=list(sides), k=k),
        values=_best_centres(np.array(noisy, dtype=np.float64), _middles(box, sides), k, rate),
        charge=Charge.pure(terms.epsilon),
        sensitivity=SENSITIVITY.format(records, terms.neighbours.in_words),
        error={"a cell of the grid": laplace_error(rate, cells)},
        notes=(TINY,),
    )


def check_grid(box: Box, k: int) -> None:
    """Raise ValueError if the box has more than ten coordinates or k is out of range."""
    if box.coordinates > MOST_NUMBERS:
        raise ValueError("a grid is for one to ten numbers; name --method lloyd for more")
    if not 1 <= k <= 256:
        raise ValueError("a grid has 1 to 256 clusters")


def _cells(points: Vectors, box: Box, sides: tuple[int, ...]) -> Vectors:
    """Return the number of each point's cell; the last coordinate varies fastest."""
    index = np.zeros(len(points), dtype=np.int64)
    for column, half, side in zip(points.T, box.halves, sides, strict=True):
        index = index * side + (column + half) * side // (2 * half + 1)
    return index


def _middles(box: Box, sides: tuple[int, ...]) -> Floats:
    axes = [_axis(half, side) for half, side in zip(box.halves, sides, strict=True)]
    return np.stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")], axis=1)


def _axis(half: int, side: int) -> Floats:
    """Return the middles of cells of equal width; a cell for each value of a number is that value."""
    if side == half + 1:
        return np.linspace(-half, half, side)
    middles: Floats = (np.arange(side) + 0.5) * (2 * half + 1) / side - half - 0.5
    return middles


def _best_centres(noisy: Floats, middles: Floats, k: int, rate: Fraction) -> dict[str, Any]:
    full = _full(noisy, rate)
    weights, places = (noisy[full], middles[full]) if full.any() else (np.ones_like(noisy), middles)
    generator = np.random.Generator(np.random.PCG64(0))
    starts = [_start(places, weights, k, generator) for _ in range(_STARTS)]
    centres, spread = min((_lloyd(places, weights, start) for start in starts), key=itemgetter(1))
    sizes = np.bincount(_squares(middles, centres).argmin(axis=1), weights=noisy, minlength=k)
    return {
        "centres": np.rint(centres).astype(np.int64).tolist(),
        "noisy_sizes": np.rint(sizes).astype(np.int64).tolist(),
        "mean_squared_distance": round(spread / weights.sum(), 3),
    }


def _full(noisy: Floats, rate: Fraction) -> npt.NDArray[np.bool_]:
    """Return the cells whose noisy count is larger than noise alone."""
    mask: npt.NDArray[np.bool_] = noisy >= max(3, math.log(len(noisy) / 20)) / float(rate)
    return mask


def _start(middles: Floats, weights: Floats, k: int, generator: np.random.Generator) -> Floats:
    """Draw k cells, each with probability proportional to its weight and squared distance from those before."""
    chosen = [generator.choice(len(middles), p=weights / weights.sum())]
    nearest = np.full(len(middles), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, ((middles - middles[chosen[-1]]) ** 2).sum(axis=1))
        share = weights * nearest
        chosen.append(generator.choice(len(middles), p=share / share.sum() if share.any() else None))
    return middles[chosen]


def _lloyd(middles: Floats, weights: Floats, centres: Floats) -> tuple[Floats, float]:
    """Return the centres where Lloyd's iteration stops, and the weighted sum of squared distances."""
    for _ in range(_ROUNDS):
        marks = np.zeros((len(middles), len(centres)))
        marks[np.arange(len(middles)), _squares(middles, centres).argmin(axis=1)] = weights
        whole = marks.sum(axis=0)[:, None]
        moved = np.where(whole > 0, marks.T @ middles / np.maximum(whole, 1e-300), centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres, float(weights @ _squares(middles, centres).min(axis=1))


def _squares(middles: Floats, centres: Floats) -> Floats:
    distances: Floats = np.stack([((middles - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
    return distances
