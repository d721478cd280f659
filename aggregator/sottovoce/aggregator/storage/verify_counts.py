"""What the kept counts are held against: the counts made anew from the rows, and those of another database."""

from collections.abc import Iterable
from typing import Any

from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.aggregator.storage.columns import matrix, tallies
from sottovoce.shared.parse_survey import load_survey


def recount(storage: Storage, stored: StoredSurvey) -> dict[int, dict[int, int]]:
    """Number of reports by counted value, for each question by its index."""
    masks = load_survey(stored.document).masks
    counts: dict[int, dict[int, int]] = {}
    for chunk in storage.packed(stored.key):
        for rows in _alike(chunk):
            for _, index, value, number in tallies(matrix(b"".join(rows), len(rows)), masks).tolist():
                tally = counts.setdefault(index, {})
                tally[value] = tally.get(value, 0) + number
    return counts


def is_copy(source: Storage, target: Storage) -> bool:
    """Whether two databases hold the same surveys with equal counts, and remember the same."""
    return _figures(source) == _figures(target)


def _figures(storage: Storage) -> tuple[Any, ...]:
    counts = [(row, storage.live_counts(row.key), storage.cells(row.key)) for row in storage.surveys()]
    return counts, storage.record()


def _alike(chunk: list[bytes]) -> Iterable[list[bytes]]:
    """The rows in groups of one length and one width of values: mostly one group."""
    widths = {row[:1] for row in chunk}
    if len(widths) == 1 and len(set(map(len, chunk))) == 1:
        return [chunk]
    groups: dict[tuple[int, int], list[bytes]] = {}
    for row in chunk:
        groups.setdefault((len(row), row[0]), []).append(row)
    return groups.values()
