"""
Reports of one shape as columns: stored by one statement, counted question by question.

Nearly always a whole group has one shape: one survey and wave, and values that take the same room.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from sottovoce.aggregator.storage.base import ID, Arrival
from sottovoce.aggregator.storage.rows import null

_WIDTH = 256
"""Different values of one byte."""
_NULL = null(1)
_BITS = np.arange(_WIDTH)[:, None] >> np.arange(8) & 1
"""The bits of each byte, lowest first."""
_SPARSE = 4
"""Values that reach no higher than so many times their number are counted by place, others sorted."""


def merge(arrivals: Iterable[Arrival]) -> list[Arrival]:
    """
    One arrival for each shape, its reports in the order of their ids: nothing is written in the order of arrival.

    The shapes come in an order of their own, so that two nodes with the same reports take them in the same order.
    """
    found: dict[tuple[int, ...], list[Arrival]] = {}
    for arrival in arrivals:
        shape = (arrival.plan.survey, arrival.wave, arrival.size, arrival.packed[0], len(arrival.tokens) > 0)
        found.setdefault(shape, []).append(arrival)
    return [_merged(found[shape]) for shape in sorted(found)]


def _merged(alike: list[Arrival]) -> Arrival:
    ids = b"".join([arrival.report_ids for arrival in alike])
    packed = b"".join([arrival.packed for arrival in alike])
    tokens = [token for arrival in alike for token in arrival.tokens]
    # The first half of a random id is order enough.
    order = np.argsort(np.frombuffer(ids, dtype=">u8")[::2].astype(np.uint64))
    return Arrival(
        alike[0].plan,
        alike[0].wave,
        _octets(ids, len(order))[order].tobytes(),
        _octets(packed, len(order))[order].tobytes(),
        tuple([tokens[index] for index in order.tolist()] if tokens else []),
    )


def split(arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
    """The reports one by one."""
    for arrival in arrivals:
        ids, packed = cut(arrival.report_ids, ID), cut(arrival.packed, arrival.size)
        for index, report_id in enumerate(ids):
            tokens = arrival.tokens[index : index + 1]
            yield Arrival(arrival.plan, arrival.wave, report_id, packed[index], tokens)


def report_ids(arrivals: Iterable[Arrival]) -> list[tuple[int, bytes]]:
    """(survey, id) of every report."""
    return [(arrival.plan.survey, each) for arrival in arrivals for each in cut(arrival.report_ids, ID)]


def cut(text: bytes, size: int) -> list[bytes]:
    """Its parts of one size."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def count(arrivals: Sequence[Arrival]) -> int:
    """How many reports there are."""
    return sum(map(len, arrivals))


def matrix(packed: bytes, reports: int) -> np.ndarray:
    """Values of one length and width, one report after the other: a row for each report, a column for each question."""
    return np.ascontiguousarray(_octets(packed, reports)[:, 1:]).view(f">u{packed[0]}")


def tallies(numbers: np.ndarray, masks: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    """
    What such a matrix adds to the counts: (question, counted value, how often); what was not answered is left out.

    Args:
        numbers: values as ``matrix`` gives them.
        masks: the number of options of each question, by its index, whose values are bit masks over them.
    """
    if numbers.itemsize == 1:
        yield from _tallies_of_bytes(numbers, masks)
        return
    for question, column in enumerate(np.ascontiguousarray(numbers.T)):
        unanswered = is_null(column)
        answered = column[~unanswered] if unanswered.any() else column
        yield from _told(question, tally(answered, masks.get(question, 0)))


def tally(values: np.ndarray, options: int = 0) -> dict[int, int]:
    """
    Of one question, how many reports are counted under each value.

    Args:
        values: reported values, whole numbers >= 0 of any type, shape (n,).
        options: if they are bit masks, over how many options.

    Returns:
        Counts above 0 by value; of bit masks, by the index of each option, and under ``options`` that of all.
    """
    if not len(values):
        return {}
    if options:
        return _supporting(_count_bits(values, options), options, len(values))
    if int(values.max()) < _SPARSE * len(values):
        found = np.bincount(values.astype(np.int64, copy=False))
        different = np.flatnonzero(found)
        found = found[different]
    else:
        different, found = np.unique(values, return_counts=True)
    return dict(zip(different.tolist(), found.tolist(), strict=True))


def _tallies_of_bytes(numbers: np.ndarray, masks: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    """All columns in one go: a group is mostly a few reports of many questions."""
    questions = numbers.shape[1]
    every = np.bincount((numbers + _WIDTH * np.arange(questions)).ravel(), minlength=_WIDTH * questions)
    found = every.reshape(questions, _WIDTH)
    found[:, _NULL] = 0
    for question, options in masks.items():
        yield from _told(question, _supporting(found[question] @ _BITS, options, int(found[question].sum())))
        found[question] = 0
    present = np.nonzero(found)
    yield from zip(*(each.tolist() for each in (*present, found[present])), strict=True)


def _count_bits(masks: np.ndarray, options: int) -> np.ndarray:
    """How many masks have each bit set: each byte's histogram, times the bits of each byte."""
    lowest_first = masks.astype(masks.dtype.newbyteorder("<"), copy=False)
    octets = _octets(np.ascontiguousarray(lowest_first), len(masks))
    places = min(octets.shape[1], -(-options // 8))
    histograms = [np.bincount(octets[:, place], minlength=_WIDTH) for place in range(places)]
    counts: np.ndarray = np.concatenate([histogram @ _BITS for histogram in histograms])
    return counts


def _supporting(counts: np.ndarray, options: int, reports: int) -> dict[int, int]:
    supported = {option: count for option, count in enumerate(counts[:options].tolist()) if count}
    return {**supported, options: reports} if reports else {}


def _told(question: int, found: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    return ((question, value, number) for value, number in found.items())


def is_null(numbers: np.ndarray) -> np.ndarray:
    """Where nothing was answered."""
    found: np.ndarray = numbers == null(numbers.itemsize)
    return found


def _octets(text: bytes | np.ndarray, rows: int) -> np.ndarray:
    """Its bytes, so many rows of them."""
    return np.frombuffer(text, dtype=np.uint8).reshape(rows, -1)
