"""Show reports of a survey as columns for files: without ids, in random order, with public answers only on request.

Order       The database stores rows in the order of their ids. A party that knows an id, such as its device, could
            estimate the position of the report. Each file therefore has a new random order.
Cohort      Public, and not protected by noise. In each revision and wave by itself a file names the cohorts that have
            at least five reports, as of the first close; other values are ``few``, as one group of at least five.
Background  A public question with ``in_files`` is in the files too. Within each group of reports that agree in
            revision, wave and all public columns before it, answers of fewer than five reports are ``few``, and with
            them the rarest other answers until ``few`` has none or at least five reports, without those who were not
            asked. Columns that conditions of randomized questions read come first, and the arm where it has such
            questions of its own, so that they tell who was asked: empty cells would tell it anyway. Reports of each
            revision have their own order, since no earlier file has them; what corrections add is empty for them. So at
            least five reports agree in all public columns that they were asked, except where fewer were asked at all.
            There is no such column once public answers are published under a budget, whose noise it would undo.
Revisions   The columns are the questions of the newest revision. A report of an earlier revision has a value where that
            revision asked the same question. The mechanism may differ, so each row carries its revision.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import LEAST_COHORT, RevisionCounts, merge_small
from sottovoce.aggregator.analysis.report_columns import Columns, place_in, widened
from sottovoce.aggregator.analysis.selection import asked_only
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import LETTERS, few, null
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.storage.reports.batch_columns import is_null, matrix
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

ReportedColumn = NDArray[np.unsignedinteger]
"""Reported values; all bits set means "not asked", as in the database, and one less a rare answer, left out."""


@dataclass(frozen=True)
class ReportColumns:
    """Reports as columns of equal length: values by question in the survey's order, wave from 0, and revision."""

    columns: Mapping[str, ReportedColumn]
    wave: ReportedColumn
    revision: ReportedColumn

    def __len__(self) -> int:
        """Return the number of reports."""
        return len(self.wave)

    def taken(self, rows: NDArray[np.intp] | slice) -> "ReportColumns":
        """Return these rows, in this order."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        return ReportColumns(columns, self.wave[rows], self.revision[rows])

    @classmethod
    def joined(cls, blocks: Sequence["ReportColumns"]) -> "ReportColumns":
        """Return the rows of all blocks, at least one."""
        columns = {name: np.concatenate([each.columns[name] for each in blocks]) for name in blocks[0].columns}
        wave, revision = (np.concatenate([getattr(each, name) for each in blocks]) for name in ("wave", "revision"))
        return ReportColumns(columns, wave, revision)


def read_reports(
    storage: ReadableReports,
    revisions: Sequence[RevisionCounts],
    wave: int | None = None,
    public: bool = False,
    with_hidden: bool = False,
) -> ReportColumns:
    """Read all reports of a survey in a new random order; call ``check_closed`` first.

    Args:
        revisions: all revisions of the survey, oldest first, with their cells.
        wave: only this wave; None for all.
        public: include exact answers to public questions; otherwise only the coarsened cohort.
        with_hidden: keep the fixed answers of questions that were hidden, so that no value depends on other reports.

    Raises:
        EstimateError: there are no reports.
    """
    newest = revisions[-1].survey
    questions = questions_in(newest, True) if public else file_questions(revisions[-1])
    blocks = [block for each in revisions for block in blocks_of(storage, each, questions, revisions, wave)]
    if not blocks:
        raise EstimateError("there are no reports yet")
    found = ReportColumns.joined(blocks)
    if not public and newest.cohort is not None:
        found = _coarsened(found, newest.questions[newest.cohort], revisions)
    if not public:
        surveys = [each.survey for each in revisions]
        cohorts = 0 if newest.cohort is None else 1
        for number, survey in enumerate(surveys):
            inside = slice(*np.searchsorted(found.revision, (survey.revision, survey.revision + 1)))
            order = [name for name in _order(surveys[number:]) if name in found.columns]
            part = without_rare_answers(found.taken(inside), order[:cohorts], order[cohorts:])
            before = (_kept(surveys[number:later], newest, order) for later in range(number + 1, len(surveys)))
            kept = min(before, default=len(order))
            for place, name in enumerate(order):
                column = part.columns[name]
                left_out = place >= kept and ~is_null(column)
                found.columns[name][inside] = np.where(left_out, few(column.itemsize), column)
    if with_hidden:
        return found.taken(random_order(len(found)))
    # As far as the columns of the file tell, so that empty cells tell no more.
    known = as_columns(found, {each.survey.revision: each.survey for each in revisions})
    asked, _ = asked_only(known)
    columns = {}
    for name, column in found.columns.items():
        # A rare answer stays left out: whether its person was asked may not be known.
        hidden = is_null(np.asarray(asked.values[name])) & ~is_null(np.asarray(known.values[name]))
        columns[name] = np.where(hidden, null(column.itemsize), column).astype(column.dtype)
    return replace(found, columns=columns).taken(random_order(len(found)))


def _unknown(column: ReportedColumn, groups: NDArray[np.intp], question: Question) -> NDArray[np.bool_]:
    """Return which answers are left out, or are in other ``groups`` of reports, which agree in the columns before.

    Within such a group a file shows all of an answer, or none: a group that shows every answer is divided otherwise, as
    those of release 0.4.0 were by the arm. Of numbers, those that are left out.
    """
    left = is_few(column)
    having = {*groups[left].tolist()}
    shown = [] if question.domain.grid is not None else np.unique(column[~left & ~is_null(column)]).tolist()
    among = {value: {*groups[column == value].tolist()} for value in shown}
    other = len(among) > question.largest and not having.isdisjoint(set.intersection(*among.values()))
    return left | np.isin(column, [value for value, own in among.items() if other or not having <= own])


def as_columns(reports: ReportColumns, surveys: Mapping[int, Survey]) -> Columns:
    """Convert the reports of a file, of the revisions by number, into the input of joint analyses."""
    revisions = sorted(surveys)
    public = {q.name: q for q in surveys[revisions[-1]].questions if not q.mechanism and q.name in reports.columns}
    values = dict(reports.columns)
    groups = {name: np.zeros(len(reports), np.intp) for name in public if is_few(reports.columns[name]).any()}
    for number, revision in enumerate(revisions):
        inside = reports.revision == revision
        before = [reports.wave[inside]]
        for name in filter(public.__contains__, _order([surveys[later] for later in revisions[number:]])):
            if name in groups:
                own = np.unique(np.stack(before), axis=1, return_inverse=True)[1].ravel()
                groups[name][inside] = own + number * len(reports)
            before.append(reports.columns[name][inside])
    few_of = {name: _unknown(reports.columns[name], own, public[name]) for name, own in groups.items()}
    for name in few_of:
        column = reports.columns[name]
        values[name] = np.where(is_few(column), null(column.itemsize), column).astype(column.dtype)
    return Columns(
        tuple(surveys[number] for number in revisions),
        values,
        reports.wave.astype(np.uint8),
        np.searchsorted(revisions, reports.revision).astype(np.uint8),
        least=0,
        few=few_of,
    )


def _order(surveys: Sequence[Survey]) -> Mapping[str, None]:
    """Return the public columns in the order in which answers of the first revision's reports are left out.

    One after the other, the cohort first; corrections of it add behind. In another order, files before and after a
    correction would leave out different answers of the same reports, and both together would tell what each leaves out.
    """
    newest, found = surveys[-1], dict[str, None]()
    if newest.cohort is not None:
        found[newest.questions[newest.cohort].name] = None
    for survey in surveys:
        private = [item for item in survey.items if any(question.mechanism for question in item.questions)]
        # The arm, too, since what only one arm is asked is empty for the others.
        deciding = {ARM, *(condition.question for item in private for condition in item.conditions)}
        public = [question for question in survey.questions if question.mechanism is None]
        public.sort(key=lambda q: ("in_files" not in q.marks, q.name not in deciding))
        found |= dict.fromkeys([question.name for question in public])
    return found


def _kept(surveys: Sequence[Survey], newest: Survey, order: Sequence[str]) -> int:
    """Return how many columns, from the first on, are those of files before the next correction; all if it added only.

    The others would complete what such a file left out within columns that are gone.
    """
    own = {q.name: q for q in surveys[-1].questions if not q.marks.isdisjoint({"cohort", "in_files"})}
    for place, name in enumerate(filter(own.__contains__, _order(surveys))):
        if order[place : place + 1] != [name] or place_in(newest, own[name]) is None:
            return place
    return len(order)


def file_questions(newest: RevisionCounts) -> list[Question]:
    """Return the questions in files of reports: private ones, the cohort, and public ones with ``in_files``."""
    return [
        question
        for question in newest.survey.questions
        if question.mechanism is not None
        or "cohort" in question.marks
        or ("in_files" in question.marks and not newest.released)
    ]


def questions_in(survey: Survey, public: bool) -> list[Question]:
    """Return the questions in files of reports: private ones and the cohort, and all public ones if requested."""
    return [q for q in survey.questions if public or q.mechanism is not None or "cohort" in q.marks]


def random_order(count: int, read: Callable[[int], bytes] = os.urandom) -> NDArray[np.intp]:
    """Return a uniform random permutation of ``count`` rows."""
    # Sorting 64-bit random keys: a tie, which would bias the order, has a probability near count^2 / 2^65.
    return np.argsort(np.frombuffer(read(8 * count), dtype=np.uint64), kind="stable")


def column_type(question: Question, asked: Sequence[Question]) -> np.dtype[np.unsignedinteger]:
    """Return the narrowest type for a question's reports in all revisions, with room for "not asked" and ``few``."""
    largest = max(each.largest for each in asked if each.name == question.name)
    return np.dtype(f"u{next(width for width in LETTERS if largest < few(width))}")


