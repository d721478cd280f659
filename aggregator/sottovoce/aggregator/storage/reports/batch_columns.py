"""Hold reports of one shape as numpy columns, to be stored by one statement and counted question by question.

Reports have the same shape if survey, wave and bytes a value are equal. Usually a whole group has one shape. Changes of
counts by a group are summed in memory, so that the database updates each count once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.storage.models import ID, ReportBatch
from sottovoce.aggregator.storage.pack_values import null

_WIDTH = 256
"""Number of values of one byte."""
_NULL = null(1)
_BITS = np.arange(_WIDTH)[:, None] >> np.arange(8) & 1
"""Bits of each byte, lowest first, shape (256, 8)."""
_SPARSE = 4
"""Count by bincount if the largest value is below this multiple of the number of values, else by sorting."""
_FEW = 1 << 15
"""Use bincount up to this largest value in any case: sorting costs more than so many bins."""
_SMALL = 128
"""Count and sort this many reports of a group without numpy, whose calls cost more than so few reports."""

Row = tuple[int, ...]
"""Numbers of a row of a table, of which the last is a number of reports."""


def merge(arrivals: Iterable[ReportBatch]) -> list[ReportBatch]:
    """Return one batch a shape, its reports ordered by id, so that the database never sees the order of arrival.

    Shapes are sorted as well, so that two nodes take locks in the same order and cannot deadlock.
    """
    by_shape: dict[tuple[int, ...], list[ReportBatch]] = {}
    for arrival in arrivals:
        shape = (arrival.plan.survey, arrival.wave, arrival.size, arrival.packed[0], len(arrival.tokens) > 0)
        by_shape.setdefault(shape, []).append(arrival)
    return [_merge(by_shape[shape]) for shape in sorted(by_shape)]


def _merge(alike: list[ReportBatch]) -> ReportBatch:
    ids = b"".join([arrival.report_ids for arrival in alike])
    packed = b"".join([arrival.packed for arrival in alike])
    tokens = [token for arrival in alike for token in arrival.tokens]
    if len(ids) <= _SMALL * ID:
        rows = sorted(zip(cut(ids, ID), cut(packed, alike[0].size), tokens or [b""] * count(alike), strict=True))
        ids, packed = b"".join([row[0] for row in rows]), b"".join([row[1] for row in rows])
        return ReportBatch(alike[0].plan, alike[0].wave, ids, packed, tuple([row[2] for row in rows] if tokens else []))
    # Ids are random, so the first 8 of 16 bytes are enough to remove the order of arrival.
    order = np.argsort(np.frombuffer(ids, dtype=">u8")[::2].astype(np.uint64))
    return ReportBatch(
        alike[0].plan,
        alike[0].wave,
        _octets(ids, len(order))[order].tobytes(),
        _octets(packed, len(order))[order].tobytes(),
        tuple([tokens[index] for index in order.tolist()] if tokens else []),
    )


def split(arrivals: Iterable[ReportBatch]) -> Iterator[ReportBatch]:
    """Yield each report as a batch of its own."""
    for arrival in arrivals:
        ids, packed = cut(arrival.report_ids, ID), cut(arrival.packed, arrival.size)
        for index, report_id in enumerate(ids):
            yield ReportBatch(arrival.plan, arrival.wave, report_id, packed[index], arrival.tokens[index : index + 1])


def report_ids(arrivals: Iterable[ReportBatch]) -> list[tuple[int, bytes]]:
    """Return (survey key, report id) of every report."""
    return [(arrival.plan.survey, each) for arrival in arrivals for each in cut(arrival.report_ids, ID)]


def cut(text: bytes, size: int) -> list[bytes]:
    """Return the parts of ``text``, each ``size`` bytes long."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def count(arrivals: Sequence[ReportBatch]) -> int:
    """Return the number of reports in these batches."""
    return sum(map(len, arrivals))


def matrix(packed: bytes, reports: int) -> np.ndarray:
    """Return packed values of one width as an array (reports, questions) of unsigned integers."""
    return np.ascontiguousarray(_octets(packed, reports)[:, 1:]).view(f">u{packed[0]}")


