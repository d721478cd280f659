"""How a group of reports changes the counts: added up per cell first, so that the database is told once per count."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from sottovoce.aggregator.storage.base import ALL, Arrival, Plan
from sottovoce.aggregator.storage.rows import Values

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
    plans: dict[int, Plan] = {}
    for (survey, wave, cohort), (plan, reports) in _by_cell(arrivals).items():
        plans.setdefault(survey, plan)
        keys = [(survey, wave, ALL)] if cohort is None else [(survey, wave, ALL), (survey, wave, cohort)]
        for cell in keys:
            cells[cell] += len(reports)
        for question, column in enumerate(_columns(reports)):
            for value, number in column.items():
                for counted in () if value is None else plan.counted(question, value):
                    for cell in keys:
                        counts[*cell, question, counted] += number
    batches = {survey: plan.release_batch for survey, plan in plans.items()}
    return Change(sorted(cells.items()), sorted(counts.items()), batches)


def _columns(reports: list[Values]) -> list[Counter[int | None]]:
    """How often each value was reported, for each question."""
    # One pass down each column: Counter counts a column of a thousand values in some 30 microseconds.
    return [Counter(column) for column in zip(*reports, strict=True)]


def _by_cell(arrivals: Iterable[Arrival]) -> dict[tuple[int, int, int | None], tuple[Plan, list[Values]]]:
    groups: dict[tuple[int, int, int | None], tuple[Plan, list[Values]]] = {}
    for plan, wave, _, values, _ in arrivals:
        cohort = None if plan.cohort is None else values[plan.cohort]
        key = (plan.survey, wave, cohort)
        found = groups.get(key)
        if found is None:
            found = groups[key] = (plan, [])
        found[1].append(values)
    return groups