def blocks_of(
    storage: ReadableReports,
    revision: RevisionCounts,
    questions: Sequence[Question],
    revisions: Sequence[RevisionCounts],
    wave: int | None = None,
) -> Iterator[ReportColumns]:
    """Yield the reports of one revision as stored, with uncoarsened cohorts; each block has reports of one wave.

    Args:
        questions: questions of the newest revision, one for each column.
        revisions: all revisions of the survey; they determine the width of the columns.
        wave: only this wave; None for all.
    """
    asked = [question for each in revisions for question in each.survey.questions]
    places = {q.name: (place_in(revision.survey, q), column_type(q, asked)) for q in questions}
    for chunk in storage.packed_by_wave(revision.stored.key):
        for (number, _), rows in _alike(chunk).items():
            if wave in {None, number}:
                yield _block(matrix(b"".join(rows), len(rows)), places, number, revision.survey.revision)


def _alike(chunk: Sequence[tuple[int, bytes]]) -> dict[tuple[int, int], list[bytes]]:
    """Group packed rows by (wave, width)."""
    rows = [packed for _, packed in chunk]
    waves, widths = {wave for wave, _ in chunk}, {packed[0] for packed in rows}
    if len(waves) == len(widths) == 1:
        # Usually all rows share wave and width; this avoids a loop over single rows.
        return {(waves.pop(), widths.pop()): rows}
    found: dict[tuple[int, int], list[bytes]] = {}
    for wave, packed in chunk:
        found.setdefault((wave, packed[0]), []).append(packed)
    return found