def tallies(numbers: np.ndarray, masks: Mapping[int, int], groups: np.ndarray | None = None) -> np.ndarray:
    """Count the values of each question: sorted rows (group, question, counted value, number of reports).

    Args:
        numbers: values as ``matrix`` returns them; null values are not counted.
        masks: number of options, by question index, of the questions whose values are bit masks.
        groups: group of each row, integers >= 0, shape (reports,); None for one group, 0.
    """
    if groups is None:
        groups = np.zeros(len(numbers), dtype=np.int64)
    if numbers.itemsize == 1:
        return _tallies_of_bytes(numbers, masks, groups)
    rows: list[Row] = []
    for group in np.unique(groups).tolist():
        for question, column in enumerate(np.ascontiguousarray(numbers[groups == group].T)):
            unanswered = is_null(column)
            counts = tally(column[~unanswered] if unanswered.any() else column, masks.get(question, 0))
            rows += [(group, question, value, number) for value, number in counts.items()]
    return _rows(rows)


def tally(values: np.ndarray, options: int = 0, times: np.ndarray | None = None) -> dict[int, int]:
    """Count the reports of one question by value, without zeros.

    For bit masks: by option index, and the number of reports under the key ``options``.

    Args:
        values: reported values, integers >= 0 of any numpy type, shape (n,).
        options: number of options if the values are bit masks, else 0.
        times: number of reports that each value represents, shape (n,), sum below 2^53; None for one each.
    """
    if not len(values):
        return {}
    if options:
        reports = len(values) if times is None else int(times.sum())
        return _supporting(_count_bits(values, options, times), options, reports)
    different, counts = distinct(values, times)
    return dict(zip(different.tolist(), counts.tolist(), strict=True))


