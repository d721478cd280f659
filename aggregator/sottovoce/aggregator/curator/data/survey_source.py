"""Read the public answers of a closed survey as a curator's data set, declared by its canonical survey.

Public answers are not randomized, so that a table of them can identify a person. Under the budget they get noise in the
central model.

Identity    The digest of the survey's first revision names the data set. It never changes, so that a survey that is
            reopened, corrected and closed again keeps its budget, which covers old and new records.
Declared    By the revision that was the newest when the budget was opened. A missing answer, and an answer that another
            revision did not ask or asked differently, is encoded as ``other`` or the middle of the grid.
Stored      The ledger is in the database, where every node sees it and backup, copy and deletion include it. Its head
            is in the folder of heads, which the nodes share or a single node has.
Opened      By the owner's choice or by the first release, never by closing the survey: epsilon is fixed for good, and
            only the owner may choose it. From then on no page, file or reply contains an exact table of these answers:
            ``RevisionCounts.withheld``.
Cohort      The question that divides people into cohorts is refused: its exact counts are part of the results.
Test runs   have no budget: their answers are not the survey's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.analysis.published_counts import published, snapshot_of
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn, read_reports
from sottovoce.aggregator.curator.budget import Budget
from sottovoce.aggregator.curator.data.data_set import DataSet, open_ledger_anchor
from sottovoce.aggregator.curator.declaration import (
    Categories,
    ColumnKind,
    DataRecords,
    Declaration,
    NumberColumn,
    Values,
)
from sottovoce.aggregator.curator.ledger.ledger_format import parse_ledger
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log.events import MACHINE, RESULTS_READ
from sottovoce.aggregator.storage.releases import ReleaseTables, data_digest
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.aggregator.surveys.lifecycle import released_questions
from sottovoce.shared.errors import StorageError
from sottovoce.shared.spec import Question, Survey

NOTHING_TO_PUBLISH = (
    "the survey has no public question whose answers could be published with noise; those of the question that divides "
    "people into cohorts cannot be, since its exact counts are part of the results"
)
TRIAL = "a test run has no budget: its answers are not the survey's, and are never published"
EXACT_TABLES_SUPPRESSED = (
    "a budget for this survey's public answers was opened: exact tables of them are nowhere any more, since beside"
    " the noisy ones they would undo the noise; sottovoce results export --release-epsilon, or curator with --survey,"
    " answer"
)


@dataclass(frozen=True)
class StoredLedger:
    """Ledger of a survey in the database; ``who`` is the principal for the audit log."""

    tables: ReleaseTables
    survey: str
    who: str

    @property
    def name(self) -> str:
        """Name of the ledger for messages."""
        return f"the budget of {self.survey}"

    def read(self) -> bytes | None:
        """Return the stored lines as bytes; None if there are none."""
        return b"".join(self.tables.lines(self.survey)) or None

    def truncate(self, size: int) -> None:
        """Do nothing: a transaction stores a whole line or none, so that no line is ever incomplete."""

    def begin(self, line: bytes) -> None:
        """Replace a ledger without answers by this line, in one transaction."""
        self.tables.begin(self.survey, line, self.who)

    def add(self, line: bytes, after: int) -> None:
        """Append a line in one transaction, unless another writer was faster."""
        self.tables.add(self.survey, after, line)

    def sync(self) -> None:
        """Do nothing: the database returns only lines that are durable."""


def survey_declaration(surveys: Sequence[Survey]) -> Declaration:
    """Return the declaration of a survey's public answers; without columns if it asks none or only the cohort.

    Its revisions come oldest first; the columns are those of the last one.
    """
    released = released_questions(surveys)
    public = [question for question in surveys[-1].questions if question.mechanism is None]
    kinds = {each.name: _kind(each) for each in public if each.name in released}
    used = {name: kind for name, kind in kinds.items() if kind is not None}
    return Declaration("one report", used, exact=tuple(each.name for each in public if each.name not in released))


def _kind(question: Question) -> ColumnKind | None:
    domain = question.domain
    if domain.grid is not None and not domain.options:
        low, step = domain.grid.low, domain.grid.step
        return NumberColumn(low, domain.grid.high, step, low + domain.steps // 2 * step)
    return Categories(domain.options) if domain.options and domain.grid is None else None


def survey_data_set(
    storage: Storage, name: str, now: datetime, data: Path, anchor_folder: str, who: str = MACHINE
) -> DataSet:
    """Open the data set of a survey's public answers, and note the access by ``who`` in the audit log.

    ``data`` is the data folder, outside which ``anchor_folder`` (``SOTTOVOCE_LEDGER_ANCHOR_DIR``) must be.

    Raises:
        EstimateError: there is no such survey, or it is not closed.
        StorageError: it is a test run or has no public question but the cohort, or the folder of heads cannot be used.
    """
    revisions = published(storage, name)
    check_closed(storage, [each.stored for each in revisions], None, now)
    if revisions[-1].survey.trial:
        raise StorageError(TRIAL)
    ledger = StoredLedger(storage.releases, name, who)
    ordered, declared = declared_at_opening(revisions, ledger.read())
    if not declared.columns:
        raise StorageError(NOTHING_TO_PUBLISH)
    anchor = open_ledger_anchor(anchor_folder, data)
    storage.journal.append_once(RESULTS_READ, who, f"{name} {snapshot_of(revisions)}", per_survey=True)

    def read(names: Sequence[str] | None) -> DataRecords:
        reports = read_reports(storage, ordered, public=True, with_hidden=True)
        wanted = declared.columns if names is None else names
        columns = {each: _values(reports.columns[each], declared.column(each)) for each in wanted}
        return DataRecords(len(reports), columns, {each: _missing(reports.columns[each]) for each in wanted})

    return DataSet(read, declared, Budget(ledger, data_digest(revisions[0].survey.digest), declared.digest, anchor))


def declared_at_opening(
    revisions: Sequence[RevisionCounts], ledger: bytes | None
) -> tuple[Sequence[RevisionCounts], Declaration]:
    """Return the revisions, with the one that was the newest when the budget was opened last, and its declaration.

    ``read_reports`` takes the columns from the last one. If ``ledger`` is None, the budget was not opened, which makes
    it the newest one.
    """
    surveys = [each.survey for each in revisions]
    opened = None if ledger is None else parse_ledger(ledger).terms.declaration
    for last in range(len(surveys), 0, -1):
        declared = survey_declaration(surveys[:last])
        if opened in {None, declared.digest}:
            return [*revisions[: last - 1], *revisions[last:], revisions[last - 1]], declared
    return revisions, survey_declaration(surveys)


def _values(column: ReportedColumn, kind: ColumnKind) -> Values:
    missing = is_null(column)
    return np.where(missing, kind.place("").value, np.where(missing, 0, column).astype(np.int64))


def _missing(column: ReportedColumn) -> int:
    return int(np.count_nonzero(is_null(column)))
