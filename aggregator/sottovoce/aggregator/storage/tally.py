"""How a group of reports changes the counts: added up per cell first, so that the database is told once per count."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.storage.base import ALL, Arrival
from sottovoce.aggregator.storage.columns import is_null, matrix, tallies

CellKey = tuple[int, int, int]
"""(survey, wave, cohort)."""

CountKey = tuple[int, int, int, int, int]
"""(survey, wave, cohort, question, counted value)."""


class Change(NamedTuple):
    """
    What a group adds.

    Attributes:
        cells: reports by cell, in key order: a fixed order is what keeps two writers from waiting for each other.
        counts: reports by count, in key order.
        batches: ``release_batch`` by survey.
    """

    cells: list[tuple[CellKey, int]]
    counts: list[tuple[CountKey, int]]
    batches: dict[int, int]


def change(arrivals: Iterable[Arrival]) -> Change:
    """What these reports, all of them new, add to the counts."""
    cells: Counter[CellKey] = Counter()
    counts: Counter[CountKey] = Counter()
    batches: dict[int, int] = {}
    for arrival in arrivals:
        plan, wave = arrival.plan, arrival.wave
        batches.setdefault(plan.survey, plan.release_batch)
        for cohort, numbers in _cohorts(matrix(arrival.packed, len(arrival)), plan.cohort):
            cells[plan.survey, wave, cohort] += len(numbers)
            for question, counted, number in tallies(numbers, plan.masks):
                counts[plan.survey, wave, cohort, question, counted] += number
    return Change(sorted(cells.items()), sorted(counts.items()), batches)


def _cohorts(numbers: np.ndarray, question: int | None) -> Iterator[tuple[int, np.ndarray]]:
    """All rows, and again those of each cohort."""
    yield ALL, numbers
    if question is not None:
        column = numbers[:, question]
        for cohort in sorted(set(column[~is_null(column)].tolist())):
            yield cohort, numbers[column == cohort]