def distinct(values: np.ndarray, times: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct values and their counts, each value weighted by ``times``; not for empty arrays."""
    if int(values.max()) >= max(_SPARSE * len(values), _FEW):
        different, places = np.unique(values, return_inverse=True)
        return different, _bincount(places, times)
    counts = _bincount(values.astype(np.int64, copy=False), times)
    # flatnonzero is five times faster on booleans than on integers.
    different = np.flatnonzero(counts > 0)
    return different, counts[different]


def _tallies_of_bytes(numbers: np.ndarray, masks: Mapping[int, int], groups: np.ndarray) -> np.ndarray:
    """Count all columns and groups by one bincount: fast for the usual group, few reports of many questions."""
    questions = numbers.shape[1]
    different, counts = distinct((numbers + _WIDTH * (np.arange(questions) + questions * groups[:, None])).ravel())
    places, values = np.divmod(different, _WIDTH)
    rows = np.empty((len(different), 4), dtype=np.int64)
    rows[:, 0], rows[:, 1] = np.divmod(places, questions)
    rows[:, 2], rows[:, 3] = values, counts
    rows = rows[values != _NULL]
    return _bit_by_bit(rows, masks) if masks else rows


def _bit_by_bit(rows: np.ndarray, masks: Mapping[int, int]) -> np.ndarray:
    """Replace each row of a bit mask by one row for each option that is set, and one for the number of reports."""
    counts: Counter[Row] = Counter()
    for group, question, value, number in rows.tolist():
        options = masks.get(question)
        bits = [value] if options is None else [*(bit for bit in range(options) if value >> bit & 1), options]
        for counted in bits:
            counts[group, question, counted] += number
    return _rows([(*key, number) for key, number in sorted(counts.items())])


def _rows(rows: list[Row]) -> np.ndarray:
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _bincount(places: np.ndarray, times: np.ndarray | None, least: int = 0) -> np.ndarray:
    # bincount adds weights as float64, which is exact for integer sums below 2^53.
    return np.bincount(places, times, least).astype(np.int64, copy=False)


def _count_bits(masks: np.ndarray, options: int, times: np.ndarray | None) -> np.ndarray:
    """Return how many masks have each bit set: the histogram of each byte, times the bits of each byte value."""
    lowest_first = masks.astype(masks.dtype.newbyteorder("<"), copy=False)
    octets = _octets(np.ascontiguousarray(lowest_first), len(masks))
    histograms = [_bincount(octets[:, place], times, _WIDTH) for place in range(min(octets.shape[1], -(-options // 8)))]
    return np.concatenate([histogram @ _BITS for histogram in histograms])


def _supporting(counts: np.ndarray, options: int, reports: int) -> dict[int, int]:
    supported = {option: count for option, count in enumerate(counts[:options].tolist()) if count}
    return {**supported, options: reports} if reports else {}


def is_null(numbers: np.ndarray) -> np.ndarray:
    """Return True where a value is null (the question was not answered)."""
    nulls: np.ndarray = numbers == null(numbers.itemsize)
    return nulls


def _octets(text: bytes | np.ndarray, rows: int) -> np.ndarray:
    """Return the bytes as a uint8 array of ``rows`` rows."""
    return np.frombuffer(text, dtype=np.uint8).reshape(rows, -1)


NO_COHORT = -1
"""Cohort of reports without a cohort, such as all reports of a survey without a cohort question."""


class Change(NamedTuple):
    """Numbers of reports that a group adds, as sorted rows of integers.

    Attributes:
        cells: rows (survey, wave, cohort, reports). Writers update them in this order, which prevents deadlocks.
        counts: rows (survey, wave, cohort, question, counted value, reports).
        batches: ``release_batch`` by survey key.
    """

    cells: list[Row]
    counts: list[Row]
    batches: dict[int, int]


def change(arrivals: Iterable[ReportBatch]) -> Change:
    """Return the changes of counts by these reports, all of them new."""
    cells: list[list[Row]] = []
    counts: list[list[Row]] = []
    batches: dict[int, int] = {}
    for arrival in arrivals:
        plan = arrival.plan
        batches.setdefault(plan.survey, plan.release_batch)
        if len(arrival) <= _SMALL and arrival.packed[0] == 1 and not plan.masks:
            of_cells, of_counts = _count_few(arrival)
        else:
            numbers = matrix(arrival.packed, len(arrival))
            cohorts = _cohorts(numbers, plan.cohort)
            of_cells = _prepend_place(arrival, np.stack(distinct(cohorts), axis=1))
            of_counts = _prepend_place(arrival, tallies(numbers, plan.masks, cohorts))
        cells.append(of_cells)
        counts.append(of_counts)
    return Change(_sum(cells), _sum(counts), batches)


def _count_few(arrival: ReportBatch) -> tuple[list[Row], list[Row]]:
    """Return the rows of ``change`` for few reports, their values of one byte and none of them a mask."""
    plan, by_cohort = arrival.plan, dict[int, list[bytes]]()
    for packed in cut(arrival.packed, arrival.size):
        value = _NULL if plan.cohort is None else packed[1 + plan.cohort]
        by_cohort.setdefault(NO_COHORT if value == _NULL else value, []).append(packed)
    cells, counts = list[Row](), list[Row]()
    for cohort, reports in sorted(by_cohort.items()):
        place, joined = (plan.survey, arrival.wave, cohort), b"".join(reports)
        cells.append((*place, len(reports)))
        for question in range(arrival.size - 1):
            column = joined[1 + question :: arrival.size]
            counts += [(*place, question, value, column.count(value)) for value in sorted({*column} - {_NULL})]
    return cells, counts


def _cohorts(numbers: np.ndarray, question: int | None) -> np.ndarray:
    """Return the cohort of each row minus ``NO_COHORT``, so that bincount can use it (no cohort is 0)."""
    if question is None:
        return np.zeros(len(numbers), dtype=np.int64)
    column = numbers[:, question]
    # Shifted by one, because bincount accepts no negative group.
    return np.where(is_null(column), 0, column.astype(np.int64) - NO_COHORT)


def _prepend_place(arrival: ReportBatch, rows: np.ndarray) -> list[Row]:
    """Prepend survey and wave to rows that begin with a shifted cohort, and shift the cohort back."""
    return [(arrival.plan.survey, arrival.wave, cohort + NO_COHORT, *rest) for cohort, *rest in rows.tolist()]


def _sum(blocks: Sequence[list[Row]]) -> list[Row]:
    """Sum rows with equal keys and sort them; a single block, the usual case, is sorted and unique already."""
    if len(blocks) == 1:
        return blocks[0]
    sums: Counter[Row] = Counter()
    for row in chain.from_iterable(blocks):
        sums[row[:-1]] += row[-1]
    # Sorted, since writers update counts in this order, which prevents deadlocks (decision 0013).
    return [(*key, number) for key, number in sorted(sums.items())]
