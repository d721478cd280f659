"""Store the data of one aggregator in the SQL that SQLite and PostgreSQL share.

A back end stores reports and updates their counts in one durable transaction. It counts by cell: revision, wave and
cohort; each report belongs to one cell. Each count has a live and a shown value. The shown value is a copy of the live
one, updated only when the cell has grown by ``release_batch`` reports since, arrivals less withdrawals. On a shared
database the update follows shortly after the reports are durable. The total over cohorts is the sum of the shown cells,
never a count of its own: the difference to its cohorts would reveal the answers of a few people.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.models import SCOPES
from sottovoce.aggregator.storage.audit_log.audit_log import Journal
from sottovoce.aggregator.storage.audit_log.events import LINK_PUBLISHED, LINK_WITHDRAWN, NO_ACTOR, SETTING_CHANGED
from sottovoce.aggregator.storage.back_end import COUNTED, BackEnd, Tables
from sottovoce.aggregator.storage.drafts import DraftTables
from sottovoce.aggregator.storage.incomplete_copy import UNFINISHED
from sottovoce.aggregator.storage.invitations.tokens import TokenStorage
from sottovoce.aggregator.storage.models import ALL, Cell, Known, Outcome, ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import Values, pack, unpack
from sottovoce.aggregator.storage.releases import ReleaseTables
from sottovoce.aggregator.storage.reports.batch_columns import NO_COHORT, change
from sottovoce.aggregator.storage.reports.surveys import SurveyStorage
from sottovoce.aggregator.storage.sql_statements import (
    ORDERED_REPORTS,
    UNLESS_KNOWN,
    Handle,
    count_down,
    find,
    has_tombstone,
    id_hash,
    insert,
    take_out,
)
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE, TABLES, TABLES_OF_REPORTS, clear, fill, select

# Rows fetched at a time: bounds the memory of an export, whatever the size of the survey.
_CHUNK = 20_000

Rows = Callable[[str], Iterator[tuple[Any, ...]]]
"""Function from the name of a table in ``table_catalogue.TABLES`` to its rows, ordered by the first two columns."""

_FIND_INSTITUTION = "SELECT survey, document FROM institutions WHERE survey IN ('', ?)"
_SAVE_INSTITUTION = """
    INSERT INTO institutions (survey, document) VALUES (?, ?)
    ON CONFLICT (survey) DO UPDATE SET document = excluded.document
