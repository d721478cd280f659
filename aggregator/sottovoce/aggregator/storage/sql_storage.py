"""
What both back ends say in the same SQL: surveys, withdrawal, snapshots, tokens.

A back end adds how connections are kept, how a group is stored fast, and what its files need.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar

from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.back_end import BackEnd
from sottovoce.aggregator.storage.audit_log.events import NOBODY
from sottovoce.aggregator.storage.drafts import DraftTables
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.incomplete_copy import UNFINISHED
from sottovoce.aggregator.storage.interface import ALL, Rows, Storage
from sottovoce.aggregator.storage.invitations.tokens import TokenStorage
from sottovoce.aggregator.storage.models import Cell, Known, Outcome, ReportBatch, StoragePlan, StoredSurvey
from sottovoce.aggregator.storage.pack_values import Values, pack, unpack
from sottovoce.aggregator.storage.releases import ReleaseTables
from sottovoce.aggregator.storage.reports import surveys as survey_life
from sottovoce.aggregator.storage.reports.count_changes import NO_COHORT, change
from sottovoce.aggregator.storage.sql_statements import (
    Handle,
    count_down,
    find,
    has_tombstone,
    id_hash,
)
from sottovoce.aggregator.storage.survey_log import lines
from sottovoce.aggregator.storage.table_catalogue import TABLES, clear, fill, select
from sottovoce.shared.spec import Survey


def with_whole(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of one wave, with their sum before them in the place of those that are of no cohort."""
    at_close = [cell.at_close for cell in cells if cell.at_close is not None]
    return [
        Cell(
            cells[0].wave,
            ALL,
            sum(cell.reports for cell in cells),
            sum(cell.withdrawn for cell in cells),
            tallied(row for cell in cells for row in _flat(cell)),
            sum(at_close) if at_close else None,
        ),
        *(cell for cell in cells if cell.cohort != NO_COHORT),
    ]


def _flat(cell: Cell) -> Iterator[tuple[int, int, int]]:
    """(question, counted value, number) of a cell."""
    for question, tally in cell.tallies.items():
        yield from ((question, value, number) for value, number in tally.items())


def tallied(rows: Iterable[tuple[int, int, int]]) -> dict[int, dict[int, int]]:
    """Counts by question and counted value."""
    tallies: dict[int, dict[int, int]] = {}
    for question, value, count in rows:
        tally = tallies.setdefault(int(question), {})
        tally[int(value)] = tally.get(int(value), 0) + count
    return tallies


_CHUNK = 20_000

_SURVEYS = """
    SELECT key, name, revision, digest, document, closed_on, purged, retired,
           (SELECT coalesce(CAST(sum(arrived - withdrawn) AS bigint), 0) FROM cells WHERE survey = key)
    FROM surveys
"""


