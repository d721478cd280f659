"""Store the database of several aggregators in one PostgreSQL.

A group of which all is new is stored by ``store.py``; any other one is classified report by report. What has grown is
shown after that, in another transaction and thread: late, and never early. PostgreSQL notes with every row which
transaction wrote it, and rows lie in the order of writing: reports arrive in the table ``fresh`` and settle in the
order of the random ids. The view ``reports`` is both.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout
from sottovoce.aggregator.storage import checks, sql_statements, sql_storage
from sottovoce.aggregator.storage.audit_log.events import MIGRATED, NO_ACTOR
from sottovoce.aggregator.storage.audit_log.table import append
from sottovoce.aggregator.storage.incomplete_copy import known_version, refuse_migration
from sottovoce.aggregator.storage.models import Outcome, ReportBatch
from sottovoce.aggregator.storage.postgres import publish_counts, schema, settling
from sottovoce.aggregator.storage.postgres.connection import NOW, PostgresHandle
from sottovoce.aggregator.storage.postgres.publish_counts import SnapshotPublisher
from sottovoce.aggregator.storage.postgres.store import insert, store_new, wait_for_withdrawals
from sottovoce.aggregator.storage.reports.batch_columns import count, merge
from sottovoce.aggregator.storage.reports.classify_batch import store_sorted
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.aggregator.storage.table_catalogue import OF_SURVEYS, Column
from sottovoce.shared.errors import StorageError

_AS_OF_ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Before the moment is chosen: until its end no file goes whose rows are elsewhere only since.
_READ_ALL = (
    _AS_OF_ONE_MOMENT,
    "SET LOCAL enable_seqscan = on",
    "LOCK TABLE reports, tokens, blind_invitations IN ACCESS SHARE MODE",
)
# Who withdraws waits for the rewriting before it reads; soon it is refused, since it holds a connection.
_WITHDRAW = ("SET LOCAL lock_timeout = '2s'", "LOCK TABLE settled, fresh IN ROW EXCLUSIVE MODE", settling.NOTE_CHANGE)
_SECRETS = ("tokens", "blind_invitations")
_VACUUM = "VACUUM tombstones, keys, invitations, views, staff_sessions"
_WITH_NAMES = ("surveys", "drafts", "releases", *(each for each in OF_SURVEYS if each not in {"reports", *_SECRETS}))

_KINDS = {"bigint": "numbers", "integer": "numbers", "smallint": "numbers", "text": "text", "bytea": "bytes"}
_COLUMNS = """
    SELECT relname, attname, format_type(atttypid, atttypmod), coalesce(attnum = ANY (indkey), false), NOT attnotnull
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    LEFT JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
    ORDER BY relname, attnum
"""
# Keys have indexes of their own, which belong to their constraints.
_FOREIGN_INDEXES = """
    SELECT indrelid::regclass::text, indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = current_schema()::regnamespace AND relname <> 'journal_days'
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY 1, 2
"""

OLD_SECONDS = 300
"""Age from which a snapshot is named: no report is to be told from its neighbours for longer."""

_OLD_SNAPSHOTS = """
    SELECT 'the session ' || pid || ' has a transaction', 'select pg_terminate_backend(' || pid || ')'
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < now() - make_interval(secs => ?)
    UNION ALL SELECT 'there is a prepared transaction', 'rollback prepared ' || quote_literal(gid)
    FROM pg_prepared_xacts WHERE database = current_database() AND prepared < now() - make_interval(secs => ?)
    UNION ALL SELECT 'there is a replication slot',
    'select pg_drop_replication_slot(' || quote_literal(slot_name) || ')'
    FROM pg_replication_slots WHERE xmin IS NOT NULL ORDER BY 1, 2
