"""
Reports of one shape as columns: stored by one statement, counted question by question.

Nearly always a whole group has one shape: one survey and wave, and values that take the same room.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import numpy as np
from sottovoce.aggregator.storage.base import ID, Arrival
from sottovoce.aggregator.storage.rows import null

_WIDTH = 256
"""Different values of one byte."""
_NULL = null(1)


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


def frequencies(numbers: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(question, value, how often) for every value that occurs in such a matrix; what was not answered is left out."""
    if numbers.itemsize == 1:
        # All columns in one go: a group is mostly a few reports of many questions.
        questions = numbers.shape[1]
        found = np.bincount((numbers + _WIDTH * np.arange(questions)).ravel(), minlength=_WIDTH * questions)
        present = np.flatnonzero(found)
        for cell, number in zip(present.tolist(), found[present].tolist(), strict=True):
            question, value = divmod(cell, _WIDTH)
            if value != _NULL:
                yield question, value, number
        return
    for question, column in enumerate(np.ascontiguousarray(numbers.T)):
        different, found = np.unique(column[~is_null(column)], return_counts=True)
        yield from zip(repeat(question), different.tolist(), found.tolist())


def is_null(numbers: np.ndarray) -> np.ndarray:
    """Where nothing was answered."""
    found: np.ndarray = numbers == null(numbers.itemsize)
    return found


def _octets(text: bytes, rows: int) -> np.ndarray:
    return np.frombuffer(text, dtype=np.uint8).reshape(rows, -1)
