"""Read the published counts of a survey; once single reports may be read, without people who were never asked.

Published counts are of each question by itself and do not tell who was asked. After the close the reports are counted
once more for this, as Tables count them, and the counts kept in memory as long as nothing else is published.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

import numpy as np
from sottovoce.aggregator.analysis.arm_results import count_cell
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.report_columns import read_columns
from sottovoce.aggregator.analysis.selection import asked_only
from sottovoce.aggregator.storage import Cell, Storage
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.surveys.lifecycle import released_questions, survey_of
from sottovoce.shared.errors import EstimateError


def revisions_of(storage: Storage, name: str) -> Sequence[RevisionCounts]:
    """Return all revisions of a survey, oldest first; empty if there is no such survey.

    Once joint results exist, people whom public answers show were never asked are left out of a question's counts.
    """
    revisions = published(storage, name)
    if any(each.survey.conditional for each in revisions):
        try:
            # The time only matters for a single wave.
            check_closed(storage, [each.stored for each in revisions], None, datetime.min)
        except EstimateError:
            return revisions
        return _of_asked(storage, name, repr(revisions))
    return revisions


def published(storage: Storage, name: str) -> list[RevisionCounts]:
    """Return all revisions of a survey as published, oldest first; empty if there is no such survey."""
    released = storage.releases.has_any(name)
    stored = storage.revisions(name)
    surveys = [survey_of(each.document) for each in stored]
    withheld = released_questions(surveys) if released else frozenset()
    return [
        RevisionCounts(each, survey, tuple(storage.cells(each.key)), released, withheld)
        for each, survey in zip(stored, surveys, strict=True)
    ]


def snapshot_of(revisions: Sequence[RevisionCounts]) -> str:
    """Identify the snapshot that a survey shows: the number of complete batches in it, or "closed".

    The number of reports or a digest of the results would leak: a reader of the audit log may have no right to read
    results, and could find small counts behind a digest by trial.
    """
    last = revisions[-1]
    if last.stored.closed:
        return "closed"
    shown = sum(cell.reports for revision in revisions for cell in revision.cells if cell.cohort == ALL)
    return str(shown // last.survey.release_batch)


@lru_cache(maxsize=16)
def _of_asked(storage: Storage, name: str, _shown: str) -> Sequence[RevisionCounts]:
    """Return the revisions without people who were never asked; ``_shown`` tells two states of a survey apart."""
    revisions = published(storage, name)
    newest, read = revisions[-1], read_columns(storage, [each.stored for each in revisions])
    if len(read) != sum(cell.reports for each in revisions for cell in each.cells if cell.cohort == ALL):
        # Of a test run, which is open, the last reports are published later.
        return revisions
    read, cohort = replace(read, withheld=newest.withheld), np.full(len(read), ALL)
    parts = np.zeros(len(read), np.int64)
    if newest.survey.cohort is not None:
        question = newest.survey.questions[newest.survey.cohort]
        cohort = read.values[question.name]
        for number, group in enumerate(analyse(revisions).cohorts, 1):
            parts[np.isin(cohort, [question.options.index(each) for each in group.options])] = number
    (whole, asked), (by_cohort, in_cohorts) = asked_only(read), asked_only(read, parts)

    def counted(number: int, cell: Cell) -> Cell:
        columns = whole if cell.cohort == ALL else by_cohort
        inside = (read.revision == number) & (read.wave == cell.wave) & ((cell.cohort == ALL) | (cohort == cell.cohort))
        found = count_cell(columns.among(inside), number, cell.wave)
        return replace(cell, tallies={**cell.tallies, **found["tallies"]})

    cells = [tuple(counted(number, cell) for cell in each.cells) for number, each in enumerate(revisions)]
    found = (replace(each, asked=asked, asked_in_cohorts=in_cohorts) for each in revisions)
    return [replace(each, cells=own) for each, own in zip(found, cells, strict=True)]


def forget_counts() -> None:
    """Forget all counts that are kept, because a survey was deleted."""
    _of_asked.cache_clear()