"""

LOCK = 0x50770
"""Number of the advisory lock under which one process at a time migrates."""

WAIT_SECONDS = 60
"""Seconds that a migration waits for readers of a table."""

_VERSION = "SELECT version FROM schema_version"
_SET_VERSION = "UPDATE schema_version SET version = version + %s, usable_from = %s"


def check_usable(db: Handle, unfinished: bool = False) -> None:
    """Raise StorageError unless the database has this program's schema; ``unfinished`` accepts an unfinished copy."""
    version = known_version(db.execute(_VERSION).fetchone()[0], schema.VERSION, unfinished)
    if version < schema.VERSION:
        raise StorageError("the database has an older schema than this program; start the program again")


def migrate(connection: psycopg.Connection[Any], unfinished: bool, stopped: bool, migrates: bool) -> None:
    """Make the tables of a new database, or migrate one of an earlier release while no node runs, all or nothing.

    Args:
        connection: outside a transaction.
        unfinished: accept a database with an unfinished copy.
        stopped: no node runs on it, so that it may be migrated.
        migrates: False refuses a database of an earlier release.

    Raises:
        StorageError: this program cannot work with it, or a node may run on it.
    """
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            for statement in schema.VERSION_TABLE:
                connection.execute(statement)
            ((written,),) = connection.execute(_VERSION).fetchall()
            version = known_version(written, schema.VERSION, unfinished)
            if version < schema.VERSION:
                _check(version, stopped or unfinished, migrates)
                _to_present(connection, version)
    except errors.LockNotAvailable:
        raise StorageError("the database's tables are in use, and cannot be changed; is a backup under way?") from None


def _check(version: int, stopped: bool, migrates: bool) -> None:
    if 0 < version < schema.EARLIEST:
        raise StorageError(
            "the database was made by a release before 0.3.0; bring it to 0.3.0 first, with that release's"
            " `sottovoce migrate --stopped`"
        )
    if version and not stopped:
        raise StorageError(
            "the database was made by an earlier release, whose nodes cannot go on beside this one: stop them all, run"
            " `sottovoce db migrate --stopped`, then start"
        )
    if not migrates:
        refuse_migration(version, schema.VERSION)


