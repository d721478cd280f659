"""The counts of a survey, made anew from its rows: what the kept counts are held against."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from sottovoce.aggregator.published import survey_of
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.aggregator.storage.rows import null

_Columns = list[Counter[int | None]]


def recount(storage: Storage, stored: StoredSurvey) -> dict[int, dict[int, int]]:
    """Number of reports by counted value, for each question by its index."""
    questions = survey_of(stored.document).questions
    columns: _Columns = [Counter() for _ in questions]
    for chunk in storage.packed(stored.key):
        for rows in _alike(chunk):
            _count(rows, columns)
    tallies: dict[int, dict[int, int]] = {}
    for index, question in enumerate(questions):
        for value, number in columns[index].items():
            for key in () if value is None else question.counted(value):
                tally = tallies.setdefault(index, {})
                tally[key] = tally.get(key, 0) + number
    return tallies


def _alike(chunk: list[bytes]) -> Iterable[list[bytes]]:
    """The rows in groups of one length and one width of values: mostly one group."""
    widths = {row[:1] for row in chunk}
    if len(widths) == 1 and len(set(map(len, chunk))) == 1:
        return [chunk]
    groups: dict[tuple[int, int], list[bytes]] = {}
    for row in chunk:
        groups.setdefault((len(row), row[0]), []).append(row)
    return groups.values()


def _count(rows: list[bytes], columns: _Columns) -> None:
    """Add rows of one length and width to the counts of each question."""
    width = rows[0][0]
    matrix = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)[:, 1:]
    numbers = np.ascontiguousarray(matrix).view(f">u{width}")
    for column, values in zip(columns, np.ascontiguousarray(numbers.T), strict=True):
        for value, number in _frequencies(values, width):
            column[None if value == null(width) else value] += number


def _frequencies(values: np.ndarray, width: int) -> list[tuple[int, int]]:
    """Each value with how often it occurs."""
    if width == 1:
        found = np.bincount(values, minlength=256)
        return [(value, int(found[value])) for value in np.flatnonzero(found).tolist()]
    different, found = np.unique(values, return_counts=True)
    return list(zip(different.tolist(), found.tolist(), strict=True))
