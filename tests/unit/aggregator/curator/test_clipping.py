"""A vector is inside its ball as integers, whatever it was."""

import math

import numpy as np
import pytest
from sottovoce.aggregator.curator.clipping import Ball


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("coordinates", "radius"), [(1, 1), (2, 3), (10, 10), (8, 1024), (64, 2**20)])
def test_clipped_vectors_lie_inside_as_integers(norm, coordinates, radius):
    """Exactly, by Python's own integers; corners, ties and values far outside."""
    generator = np.random.Generator(np.random.PCG64(norm))
    scale = [1, radius, 3 * radius + 1, 2**62]
    rows = np.concatenate([generator.integers(-s, s + 1, (200, coordinates)) for s in scale])

    for row in Ball(norm, radius, coordinates).clip(rows).tolist():
        length = sum(map(abs, row)) if norm == 1 else math.sqrt(sum(x * x for x in row))
        assert length <= radius


@pytest.mark.parametrize("norm", [1, 2])
def test_vectors_inside_stay_as_they_are(norm):
    """Those on the edge too."""
    rows = np.array([[0, 0], [5, 0], [0, -5], [3, -2] if norm == 1 else [3, -4]])

    assert (Ball(norm, 5, 2).clip(rows) == rows).all()


def test_rounding_to_the_nearest_would_leave_the_ball():
    """By a tenth and more at ten coordinates and a radius of ten steps."""
    rows = np.array([[35] * 8 + [9, 9]])
    assert np.linalg.norm(np.rint(rows * 10 / np.linalg.norm(rows))) > 11
    assert np.linalg.norm(Ball(2, 10, 10).clip(rows)) <= 10


@pytest.mark.parametrize(("norm", "radius", "coordinates"), [(3, 1, 1), (1, 0, 1), (2, 2**20 + 1, 1), (1, 1, 0)])
def test_ball_out_of_range_is_refused(norm, radius, coordinates):
    """Norm, radius, coordinates."""
    with pytest.raises(ValueError, match="ball"):
        Ball(norm, radius, coordinates)


def test_vectors_of_another_space_are_refused():
    """A missing coordinate would be clipped as if it were none."""
    with pytest.raises(ValueError, match="coordinates"):
        Ball(1, 5, 3).clip(np.zeros((4, 2), dtype=int))
