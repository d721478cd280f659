"""
Reports of one shape, put one after the other: stored by one statement, counted column by column.

Nearly always a group is one block: reports of one survey and wave whose values take the same room.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.storage.base import Arrival, Plan
from sottovoce.aggregator.storage.rows import null


class Block(NamedTuple):
    """
    Reports that differ in nothing but id and values.

    Attributes:
        report_ids: 16 bytes each.
        packed: their values, all of one length and width.
    """

    plan: Plan
    wave: int
    report_ids: list[bytes]
    packed: list[bytes]


def blocks(arrivals: Iterable[Arrival]) -> list[Block]:
    """The blocks of a group, each in the group's order."""
    found: dict[tuple[int, int, int, int], Block] = {}
    for plan, wave, report_id, packed, _ in arrivals:
        key = (plan.survey, wave, len(packed), packed[0])
        block = found.get(key)
        if block is None:
            block = found[key] = Block(plan, wave, [], [])
        block.report_ids.append(report_id)
        block.packed.append(packed)
    return list(found.values())


def matrix(packed: Sequence[bytes]) -> np.ndarray:
    """The values of reports of one length and width: a row for each report, a column for each question."""
    width = packed[0][0]
    octets = np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), -1)[:, 1:]
    return np.ascontiguousarray(octets).view(f">u{width}")


def frequencies(numbers: np.ndarray) -> list[dict[int, int]]:
    """For each column of such a matrix, how often each value occurs; what was not answered is left out."""
    return [_frequencies(column) for column in np.ascontiguousarray(numbers.T)]


def is_null(numbers: np.ndarray) -> np.ndarray:
    """Where nothing was answered."""
    found: np.ndarray = numbers == null(numbers.itemsize)
    return found


def _frequencies(column: np.ndarray) -> dict[int, int]:
    if column.itemsize == 1:
        found = np.bincount(column, minlength=256)[:-1]
        different = np.flatnonzero(found)
        return dict(zip(different.tolist(), found[different].tolist(), strict=True))
    different, found = np.unique(column[~is_null(column)], return_counts=True)
    return dict(zip(different.tolist(), found.tolist(), strict=True))
