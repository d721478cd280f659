"""Read the published counts of a survey; once single reports may be read, without people who were never asked.

Published counts are of each question by itself and do not tell who was asked. After the close the reports are counted
once more for this, as Tables count them, and the counts kept in memory as long as nothing else is published.

The reports of each random arm of a closed survey are counted, too. Published counts are kept by revision, wave and
cohort only; the arm is a public value of each report, so the reports are counted once more. As with cohorts, an arm
stands alone only if it has no reports or at least ``LEAST_COHORT`` in every (revision, wave); smaller arms are counted
together with the next larger one. Public answers of fewer people than that in an arm are left out: Tables count them in
larger groups. What only some arms are asked directly stays in at every count, since the form says that its counts are
shown to the researchers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.availability import LISTED, check_closed
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.estimates import LEAST_COHORT, RevisionCounts, Sizes, analyse, is_rare, merge_small
from sottovoce.aggregator.analysis.report_columns import Columns, place_in, read_columns
from sottovoce.aggregator.analysis.selection import asked_only
from sottovoce.aggregator.storage import Cell, Storage
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.reports.batch_columns import tally
from sottovoce.aggregator.surveys.lifecycle import released_questions, survey_of
from sottovoce.shared.arms.arms import ARM, is_arm
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey


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


CountedArm = tuple[str, tuple[RevisionCounts, ...]]
"""Name of an arm, or names of arms that are counted together, and the survey's revisions with its counts."""


def is_split(survey: Survey, question: Question) -> bool:
    """Return True if several arms ask this question, so that its results differ by arm."""
    if not survey.arms or is_arm(survey, question):
        return False
    return len(_asking(survey, question) or survey.arms) > 1


def is_direct(survey: Survey, question: Question) -> bool:
    """Return True for a question that only some arms are asked, and whose answers are sent as they are given."""
    return question.mechanism is None and 0 < len(_asking(survey, question)) < len(survey.arms)


def _asking(survey: Survey, question: Question) -> Sequence[str]:
    """Return the arms that ask a question; empty for all."""
    return next((item.arms for item in survey.items if question in item.questions), ())


def has_split(survey: Survey) -> bool:
    """Return True if several arms ask one of the questions."""
    return any(is_split(survey, question) for question in survey.questions)


def count_arms(columns: Columns) -> Document:
    """Count the reports of each arm, from all reports of a closed survey.

    Returns ``arms``: a list of the arms, each with ``names`` and ``cells``: revision (index), wave, reports and tallies
    by the question's index; and ``asked``, as ``RevisionCounts``. No arms if all together have too few people in a
    revision and wave.
    """
    arms = columns.values[ARM]
    strata = [(number, wave) for number in range(len(columns.revisions)) for wave in columns.waves]
    masks = {(number, wave): (columns.revision == number) & (columns.wave == wave) for number, wave in strata}
    sizes: dict[int, Sizes] = {
        arm: Counter({stratum: int((mask & (arms == arm)).sum()) for stratum, mask in masks.items()})
        for arm in range(len(columns.survey.arms))
    }
    groups = merge_small({arm: size for arm, size in sizes.items() if size.total()}, LEAST_COHORT)
    columns, asked = asked_only(columns, arms)
    counted: list[Document] = []
    for group in groups:
        inside = np.isin(arms, group)
        names = [columns.survey.arms[arm].name for arm in group]
        cells = [count_cell(columns.among(inside & masks[stratum]), *stratum) for stratum in strata]
        counted.append({"names": names, "cells": [cell for cell in cells if cell["reports"]]})
    _leave_out_rare(columns.revisions, [cell for arm in counted for cell in arm["cells"]])
    return {"arms": counted, "asked": sorted(asked)}


def _leave_out_rare(revisions: Sequence[Survey], cells: Sequence[Document]) -> None:
    """Remove the tallies of public questions with an answer of fewer than ``LEAST_COHORT`` people in an arm."""
    rare = {
        question.name
        for cell in cells
        for place, question in enumerate(revisions[cell["revision"]].questions)
        if question.mechanism is None
        and not is_direct(revisions[cell["revision"]], question)
        and is_rare(cell["tallies"].get(place, {}), cell["reports"])
    }
    for cell in cells:
        for place, question in enumerate(revisions[cell["revision"]].questions):
            if question.name in rare:
                cell["tallies"].pop(place, None)


def count_cell(columns: Columns, revision: int, wave: int) -> dict[str, Any]:
    """Count the reports of one revision (index) and wave: their number, and tallies by the question's index."""
    survey, tallies = columns.revisions[revision], dict[int, Mapping[int, int]]()
    for question in columns.survey.questions:
        place = place_in(survey, question)
        if place is not None:
            asked = columns.values[question.name][columns.asked(question.name)]
            tallies[place] = tally(asked, survey.masks.get(place, 0))
    return {"revision": revision, "wave": wave, "reports": len(columns), "tallies": tallies}


def arms_of(revisions: Sequence[RevisionCounts], counted: Document) -> tuple[CountedArm, ...]:
    """Return the revisions with the counts of each arm, from ``count_arms``; empty if there is one group only."""
    asked, found = frozenset(counted["asked"]), []
    for arm in counted["arms"]:
        own = (replace(each, cells=_cells(arm, at), asked=asked) for at, each in enumerate(revisions))
        found.append((LISTED.join(arm["names"]), tuple(own)))
    return tuple(found) if len(found) > 1 else ()


def read_arms(storage: Storage, revisions: Sequence[RevisionCounts], now: datetime) -> tuple[CountedArm, ...]:
    """Count the arms of a survey in a database; empty if it is open, or has no results by arm."""
    stored, newest = [each.stored for each in revisions], revisions[-1]
    if not has_split(newest.survey) or ARM in newest.withheld:
        return ()
    try:
        check_closed(storage, stored, None, now)
    except EstimateError:
        return ()
    return arms_of(revisions, count_arms(read_columns(storage, stored)))


def _cells(arm: Document, revision: int) -> tuple[Cell, ...]:
    cells = [cell for cell in arm["cells"] if cell["revision"] == revision]
    return tuple(Cell(cell["wave"], ALL, cell["reports"], 0, cell["tallies"]) for cell in cells)
