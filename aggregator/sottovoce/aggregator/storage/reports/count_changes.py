"""How a group of reports changes the counts: added up per cell first, so that the database is told once per count."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.storage.models import ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import distinct, is_null, matrix, tallies

NO_COHORT = -1
"""The cohort under which reports are counted that belong to none: all those of a survey without cohorts."""


class Change(NamedTuple):
    """
    What a group adds: whole numbers, as rows with a number of reports at their end. Each report is in one cell.

    Attributes:
        cells: (survey, wave, cohort, reports), in their order: that is what keeps two writers from waiting for each
            other.
        counts: (survey, wave, cohort, question, counted value, reports), in their order.
        batches: ``release_batch`` by survey.
    """

    cells: np.ndarray
    counts: np.ndarray
    batches: dict[int, int]


def change(arrivals: Iterable[ReportBatch]) -> Change:
    """What these reports, all of them new, add to the counts."""
    cells: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    batches: dict[int, int] = {}
    for arrival in arrivals:
        plan = arrival.plan
        batches.setdefault(plan.survey, plan.release_batch)
        numbers = matrix(arrival.packed, len(arrival))
        cohorts = _cohorts(numbers, plan.cohort)
        cells.append(_placed(arrival, np.stack(distinct(cohorts), axis=1)))
        counts.append(_placed(arrival, tallies(numbers, plan.masks, cohorts)))
    return Change(_sum(cells), _sum(counts), batches)


def _cohorts(numbers: np.ndarray, question: int | None) -> np.ndarray:
    """The cohort of each row, counted from ``NO_COHORT``, which is 0."""
    if question is None:
        return np.zeros(len(numbers), dtype=np.int64)
    column = numbers[:, question]
    return np.where(is_null(column), 0, column.astype(np.int64) - NO_COHORT)


def _placed(arrival: ReportBatch, rows: np.ndarray) -> np.ndarray:
    """Rows that begin with a cohort so counted, with survey and wave before it."""
    placed = np.empty((len(rows), 2 + rows.shape[1]), dtype=np.int64)
    placed[:, 0], placed[:, 1], placed[:, 2:] = arrival.plan.survey, arrival.wave, rows
    placed[:, 2] += NO_COHORT
    return placed


def _sum(blocks: Sequence[np.ndarray]) -> np.ndarray:
    """One row for each key, in their order; mostly there is one block, and it is so already."""
    if len(blocks) == 1:
        return blocks[0]
    if not blocks:
        return np.empty((0, 1), dtype=np.int64)
    rows = np.concatenate(blocks)
    keys, places = np.unique(rows[:, :-1], axis=0, return_inverse=True)
    numbers = np.zeros(len(keys), dtype=np.int64)
    np.add.at(numbers, places.ravel(), rows[:, -1])
    return np.column_stack([keys, numbers])
