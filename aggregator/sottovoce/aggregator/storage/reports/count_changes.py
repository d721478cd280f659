"""Sum changes of counts by a group of reports in memory, so that the database updates each count once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.storage.models import ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import distinct, is_null, matrix, tallies

NO_COHORT = -1
"""Cohort of reports without a cohort, such as all reports of a survey without a cohort question."""


class Change(NamedTuple):
    """Numbers of reports that a group adds, as sorted rows of integers.

    Attributes:
        cells: rows (survey, wave, cohort, reports). Writers update them in this order, which prevents deadlocks.
        counts: rows (survey, wave, cohort, question, counted value, reports).
        batches: ``release_batch`` by survey key.
    """

    cells: np.ndarray
    counts: np.ndarray
    batches: dict[int, int]


def change(arrivals: Iterable[ReportBatch]) -> Change:
    """Return the changes of counts by these reports, all of them new."""
    cells: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    batches: dict[int, int] = {}
    for arrival in arrivals:
        plan = arrival.plan
        batches.setdefault(plan.survey, plan.release_batch)
        numbers = matrix(arrival.packed, len(arrival))
        cohorts = _cohorts(numbers, plan.cohort)
        cells.append(_prepend_place(arrival, np.stack(distinct(cohorts), axis=1)))
        counts.append(_prepend_place(arrival, tallies(numbers, plan.masks, cohorts)))
    return Change(_sum(cells), _sum(counts), batches)


def _cohorts(numbers: np.ndarray, question: int | None) -> np.ndarray:
    """Return the cohort of each row minus ``NO_COHORT``, so that bincount can use it (no cohort is 0)."""
    if question is None:
        return np.zeros(len(numbers), dtype=np.int64)
    column = numbers[:, question]
    # Shifted by one, because bincount accepts no negative group.
    return np.where(is_null(column), 0, column.astype(np.int64) - NO_COHORT)


def _prepend_place(arrival: ReportBatch, rows: np.ndarray) -> np.ndarray:
    """Prepend survey and wave to rows that begin with a shifted cohort, and shift the cohort back."""
    placed = np.empty((len(rows), 2 + rows.shape[1]), dtype=np.int64)
    placed[:, 0], placed[:, 1], placed[:, 2:] = arrival.plan.survey, arrival.wave, rows
    placed[:, 2] += NO_COHORT
    return placed


def _sum(blocks: Sequence[np.ndarray]) -> np.ndarray:
    """Sum rows with equal keys and sort them; a single block, the usual case, is sorted and unique already."""
    if len(blocks) == 1:
        return blocks[0]
    if not blocks:
        return np.empty((0, 1), dtype=np.int64)
    rows = np.concatenate(blocks)
    # ``unique`` sorts, and writers update counts in this order, which prevents deadlocks (decision 0013).
    keys, places = np.unique(rows[:, :-1], axis=0, return_inverse=True)
    numbers = np.zeros(len(keys), dtype=np.int64)
    # ``add.at`` and not ``numbers[places] +=``, which would count a repeated key once.
    np.add.at(numbers, places.ravel(), rows[:, -1])
    return np.column_stack([keys, numbers])
