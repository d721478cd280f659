"""Conversion of steps on a question's grid to the number's own unit."""

from collections.abc import Iterable
from fractions import Fraction

from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.errors import EstimateError


def grid_of(domain: Domain) -> Grid:
    """Return the grid of a number question; raise EstimateError if the question does not ask for a number."""
    if domain.grid is None:
        raise EstimateError("the question does not ask for a number")
    return domain.grid


def in_units(steps: Iterable[Fraction | int], grid: Grid) -> tuple[float, ...]:
    """Convert numbers of steps above the least value to floats, each rounded once."""
    return tuple(map(float, exactly(steps, grid)))


def exactly(steps: Iterable[Fraction | int], grid: Grid) -> tuple[Fraction, ...]:
    """Convert numbers of steps above the least value to exact fractions."""
    return tuple(map(grid.number, steps))
