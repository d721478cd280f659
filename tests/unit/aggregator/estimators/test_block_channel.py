"""Channels of questions of one block: published figures, exact inverses, and what is not identified."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from sottovoce.aggregator.estimators.blocks.block_channel import BlockChannel
from sottovoce.shared.mechanisms.joint_rr import JointRR

TABLES = [
    ((2, 2), 9, 0, 0.5625, 1.6875),
    ((2, 2, 2), 27, 0, 0.4275, 1.2825),
    ((2,) * 5, 20, 1, 0.9226, 5.5357),
    ((2,) * 5, 20, 0, 1.8012, 5.4037),
    ((2,) * 10, 148, 2, 0.7648, 4.0075),
    ((2,) * 10, 148, 1, 0.9962, 3.6393),
    ((5, 5, 5), 27, 1, 1.1035, 24.1359),
    ((2,) * 10, 3, 4, 12.6985, 1053.9735),
    ((2, 2), 3, 0, 2.25, 6.75),
]


@pytest.mark.parametrize(("sizes", "odds", "radius", "share", "cells"), TABLES)
def test_variances_of_shares_and_pair_tables(
    sizes: tuple[int, ...], odds: int, radius: int, share: float, cells: float
) -> None:
    """Of a share of 1/2, and of all cells of a pair's table of uniform answers together: four decimals."""
    mechanism = JointRR(Fraction(odds), radius, sizes)
    a, b = mechanism.marginal(0)

    assert round(float((a + b) / 2 * (1 - (a + b) / 2) / (a - b) ** 2), 4) == share
    assert round(float(BlockChannel(mechanism, (0, 1)).cell_variances()), 4) == cells


@pytest.mark.parametrize(("radius", "positions"), [(1, (0,)), (1, (0, 1)), (1, (2, 0)), (0, (0, 1, 2))])
def test_scores_invert_the_channel(radius: int, positions: tuple[int, ...]) -> None:
    """Exactly: the mean score of each combination is 1 for itself and 0 for all others."""
    found = BlockChannel(JointRR(Fraction(20), radius, (2, 3, 5)), positions)
    cells = list(product(*map(range, found.sizes)))

    def figures(patterns: np.ndarray) -> np.ndarray:
        return np.array(
            [[patterns[tuple(int(i == j) for i, j in zip(x, y, strict=True))] for y in cells] for x in cells]
        )

    assert (figures(found.chances) @ figures(found.scores) == np.eye(len(cells), dtype=int)).all()
    assert figures(found.chances).sum() == len(cells)
    table = figures(found.chances).astype(float)
    assert found.condition == pytest.approx(np.linalg.cond(table))
    assert sum(value == 1 for value in found.eigenvalues.ravel()) == 1


@pytest.mark.parametrize(
    ("sizes", "odds", "radius", "most"), [((2,) * 3, 27, 1, 1), ((2,) * 5, 20, 1, 2), ((2,) * 10, 148, 2, 3)]
)
def test_larger_sets_are_not_identified(sizes: tuple[int, ...], odds: int, radius: int, most: int) -> None:
    """Pairs, threes and fours are the first sets that a radius does not tell."""
    mechanism = JointRR(Fraction(odds), radius, sizes)

    assert all(BlockChannel(mechanism, part).identifies for part in combinations(range(len(sizes)), most))
    assert not any(BlockChannel(mechanism, part).identifies for part in combinations(range(len(sizes)), most + 1))
    assert math.isinf(BlockChannel(mechanism, tuple(range(most + 1))).condition)
