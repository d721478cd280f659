"""How a group of reports changes the counts: added up per cell first, so that the database is told once per count."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.storage.base import ALL, Arrival
from sottovoce.aggregator.storage.columns import frequencies, is_null, matrix

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
        for cohort, numbers in _by_cohort(matrix(arrival.packed, len(arrival)), plan.cohort):
            keys = sorted({(plan.survey, wave, ALL), (plan.survey, wave, cohort)})
            for cell in keys:
                cells[cell] += len(numbers)
            for question, column in enumerate(frequencies(numbers)):
                for value, number in column.items():
                    for counted in plan.counted(question, value):
                        for cell in keys:
                            counts[*cell, question, counted] += number
    return Change(sorted(cells.items()), sorted(counts.items()), batches)


def _by_cohort(numbers: np.ndarray, question: int | None) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each cohort; those of no cohort under ``ALL``."""
    if question is None:
        yield ALL, numbers
        return
    column = numbers[:, question]
    for value in np.unique(column):
        yield ALL if is_null(value) else int(value), numbers[column == value]
