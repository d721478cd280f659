"""
Storage methods in the SQL that SQLite and PostgreSQL share: surveys, withdrawals, snapshots, tokens.

A back end adds its connections, its fast path for storing a group of reports, and the care of its files.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar

from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.back_end import BackEnd
from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR
from sottovoce.aggregator.storage.drafts import DraftTables
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.incomplete_copy import UNFINISHED
from sottovoce.aggregator.storage.interface import Rows, Storage
from sottovoce.aggregator.storage.invitations.tokens import TokenStorage
from sottovoce.aggregator.storage.maintenance_thread import MOST_REPORTS, MaintenanceThread
from sottovoce.aggregator.storage.models import Cell, Known, Outcome, ReportBatch, StoragePlan, StoredSurvey
from sottovoce.aggregator.storage.pack_values import Values, pack, unpack
from sottovoce.aggregator.storage.releases import ReleaseTables
from sottovoce.aggregator.storage.reports import surveys as survey_life
from sottovoce.aggregator.storage.reports.cell_tallies import cells_with_total, count_by_question
from sottovoce.aggregator.storage.reports.count_changes import change
from sottovoce.aggregator.storage.row_faults import row_faults
from sottovoce.aggregator.storage.sql_statements import (
    ORDERED_REPORTS,
    Handle,
    count_down,
    find,
    has_tombstone,
    id_hash,
    take_out,
)
from sottovoce.aggregator.storage.survey_log import lines
from sottovoce.aggregator.storage.table_catalogue import TABLES, clear, fill, select
from sottovoce.shared.spec import Survey

# Rows fetched at a time: bounds the memory of an export, whatever the size of the survey.
_CHUNK = 20_000

TABLES_OF_REPORTS = ("settled", "fresh")
"""Tables that the view ``reports`` consists of; a copy fills the first one."""

_DROP = "DELETE FROM {} WHERE survey IN (SELECT key FROM surveys WHERE name = ?)"
_REKEY = "UPDATE {} SET report_id = {} WHERE survey = ?"

_SURVEYS = """
    SELECT key, name, revision, digest, document, closed_on, purged, retired,
           (SELECT coalesce(CAST(sum(arrived - withdrawn) AS bigint), 0) FROM cells WHERE survey = key)
    FROM surveys
