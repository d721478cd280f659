"""Covering arrays show every combination, in few rows."""

from itertools import combinations, product

import pytest
from sottovoce.audit.covering import covering_rows


@pytest.mark.parametrize(
    ("sizes", "strength"),
    [([2, 3, 4, 5], 1), ([2, 3, 4, 5], 2), ([4, 1, 2, 3, 3], 3), ([5] * 8, 2), ([2], 2), ([3, 2], 3), ([1, 1, 1], 2)],
)
def test_every_combination_stands_in_some_row(sizes: list[int], strength: int) -> None:
    """Of all values of every so many columns, or of all columns where there are fewer."""
    rows = covering_rows(sizes, strength)

    assert all(len(row) == len(sizes) for row in rows)
    for columns in combinations(range(len(sizes)), min(strength, len(sizes))):
        shown = {tuple(row[column] for column in columns) for row in rows}
        assert shown == set(product(*(range(sizes[column]) for column in columns)))


def test_rows_grow_with_the_largest_columns_only() -> None:
    """Twenty columns of four values: all pairs in fewer than 60 rows, not in 190 x 16."""
    assert len(covering_rows([4] * 20, 2)) < 60
    assert len(covering_rows([7, 2, 2], 1)) == 7
    assert covering_rows([3] * 6, 3) == covering_rows([3] * 6, 3)
