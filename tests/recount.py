"""A second count of the stored reports, beside the counts that intake kept."""

from collections.abc import Iterable

from sottovoce.aggregator.storage.models import StoredSurvey
from sottovoce.aggregator.storage.reports.batch_columns import matrix, tallies
from sottovoce.aggregator.storage.sql_storage import Storage
from sottovoce.shared.parse_survey import load_survey


def recount(storage: Storage, stored: StoredSurvey) -> dict[int, dict[int, int]]:
    """Count the stored reports anew: number of reports by question index and counted value."""
    masks = load_survey(stored.document).masks
    counts: dict[int, dict[int, int]] = {}
    for chunk in storage.packed_by_wave(stored.key):
        for rows in _by_length([packed for _, packed in chunk]):
            for _, index, value, number in tallies(matrix(b"".join(rows), len(rows)), masks).tolist():
                tally = counts.setdefault(index, {})
                tally[value] = tally.get(value, 0) + number
    return counts


def _by_length(chunk: list[bytes]) -> Iterable[list[bytes]]:
    """Group rows by length and width of values; usually there is one group."""
    widths = {row[:1] for row in chunk}
    if len(widths) == 1 and len(set(map(len, chunk))) == 1:
        return [chunk]
    groups: dict[tuple[int, int], list[bytes]] = {}
    for row in chunk:
        groups.setdefault((len(row), row[0]), []).append(row)
    return groups.values()