"""


class SQLStorage(TokenStorage):
    """The part of ``Storage`` that both back ends share."""

    ALONE: ClassVar[str] = ""
    """Lock statement that serializes changes of a survey's state; empty if the back end has only one writer."""

    LOCK_ACCOUNTS: ClassVar[str] = ""
    """Lock statement that serializes changes of accounts and grants; empty if the back end has only one writer."""

    NEW_ID: ClassVar[str]
    """Expression for sixteen random bytes."""

    MOST_UNSETTLED: ClassVar[int] = MOST_REPORTS
    """Number of unsettled reports at which settling begins without waiting for a quiet moment."""

    @abstractmethod
    def scrub(self) -> None:
        """Remove deleted rows, and traces of the order of writes, from the files."""

    _maintenance: MaintenanceThread | None = None

    @abstractmethod
    def settle(self) -> bool:
        """Remove the order of arrival of the last reports; return False if a reader prevented it."""

    def start_maintenance(self) -> None:
        """Settle in a thread from now on, soon after reports have arrived, and do slow work there."""
        self._maintenance = MaintenanceThread(self.settle, most_reports=self.MOST_UNSETTLED)

    def _note_stored(self, reports: int) -> None:
        """Tell the thread, if there is one, that there is something to settle."""
        if self._maintenance is not None:
            self._maintenance.note_stored(reports)

    def _soon(self, work: Callable[[], object]) -> None:
        """Run slow work in the thread if there is one, else at once."""
        if self._maintenance is None:
            work()
        else:
            self._maintenance.request(work)

    def tidy(self) -> None:
        """Scrub the files, now or soon in the background thread."""
        self._soon(self.scrub)

    def _read_reports(self) -> AbstractContextManager[Handle]:
        """Begin a transaction that reads reports, tokens or invitations as of one moment."""
        return self._read()

    def _hold(self, db: Handle) -> None:
        """Lock reports for changes until the transaction ends, if the back end has other writers."""

    def _drop_reports(self, db: Handle, name: str) -> None:
        """Delete all reports of a survey."""
        self._hold(db)
        for table in TABLES_OF_REPORTS:
            db.execute(_DROP.format(table), [name])

    def _rekey(self, db: Handle, survey: int) -> None:
        """Give every report of a revision a new random id."""
        self._hold(db)
        for table in TABLES_OF_REPORTS:
            db.execute(_REKEY.format(table, self.NEW_ID), [survey])

    def _after_deletion(self) -> None:
        """Remove traces of deleted rows as far as that is fast; the next ``scrub`` does the rest."""

    def _catch_up(self) -> None:
        """Wait until the shown counts include this process's own reports, if the back end publishes them later."""

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """Do nothing: the only writer shows grown cells in the transaction that stores the reports."""

    def _forget(self) -> None:
        """Remove traces of a deleted survey from the files."""
        self.scrub()

    def _check_known(self, db: Handle) -> None:
        """Raise ``StorageError`` if a newer release may have added tables that a copy would leave out."""

    @abstractmethod
    def _version(self, db: Handle) -> int:
        """Return the stored version of the schema, ``UNFINISHED`` included."""

    @abstractmethod
    def _set_version(self, db: Handle, version: int) -> None:
        """Store the version of the schema."""

    def faults(self) -> list[str]:
        """Describe implausible rows, each with advice."""
        with self._read() as db:
            return list(row_faults(db, self._today(db)))

    @contextmanager
    def snapshot(self) -> Iterator[Rows]:
        """Read all tables as of one moment, after the shown counts have caught up."""
        self._catch_up()
        with self._read_reports() as db:
            self._check_known(db)
            yield lambda table: (tuple(row) for chunk in db.stream(select(table), [], _CHUNK) for row in chunk)

    def export_table(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield all rows of one of ``table_catalogue.TABLES``."""
        with self.snapshot() as rows:
            yield from rows(table)

    def copy_from(self, source: Storage) -> None:
        """Replace all rows by those of another database as of one moment, in one transaction."""
        with source.snapshot() as rows, self._write() as db:
            empty(db, TABLES_OF_REPORTS)
            for table in TABLES:
                into = TABLES_OF_REPORTS[0] if table == "reports" else table
                db.executemany(fill(table, into), rows(table))

    def is_unfinished(self) -> bool:
        """Return True if a copy into this database was begun and not finished."""
        with self._read() as db:
            return self._version(db) > UNFINISHED

    def mark_unfinished(self, mark: bool) -> None:
        """Set or clear the mark of an unfinished copy; a database with the mark cannot be opened."""
        with self._write() as db:
            self._set_version(db, self._version(db) % UNFINISHED + mark * UNFINISHED)

    def publish(
        self, survey: Survey, retire: bool = False, who: str = NO_ACTOR, *, stay_closed: bool = False
    ) -> StoredSurvey:
        """
        Make a survey available.

        Args:
            survey: to be published.
            retire: mark all earlier revisions as retired.
            who: account that publishes, for the audit log.
            stay_closed: if the survey is closed, so is the new revision.
        """
        with self._alone() as db:
            survey_life.publish(db, survey, self._today(db), retire, who, stay_closed=stay_closed)
        return next(row for row in self.revisions(survey.name) if row.digest == survey.digest)

    def surveys(self) -> list[StoredSurvey]:
        """All published surveys, by name and revision."""
        return self._surveys(f"{_SURVEYS} ORDER BY name, revision", [])

    def revisions(self, name: str) -> list[StoredSurvey]:
        """All revisions of one survey, oldest first."""
        return self._surveys(f"{_SURVEYS} WHERE name = ? ORDER BY revision", [name])

    def close_survey(self, name: str, day: int, who: str = NO_ACTOR) -> None:
        """
        Admit no more reports; the first time, show all counts.

        Args:
            name: of the survey.
            day: first day without reports, counted from 1970-01-01.
            who: account that closes it, for the audit log.
        """
        with self._alone() as db:
            survey_life.close(db, name, day, self._today(db), who)
        self.tidy()

    def changed_since_close(self, name: str, less_than: int | None = None) -> int:
        """Return the number of cells whose counts changed since the first close."""
        self._catch_up()
        with self._read() as db:
            return survey_life.changed_since_close(db, name, less_than)

    def reopen_survey(self, name: str, who: str = NO_ACTOR) -> None:
        """Admit reports to all revisions again."""
        with self._alone() as db:
            survey_life.reopen(db, name, self._today(db), who)

    def delete_survey(self, name: str, who: str = NO_ACTOR) -> None:
        """Delete all rows of a survey but its lines in the survey log and its entries in the audit log."""
        with self._alone() as db:
            survey_life.delete(db, name, self._today(db), self._drop_reports, who)
        self._forget()

    def purge(self, survey: int, who: str = NO_ACTOR) -> None:
        """Give every report of a closed survey a new random key; delete ids, tombstones and tokens."""
        with self._alone() as db:
            survey_life.purge(db, survey, self._today(db), self._rekey, who)
        self.tidy()

    def record(self) -> list[SurveyLogEntry]:
        """Return all lines of the survey log, oldest first."""
        with self._read() as db:
            return lines(db)

    @contextmanager
    def _alone(self) -> Iterator[Handle]:
        """Begin a transaction that changes a survey's state: one at a time across all nodes."""
        with self._write() as db:
            _ = self.ALONE and db.execute(self.ALONE)
            yield db

    def _surveys(self, query: str, arguments: list[str]) -> list[StoredSurvey]:
        with self._read() as db:
            rows = db.execute(query, arguments).fetchall()
        return [_stored(*row) for row in rows]

    def _note_redeemed(self) -> None:
        self._note_stored(0)

    # Reports

    def find_report(self, survey: int, report_id: bytes) -> Known | None:
        """Return the wave and values stored under this id, or None."""
        with self._read_reports() as db:
            return find(db, survey, report_id)

    def is_withdrawn(self, survey: int, report_id: bytes) -> bool:
        """Return True if the report with this id was withdrawn."""
        with self._read() as db:
            return has_tombstone(db, survey, report_id)

    def withdraw(self, plan: StoragePlan, report_id: bytes) -> Outcome:
        """Delete a report and subtract it from the live counts."""
        with self._write() as db:
            is_open = db.execute(self.OPEN, [plan.survey]).fetchone()
            self._hold(db)
            report = find(db, plan.survey, report_id)
            if report is None:
                # Asked last: another node may have withdrawn it since this transaction began.
                return Outcome.WITHDRAWN if has_tombstone(db, plan.survey, report_id) else Outcome.UNKNOWN
            if not is_open:
                return Outcome.CLOSED
            # On PostgreSQL another node may have deleted it meanwhile; counting down twice would falsify the counts.
            if take_out(db, plan.survey, report_id):
                db.execute("INSERT INTO tombstones VALUES (?, ?)", [plan.survey, id_hash(report_id)])
                count_down(db, change([ReportBatch(plan, report.wave, report_id, pack(report.values))]), db.slot)
        self._after_deletion()
        return Outcome.WITHDRAWN

    def rows(self, survey: int) -> Iterator[Values]:
        """Yield the values of every stored report, in the order of the random ids."""
        for chunk in self.packed_by_wave(survey):
            yield from (unpack(packed) for _, packed in chunk)

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:
        """Yield wave and packed values of the stored reports in chunks, in the order of the random ids."""
        with self._read_reports() as db:
            yield from db.stream(ORDERED_REPORTS, [survey, survey], _CHUNK)

    # Counts

    def cells(self, survey: int) -> list[Cell]:
        """Return the shown counts by wave: all respondents first, then each cohort with reports."""
        self._catch_up()
        with self._read() as db:
            rows = db.execute(
                "SELECT wave, cohort, arrived - withdrawn, withdrawn, at_close FROM shown_cells WHERE survey = ?"
                " ORDER BY wave, cohort",
                [survey],
            ).fetchall()
            counts = db.execute(
                # Privacy: a row with count 0 would reveal that a value was reported and withdrawn.
                "SELECT wave, cohort, question, value, reports FROM shown_counts WHERE survey = ? AND reports > 0",
                [survey],
            ).fetchall()
        cells = [
            Cell(
                wave,
                cohort,
                reports,
                withdrawn,
                count_by_question(row[2:] for row in counts if row[:2] == (wave, cohort)),
                at,
            )
            for wave, cohort, reports, withdrawn, at in rows
        ]
        return [cell for _, of_wave in groupby(cells, attrgetter("wave")) for cell in cells_with_total(list(of_wave))]

    def live_counts(self, survey: int) -> dict[int, dict[int, int]]:
        """Return the live counts of all respondents and waves, by question and value."""
        with self._read() as db:
            return count_by_question(
                db.execute(
                    "SELECT question, value, CAST(sum(reports) AS bigint) FROM counts WHERE survey = ?"
                    " GROUP BY question, value HAVING sum(reports) <> 0",
                    [survey],
                )
            )

    # Staff

    @cached_property
    def access(self) -> AccessTables:
        """Tables of accounts, keys, sessions and grants."""
        return AccessTables(self._back_end)

    @cached_property
    def drafts(self) -> DraftTables:
        """Tables of survey drafts and planned sizes."""
        return DraftTables(self._back_end)

    @cached_property
    def releases(self) -> ReleaseTables:
        """Tables of the privacy budgets from which releases are paid."""
        return ReleaseTables(self._back_end)

    @cached_property
    def _back_end(self) -> BackEnd:
        statements = (self.LOCK_ACCOUNTS, self.UNTIL_END, f"SELECT {self.NEW_ID}")
        return BackEnd(self._read, self._write, *statements, self._after_deletion, self._today)

    def add_researcher(self, name: str, token_hash: bytes, who: str = NO_ACTOR) -> None:
        """
        Add an administrator who signs in with a key.

        Args:
            name: of the account.
            token_hash: hash of the key.
            who: account that adds it, for the audit log.
        """
        with self._read() as db:
            today = self._today(db)
        self.access.by(who).add_researcher(name, token_hash, today)


def empty(db: Handle, of_reports: Sequence[str]) -> None:
    """
    Delete all rows of all tables in ``TABLES``.

    Args:
        db: within a transaction.
        of_reports: tables in the place of ``reports``.
    """
    # In reverse, since rows refer to rows of tables that were filled before.
    for table in reversed(TABLES):
        for each in of_reports if table == "reports" else (table,):
            db.execute(clear(each))


def _stored(key: int, name: str, revision: int, digest: str, *rest: Any) -> StoredSurvey:  # noqa: ANN401 - a row
    document, closed_on, purged, retired, reports = rest
    closed = closed_on is not None
    return StoredSurvey(key, name, revision, digest, document, closed, reports, closed_on, bool(purged), bool(retired))
