"""
The shared back end: one PostgreSQL, several aggregators.

A group of which all is new is one statement, a call of a function in the database, committed by itself. A report that
was there already is no error to the server, whose log would name it: the function returns false. The rows of cells are
taken first and in the order of their keys, and who holds one is alone with its counts, so that two nodes never wait for
each other in a circle. PostgreSQL notes with every row which transaction wrote it, and rows lie in the order of
writing: ``scrub`` writes the table of reports anew, in the order of the random ids, and removes the traces of spent
tokens.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout
from sottovoce.aggregator.storage import checks, postgres_migrate, sql, statements
from sottovoce.aggregator.storage.base import Arrival, Outcome
from sottovoce.aggregator.storage.classify import is_any_withdrawn, store_sorted
from sottovoce.aggregator.storage.columns import count, merge
from sottovoce.aggregator.storage.postgres_checks import described
from sottovoce.aggregator.storage.postgres_migrate import LOCK
from sottovoce.aggregator.storage.tables import OF_SURVEYS, fill
from sottovoce.aggregator.storage.tally import change
from sottovoce.shared.errors import StorageError

_STORE = (
    "SELECT sottovoce_store_8(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bytea[], %s::bytea[],"
    " %s::bigint[], %s::bytea[], %s::bigint[], %s::bigint[], 0::smallint)"
)
_INSERT = """
    INSERT INTO reports
    SELECT ?, substring(?::bytea FROM 16 * n + 1 FOR 16), ?, substring(?::bytea FROM ? * n + 1 FOR ?)
    FROM generate_series(0, ? - 1) AS n
    ON CONFLICT DO NOTHING
