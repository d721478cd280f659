"""
The embedded back end: one SQLite file, one process.

Reports have no rowid and no time: their key is the respondent's random id, so that the order on disk is not the order
of arrival. Every commit is synced before it is acknowledged (WAL, synchronous=FULL).
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sottovoce.aggregator.storage.base import ALL, Arrival, Cell, Outcome, StoredSurvey
from sottovoce.aggregator.storage.rows import dump_values, parse_values
from sottovoce.aggregator.storage.schema import MIGRATIONS
from sottovoce.shared.errors import StorageError
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey
from sqlite_utils import Database

SESSION_IDLE = 30 * 60  # seconds
SESSION_MOST = 12 * 3600

_SURVEYS = """
    SELECT key, name, revision, digest, document, closed,
           (SELECT coalesce(sum(reports), 0) FROM cells WHERE survey = key AND cohort = -1)
    FROM surveys
"""


class SQLiteStorage:
    """
    A database file, created if it does not exist.

    Raises:
        StorageError: the file cannot be opened, or has a schema newer than this program.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._opened: list[Database] = []
        self._writing = threading.Lock()
        with self._errors():
            self._migrate()

    # Surveys

    def publish(self, survey: Survey) -> StoredSurvey:
        """Make a survey available."""
        with self._write() as db:
            rows = db.execute("SELECT revision, digest FROM surveys WHERE name = ?", [survey.name]).fetchall()
            if (survey.revision, survey.digest) not in rows:
                if any(revision >= survey.revision for revision, _ in rows):
                    raise StorageError("a changed survey must be published with a higher revision")
                db.execute(
                    "INSERT INTO surveys (name, revision, digest, document) VALUES (?, ?, ?, ?)",
                    [survey.name, survey.revision, survey.digest, survey.canonical],
                )
        return next(row for row in self.revisions(survey.name) if row.digest == survey.digest)

    def surveys(self) -> list[StoredSurvey]:
        """All published surveys, by name and revision."""
        return self._surveys(f"{_SURVEYS} ORDER BY name, revision", [])

    def revisions(self, name: str) -> list[StoredSurvey]:
        """All revisions of one survey, oldest first."""
        return self._surveys(f"{_SURVEYS} WHERE name = ? ORDER BY revision", [name])

    def close_survey(self, name: str) -> None:
        """Admit no more reports, and show all counts."""
        with self._write() as db:
            keys = [key for (key,) in db.execute("SELECT key FROM surveys WHERE name = ?", [name])]
            db.execute("UPDATE surveys SET closed = 1 WHERE name = ?", [name])
            for key in keys:
                for wave, cohort in db.execute("SELECT wave, cohort FROM cells WHERE survey = ?", [key]).fetchall():
                    _show(db, key, wave, cohort)

    # Reports

    def find_report(self, survey: int, report_id: str) -> Report | None:
        """The stored report with this id, or None."""
        with self._read() as db:
            return _find(db, survey, report_id)

    def store(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Store a group in one durable transaction."""
        with self._write() as db:
            return [_store(db, arrival) for arrival in arrivals]

    def cells(self, survey: int) -> list[Cell]:
        """The shown counts, by wave and cohort."""
        with self._read() as db:
            # One transaction, so that the counts belong to the cells.
            db.execute("BEGIN")
            rows = db.execute(
                "SELECT wave, cohort, shown_reports, shown_withdrawn FROM cells WHERE survey = ?"
                " ORDER BY wave, cohort",
                [survey],
            ).fetchall()
            counts = db.execute(
                # A row whose shown count is still 0 would tell that a new value has come.
                "SELECT wave, cohort, question, value, shown FROM counts WHERE survey = ? AND shown > 0",
                [survey],
            ).fetchall()
            db.execute("COMMIT")
        return [
            Cell(wave, cohort, reports, withdrawn, _tallies(row[2:] for row in counts if row[:2] == (wave, cohort)))
            for wave, cohort, reports, withdrawn in rows
        ]

    def rows(self, survey: int) -> Iterator[tuple[int | None, ...]]:
        """The values of every stored report, in the order of the random ids."""
        with self._read() as db:
            for (values,) in db.execute('SELECT "values" FROM reports WHERE survey = ? ORDER BY report_id', [survey]):
                yield parse_values(values)

    def live_counts(self, survey: int) -> dict[int, dict[int, int]]:
        """The live counts of all respondents and waves."""
        with self._read() as db:
            return _tallies(
                db.execute(
                    "SELECT question, value, sum(reports) FROM counts WHERE survey = ? AND cohort = ?"
                    " GROUP BY 1, 2 HAVING sum(reports) > 0",
                    [survey, ALL],
                )
            )

    # Researchers

    def add_researcher(self, name: str, token_hash: bytes) -> None:
        """Let a researcher in by the hash of a token."""
        with self._write() as db:
            db.execute("INSERT INTO researchers (token_hash, name) VALUES (?, ?)", [token_hash, name])

    def researcher(self, token_hash: bytes) -> str | None:
        """The researcher's name, or None."""
        with self._read() as db:
            row = db.execute("SELECT name FROM researchers WHERE token_hash = ?", [token_hash]).fetchone()
        return None if row is None else str(row[0])

    def has_researchers(self) -> bool:
        """Whether anybody can be let in."""
        with self._read() as db:
            return db.execute("SELECT 1 FROM researchers LIMIT 1").fetchone() is not None

    def start_session(self, session_hash: bytes, researcher: str, now: int) -> None:
        """Remember a dashboard session."""
        with self._write() as db:
            db.execute("DELETE FROM sessions WHERE used < ? OR started < ?", [now - SESSION_IDLE, now - SESSION_MOST])
            db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", [session_hash, researcher, now, now])

    def session(self, session_hash: bytes, now: int) -> str | None:
        """The researcher of a live session, or None."""
        with self._read() as db:
            row = db.execute(
                "SELECT researcher, used FROM sessions WHERE session_hash = ? AND used >= ? AND started >= ?",
                [session_hash, now - SESSION_IDLE, now - SESSION_MOST],
            ).fetchone()
        if row is None:
            return None
        if row[1] < now - 60:
            with self._write() as db:
                db.execute("UPDATE sessions SET used = ? WHERE session_hash = ?", [now, session_hash])
        return str(row[0])

    def end_session(self, session_hash: bytes) -> None:
        """Forget a session."""
        with self._write() as db:
            db.execute("DELETE FROM sessions WHERE session_hash = ?", [session_hash])

    # The database itself

    def check(self) -> None:
        """Raise ``StorageError`` unless the database can be written to and its schema is the one known here."""
        with self._write() as db:
            if db.execute("PRAGMA user_version").fetchone()[0] != len(MIGRATIONS):
                raise StorageError("the database has another schema than this program knows")
            # A change of no row still asks for the write lock and for space in the log.
            db.execute("UPDATE surveys SET closed = closed WHERE key = -1")

    def close(self) -> None:
        """Release the database."""
        for database in self._opened:
            database.close()

    def _migrate(self) -> None:
        with self._write() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > len(MIGRATIONS):
                raise StorageError("the database was made by a newer version of this program")
            for number in range(version, len(MIGRATIONS)):
                for statement in MIGRATIONS[number]:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number + 1:d}")

    def _surveys(self, query: str, arguments: list[str]) -> list[StoredSurvey]:
        with self._read() as db:
            rows = db.execute(query, arguments).fetchall()
        return [StoredSurvey(*(*row[:5], bool(row[5]), row[6])) for row in rows]

    @contextmanager
    def _read(self) -> Iterator[Database]:
        with self._errors():
            db = self._database()
            try:
                yield db
            finally:
                db.rollback()

    @contextmanager
    def _write(self) -> Iterator[Database]:
        """One writer at a time in this process; others on the same file wait for SQLite's own lock."""
        with self._errors(), self._writing:
            db = self._database()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.commit()
            finally:
                db.rollback()

    def _database(self) -> Database:
        """This thread's handle."""
        database: Database | None = getattr(self._local, "database", None)
        if database is None:
            connection = sqlite3.connect(self._path, timeout=10, isolation_level=None, check_same_thread=False)
            database = Database(connection, recursive_triggers=False, execute_plugins=False)
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
                database.execute(f"PRAGMA {pragma}")
            self._local.database = database
            self._opened.append(database)
        return database

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # a bug, not a state of the database
        except sqlite3.Error as error:
            # The library's text may quote values; its class name says enough to an operator.
            raise StorageError(f"the database is unavailable ({type(error).__name__})") from None


