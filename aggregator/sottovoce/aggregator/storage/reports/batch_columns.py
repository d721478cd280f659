"""
Reports of one shape as columns: stored by one statement, counted question by question.

Nearly always a whole group has one shape: one survey and wave, and values that take the same room.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from sottovoce.aggregator.storage.models import ID, ReportBatch
from sottovoce.aggregator.storage.pack_values import null

_WIDTH = 256
"""Different values of one byte."""
_NULL = null(1)
_BITS = np.arange(_WIDTH)[:, None] >> np.arange(8) & 1
"""The bits of each byte, lowest first."""
_SPARSE = 4
"""Values that reach no higher than so many times their number are counted by place, others sorted."""
_FEW = 1 << 15
"""But up to here by place, however few they are: to sort costs more."""


def merge(arrivals: Iterable[ReportBatch]) -> list[ReportBatch]:
    """
    One arrival for each shape, its reports in the order of their ids: nothing is written in the order of arrival.

    The shapes come in an order of their own, so that two nodes with the same reports take them in the same order.
    """
    found: dict[tuple[int, ...], list[ReportBatch]] = {}
    for arrival in arrivals:
        shape = (arrival.plan.survey, arrival.wave, arrival.size, arrival.packed[0], len(arrival.tokens) > 0)
        found.setdefault(shape, []).append(arrival)
    return [_merged(found[shape]) for shape in sorted(found)]


def _merged(alike: list[ReportBatch]) -> ReportBatch:
    ids = b"".join([arrival.report_ids for arrival in alike])
    packed = b"".join([arrival.packed for arrival in alike])
    tokens = [token for arrival in alike for token in arrival.tokens]
    # The first half of a random id is order enough.
    order = np.argsort(np.frombuffer(ids, dtype=">u8")[::2].astype(np.uint64))
    return ReportBatch(
        alike[0].plan,
        alike[0].wave,
        _octets(ids, len(order))[order].tobytes(),
        _octets(packed, len(order))[order].tobytes(),
        tuple([tokens[index] for index in order.tolist()] if tokens else []),
    )


def split(arrivals: Iterable[ReportBatch]) -> Iterator[ReportBatch]:
    """The reports one by one."""
    for arrival in arrivals:
        ids, packed = cut(arrival.report_ids, ID), cut(arrival.packed, arrival.size)
        for index, report_id in enumerate(ids):
            tokens = arrival.tokens[index : index + 1]
            yield ReportBatch(arrival.plan, arrival.wave, report_id, packed[index], tokens)


def report_ids(arrivals: Iterable[ReportBatch]) -> list[tuple[int, bytes]]:
    """(survey, id) of every report."""
    return [(arrival.plan.survey, each) for arrival in arrivals for each in cut(arrival.report_ids, ID)]


def cut(text: bytes, size: int) -> list[bytes]:
    """Its parts of one size."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def count(arrivals: Sequence[ReportBatch]) -> int:
    """How many reports there are."""
    return sum(map(len, arrivals))


def matrix(packed: bytes, reports: int) -> np.ndarray:
    """Values of one length and width, one report after the other: a row for each report, a column for each question."""
    return np.ascontiguousarray(_octets(packed, reports)[:, 1:]).view(f">u{packed[0]}")


def tallies(numbers: np.ndarray, masks: Mapping[int, int], groups: np.ndarray | None = None) -> np.ndarray:
    """
    What such a matrix adds to the counts, as rows (group, question, counted value, how often), in their order.

    Args:
        numbers: values as ``matrix`` gives them; what was not answered is not counted.
        masks: the number of options of each question, by its index, whose values are bit masks over them.
        groups: number of the group of each row, whole numbers >= 0; without, all are of group 0.
    """
    if groups is None:
        groups = np.zeros(len(numbers), dtype=np.int64)
    if numbers.itemsize == 1:
        return _tallies_of_bytes(numbers, masks, groups)
    rows: list[tuple[int, ...]] = []
    for group in np.unique(groups).tolist():
        for question, column in enumerate(np.ascontiguousarray(numbers[groups == group].T)):
            unanswered = is_null(column)
            answered = column[~unanswered] if unanswered.any() else column
            found = tally(answered, masks.get(question, 0))
            rows += [(group, question, value, number) for value, number in found.items()]
    return _rows(rows)


