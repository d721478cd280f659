"""The counts of a survey, made anew from its rows: what the kept counts are held against."""

from collections.abc import Iterable

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


def _alike(chunk: list[bytes]) -> Iterable[list[bytes]]:
    """The rows in groups of one length and one width of values: mostly one group."""
    widths = {row[:1] for row in chunk}
    if len(widths) == 1 and len(set(map(len, chunk))) == 1:
        return [chunk]
    groups: dict[tuple[int, int], list[bytes]] = {}
    for row in chunk:
        groups.setdefault((len(row), row[0]), []).append(row)
    return groups.values()