"""
_FIND_QUESTION = "SELECT document FROM link_questions WHERE digest = ? LIMIT 1"
_ALL_QUESTIONS = "SELECT digest, who, document FROM link_questions ORDER BY digest, who"
_REMOVE_QUESTION = "DELETE FROM link_questions WHERE digest = ? AND (who = ? OR 1 = ?)"

MOST_DAYS = 36_525
"""A day more than a century from today was written under a wrong clock, or by another program."""

_DAYS = [
    (table, name) for table, columns in EVERY_TABLE.items() for name in columns if name == "day" or name.endswith("_on")
]
_FAR = "SELECT count(*) FROM {} WHERE {} NOT BETWEEN ? AND ?"

_ADVICE: Mapping[str, str] = {
    "keys": 'revoke such keys ("sottovoce staff key revoke"), and create others',
    "invitations": 'remove the invited accounts by "sottovoce staff delete", and invite again',
    "views": "withdraw the links for ethics boards on page Team, and make others",
    "passkeys": "remove those passkeys on My account, and add them again",
    "accounts": 'run "sottovoce staff enable", then "sottovoce staff disable" again',
    "surveys": "reopen those surveys, and close them again",
}
_OTHER = "they cannot be changed without breaking the chain of entries: restore a backup from before"

LONG = 7 * 86400
"""Seconds between two heartbeats beyond which deletions by date pause."""

BACK = 60
"""Seconds by which the clock may go back without a pause."""

RUNNING = 90
"""Age of a heartbeat, in seconds, up to which a node may be running: housekeeping notes one each minute."""

ROUND = 300
"""Longest interval between two heartbeats that counts as running, in seconds."""

WAIT = 86400
"""Length of a pause, in seconds of running."""

_NOTE = "UPDATE pulse SET seen = ?, waits = ?"


class PulseStorage(BackEnd):
    """Part of ``Storage`` that records when the program last ran (one row), and pauses deletions by date.

    If the clock jumps by more than a week or goes back, the program cannot tell which of the two times is right: a
    backup may have been restored, the machine may have slept, or its clock may be wrong by a year. A wrong clock would
    delete data for good. So deletions by date pause until an operator confirms the clock, or the program has run for a
    day.
    """

    def note_running(self, now: int) -> int:
        """Record a heartbeat, in seconds since 1970; return for how many seconds deletions by date are still paused."""
        with self.write() as db:
            waits = _still_waits(db, now)
            db.execute(_NOTE, [now, waits])
        return waits

    def last_heartbeat(self) -> int:
        """Return when a node last ran, in seconds since 1970; 0 if none has."""
        return int(self.row_of("SELECT seen FROM pulse")[0] or 0)

    def forgetting_waits(self, now: int) -> int:
        """Return for how many seconds of running deletions by date are paused; record nothing."""
        with self.read() as db:
            return _still_waits(db, now)

    def trust_clock(self, now: int) -> None:
        """End the pause, since an operator confirmed that ``now`` is the right time."""
        with self.write() as db:
            db.execute(_NOTE, [now, 0])


def _still_waits(db: Handle, now: int) -> int:
    seen, waits = db.execute("SELECT seen, waits FROM pulse").fetchone()
    if seen is None:
        return int(waits)
    ran = now - seen
    # Small steps back are usual when NTP corrects a clock; a week forward is not.
    if not -BACK <= ran <= LONG:
        return WAIT
    # Only time spent running counts: a machine that was off has given the operator no chance to notice.
    return max(0, waits - ran) if 0 < ran <= ROUND else int(waits)


def cells_with_total(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of one wave: their sum first, then each cohort."""
    at_close = [cell.at_close for cell in cells if cell.at_close is not None]
    return [
        Cell(
            cells[0].wave,
            ALL,
            sum(cell.reports for cell in cells),
            sum(cell.withdrawn for cell in cells),
            count_by_question(
                (question, value, number)
                for cell in cells
                for question, tally in cell.tallies.items()
                for value, number in tally.items()
            ),
            sum(at_close) if at_close else None,
        ),
        *(cell for cell in cells if cell.cohort != NO_COHORT),
    ]


def count_by_question(rows: Iterable[tuple[int, int, int]]) -> dict[int, dict[int, int]]:
    """Return counts by question and counted value, from rows of (question, value, number)."""
    tallies: dict[int, dict[int, int]] = {}
    for question, value, count in rows:
        tally = tallies.setdefault(int(question), {})
        tally[int(value)] = tally.get(int(value), 0) + count
    return tallies


def row_faults(db: Handle, today: int) -> Iterator[str]:
    """Describe rows that no command of this program writes, although their tables are sound, each with advice.

    These are days more than 100 years from today, and keys with scopes that this program does not know.

    Args:
        db: within a transaction.
        today: counted from 1970-01-01.
    """
    for table, column in _DAYS:
        (number,) = db.execute(_FAR.format(table, column), [today - MOST_DAYS, today + MOST_DAYS]).fetchone()
        if number:
            advice = _ADVICE.get(table, _OTHER)
            yield f"the table {table} has days in {column} more than 100 years from today: {number}; {advice}"
    for label, scopes in db.execute("SELECT label, scopes FROM keys ORDER BY label").fetchall():
        if set(scopes.split()) - set(SCOPES):
            yield f"the key '{label}' has a scope that this program does not know; {_ADVICE['keys']}"


class InstitutionTable(Tables):
    """Table of details of institutions: a JSON document for the server and one for each survey that has its own."""

    def documents(self, survey: str = "") -> dict[str, bytes]:
        """Return the documents of the server, under "", and of this survey, under its name; none if not set."""
        return {str(name): bytes(document) for name, document in self._back_end.rows_of(_FIND_INSTITUTION, [survey])}

    def save(self, survey: str, document: bytes | None, who: str = NO_ACTOR) -> None:
        """Replace the document (None: remove it) of a survey, or with "" of the server; record it in the audit log."""
        with self._back_end.write() as db:
            if document is None:
                db.execute("DELETE FROM institutions WHERE survey = ?", [survey])
            else:
                db.execute(_SAVE_INSTITUTION, [survey, document])
            self._back_end.note(db, SETTING_CHANGED, who, "institution")


