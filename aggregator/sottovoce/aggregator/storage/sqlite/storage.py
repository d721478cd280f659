"""Store the database in one SQLite file, which one process writes.

Reports have no rowid and no time. Their key is the random report id. SQLite syncs every commit before the server
acknowledges it (WAL, synchronous=FULL).

Privacy: the order of arrival is in the log, and in the places of rows within a page. Reports arrive in the table
``fresh``; ``settle`` moves them to ``settled`` in the order of their ids and empties the log. ``reports`` is both.

A database is copied before its migration: the way back to the previous release.
"""

import itertools
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self
from weakref import WeakSet

from sottovoce.aggregator.storage import checks, sql_statements, sql_storage
from sottovoce.aggregator.storage.audit_log.events import MIGRATED, NO_ACTOR
from sottovoce.aggregator.storage.back_end import COUNTED
from sottovoce.aggregator.storage.define_tables import SQLITE, definition
from sottovoce.aggregator.storage.incomplete_copy import UNFINISHED, refuse_migration
from sottovoce.aggregator.storage.models import Outcome, ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import change, count, merge
from sottovoce.aggregator.storage.reports.classify_batch import has_other_revisions, is_any_withdrawn, store_sorted
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.aggregator.storage.sqlite import schema, schema as sqlite_checks
from sottovoce.aggregator.storage.sqlite.schema import EARLIEST, VERSION
from sottovoce.aggregator.storage.table_catalogue import SECRETS, TABLES, take_over
from sottovoce.shared.errors import StorageError
from sqlite_utils import Database

LOCK_SECONDS = 10
"""Seconds that a writer waits for another process on the same file."""

WRITE_SECONDS = 60
"""Seconds for which a write of this process, such as VACUUM, is taken for work; after them, for a disk that hangs."""

CACHE_KIB, READ_KIB = 64 * 1024, 2 * 1024
LOG_BYTES = 64 * 1024 * 1024
"""Random keys touch a page each, so a large cache and a long log save most of the writes to the file."""

PAGE_BYTES = 2048
"""Page size of a new file: half of SQLite's default, since a report of a dozen bytes rewrites a whole page."""

_STATE = """
    SELECT closed_on IS NULL, EXISTS (SELECT 1 FROM tombstones WHERE survey = key) FROM surveys WHERE key = ?
"""
"""Query for two flags: the survey is open, and a report of it was withdrawn."""

# n = 0 .. ?6 - 1 is the position of a report in ?3, all ids, and in ?4, all packed values of ?5 bytes each.
_INSERT = """
    INSERT OR IGNORE INTO fresh
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?6)
    SELECT ?1, substr(?3, 16 * n + 1, 16), ?2, substr(?4, ?5 * n + 1, ?5) FROM numbers
    WHERE NOT EXISTS (SELECT 1 FROM settled WHERE survey = ?1 AND report_id = substr(?3, 16 * n + 1, 16))
"""
"""One INSERT for many reports, split by SQLite: binding rows in Python would hold the interpreter lock throughout."""

_PRIMARY = 0xFF
"""Mask of the primary result code; SQLite's extended codes are in the bits above."""

_FULL = "its disk is full; make room on it, or stop the server, copy its folder to another disk and name that folder"

_REASONS = {
    sqlite3.SQLITE_FULL: _FULL,
    # The index of the log, beside the database, cannot be made: even a reader needs it.
    sqlite3.SQLITE_IOERR_SHMSIZE: _FULL,
    sqlite3.SQLITE_READONLY: "its file or folder is read-only; let the user of the aggregator write to both",
    sqlite3.SQLITE_CORRUPT: 'its file is damaged; "sottovoce db restore" restores a backup',
    sqlite3.SQLITE_NOTADB: 'its file is damaged, or no database; "sottovoce db restore" restores a backup',
    sqlite3.SQLITE_IOERR: "its disk cannot be read or written; look at the log of the machine",
    sqlite3.SQLITE_CANTOPEN: "its file cannot be opened; let the user of the aggregator read and write its folder",
    sqlite3.SQLITE_BUSY: "another process has locked its file; end what reads or writes it",
}

