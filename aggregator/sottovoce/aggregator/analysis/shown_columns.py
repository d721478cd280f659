"""
The reports of a survey as columns: without ids, in no order that tells anything, public answers only where asked for.

Order       Rows lie in the database in the order of their ids, and whoever knows an id, as its device does, could tell
            about where its report stands among n. So rows are put in an order drawn anew for every file.
Cohort      Public, and nothing shields it. A cohort is named where it stands alone in the results as well, and only if
            each revision and wave has no report of it or five; the others are left empty, as one group.
Revisions   The columns are the newest revision's questions. A report of an earlier one has a value where it was asked
            the same; its mechanism may be another one, so that the revision stands beside it.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import LEAST_COHORT, RevisionCounts, analyse, same_question
from sottovoce.aggregator.storage.pack_values import LETTERS, null
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.storage.reports.batch_columns import is_null, matrix
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

Column = NDArray[np.unsignedinteger]
"""Reported values; all bits set stand for none, as in the database."""


@dataclass(frozen=True)
class ReportColumns:
    """
    Reports as columns of one length.

    Attributes:
        columns: by the question's name, in the survey's order.
        wave: of each report, from 0.
        revision: of each report.
    """

    columns: Mapping[str, Column]
    wave: Column
    revision: Column

    def __len__(self) -> int:
        """How many reports there are."""
        return len(self.wave)

    def taken(self, rows: NDArray[np.intp]) -> "ReportColumns":
        """These rows, in this order."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        return ReportColumns(columns, self.wave[rows], self.revision[rows])


def read_reports(
    storage: ReadableReports, revisions: Sequence[RevisionCounts], wave: int | None = None, public: bool = False
) -> ReportColumns:
    """
    All reports of a survey, in an order drawn anew; whether they may be read is for ``check_closed`` to say.

    Args:
        storage: the database.
        revisions: all of the survey, oldest first, with their cells.
        wave: only this one; None for all.
        public: with the answers to public questions as they were given; else with the cohort alone, coarsened.

    Raises:
        EstimateError: there are none.
    """
    newest = revisions[-1].survey
    questions = questions_in(newest, public)
    blocks = [block for each in revisions for block in blocks_of(storage, each, questions, revisions, wave)]
    if not blocks:
        raise EstimateError("there are no reports yet")
    found = ReportColumns(
        {q.name: np.concatenate([block.columns[q.name] for block in blocks]) for q in questions},
        np.concatenate([block.wave for block in blocks]),
        np.concatenate([block.revision for block in blocks]),
    )
    if not public and newest.cohort is not None:
        found = _coarsened(found, newest.questions[newest.cohort], revisions)
    return found.taken(random_order(len(found)))


def questions_in(survey: Survey, public: bool) -> list[Question]:
    """The questions that files of reports have: the private ones and the cohort, or with all public ones."""
    return [q for q in survey.questions if public or q.mechanism is not None or q.cohort]


def random_order(count: int, read: Callable[[int], bytes] = os.urandom) -> NDArray[np.intp]:
    """A permutation of so many rows, each as likely as the others."""
    return np.argsort(np.frombuffer(read(8 * count), dtype=np.uint64), kind="stable")


def column_type(question: Question, asked: Sequence[Question]) -> np.dtype[np.unsignedinteger]:
    """The narrowest type for a question's reports, over all revisions, that leaves a number for "not asked"."""
    largest = max(each.largest for each in asked if each.name == question.name)
    return np.dtype(f"u{next(width for width in LETTERS if largest < null(width))}")


def blocks_of(
    storage: ReadableReports,
    revision: RevisionCounts,
    questions: Sequence[Question],
    revisions: Sequence[RevisionCounts],
    wave: int | None = None,
) -> Iterator[ReportColumns]:
    """
    The reports of one revision as they are stored, cohorts and all, many at a time; each block is of one wave.

    Args:
        storage: the database.
        revision: whose reports.
        questions: of the newest revision, the columns.
        revisions: all of the survey, which decide how wide a column is.
        wave: only this one; None for all.
    """
    asked = [question for each in revisions for question in each.survey.questions]
    places = {q.name: (place_in(revision.survey, q), column_type(q, asked)) for q in questions}
    for chunk in storage.packed_by_wave(revision.stored.key):
        for (number, _), rows in _alike(chunk).items():
            if wave in {None, number}:
                yield _block(matrix(b"".join(rows), len(rows)), places, number, revision.survey.revision)


def place_in(survey: Survey, question: Question) -> int | None:
    """Where a revision asks this question, if it does."""
    return next((index for index, each in enumerate(survey.questions) if same_question(each, question)), None)


def _alike(chunk: Sequence[tuple[int, bytes]]) -> dict[tuple[int, int], list[bytes]]:
    """Rows of one wave and width."""
    rows = [packed for _, packed in chunk]
    waves, widths = {wave for wave, _ in chunk}, {packed[0] for packed in rows}
    if len(waves) == len(widths) == 1:
        # Mostly all rows are alike, and are not handed over one by one.
        return {(waves.pop(), widths.pop()): rows}
    found: dict[tuple[int, int], list[bytes]] = {}
    for wave, packed in chunk:
        found.setdefault((wave, packed[0]), []).append(packed)
    return found


def _block(
    numbers: np.ndarray, places: Mapping[str, tuple[int | None, np.dtype[np.unsignedinteger]]], wave: int, revision: int
) -> ReportColumns:
    count = len(numbers)
    columns = {name: _column(numbers, place, kind) for name, (place, kind) in places.items()}
    return ReportColumns(columns, np.full(count, wave, np.uint16), np.full(count, revision, np.uint32))


def _column(numbers: np.ndarray, place: int | None, kind: np.dtype[np.unsignedinteger]) -> Column:
    missing = null(kind.itemsize)
    if place is None:
        return np.full(len(numbers), missing, kind)
    values = numbers[:, place]
    return np.where(is_null(values), missing, values).astype(kind)


def _coarsened(reports: ReportColumns, cohort: Question, revisions: Sequence[RevisionCounts]) -> ReportColumns:
    """The cohort only where it is one of those that results name, and nowhere that it would be a handful of people."""
    values = reports.columns[cohort.name].copy()
    missing, alone = null(values.itemsize), standing_alone(cohort, revisions)
    strata = reports.revision.astype(np.int64) << 16 | reports.wave
    for stratum in np.unique(strata):
        inside = strata == stratum
        different, sizes = np.unique(values[inside], return_counts=True)
        named = named_cohorts(dict(zip(different.tolist(), sizes.tolist(), strict=True)), alone)
        values[inside & ~np.isin(values, named)] = missing
    return replace(reports, columns={**reports.columns, cohort.name: values})


def standing_alone(cohort: Question, revisions: Sequence[RevisionCounts]) -> list[int]:
    """The cohorts that results name by themselves."""
    groups = [group.options for group in analyse(revisions).cohorts]
    return [cohort.options.index(options[0]) for options in groups if len(options) == 1]


def named_cohorts(sizes: Mapping[int, int], alone: Sequence[int]) -> list[int]:
    """
    Which cohorts are named in a file of one revision and wave.

    Args:
        sizes: reports there by cohort, whatever stands for none too.
        alone: those that results name.

    Returns:
        All of ``alone``, or none: also the rest that is left empty would be a handful, less the others.
    """
    rest = sum(size for cohort, size in sizes.items() if cohort not in alone)
    least = min(size for size in (rest, *(sizes.get(cohort, 0) for cohort in alone)) if size)
    return [] if least < LEAST_COHORT else list(alone)
