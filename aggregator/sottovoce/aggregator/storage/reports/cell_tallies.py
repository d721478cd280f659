"""Count cells by question and value, and sum them over all cohorts."""

from collections.abc import Iterable, Iterator, Sequence

from sottovoce.aggregator.storage.models import ALL, Cell
from sottovoce.aggregator.storage.reports.batch_columns import NO_COHORT


def cells_with_total(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of one wave: their sum first, then each cohort."""
    at_close = [cell.at_close for cell in cells if cell.at_close is not None]
    return [
        Cell(
            cells[0].wave,
            ALL,
            sum(cell.reports for cell in cells),
            sum(cell.withdrawn for cell in cells),
            count_by_question(row for cell in cells for row in _flat(cell)),
            sum(at_close) if at_close else None,
        ),
        *(cell for cell in cells if cell.cohort != NO_COHORT),
    ]


def _flat(cell: Cell) -> Iterator[tuple[int, int, int]]:
    """Yield (question, counted value, number) of a cell."""
    for question, tally in cell.tallies.items():
        yield from ((question, value, number) for value, number in tally.items())


def count_by_question(rows: Iterable[tuple[int, int, int]]) -> dict[int, dict[int, int]]:
    """Return counts by question and counted value, from rows of (question, value, number)."""
    tallies: dict[int, dict[int, int]] = {}
    for question, value, count in rows:
        tally = tallies.setdefault(int(question), {})
        tally[int(value)] = tally.get(int(value), 0) + count
    return tallies