HEADER_BYTES = 136
"""Two copies of the header, and the state of readers; SQLite needs nothing behind them while the log is empty."""

MOVED_ROWS = 2000
"""Reports a transaction: those that arrive meanwhile wait for some ten milliseconds."""

PAUSE_SECONDS = 0.002
"""Pause between two parts, in which a thread that waits to store a report can begin."""

CHECKPOINTED_ROWS = 10_000
"""Reports after which the log is copied into the file, lest a commit have to copy all of it while others wait."""

REWRITTEN_ROWS = 500_000
"""Rows up to which a table is rewritten in one transaction; a larger one waits for the daily scrub."""

_HAS_MORE = "SELECT 1 FROM {} LIMIT 1 OFFSET ?"
# Between tables of one definition SQLite copies whole rows: a third of the time of rows that come through Python.
_REWRITE = (
    "INSERT INTO temp.rewritten SELECT * FROM main.{0}",
    "DELETE FROM main.{0}",
    "INSERT INTO main.{0} SELECT * FROM temp.rewritten",
    "DROP TABLE temp.rewritten",
)

Write = Callable[[], AbstractContextManager[Handle]]
"""Begins a write transaction."""

_LAST_OF_PART = """
    SELECT survey, report_id FROM (
        SELECT survey, report_id FROM fresh WHERE (survey, report_id) > (?, ?) ORDER BY survey, report_id LIMIT ?
    ) ORDER BY survey DESC, report_id DESC LIMIT 1
"""
_PART = "FROM fresh WHERE (survey, report_id) > (?, ?) AND (survey, report_id) <= (?, ?)"
_MOVE = (f"INSERT INTO settled SELECT * {_PART} ORDER BY survey, report_id", f"DELETE {_PART}")
_BEFORE_ALL = (-1, b"")

KEPT_SECONDS = 7 * 86400
"""Age of a copy that a node removes by itself."""


def needs_migration(file: Path) -> bool:
    """Return True if a file is a database of an earlier release, and not of one that is refused."""
    return file.exists() and EARLIEST <= _number(file, "PRAGMA user_version") % UNFINISHED < VERSION


def last_heartbeat(file: Path) -> int:
    """Return when a node last ran on a database of an earlier release, in seconds since 1970; 0 if it does not say."""
    return _number(file, "SELECT seen FROM pulse")


def _number(file: Path, query: str) -> int:
    # Opened read-only, so that looking at a database changes nothing for a node that runs on it.
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return int((connection.execute(query).fetchone() or (0,))[0] or 0)
    except sqlite3.Error:
        return 0


def make_copy(file: Path) -> Path:
    """Write a copy of a database of an earlier release beside it, in the order of keys; return its path.

    Raises StorageError, with nothing changed, if the disk has too little room, or the copy cannot be written.
    """
    copy = file.with_name(f"{file.stem}-before-{VERSION}{file.suffix}")
    copy.unlink(missing_ok=True)
    size = sum(path.stat().st_size for path in (file, file.with_name(f"{file.name}-wal")) if path.exists())
    if shutil.disk_usage(file.parent).free < 2 * size:
        raise StorageError(
            f"the migration first copies {file}, which needs {2 * size / 1e6:.0f} MB of free space."
            " Make room and try again"
        )
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("VACUUM INTO ?", [str(copy)])
        copy.chmod(0o600)
    except (sqlite3.Error, OSError):
        copy.unlink(missing_ok=True)
        raise StorageError(f"the copy {copy.name} could not be written; the database was not changed") from None
    return copy


def copies(file: Path) -> list[Path]:
    """Return the copies that earlier migrations of a database left, oldest schema first."""
    return sorted(file.parent.glob(f"{file.stem}-before-*{file.suffix}"))


def remove_copies(file: Path, older_than: float = 0) -> list[Path]:
    """Remove copies that earlier migrations left, if at least ``older_than`` seconds old; return the removed paths."""
    found = [copy for copy in copies(file) if time.time() - copy.stat().st_mtime >= older_than]
    for copy in found:
        copy.unlink(missing_ok=True)
    return found


