"""
Covering arrays: few rows in which every two, or three, columns show every combination of their values somewhere.

One run of a client with a whole row of answers tries all pairs of answers in it at once, so that the runs grow with the
square of the largest domain and the logarithm of the number of questions, and not with the number of pairs.

Source  Lei and Tai 1998 (growing column by column, in parameter order).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations, product

Row = tuple[int, ...]
Wanted = dict[tuple[tuple[int, ...], tuple[int, ...]], set[int]]
"""Combinations that no row shows yet: by earlier columns and their values, those of the column that grows."""


def covering_rows(sizes: Sequence[int], strength: int) -> list[Row]:
    """
    Rows that show every combination of values of every ``strength`` columns; the same rows for the same arguments.

    Args:
        sizes: how many values each column has, at least 1; value i of a column is written i.
        strength: how many columns are combined; of fewer columns, all are.
    """
    order = sorted(range(len(sizes)), key=lambda column: -sizes[column])
    ordered = [sizes[column] for column in order]
    strength = min(strength, len(sizes))
    rows = list(product(*map(range, ordered[:strength])))
    for column in range(strength, len(ordered)):
        rows = _grown(rows, ordered[: column + 1], strength)
    place = {column: at for at, column in enumerate(order)}
    return [tuple(row[place[column]] for column in range(len(sizes))) for row in rows]


def _grown(rows: Sequence[Row], sizes: Sequence[int], strength: int) -> list[Row]:
    """Every row with a value in one more column, then rows for what is still wanted."""
    column = len(sizes) - 1
    before = list(combinations(range(column), strength - 1))
    wanted: Wanted = {
        (earlier, values): set(range(sizes[column]))
        for earlier in before
        for values in product(*(range(sizes[each]) for each in earlier))
    }
    grown = []
    for number, row in enumerate(rows):
        lacking = [wanted[earlier, tuple(row[each] for each in earlier)] for earlier in before]
        found = Counter(chain.from_iterable(lacking))
        choices = ((number + step) % sizes[column] for step in range(sizes[column]))
        best = max(choices, key=found.__getitem__)
        for values in lacking:
            values.discard(best)
        grown.append((*row, best))
    return [*grown, *_added(wanted, sizes, len(grown))]


def _added(wanted: Wanted, sizes: Sequence[int], first: int) -> list[Row]:
    """Rows for all that is wanted, each for as much of it as goes together; the rest of a row is spread."""
    rows: list[dict[int, int]] = []
    for earlier, values in sorted(
        (earlier, (*part, value)) for (earlier, part), left in wanted.items() for value in left
    ):
        places = dict(zip((*earlier, len(sizes) - 1), values, strict=True))
        fitting = (row for row in rows if all(row.get(each, value) == value for each, value in places.items()))
        row = next(fitting, None)
        if row is None:
            rows.append(places)
        else:
            row.update(places)
    return [
        tuple(row.get(each, (number * (2 * each + 3) + each) % size) for each, size in enumerate(sizes))
        for number, row in enumerate(rows, first)
    ]