def _find(db: Database, survey: int, report_id: str) -> Report | None:
    row = db.execute(
        'SELECT wave, "values" FROM reports WHERE survey = ? AND report_id = ?', [survey, bytes.fromhex(report_id)]
    ).fetchone()
    return None if row is None else Report("", "", row[0], report_id, parse_values(row[1]))


def _store(db: Database, arrival: Arrival) -> Outcome:
    report = arrival.report
    earlier = _find(db, arrival.survey, report.report_id)
    if earlier is not None:
        same = (earlier.wave, earlier.values) == (report.wave, report.values)
        return Outcome.SAME if same else Outcome.CONFLICT
    if db.execute("SELECT closed FROM surveys WHERE key = ?", [arrival.survey]).fetchone() != (0,):
        return Outcome.CLOSED
    db.execute(
        "INSERT INTO reports VALUES (?, ?, ?, ?)",
        [arrival.survey, bytes.fromhex(report.report_id), report.wave, dump_values(report.values)],
    )
    for cohort in (ALL,) if arrival.cohort is None else (ALL, arrival.cohort):
        _count(db, arrival, cohort)
    return Outcome.NEW


def _count(db: Database, arrival: Arrival, cohort: int) -> None:
    key = (arrival.survey, arrival.report.wave, cohort)
    db.conn.executemany(
        "INSERT INTO counts (survey, wave, cohort, question, value, reports) VALUES (?, ?, ?, ?, ?, 1)"
        " ON CONFLICT DO UPDATE SET reports = reports + 1",
        [(*key, question, value) for question, value in arrival.counted],
    )
    pending = db.execute(
        "INSERT INTO cells (survey, wave, cohort, reports, pending) VALUES (?, ?, ?, 1, 1)"
        " ON CONFLICT DO UPDATE SET reports = reports + 1, pending = pending + 1 RETURNING pending",
        key,
    ).fetchone()[0]
    if pending >= arrival.release_batch:
        _show(db, *key)


def _show(db: Database, survey: int, wave: int, cohort: int) -> None:
    key = [survey, wave, cohort]
    db.execute("UPDATE counts SET shown = reports WHERE survey = ? AND wave = ? AND cohort = ?", key)
    db.execute(
        "UPDATE cells SET shown_reports = reports, shown_withdrawn = withdrawn, pending = 0"
        " WHERE survey = ? AND wave = ? AND cohort = ?",
        key,
    )


def _tallies(rows: Iterator[tuple[int, int, int]] | sqlite3.Cursor) -> dict[int, dict[int, int]]:
    tallies: dict[int, dict[int, int]] = {}
    for question, value, count in rows:
        tallies.setdefault(int(question), {})[int(value)] = count
    return tallies