def settle(write: Write, copy_log: Callable[[], None]) -> None:
    """Move the rows of ``fresh`` to ``settled``, in the order of their ids.

    Privacy: within a page, SQLite places a new row below the others, and leaves pointers to deleted rows behind the
    valid ones. After settling, both tell the order of the keys. Each transaction leaves every row in one place, so that
    a process may be killed at any moment; the next run begins anew.

    Args:
        write: begins a write transaction.
        copy_log: copies the log into the file while other threads write.
    """
    last: Sequence[Any] | None = _BEFORE_ALL
    for part in itertools.count(1):
        if last is None:
            return
        if part * MOVED_ROWS % CHECKPOINTED_ROWS == 0:
            copy_log()
        # A lock goes to the thread that asks first, which else would be this one again.
        time.sleep(PAUSE_SECONDS)
        with write() as db:
            after, last = last, db.execute(_LAST_OF_PART, [*last, MOVED_ROWS]).fetchone()
            if last is not None:
                for statement in _MOVE:
                    db.execute(statement, [*after, *last])
            elif db.execute("SELECT 1 FROM fresh LIMIT 1").fetchone() is None:
                # Without a condition, SQLite overwrites the whole page, pointers included.
                db.execute("DELETE FROM fresh")


def rewrite(write: Write, table: str) -> None:
    """Delete all rows of a table and insert them again in the order of the key, unless there are too many."""
    with write() as db:
        if db.execute(_HAS_MORE.format(table), [REWRITTEN_ROWS]).fetchone() is None:
            for statement in (definition(table, SQLITE, "temp.rewritten"), *_REWRITE):
                db.execute(statement.format(table))


class WalIndex:
    """The index of one database's log, the file ``-shm``: which page each frame of the log holds.

    Privacy: it keeps this after the log was emptied, and so the order in which pages of reports and of tokens changed.
    Its file stays open until the process ends: closing it would release all locks of this process on it, which are
    SQLite's own.

    Args:
        database: path of the database.
    """

    def __init__(self, database: Path) -> None:
        self._path, self._log = (database.with_name(database.name + end) for end in ("-shm", "-wal"))
        self._opened: dict[int, int] = {}

    def forget_pages(self) -> bool:
        """Overwrite the numbers of pages under SQLite's lock of writers; return False if the log is not empty."""
        try:
            if self._log.stat().st_size:
                return False
            found = self._path.stat()
        except FileNotFoundError:
            return True
        if found.st_ino not in self._opened:
            self._opened[found.st_ino] = os.open(self._path, os.O_WRONLY)
        os.pwrite(self._opened[found.st_ino], bytes(max(0, found.st_size - HEADER_BYTES)), HEADER_BYTES)
        return True

    def close(self) -> None:
        """Close what SQLite has removed, since no connection has locks on it any more."""
        if not self._path.exists():
            for descriptor in self._opened.values():
                os.close(descriptor)
            self._opened.clear()


def failure_reason(error: sqlite3.Error) -> str:
    """Return why the database is unavailable, and what to do about it.

    Privacy: SQLite's own message may quote values of reports, so this uses nothing but its result code.
    """
    # Errors of Python's module itself have no code.
    code = getattr(error, "sqlite_errorcode", 0)
    reason = _REASONS.get(code) or _REASONS.get(code & _PRIMARY)
    return f"the database is unavailable{f': {reason}' if reason else f' ({type(error).__name__})'}"