def tally(values: np.ndarray, options: int = 0, times: np.ndarray | None = None) -> dict[int, int]:
    """
    Of one question, how many reports are counted under each value.

    Args:
        values: reported values, whole numbers >= 0 of any type, shape (n,).
        options: if they are bit masks, over how many options.
        times: how many reports each of them stands for, shape (n,), fewer than 2^53 in all; one without.

    Returns:
        Counts above 0 by value; of bit masks, by the index of each option, and under ``options`` that of all.
    """
    if not len(values):
        return {}
    if options:
        reports = len(values) if times is None else int(times.sum())
        return _supporting(_count_bits(values, options, times), options, reports)
    different, found = distinct(values, times)
    return dict(zip(different.tolist(), found.tolist(), strict=True))


def distinct(values: np.ndarray, times: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Which values there are, in their order, and how often; there must be some. Each is there ``times`` times."""
    if int(values.max()) >= max(_SPARSE * len(values), _FEW):
        different, places = np.unique(values, return_inverse=True)
        return different, _bincount(places, times)
    found = _bincount(values.astype(np.int64, copy=False), times)
    # Of truth values numpy finds those that are set five times faster than of numbers.
    different = np.flatnonzero(found > 0)
    return different, found[different]


def _tallies_of_bytes(numbers: np.ndarray, masks: Mapping[int, int], groups: np.ndarray) -> np.ndarray:
    """All columns and groups in one go, and no loop over the counts: mostly it is a few reports of many questions."""
    questions = numbers.shape[1]
    keys = numbers + _WIDTH * (np.arange(questions) + questions * groups[:, None])
    different, found = distinct(keys.ravel())
    places, values = np.divmod(different, _WIDTH)
    rows = np.empty((len(different), 4), dtype=np.int64)
    rows[:, 0], rows[:, 1] = np.divmod(places, questions)
    rows[:, 2], rows[:, 3] = values, found
    rows = rows[values != _NULL]
    return _bit_by_bit(rows, masks) if masks else rows


def _bit_by_bit(rows: np.ndarray, masks: Mapping[int, int]) -> np.ndarray:
    """The same rows, with those of bit masks replaced by one for each option, and one for all."""
    counts: Counter[tuple[int, ...]] = Counter()
    for group, question, value, number in rows.tolist():
        options = masks.get(question)
        bits = [value] if options is None else [*(bit for bit in range(options) if value >> bit & 1), options]
        for counted in bits:
            counts[group, question, counted] += number
    return _rows([(*key, number) for key, number in sorted(counts.items())])


def _rows(rows: list[tuple[int, ...]]) -> np.ndarray:
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _bincount(places: np.ndarray, times: np.ndarray | None, least: int = 0) -> np.ndarray:
    # Sums of whole numbers below 2^53 are exact in the floating point in which numpy adds weights.
    return np.bincount(places, times, least).astype(np.int64, copy=False)


def _count_bits(masks: np.ndarray, options: int, times: np.ndarray | None) -> np.ndarray:
    """How many masks have each bit set: each byte's histogram, times the bits of each byte."""
    lowest_first = masks.astype(masks.dtype.newbyteorder("<"), copy=False)
    octets = _octets(np.ascontiguousarray(lowest_first), len(masks))
    places = min(octets.shape[1], -(-options // 8))
    histograms = [_bincount(octets[:, place], times, _WIDTH) for place in range(places)]
    counts: np.ndarray = np.concatenate([histogram @ _BITS for histogram in histograms])
    return counts


def _supporting(counts: np.ndarray, options: int, reports: int) -> dict[int, int]:
    supported = {option: count for option, count in enumerate(counts[:options].tolist()) if count}
    return {**supported, options: reports} if reports else {}


def is_null(numbers: np.ndarray) -> np.ndarray:
    """Where nothing was answered."""
    found: np.ndarray = numbers == null(numbers.itemsize)
    return found


def _octets(text: bytes | np.ndarray, rows: int) -> np.ndarray:
    """Its bytes, so many rows of them."""
    return np.frombuffer(text, dtype=np.uint8).reshape(rows, -1)