class SQLStorage(TokenStorage):
    """The part of ``Storage`` that both back ends share."""

    ALONE: ClassVar[str] = ""
    """What makes a transaction wait for every other one that changes the life of a survey, if it does not anyway."""

    LOCK_ACCOUNTS: ClassVar[str] = ""
    """What makes a transaction wait for every other one that changes accounts or grants, if it does not anyway."""

    NEW_ID: ClassVar[str]
    """Sixteen random bytes."""

    REKEY: ClassVar[str]
    """Gives every report of a survey a new random id."""

    @abstractmethod
    def scrub(self) -> None:
        """Remove what was deleted, and the order of what was written, from the files."""

    def work_aside(self) -> None:
        """Nothing takes so long here that others would wait for it."""

    def tidy(self) -> None:
        """Scrub, at once or soon."""
        self.scrub()

    def _read_reports(self) -> AbstractContextManager[Handle]:
        """A transaction that reads reports as of one moment."""
        return self._read()

    def _hold(self, db: Handle, survey: int) -> None:
        """Until the end of the transaction, reports of this survey can be taken out of where they lie."""

    def _drop_reports(self, db: Handle, name: str) -> None:
        """Delete all reports of a survey."""
        db.execute("DELETE FROM reports WHERE survey IN (SELECT key FROM surveys WHERE name = ?)", [name])

    def _after_deletion(self) -> None:
        """What can be done at once about deleted rows; the rest is left to the next ``scrub``."""

    def _slot(self) -> int:
        """In which slot this process counts, if there may be others."""
        return 0

    def _settle(self) -> None:
        """Return once this process shows what has grown by its own reports, if it does not do so as they come."""

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """Nothing is left undone where nobody else writes."""

    def _forget(self) -> None:
        """Remove a deleted survey from the files."""
        self.scrub()

    def _check_known(self, db: Handle) -> None:
        """Refuse a database in which there may be more than this program knows, and would leave out."""

    @abstractmethod
    def _version(self, db: Handle) -> int:
        """The number under which the database keeps the version of its schema."""

    @abstractmethod
    def _set_version(self, db: Handle, version: int) -> None:
        """Keep another number."""

    @contextmanager
    def snapshot(self) -> Iterator[Rows]:
        """All tables as of one moment, with what has grown until now."""
        self._settle()
        with self._read_reports() as db:
            self._check_known(db)
            yield lambda table: (tuple(row) for chunk in db.stream(select(table), [], _CHUNK) for row in chunk)

    def export_table(self, table: str) -> Iterator[tuple[Any, ...]]:
        """All rows of one of ``tables.TABLES``."""
        with self.snapshot() as rows:
            yield from rows(table)

    def copy_from(self, source: Storage) -> None:
        """Fill all tables anew, from one moment of another database, in one step."""
        with source.snapshot() as rows, self._write() as db:
            empty(db)
            for table in TABLES:
                db.executemany(fill(table), rows(table))

    def is_unfinished(self) -> bool:
        """Whether a copy into this database was begun and not finished."""
        with self._read() as db:
            return self._version(db) > UNFINISHED

    def mark_unfinished(self, mark: bool) -> None:
        """Note, or no longer, that a copy into this database is not finished: meanwhile nobody opens it."""
        with self._write() as db:
            self._set_version(db, self._version(db) % UNFINISHED + mark * UNFINISHED)

    def publish(self, survey: Survey, retire: bool = False, who: str = NOBODY) -> StoredSurvey:
        """
        Make a survey available.

        Args:
            survey: to be published.
            retire: mark all earlier revisions as retired.
            who: does it, for the journal.
        """
        with self._alone() as db:
            survey_life.publish(db, survey, self._today(db), retire, who)
        return next(row for row in self.revisions(survey.name) if row.digest == survey.digest)

    def surveys(self) -> list[StoredSurvey]:
        """All published surveys, by name and revision."""
        return self._surveys(f"{_SURVEYS} ORDER BY name, revision", [])

    def revisions(self, name: str) -> list[StoredSurvey]:
        """All revisions of one survey, oldest first."""
        return self._surveys(f"{_SURVEYS} WHERE name = ? ORDER BY revision", [name])

    def close_survey(self, name: str, day: int, who: str = NOBODY) -> None:
        """
        Admit no more reports; the first time, show all counts.

        Args:
            name: the survey's.
            day: from which on.
            who: does it, for the journal.
        """
        with self._alone() as db:
            survey_life.close(db, name, day, self._today(db), who)
        self.tidy()

    def unshown(self, name: str) -> int:
        """Of how many cells less or more is shown than there is."""
        self._settle()
        with self._read() as db:
            return survey_life.unshown(db, name)

    def changed_since_close(self, name: str, less_than: int | None = None) -> int:
        """Of how many cells there is something else than the first close showed."""
        self._settle()
        with self._read() as db:
            return survey_life.changed_since_close(db, name, less_than)

    def reopen_survey(self, name: str, who: str = NOBODY) -> None:
        """Admit reports again."""
        with self._alone() as db:
            survey_life.reopen(db, name, self._today(db), who)

    def delete_survey(self, name: str, who: str = NOBODY) -> None:
        """Take out everything of a survey but what the record and the journal say of it."""
        with self._alone() as db:
            survey_life.delete(db, name, self._today(db), self._drop_reports, who)
        self._forget()

    def purge(self, survey: int, who: str = NOBODY) -> None:
        """Of a closed survey: give every row a new random key, and drop ids, tombstones and tokens."""
        with self._alone() as db:
            survey_life.purge(db, survey, self._today(db), self.REKEY, who)
        self.tidy()

    def record(self) -> list[SurveyLogEntry]:
        """What is remembered for good, in its order."""
        with self._read() as db:
            return lines(db)

    @contextmanager
    def _alone(self) -> Iterator[Handle]:
        """A transaction for a step in the life of a survey: one at a time, whatever node begins it."""
        with self._write() as db:
            _ = self.ALONE and db.execute(self.ALONE)
            yield db

    def _surveys(self, query: str, arguments: list[str]) -> list[StoredSurvey]:
        with self._read() as db:
            rows = db.execute(query, arguments).fetchall()
        return [_stored(*row) for row in rows]

    # Reports

    def find_report(self, survey: int, report_id: bytes) -> Known | None:
        """What is stored under this id, or None."""
        with self._read_reports() as db:
            return find(db, survey, report_id)

    def is_withdrawn(self, survey: int, report_id: bytes) -> bool:
        """Whether the report with this id was withdrawn."""
        with self._read() as db:
            return has_tombstone(db, survey, report_id)

    def withdraw(self, plan: StoragePlan, report_id: bytes) -> Outcome:
        """Take a report out of rows and counts."""
        with self._write() as db:
            is_open = db.execute(self.OPEN, [plan.survey]).fetchone()
            self._hold(db, plan.survey)
            found = find(db, plan.survey, report_id)
            if found is None:
                # Asked last: another node may have withdrawn it since this transaction began.
                return Outcome.WITHDRAWN if has_tombstone(db, plan.survey, report_id) else Outcome.UNKNOWN
            if not is_open:
                return Outcome.CLOSED
            # On PostgreSQL another node may have been faster: then nothing is deleted, and nothing counted down.
            if db.take_out(plan.survey, report_id):
                db.execute("INSERT INTO tombstones VALUES (?, ?)", [plan.survey, id_hash(report_id)])
                count_down(db, change([ReportBatch(plan, found.wave, report_id, pack(found.values))]), self._slot())
        self._after_deletion()
        return Outcome.WITHDRAWN

    def rows(self, survey: int) -> Iterator[Values]:
        """The values of every stored report, in the order of the random ids."""
        for chunk in self.packed_by_wave(survey):
            yield from (unpack(packed) for _, packed in chunk)

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:
        """Wave and packed values of every stored report, many at a time, in the order of the random ids."""
        with self._read_reports() as db:
            query = 'SELECT wave, "values" FROM reports WHERE survey = ? ORDER BY report_id'
            yield from db.stream(query, [survey], _CHUNK)

    # Counts

    def cells(self, survey: int) -> list[Cell]:
        """What is shown, by wave: the whole, and each cohort of which there is any."""
        self._settle()
        with self._read() as db:
            rows = db.execute(
                "SELECT wave, cohort, arrived - withdrawn, withdrawn, at_close FROM shown_cells WHERE survey = ?"
                " ORDER BY wave, cohort",
                [survey],
            ).fetchall()
            counts = db.execute(
                # A row whose count is 0 would tell that a value came and was withdrawn.
                "SELECT wave, cohort, question, value, reports FROM shown_counts WHERE survey = ? AND reports > 0",
                [survey],
            ).fetchall()
        cells = [
            Cell(wave, cohort, reports, withdrawn, tallied(row[2:] for row in counts if row[:2] == (wave, cohort)), at)
            for wave, cohort, reports, withdrawn, at in rows
        ]
        return [cell for _, of_wave in groupby(cells, attrgetter("wave")) for cell in with_whole(list(of_wave))]

    def live_counts(self, survey: int) -> dict[int, dict[int, int]]:
        """The live counts of all respondents and waves."""
        with self._read() as db:
            return tallied(
                db.execute(
                    "SELECT question, value, CAST(sum(reports) AS bigint) FROM counts WHERE survey = ?"
                    " GROUP BY question, value HAVING sum(reports) <> 0",
                    [survey],
                )
            )

    # Staff

    @cached_property
    def access(self) -> AccessTables:
        """Who may do what."""
        return AccessTables(self._back_end)

    @cached_property
    def drafts(self) -> DraftTables:
        """Surveys while they are being written."""
        return DraftTables(self._back_end)

    @cached_property
    def releases(self) -> ReleaseTables:
        """Ledgers of budgets under which public answers are published."""
        return ReleaseTables(self._back_end)

    @cached_property
    def _back_end(self) -> BackEnd:
        of = (self.LOCK_ACCOUNTS, self.UNTIL_END, self.NEW_ID)
        return BackEnd(self._read, self._write, *of, self._after_deletion, self._today)

    def add_researcher(self, name: str, token_hash: bytes, who: str = NOBODY) -> None:
        """
        Let somebody in to everything by the hash of a key.

        Args:
            name: of the account.
            token_hash: of the key.
            who: does it, for the journal.
        """
        with self._read() as db:
            today = self._today(db)
        self.access.by(who).add_researcher(name, token_hash, today)


def empty(db: Handle) -> None:
    """Delete all rows of all tables that are copied; within a transaction."""
    for table in reversed(TABLES):
        db.execute(clear(table))


def _stored(key: int, name: str, revision: int, digest: str, *rest: Any) -> StoredSurvey:  # noqa: ANN401 - a row
    document, closed_on, purged, retired, reports = rest
    closed = closed_on is not None
    return StoredSurvey(key, name, revision, digest, document, closed, reports, closed_on, bool(purged), bool(retired))