class SQLiteStorage(sql_storage.Storage):
    """Storage in a SQLite file, created if it does not exist.

    Raises StorageError if the file cannot be opened, is another program's, or has a schema newer than this program.

    Args:
        unfinished: open it even if a copy into it was not finished.
        migrates: migrate a database of an earlier release.
    """

    NOW: ClassVar[str] = "SELECT CAST(strftime('%s', 'now') AS INTEGER)"
    NEW_ID: ClassVar[str] = "randomblob(16)"
    MOST_UNSETTLED: ClassVar[int] = 50_000  # the more reports are moved together, the more of them share a page

    def __init__(self, path: Path, unfinished: bool = False, migrates: bool = True) -> None:
        self._path = path
        self._local = threading.local()
        # Weak: a thread that has ended, such as the one of an analysis, closes its connection.
        self._opened = WeakSet[_Handle]()
        self._writing = threading.Lock()
        self._write_began: float | None = None
        self._wal_index = WalIndex(path)
        self._used = {*SECRETS, COUNTED}
        try:
            if not migrates:
                with self.read() as db:
                    refuse_migration(schema.version(db.database), EARLIEST, VERSION)
            with self.write() as db:
                if schema.migrate(db.database, unfinished):
                    self.note(db, MIGRATED, NO_ACTOR, str(schema.VERSION))
        except BaseException:
            self.close()
            raise

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Store a group in one durable transaction; return an outcome for each report."""
        try:
            return self._store(arrivals)
        finally:
            self._note_arrivals(arrivals)

    def _store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        try:
            with self.write(spills=False) as db:
                self._store_new(db, merge(arrivals))
        except _NotAllNew:
            # Roll back and repeat on the slow path: a savepoint would copy every page that the group touches.
            with self.write(spills=False) as db:
                return store_sorted(db, arrivals, _insert, sql_statements.count_and_show, self.is_open)
        return [Outcome.NEW] * count(arrivals)

    def _store_new(self, db: "_Handle", arrivals: Sequence[ReportBatch]) -> None:
        surveys = {arrival.plan.survey for arrival in arrivals}
        states = [db.execute(_STATE, [survey]).fetchone() or (False, False) for survey in surveys]
        if not all(is_open for is_open, _ in states) or not sql_statements.spend_tokens(db, arrivals):
            raise _NotAllNew
        if any(withdrawn for _, withdrawn in states) and is_any_withdrawn(db, arrivals):
            raise _NotAllNew
        if has_other_revisions(db, arrivals) or _insert(db, arrivals) != count(arrivals):
            raise _NotAllNew
        sql_statements.count_and_show(db, change(arrivals))

    def clock(self) -> float | None:
        """Return None: SQLite uses this machine's clock."""
        return None

    def settle(self) -> bool:
        """Move fresh reports in the order of their ids, rewrite counts and links if used, and empty the log."""
        settle(partial(self.write, spills=False), self._copy_log)
        self._rewrite_used_secrets()
        self._rewrite_used(COUNTED, self._rewrite_counts)
        return self._empty_log()

    def _rewrite_counts(self) -> None:
        """Rewrite the live counts without those of 0.

        Privacy: these have the values of withdrawn reports. And a count moves to a new place in its page when it first
        takes a byte, or one more, so that the places tell the values of the first reports in the order of arrival.
        """
        with self.write(spills=False) as db:
            db.execute("DELETE FROM counts WHERE reports = 0")
        for table in ("cells", COUNTED):
            self._rewrite_secrets(table)

    def _rewrite_secrets(self, table: str) -> None:
        rewrite(partial(self.write, spills=False), table)
        with self._errors(), self._handle() as db:
            db.set_spills(True)  # which frees the memory

    def scrub(self) -> None:
        """Settle, and have SQLite write the whole file anew; reports that arrive meanwhile wait."""
        remove_copies(self._path, older_than=KEPT_SECONDS)
        settle(partial(self.write, spills=False), self._copy_log)
        with self._errors(), self._writing, self._handle() as db:
            try:
                self._write_began = time.monotonic()
                db.set_spills(True)
                # It is as fast, and takes 20 MB in the place of 180 for a million reports or more.
                db.keep_pages(READ_KIB)
                db.execute("VACUUM")
            finally:
                self._write_began = None
        self.after_deletion()

    def _empty_log(self) -> bool:
        """Truncate the log, which holds deleted rows and the order of writes; return False if a reader needs it."""
        # Most pages are copied while other threads write; the second step then takes little time.
        self._copy_log()
        with self._errors(), self._writing, self._handle() as db:
            # A reader may still need the log: a short timeout keeps writers from waiting.
            db.execute("PRAGMA busy_timeout = 200")
            try:
                (busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                db.execute("BEGIN IMMEDIATE")
                return not busy and self._wal_index.forget_pages()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                return False
            finally:
                self._end(db)
                db.execute(f"PRAGMA busy_timeout = {LOCK_SECONDS * 1000:d}")

    def _copy_log(self) -> None:
        with self._errors(), self._handle() as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def after_deletion(self) -> None:
        """Empty the log, which holds deleted rows, now if no reader needs it; settle what they leave in pages soon."""
        self._empty_log()
        super().after_deletion()

    def _change_reports(self, db: sql_statements.Handle, statement: str, parameters: Sequence[Any]) -> None:
        # They would keep what is deleted here.
        remove_copies(self._path)
        super()._change_reports(db, statement, parameters)

    def check(self) -> None:
        """Raise ``StorageError`` unless the database is writable and its schema is this program's."""
        with self.write() as db:
            if schema.version(db.database) != schema.VERSION:
                raise StorageError("the database has another schema than this program knows")
            db.execute("UPDATE pulse SET beat = 1 - beat")

    def is_writing(self) -> bool:
        """Return True if a thread of this process has SQLite's lock, and has had it for no longer than a minute."""
        began = self._write_began
        return began is not None and time.monotonic() - began < WRITE_SECONDS

    def verify(self) -> list[str]:
        """Describe damage of the file and of its tables; empty if there is none."""
        with self.read() as db:
            return [*sqlite_checks.problems(db.database), *checks.problems(db, sqlite_checks.described(db.database))]

    def faults(self) -> list[str]:
        """Describe implausible rows and indexes of other programs, each with advice."""
        with self.read() as db:
            return [*super().faults(), *sqlite_checks.foreign_indexes(db.database)]

    def backup(self, path: Path) -> None:
        """Write a copy of the database as of now to a new file, while other threads write."""
        with self._errors(), self._handle() as db:
            # Privacy: VACUUM writes rows in key order and no deleted ones, unlike a copy of the pages.
            db.execute("VACUUM INTO ?", [str(path)])

    def _version(self, db: sql_statements.Handle) -> int:
        return int(db.execute("PRAGMA user_version").fetchone()[0])

    def _set_version(self, db: sql_statements.Handle, version: int) -> None:
        db.execute(f"PRAGMA user_version = {version:d}")

    def copy_from(self, source: sql_storage.Storage) -> None:
        """Replace all rows as every back end does; SQLite reads its own files itself, four times as fast."""
        if not isinstance(source, SQLiteStorage):
            super().copy_from(source)
            return
        with source.snapshot(), self._errors(), self._handle() as db:
            db.execute("ATTACH ? AS source", [str(source._path)])
            try:
                with self.write():
                    sql_storage.empty(db)
                    for table in TABLES:
                        db.execute(take_over(table, "settled" if table == "reports" else table))
            finally:
                db.execute("DETACH source")

    def close(self) -> None:
        """Settle if this process took reports, and close the connections of all threads."""
        if self._maintenance is not None:
            self._maintenance.end()
            with suppress(StorageError):
                self.settle()
        for handle in [*self._opened]:
            handle.close()
        self._wal_index.close()

    @contextmanager
    def read(self) -> Iterator["_Handle"]:
        """Begin a read transaction, or use the one that this thread has begun."""
        with self._errors(), self._handle() as db:
            # This thread has an open transaction, such as one that streams rows.
            if db.connection.in_transaction:
                yield db
                return
            try:
                db.execute("BEGIN")
                yield db
            finally:
                self._end(db)

    @contextmanager
    def write(self, spills: bool = True) -> Iterator["_Handle"]:
        """Begin a write transaction: one at a time in this process; other processes wait for SQLite's lock.

        Args:
            spills: SQLite may put what it needs for a statement into a file; else, for privacy, into memory only.
        """
        with self._errors(), self._writing, self._handle() as db:
            try:
                # IMMEDIATE: a read transaction that turns into a write fails at once if another process wrote.
                db.keep_pages()
                db.set_spills(spills)
                db.execute("BEGIN IMMEDIATE")
                self._write_began = time.monotonic()
                yield db
                db.commit()
            finally:
                self._end(db)
                self._write_began = None

    def _end(self, handle: "_Handle") -> None:
        """Roll back an open transaction; close a connection whose rollback fails, since it would keep its lock."""
        try:
            if handle.connection.in_transaction:
                handle.execute("ROLLBACK")
        except sqlite3.Error:
            self._local.handle = None
            handle.close()

    def _handle(self) -> "_Handle":
        handle: _Handle | None = getattr(self._local, "handle", None)
        if handle is None:
            connection = sqlite3.connect(
                self._path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False
            )
            handle = _Handle(connection)
            self._local.handle = handle
            self._opened.add(handle)
        return handle

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # a bug, not a state of the database
        except sqlite3.Error as error:
            raise StorageError(failure_reason(error)) from None


def _insert(db: "_Handle", arrivals: Sequence[ReportBatch]) -> int:
    """Insert reports whose ids are not stored yet; return their number."""
    return sum(
        db.execute(_INSERT, (one.plan.survey, one.wave, one.report_ids, one.packed, one.size, len(one))).rowcount
        for one in arrivals
    )


class _NotAllNew(Exception):
    """Signal that some report of the group is not new or not allowed; rolls back the fast path."""


class _Handle:
    """Connection of one thread, wrapped by sqlite-utils."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.database = Database(connection, recursive_triggers=False, execute_plugins=False)
        self._in_use = threading.RLock()
        self._closed = False
        self._spills = True
        # Only before the first write: SQLite ignores it for a file that has tables.
        self.execute(f"PRAGMA page_size = {PAGE_BYTES:d}")
        # Turn on WAL; retry, since SQLite's busy timeout does not cover this step.
        last = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                self.database.enable_wal()
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                    raise
            time.sleep(0.01)
        self._kept = READ_KIB
        for pragma in ("synchronous = FULL", "secure_delete = ON", f"cache_size = -{READ_KIB:d}"):
            self.execute(f"PRAGMA {pragma}")
        (page,) = self.execute("PRAGMA page_size").fetchone()
        self.execute(f"PRAGMA wal_autocheckpoint = {LOG_BYTES // page:d}")

    def __del__(self) -> None:
        # Python's own connection refers to itself, and would stay open until a collection.
        self.connection.close()

    def keep_pages(self, most: int = CACHE_KIB) -> None:
        """Keep so many KiB of pages that writing needs again; who reads or writes all once needs none of them again."""
        if self._kept != most:
            self._kept = most
            self.execute(f"PRAGMA cache_size = -{most:d}")

    def set_spills(self, spills: bool) -> None:
        """Let SQLite use temporary files, or not; what they hold is dropped at a change.

        Privacy: they keep pages as they were before a statement, and unused links for as long as the connection is
        open, in a folder for temporary files.
        """
        if self._spills != spills:
            self.execute("PRAGMA temp_store = FILE" if spills else "PRAGMA temp_store = MEMORY")
            self._spills = spills

    slot = 0
    """Slot in the tables of counts: there is one writer."""

    def __enter__(self) -> Self:
        self._in_use.acquire()
        if self._closed:
            self._in_use.release()
            raise StorageError("the database was closed")
        return self

    def __exit__(self, *_: object) -> None:
        self._in_use.release()

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> int:
        before = self.connection.total_changes
        self.connection.executemany(statement, rows)
        return self.connection.total_changes - before

    def stream(self, statement: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        cursor = self.connection.execute(statement, parameters)
        while rows := cursor.fetchmany(size):
            yield rows

    def hold_ids(self, _report_ids: Sequence[bytes]) -> None:
        """Do nothing: SQLite has one writer at a time."""

    def commit(self) -> None:
        """Commit the transaction; it is durable afterwards."""
        self.connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection after any transaction on it has ended."""
        with self._in_use:
            self._closed = True
            self.database.close()