def _block(
    numbers: np.ndarray, places: Mapping[str, tuple[int | None, np.dtype[np.unsignedinteger]]], wave: int, revision: int
) -> ReportColumns:
    n = len(numbers)
    columns = {name: np.resize(widened(numbers, place, kind), n) for name, (place, kind) in places.items()}
    return ReportColumns(columns, np.full(n, wave, np.uint16), np.full(n, revision, np.uint32))


def _coarsened(reports: ReportColumns, cohort: Question, revisions: Sequence[RevisionCounts]) -> ReportColumns:
    """Leave out cohorts of few people, and all cohorts of a (revision, wave) with too small a group."""
    values = reports.columns[cohort.name].copy()
    for revision, wave in product(revisions, np.unique(reports.wave).tolist()):
        inside = ~is_null(values) & (reports.revision == revision.survey.revision) & (reports.wave == wave)
        different, sizes = np.unique(values[inside], return_counts=True)
        named = named_cohorts(dict(zip(different.tolist(), sizes.tolist(), strict=True)), revision, wave)
        values[inside & ~np.isin(values, named)] = few(values.itemsize)
    return replace(reports, columns={**reports.columns, cohort.name: values})


def without_rare_answers(reports: ReportColumns, before: Sequence[str], names: Sequence[str]) -> ReportColumns:
    """Leave out answers so that at least ``LEAST_COHORT`` reports agree in all public columns.

    ``names`` are the columns to coarsen, one after the other, and those in ``before`` are coarsened already.
    """
    columns = dict(reports.columns)
    keys = [reports.revision, reports.wave, *(columns[name] for name in before)]
    for name in names:
        columns[name] = values = columns[name].copy()
        order = np.lexsort(keys)
        differs = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
        for rows in np.split(order, np.flatnonzero(differs) + 1):
            values[rows[np.isin(values[rows], _rare(values[rows]))]] = few(values.itemsize)
        # The next column is divided by the coarsened one, since readers of the file see nothing else.
        keys.append(values)
    return replace(reports, columns=columns)


def _rare(values: ReportedColumn) -> list[int]:
    """Return the answers to leave out: those of fewer than ``LEAST_COHORT``, and more until as many are left out."""
    different, sizes = np.unique(values[~is_null(values)], return_counts=True)
    left = 0
    rare: list[int] = []
    # Rarest first, so that as few answers as possible are left out; ties by value, so that files agree.
    for value, size in sorted(zip(different.tolist(), sizes.tolist(), strict=True), key=lambda each: each[::-1]):
        if size < LEAST_COHORT or 0 < left < LEAST_COHORT:
            rare.append(value)
            left += size
    return rare


def is_few(values: ReportedColumn) -> NDArray[np.bool_]:
    """Return True where a rare answer is left out."""
    return np.asarray(values == few(values.itemsize))


def named_cohorts(sizes: Mapping[int, int], revision: RevisionCounts, wave: int) -> list[int]:
    """Return the cohorts that a file names for one revision and wave.

    All with at least ``LEAST_COHORT`` reports there, or none if any nonempty one, or the remaining group, has fewer.
    Other waves do not matter: an earlier file of this one would name others. Nor does what came after the first close.
    ``sizes`` are reports by cohort, of those who were asked.
    """
    cells = [cell for cell in revision.cells if cell.wave == wave and cell.cohort != ALL]
    settled = {cell.cohort: cell.at_close or 0 for cell in cells if any(each.at_close is not None for each in cells)}
    whole = {key: Counter({(0, wave): size}) for key, size in (settled or sizes).items() if size}
    alone = [group[0] for group in merge_small(whole, LEAST_COHORT) if len(group) == 1]
    rest = sum(size for cohort, size in sizes.items() if cohort not in alone)
    # An empty group reveals nothing about anyone, so only nonempty ones count.
    least = min((size for size in (rest, *(sizes.get(cohort, 0) for cohort in alone)) if size), default=0)
    return [] if least < LEAST_COHORT else alone
