"""Cells of shown counts from rows of the database; the total of a wave is the sum of its cells."""

from collections.abc import Iterable, Iterator, Sequence

from sottovoce.aggregator.storage.interface import ALL
from sottovoce.aggregator.storage.models import Cell
from sottovoce.aggregator.storage.reports.count_changes import NO_COHORT


def with_whole(cells: Sequence[Cell]) -> list[Cell]:
    """Return the sum of one wave's cells, then the cells that have a cohort."""
    at_close = [cell.at_close for cell in cells if cell.at_close is not None]
    return [
        Cell(
            cells[0].wave,
            ALL,
            sum(cell.reports for cell in cells),
            sum(cell.withdrawn for cell in cells),
            tallied(row for cell in cells for row in _flat(cell)),
            sum(at_close) if at_close else None,
        ),
        *(cell for cell in cells if cell.cohort != NO_COHORT),
    ]


def _flat(cell: Cell) -> Iterator[tuple[int, int, int]]:
    """Yield (question, counted value, number of reports) of a cell."""
    for question, tally in cell.tallies.items():
        yield from ((question, value, number) for value, number in tally.items())


def tallied(rows: Iterable[tuple[int, int, int]]) -> dict[int, dict[int, int]]:
    """Return the sums of these rows by question and counted value."""
    tallies: dict[int, dict[int, int]] = {}
    for question, value, count in rows:
        tally = tallies.setdefault(int(question), {})
        tally[int(value)] = tally.get(int(value), 0) + count
    return tallies