"""
"""Many reports of one shape, cut apart by the server; how many rows there are then tells whether all were new."""

_WITH_REPORTS = ", ".join(OF_SURVEYS)
_REWRITE = f"VACUUM FULL surveys, {_WITH_REPORTS}"


class PostgresStorage(sql.SQLStorage):
    """
    A PostgreSQL database; its tables are made if there are none.

    Args:
        url: ``postgresql://...``; never repeated in a message.
        connections: the most that this process opens.
        unfinished: open it also if a copy into it was not finished.
        stopped: no other node runs on it: migrate also to what those of an earlier release could not go on with.

    Raises:
        StorageError: unreachable, of a schema newer than this program can work with, or of one older than can be
            migrated while nodes run.
    """

    OPEN: ClassVar[str] = "SELECT 1 FROM surveys WHERE key = ? AND closed_on IS NULL FOR SHARE"

    ALONE: ClassVar[str] = "LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE"
    LOCK_ACCOUNTS: ClassVar[str] = "LOCK TABLE accounts, grants IN SHARE ROW EXCLUSIVE MODE"
    NEW_ID: ClassVar[str] = "SELECT uuid_send(gen_random_uuid())"
    UNTIL_END: ClassVar[str] = " FOR SHARE"
    NOW: ClassVar[str] = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"
    REKEY: ClassVar[str] = "UPDATE reports SET report_id = uuid_send(gen_random_uuid()) WHERE survey = ?"
    THERE: ClassVar[str] = "SELECT 1 FROM surveys WHERE key = ? FOR SHARE"

    def __init__(self, url: str, connections: int = 8, unfinished: bool = False, stopped: bool = False) -> None:
        self._pool = ConnectionPool(
            url,
            min_size=1,
            max_size=connections,
            timeout=5,
            reconnect_timeout=5,
            kwargs={"autocommit": True, "connect_timeout": 5},
            configure=_make_durable,
            open=True,
        )
        try:
            with self._connection() as connection:
                postgres_migrate.migrate(connection, unfinished, stopped)
        except BaseException:
            self._pool.close()
            raise

    def store(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Store a group in one durable transaction."""
        with self._connection() as connection:
            all_new = connection.execute(_STORE, _arguments(merge(arrivals))).fetchone() == (True,)
        return [Outcome.NEW] * count(arrivals) if all_new else self._store_sorted(arrivals)

    def _store_sorted(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        # Another node may store one of these reports between the look-up and the insert: then all is looked up again.
        while True:
            try:
                with self._write() as db:
                    return store_sorted(db, arrivals, _insert, self.OPEN, " FOR UPDATE")
            except _NotAllNew:
                continue

    def clock(self) -> float | None:
        """Seconds since 1970 by the server's clock."""
        with self._read() as db:
            return float(db.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])  # type: ignore[index]

    def scrub(self) -> None:
        """Write the reports anew in the order of their ids, in one transaction, and remove what was deleted."""
        with self._write() as db:
            if db.execute("SELECT pg_try_advisory_xact_lock(?)", [LOCK]).fetchone() == (False,):
                return  # another node is at it
            db.execute("LOCK TABLE reports")
            db.execute("CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM reports")
            # A new file: neither the old places nor the old transactions' numbers come along.
            db.execute("TRUNCATE reports")
            db.execute("INSERT INTO reports SELECT * FROM kept ORDER BY survey, report_id")
        with self._connection() as connection:
            connection.execute("VACUUM tokens, tombstones, reports, keys, invitations, views, staff_sessions")

    def _forget(self) -> None:
        """Write every table anew that has rows of surveys: the old pages go with their files."""
        with self._connection() as connection:
            connection.execute(_REWRITE)

    def check(self) -> None:
        """Raise ``StorageError`` unless the database can be written to and this program can work with its schema."""
        with self._write() as db:
            postgres_migrate.check_usable(db)
            db.execute("UPDATE pulse SET beat = 1 - beat")

    def verify(self) -> list[str]:
        """What is wrong with the tables; the pages themselves are the server's own concern."""
        with self._read() as db:
            self._check_known(db)
            return checks.problems(db, described(db))

    def _version(self, db: statements.Handle) -> int:
        return int((db.execute("SELECT version FROM schema_version").fetchone() or (0,))[0])

    def _set_version(self, db: statements.Handle, version: int) -> None:
        db.execute("UPDATE schema_version SET version = ?", [version])

    def import_table(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows to an empty table."""
        with self._write() as db:
            db.executemany(fill(table), rows)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _check_known(self, db: statements.Handle) -> None:
        postgres_migrate.check_known(db)

    @contextmanager
    def _read(self) -> Iterator["_Handle"]:
        with self._connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _Handle(connection)

    @contextmanager
    def _write(self) -> Iterator["_Handle"]:
        with self._connection() as connection, connection.transaction():
            yield _Handle(connection)

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


def _make_durable(connection: psycopg.Connection[Any]) -> None:
    """Whatever the server's default is: nothing is acknowledged before it is synced."""
    if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
        connection.execute("SET synchronous_commit = on")


class _NotAllNew(Exception):
    """Something in the group is not new, or not allowed; nothing of it was stored."""


class _Handle:
    """A connection that speaks the SQL that both back ends share."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Run one statement."""
        return self._connection.execute(_marks(statement), list(parameters) or None)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each row; returns how many rows changed."""
        cursor = self._connection.cursor()
        cursor.executemany(_marks(statement), rows)
        return max(cursor.rowcount, 0)

    def insert(self, arrivals: Sequence[Arrival]) -> int:
        """Add the reports whose ids are not there yet; returns how many those are."""
        return sum(
            self.execute(
                _INSERT, [each.plan.survey, each.report_ids, each.wave, each.packed, each.size, each.size, len(each)]
            ).rowcount
            for each in arrivals
        )

    def stream(self, statement: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """The rows of a statement, so many at a time."""
        with self._connection.cursor("stream", binary=True) as cursor:
            cursor.execute(_marks(statement), list(parameters))
            while rows := cursor.fetchmany(size):
                yield rows


def _marks(statement: str) -> Any:  # noqa: ANN401 - the library wants literal text, which this is
    return statement.replace("?", "%s")


def _insert(db: "_Handle", arrivals: Sequence[Arrival]) -> None:
    # A report may have been stored, or stored and withdrawn, elsewhere since its id was looked up.
    if db.insert(arrivals) != count(arrivals) or is_any_withdrawn(db, arrivals):
        raise _NotAllNew


def _arguments(arrivals: Sequence[Arrival]) -> list[list[Any]]:
    """What the function in the database is called with."""
    added = change(arrivals)
    surveys = sorted(added.batches)
    tokens = sorted(statements.tokens_of(arrivals))
    return [
        surveys,
        [added.batches[survey] for survey in surveys],
        [block.plan.survey for block in arrivals],
        [block.wave for block in arrivals],
        [block.report_ids for block in arrivals],
        [block.packed for block in arrivals],
        [token[0] for token in tokens],
        [token[1] for token in tokens],
        added.cells.ravel().tolist(),
        added.counts.ravel().tolist(),
    ]