def _to_present(connection: psycopg.Connection[Any], version: int) -> None:
    if version == 0:
        schema.make_all(connection)
        connection.execute("INSERT INTO pulse (beat) VALUES (0)")
    else:
        connection.execute("SELECT set_config('lock_timeout', %s, true)", [f"{WAIT_SECONDS}s"])
        schema.take_over(connection, version)
        db = PostgresHandle(connection)
        ((seconds,),) = db.execute(NOW).fetchall()
        append(db, seconds // 86400, MIGRATED, NO_ACTOR, str(schema.VERSION))
    connection.execute(_SET_VERSION, [schema.VERSION - version, schema.VERSION])


def old_snapshots(db: Handle) -> list[str]:
    """Describe what has kept the server from removing rows in the order of arrival for more than five minutes."""
    return [
        f"{what} that is old, so that files keep the order of arrival; if nothing needs it, run in psql: {remedy}"
        for what, remedy in db.execute(_OLD_SNAPSHOTS, [OLD_SECONDS, OLD_SECONDS])
    ]


def foreign_indexes(db: Handle) -> list[str]:
    """Describe indexes that this program did not make: one could keep reports in another order."""
    return [
        f"the table {table} has an index {name}, which is none of this program's; remove it with psql: "
        f"drop index {name}"
        for table, name in db.execute(_FOREIGN_INDEXES)
    ]


def described(db: Handle) -> dict[str, dict[str, Column]]:
    """Return the tables that this program sees, by column; ``settled`` as ``reports``, its view."""
    tables: dict[str, dict[str, Column]] = {}
    for table, name, of, in_key, may_be_empty in db.execute(_COLUMNS):
        tables.setdefault("reports" if table == "settled" else table, {})[name] = Column(
            _KINDS.get(of, "something else"), in_key, may_be_empty
        )
    return tables


class PostgresStorage(sql_storage.Storage):
    """A PostgreSQL database; its tables are made if there are none.

    Raises StorageError if it is unreachable, of a newer schema, or of an older one that may not be migrated.

    Args:
        url: ``postgresql://...``; never repeated in a message.
        connections: the most that this process opens.
        unfinished: open it also if a copy into it was not finished.
        stopped: no node runs on it, so that it may be migrated.
        migrates: migrate a database of an earlier release.
    """

    LOCK_SURVEYS: ClassVar[str] = "LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE"
    LOCK_ACCOUNTS: ClassVar[str] = "LOCK TABLE accounts, grants IN SHARE ROW EXCLUSIVE MODE"
    NEW_ID: ClassVar[str] = "uuid_send(gen_random_uuid())"
    UNTIL_END: ClassVar[str] = " FOR SHARE"
    NOW: ClassVar[str] = NOW

    def __init__(
        self, url: str, connections: int = 8, unfinished: bool = False, stopped: bool = False, migrates: bool = True
    ) -> None:
        self._pool = ConnectionPool(
            url,
            min_size=1,
            max_size=connections,
            timeout=5,
            reconnect_timeout=5,
            kwargs={"autocommit": True, "connect_timeout": 5},
            configure=_configure,
            open=True,
        )
        self._publisher = SnapshotPublisher(self.show_grown)
        self._is_closed = False
        self._tries = settling.TRIES
        # Privacy: counting leaves traces, see ``level_counts``. Unknown after a start.
        self._are_counts_used = True
        try:
            with self._connection() as connection:
                migrate(connection, unfinished, stopped, migrates)
        except BaseException:
            self._pool.close()
            raise

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Store a group in one durable transaction, and have shown what has grown by it."""
        self._are_secrets_used |= any(arrival.tokens for arrival in arrivals)
        self._are_counts_used = True
        with self._connection() as connection:
            is_stored = store_new(connection, merge(arrivals))
        outcomes = [Outcome.NEW] * count(arrivals) if is_stored else self._store_sorted(arrivals)
        if Outcome.NEW in outcomes:
            self._publisher.want({each.plan.survey: each.plan.release_batch for each in arrivals})
        self._note_stored(count(arrivals))
        return outcomes

    def _store_sorted(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        # Another node may store one of these reports between the look-up and the insert: then all is looked up again.
        while True:
            try:
                with self.write() as db:
                    wait_for_withdrawals(db, merge(arrivals))
                    counted = partial(sql_statements.count_up, slot=db.slot)
                    return store_sorted(db, arrivals, _insert, counted, self.is_open, " FOR UPDATE")
            except _NotAllNewPostgres:
                continue

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """Show the cells of surveys, given their ``release_batch`` by their keys, that have grown by as many."""
        with self._connection() as connection:
            publish_counts.show_grown(connection, batches)

    def _catch_up(self) -> None:
        self._publisher.settle()

    def clock(self) -> float | None:
        """Return seconds since 1970 by the server's clock."""
        with self.read() as db:
            return float(db.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])  # type: ignore[index]

    def settle(self) -> bool:
        """Move fresh reports in the order of their ids, and rewrite counts, tokens and invitations if used."""
        with self._connection() as connection:
            # A newer program knows columns that this one would leave out.
            check_usable(PostgresHandle(connection), unfinished=True)
            settling.settle(connection, self._tries)
        self._rewrite_used_secrets()
        if self._are_counts_used:
            # Before it begins, since a report may be counted right after; again if it fails.
            self._are_counts_used = False
            try:
                with self._connection() as connection:
                    settling.level_counts(connection, self._tries)
            except BaseException:
                self._are_counts_used = True
                raise
        return True

    def _rewrite_secrets(self) -> None:
        with self._connection() as connection:
            for table in _SECRETS:
                settling.rewrite(connection, table, self._tries)

    def after_deletion(self) -> None:
        """Have the counts, from which a report may have been taken, rewritten soon, and other files replaced."""
        self._are_counts_used = True
        self._note_stored(0)

    def scrub(self) -> None:
        """Settle, write all reports anew if any changed, and remove what was deleted."""
        self.settle()
        with self._connection() as connection:
            settling.sort_settled(connection)
            connection.execute(_VACUUM)

    def _forget(self) -> None:
        self._soon(self._rewrite)

    def _rewrite(self) -> None:
        """Write every table anew that has rows of surveys: the old pages go with their files."""
        self._are_secrets_used = True
        self.scrub()
        with self._connection() as connection:
            settling.vacuum_full(connection, _WITH_NAMES, lambda: self._is_closed)

    def _hold(self, db: sql_statements.Handle) -> None:
        for statement in _WITHDRAW:
            db.execute(statement)

    @contextmanager
    def read_reports(self) -> Iterator[PostgresHandle]:
        """Begin a transaction that reads reports, and keeps their tables from being rewritten."""
        with self._connection() as connection, connection.transaction():
            for statement in _READ_ALL:
                connection.execute(statement)
            yield PostgresHandle(connection)

    def check(self) -> None:
        """Raise ``StorageError`` unless the database can be written to and this program can work with its schema."""
        with self.write() as db:
            check_usable(db)
            db.execute("UPDATE pulse SET beat = 1 - beat")

    def verify(self) -> list[str]:
        """Describe contradictions between the tables; damaged pages are for the server's own checks."""
        with self.read_reports() as db:
            check_usable(db)
            return checks.problems(db, described(db))

    def faults(self) -> list[str]:
        """Describe implausible rows, indexes of other programs and snapshots that delay settling, each with advice."""
        with self.read() as db:
            return [*super().faults(), *foreign_indexes(db), *old_snapshots(db)]

    def old_snapshots(self) -> list[str]:
        """Describe snapshots that have kept the order of arrival in the files for five minutes, each with advice."""
        with self.read() as db:
            return old_snapshots(db)

    def _version(self, db: sql_statements.Handle) -> int:
        return int((db.execute("SELECT version FROM schema_version").fetchone() or (0,))[0])

    def _set_version(self, db: sql_statements.Handle, version: int) -> None:
        db.execute("UPDATE schema_version SET version = ?", [version])

    def close(self) -> None:
        """Stop background work, settle if this process took reports, and close all connections."""
        self._publisher.end()
        self._is_closed = True
        if self._maintenance is not None:
            self._maintenance.end()
            # The end of the process waits for it.
            self._tries = 1
            with suppress(StorageError):
                self.settle()
        self._pool.close()

    def _check_known(self, db: sql_statements.Handle) -> None:
        check_usable(db)

    @contextmanager
    def read(self) -> Iterator[PostgresHandle]:
        """Begin a transaction that sees one state of the database."""
        with self._connection() as connection, connection.transaction():
            connection.execute(_AS_OF_ONE_MOMENT)
            yield PostgresHandle(connection)

    @contextmanager
    def write(self) -> Iterator[PostgresHandle]:
        """Begin a transaction that is durable once it has ended without an error."""
        with self._connection() as connection, connection.transaction():
            yield PostgresHandle(connection)

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            with self._pool.connection() as connection:
                yield connection
        except errors.DataError:
            raise OverflowError("a value does not fit its column") from None
        except (psycopg.Error, PoolTimeout) as error:
            # The library's text may quote values; its class name says enough to an operator.
            raise StorageError(f"the database is unavailable ({type(error).__name__})") from None


def _configure(connection: psycopg.Connection[Any]) -> None:
    """Set what the server's defaults may not be.

    Nothing is acknowledged before it is synced; who has waited for a lock sees what came meanwhile; and ids are looked
    up in an index, although the planner, which has no statistics of them, thinks that many rows have the same one.
    """
    connection.execute("SET default_transaction_isolation = 'read committed'")
    # A reader that pauses keeps dead rows in the files, and so the order of arrival; a slow download may pause so long.
    connection.execute("SET idle_in_transaction_session_timeout = '5min'")
    connection.execute("SET enable_seqscan = off")
    connection.execute("SET plan_cache_mode = force_generic_plan")
    if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
        connection.execute("SET synchronous_commit = on")


class _NotAllNewPostgres(Exception):
    """Group of which something is not new, or not allowed; nothing of it was stored."""


def _insert(db: PostgresHandle, arrivals: Sequence[ReportBatch]) -> None:
    if not insert(db, arrivals):
        raise _NotAllNewPostgres
