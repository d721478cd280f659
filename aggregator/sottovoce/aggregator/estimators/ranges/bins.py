"""Bins of the square wave: their values, edges and names on the question's grid, and the channel as a matrix."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.means import grid_of
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.square_wave import SquareWave

Array = NDArray[np.float64]


class BinValues(NamedTuple):
    """First and last value of each bin, shape (D,)."""

    first: Array
    last: Array


def values_of_bins(mechanism: SquareWave, domain: Domain) -> BinValues:
    """Return the first and the last value of each bin, in the number's own unit."""
    grid, low = grid_of(domain), float(grid_of(domain).low)
    firsts = np.array([first_step(mechanism, bin_) for bin_ in range(mechanism.bins + 1)])
    return BinValues(low + float(grid.step) * firsts[:-1], low + float(grid.step) * (firsts[1:] - 1))


def channel_of(mechanism: SquareWave) -> Array:
    """Return P(output | bin), shape (D, D + 2 w)."""
    rows = np.array([mechanism.weights(first_step(mechanism, bin_)) for bin_ in range(mechanism.bins)], dtype=float)
    channel: Array = rows / rows.sum(axis=1, keepdims=True)
    return channel


def first_step(mechanism: SquareWave, bin_: int) -> int:
    """Return the first step of a bin; D + 1 steps in total if ``bin_`` is D."""
    return -(-bin_ * (mechanism.steps + 1) // mechanism.bins)


def edges_of_bins(mechanism: SquareWave, domain: Domain) -> Array:
    """Return the D + 1 edges of the bins, inner ones halfway between neighbouring values."""
    grid = grid_of(domain)
    firsts = [first_step(mechanism, bin_) for bin_ in range(mechanism.bins + 1)]
    inner = [float(grid.low + grid.step * (2 * first - 1) / 2) for first in firsts[1:-1]]
    return np.array([float(grid.low), *inner, float(grid.high)])


def middles_of_bins(mechanism: SquareWave, domain: Domain) -> Array:
    """Return the mean of the values in each bin, shape (D,)."""
    grid = grid_of(domain)
    firsts = [first_step(mechanism, bin_) for bin_ in range(mechanism.bins + 1)]
    return np.array([float(grid.low + grid.step * (a + b - 1) / 2) for a, b in pairwise(firsts)])


def names_of_bins(mechanism: SquareWave, domain: Domain) -> list[str]:
    """Return the first and last value of each bin as words, such as "0 to 9"; one value if they are equal."""
    grid = grid_of(domain)
    names = []
    for bin_ in range(mechanism.bins):
        first, last = first_step(mechanism, bin_), first_step(mechanism, bin_ + 1) - 1
        low, high = (grid.text(step) for step in (first, last))
        names.append(low if first == last else f"{low} to {high}")
    return names
