"""How many people stand alone in public answers: to be told before a file with them is written."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from sottovoce.aggregator.files.reports import Column, Reports
from sottovoce.aggregator.storage.columns import is_null
from sottovoce.shared.spec import Survey

MOST_COLUMNS = 12
"""Of more public questions only those with the most different answers are looked at together."""


def standing_alone(reports: Reports, survey: Survey) -> list[tuple[int, int]]:
    """
    For 1, 2 and 3 public questions known of a person, how many reports nobody else has the like of.

    Args:
        reports: with the public answers.
        survey: says which questions are public.

    Returns:
        (questions known, reports that are the only ones with their answers to some such questions).
    """
    columns = _public(reports, survey)
    found = []
    for known in range(1, min(3, len(columns)) + 1):
        alone = np.zeros(len(reports), dtype=bool)
        for chosen in combinations(columns, known):
            alone |= _alone(chosen)
        found.append((known, int(alone.sum())))
    return found


def in_words(reports: Reports, survey: Survey) -> list[str]:
    """The same in sentences."""
    return [
        f"Who knows {known} public answer{'s' * (known > 1)} of a person: {count:,} of {len(reports):,} people are the "
        f"only one with theirs, so that their whole report is found."
        for known, count in standing_alone(reports, survey)
    ]


def _public(reports: Reports, survey: Survey) -> list[Column]:
    columns = [reports.columns[q.name] for q in survey.questions if q.mechanism is None and q.name in reports.columns]
    answered = [column for column in columns if not is_null(column).all()]
    return sorted(answered, key=lambda column: -len(np.unique(column)))[:MOST_COLUMNS]


def _alone(columns: Sequence[Column]) -> np.ndarray:
    """Where a row's values in these columns are those of no other row."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        different, code = np.unique(column, return_inverse=True)
        # Made small again after each column, so that no product overflows.
        codes = np.unique(codes * len(different) + code, return_inverse=True)[1]
    _, code, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    alone: np.ndarray = sizes[code] == 1
    return alone