class PublishedLink(NamedTuple):
    """A published question: its digest, the ids of the accounts that published it, and its canonical bytes."""

    digest: str
    who: tuple[str, ...]
    document: bytes


class LinkQuestionTable(Tables):
    """Table of questions that are asked by a link, by their digest."""

    def document(self, digest: str) -> bytes | None:
        """Return the canonical bytes of a published question; None if there is none."""
        return self._back_end.one_of(bytes, _FIND_QUESTION, [digest])

    def all(self) -> list[PublishedLink]:
        """Return every published question, by digest."""
        rows = groupby(self._back_end.rows_of(_ALL_QUESTIONS), key=lambda row: row[0])
        published = [(digest, [*of_digest]) for digest, of_digest in rows]
        return [PublishedLink(digest, tuple(who for _, who, _ in of), bytes(of[0][2])) for digest, of in published]

    def publish(self, digest: str, document: bytes, who: str) -> None:
        """Add a question and record it in the audit log; nothing changes if ``who`` published it already."""
        with self._back_end.write() as db:
            if insert(db, "link_questions", [digest, who, document], UNLESS_KNOWN) == 1:
                self._back_end.note(db, LINK_PUBLISHED, who, digest)

    def withdraw(self, digest: str, who: str, is_admin: bool) -> bool:
        """Withdraw a question for ``who``, or for all for an admin, and record it; False if there is none.

        It stays for other accounts that published it.
        """
        with self._back_end.deleting() as db:
            found = db.execute(_REMOVE_QUESTION, [digest, who, int(is_admin)]).rowcount > 0
            if found:
                self._back_end.note(db, LINK_WITHDRAWN, who, digest)
        return found


class Storage(PulseStorage, SurveyStorage, TokenStorage):
    """Database of one aggregator. Methods are thread-safe and raise ``StorageError`` if it is unavailable.

    A back end adds its connections, its fast path for storing a group of reports, and the care of its files.
    """

    @cached_property
    def journal(self) -> Journal:
        """Audit log of what staff did in the last year."""
        return Journal(self)

    @cached_property
    def access(self) -> AccessTables:
        """Accounts, grants, keys, sessions and staff invitations."""
        return AccessTables(self)

    @cached_property
    def drafts(self) -> DraftTables:
        """Versions of survey drafts, and planned sizes."""
        return DraftTables(self)

    @cached_property
    def institutions(self) -> InstitutionTable:
        """Names, logos and colours that the operator and owners of surveys have set."""
        return InstitutionTable(self)

    @cached_property
    def link_questions(self) -> LinkQuestionTable:
        """Questions that lead on to another survey, as accounts have published them."""
        return LinkQuestionTable(self)

    @cached_property
    def releases(self) -> ReleaseTables:
        """Privacy budgets from which releases are paid."""
        return ReleaseTables(self)

    def add_researcher(self, name: str, token_hash: bytes, who: str = NO_ACTOR) -> None:
        """Add an administrator who signs in with a key, see ``AccessTables.add_researcher``."""
        with self.read() as db:
            today = self.today(db)
        self.access.by(who).add_researcher(name, token_hash, today)

    @abstractmethod
    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Store a group in one transaction; return an outcome for each report. NEW means stored durably."""

    def find_report(self, survey: int, report_id: bytes) -> Known | None:
        """Return the wave and values stored under this id, or None."""
        with self.read_reports() as db:
            return find(db, survey, report_id)

    def is_withdrawn(self, survey: int, report_id: bytes) -> bool:
        """Return True if the report with this id was withdrawn."""
        with self.read() as db:
            return has_tombstone(db, survey, report_id)

    def withdraw(self, plan: StoragePlan, report_id: bytes) -> Outcome:
        """Delete a report and subtract it from the live counts.

        Return WITHDRAWN (also if it was withdrawn before), CLOSED or UNKNOWN.
        """
        with self.write() as db:
            is_open = self.is_open(db, plan.survey)
            self._hold(db)
            report = find(db, plan.survey, report_id)
            if report is None:
                # Asked last: another node may have withdrawn it since this transaction began.
                return Outcome.WITHDRAWN if has_tombstone(db, plan.survey, report_id) else Outcome.UNKNOWN
            if not is_open:
                return Outcome.CLOSED
            # On PostgreSQL another node may have deleted it meanwhile; counting down twice would falsify the counts.
            if take_out(db, plan.survey, report_id):
                insert(db, "tombstones", [plan.survey, id_hash(report_id)])
                count_down(db, change([ReportBatch(plan, report.wave, report_id, pack(report.values))]), db.slot)
        self._used.add(COUNTED)
        self.after_deletion()
        return Outcome.WITHDRAWN

    def rows(self, survey: int) -> Iterator[Values]:
        """Yield the values of every stored report, in the order of the random ids."""
        for chunk in self.packed_by_wave(survey):
            yield from (unpack(packed) for _, packed in chunk)

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:
        """Yield (wave, packed values) of all stored reports in chunks, in the order of the random ids."""
        with self.read_reports() as db:
            yield from db.stream(ORDERED_REPORTS, [survey, survey], _CHUNK)

    def cells(self, survey: int) -> list[Cell]:
        """Return the shown counts by wave: the sum of all cells first, then each cohort with reports."""
        self._catch_up()
        with self.read() as db:
            rows = db.execute(
                "SELECT wave, cohort, arrived - withdrawn, withdrawn, at_close FROM shown_cells"
                " WHERE survey = ? AND arrived > 0 ORDER BY wave, cohort",
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
        """Return the live counts of all respondents and waves; for checks, never for results."""
        query = """
            SELECT question, value, CAST(sum(reports) AS bigint) FROM counts WHERE survey = ?
            GROUP BY question, value HAVING sum(reports) <> 0
        """
        return count_by_question(self.rows_of(query, [survey]))

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """Update shown counts, given ``release_batch`` by survey key, that a process left behind when it ended.

        Do nothing here: an only writer shows grown cells in the transaction that stores the reports.
        """

    @abstractmethod
    def clock(self) -> float | None:
        """Return seconds since 1970 by the database's clock; None if it has no clock of its own."""

    @abstractmethod
    def check(self) -> None:
        """Raise ``StorageError`` unless the database is writable and its schema works with this program."""

    @abstractmethod
    def verify(self) -> list[str]:
        """Return descriptions of damage that the back end finds in its files and tables; empty if there is none."""

    @abstractmethod
    def close(self) -> None:
        """Settle if this process took reports, and close all connections to the database."""

    @abstractmethod
    def _version(self, db: Handle) -> int:
        """Return the stored version of the schema, ``UNFINISHED`` included."""

    @abstractmethod
    def _set_version(self, db: Handle, version: int) -> None:
        """Store the version of the schema."""

    def _check_known(self, db: Handle) -> None:
        """Raise ``StorageError`` if a newer release may have added tables that a copy would leave out."""

    def faults(self) -> list[str]:
        """Describe what a backup would not mend, such as a day in a wrong century, each with advice; often empty."""
        with self.read() as db:
            return list(row_faults(db, self.today(db)))

    def old_snapshots(self) -> list[str]:
        """Describe snapshots that have kept the order of arrival in the files for five minutes, each with advice."""
        return []

    @contextmanager
    def snapshot(self) -> Iterator[Rows]:
        """Read all tables as of one moment, after the shown counts have caught up."""
        self._catch_up()
        with self.read_reports() as db:
            self._check_known(db)
            yield lambda table: (tuple(row) for chunk in db.stream(select(table), [], _CHUNK) for row in chunk)

    def export_table(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield all rows of one of ``table_catalogue.TABLES``, reports in the order of their random ids."""
        with self.snapshot() as rows:
            yield from rows(table)

    def copy_from(self, source: "Storage") -> None:
        """Replace all rows by those of another database as of one moment, in one transaction."""
        with source.snapshot() as rows, self.write() as db:
            empty(db)
            for table in TABLES:
                db.executemany(fill(table, TABLES_OF_REPORTS[0] if table == "reports" else table), rows(table))

    def is_unfinished(self) -> bool:
        """Return True if a copy into this database was begun and not finished."""
        with self.read() as db:
            return self._version(db) > UNFINISHED

    def mark_unfinished(self, mark: bool) -> None:
        """Set or clear the mark of an unfinished copy; a database with the mark cannot be opened."""
        with self.write() as db:
            self._set_version(db, self._version(db) % UNFINISHED + mark * UNFINISHED)


def empty(db: Handle) -> None:
    """Delete all rows of all tables in ``TABLES``, within a transaction."""
    for table in (*TABLES_OF_REPORTS, *TABLES):
        if table != "reports":
            db.execute(clear(table))
