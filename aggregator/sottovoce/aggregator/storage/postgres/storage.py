"""
The shared back end: one PostgreSQL, several aggregators.

A group of which all is new is one statement, a call of a function in the database, committed by itself. A report that
was there already is no error to the server, whose log would name it: the function says so. Every process counts in a
slot of its own, so that nodes do not wait for each other; the rows of cells are taken first and in the order of their
keys, and who holds one is alone with its counts in that slot, so that nobody ever waits in a circle. What has grown is
shown after that, in another transaction and thread: late, and never early. PostgreSQL notes with every row which
transaction wrote it, and rows lie in the order of writing: ``scrub`` has reports settle, in the order of the random
ids, and removes the traces of spent tokens.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout
from sottovoce.aggregator.storage import checks, sql_statements, sql_storage
from sottovoce.aggregator.storage.models import Outcome, ReportBatch
from sottovoce.aggregator.storage.postgres import migrate
from sottovoce.aggregator.storage.postgres.checks import described
from sottovoce.aggregator.storage.postgres.connection import NOW, PostgresHandle
from sottovoce.aggregator.storage.postgres.count_slots import Slot, SnapshotPublisher
from sottovoce.aggregator.storage.postgres.functions import NEW_NODE
from sottovoce.aggregator.storage.postgres.invitations import sort_invitations
from sottovoce.aggregator.storage.postgres.reorder_reports import Reordering
from sottovoce.aggregator.storage.postgres.rewrite import write_anew
from sottovoce.aggregator.storage.reports.batch_columns import count, merge
from sottovoce.aggregator.storage.reports.classify_batch import is_any_withdrawn, signed, store_sorted
from sottovoce.aggregator.storage.reports.count_changes import Change, change
from sottovoce.aggregator.storage.table_catalogue import OF_SURVEYS
from sottovoce.shared.errors import StorageError

_STORE = (
    "SELECT stored, has_grown FROM sottovoce_store_9(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[],"
    " %s::bytea[], %s::bytea[], %s::bigint[], %s::bytea[], %s::bigint[], %s::bigint[], %s::smallint, %s::bigint[])"
)
_AS_OF_ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_GROWN = """
    SELECT DISTINCT survey, batch FROM (
        SELECT survey, batch, wave, cohort, sum(arrived - withdrawn) AS reports
        FROM unnest(%s::bigint[], %s::bigint[]) AS s (survey, batch) JOIN cells USING (survey)
        GROUP BY survey, batch, wave, cohort
    ) AS live LEFT JOIN shown_cells AS shown USING (survey, wave, cohort)
    WHERE reports - coalesce(arrived - withdrawn, 0) >= batch ORDER BY survey
"""
_VACUUM = "VACUUM tokens, blind_invitations, tombstones, keys, invitations, views, staff_sessions"
_WRITTEN_ANEW = ("surveys", "drafts", "releases", *(table for table in OF_SURVEYS if table != "reports"))


class PostgresStorage(sql_storage.SQLStorage):
    """
    A PostgreSQL database; its tables are made if there are none.

    Args:
        url: ``postgresql://...``; never repeated in a message.
        connections: the most that this process opens, beside the one that holds its slot.
        unfinished: open it also if a copy into it was not finished.
        stopped: no other node runs on it: migrate also to what those of an earlier release could not go on with.
        migrates: migrate a database of an earlier release.

    Raises:
        StorageError: unreachable, of a schema newer than this program can work with, or of one older than can be
            migrated while nodes run.
    """

    OPEN: ClassVar[str] = "SELECT 1 FROM surveys WHERE key = ? AND closed_on IS NULL FOR SHARE"

    ALONE: ClassVar[str] = "LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE"
    LOCK_ACCOUNTS: ClassVar[str] = "LOCK TABLE accounts, grants IN SHARE ROW EXCLUSIVE MODE"
    NEW_ID: ClassVar[str] = "SELECT uuid_send(gen_random_uuid())"
    UNTIL_END: ClassVar[str] = " FOR SHARE"
    NOW: ClassVar[str] = NOW
    THERE: ClassVar[str] = "SELECT name FROM surveys WHERE key = ? FOR SHARE"

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
        self._own_slot = Slot(url)
        self._publisher = SnapshotPublisher(self.show_grown)
        self._settling = Reordering(self._connection)
        # Unknown after a start.
        self._are_tokens_spent = True
        try:
            with self._connection() as connection:
                migrate.migrate(connection, unfinished, stopped, migrates)
        except BaseException:
            self._pool.close()
            raise

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Store a group in one durable transaction, and have shown what has grown by it."""
        self._are_tokens_spent |= any(arrival.tokens for arrival in arrivals)
        merged = merge(arrivals)
        added = change(merged)
        with self._connection() as connection:
            given = [*_arguments(merged, added), self._slot(), _numbers(signed(merged))]
            stored, has_grown = connection.execute(_STORE, given).fetchone() or (False, False)
        outcomes = [Outcome.NEW] * count(arrivals) if stored else self._store_sorted(arrivals)
        if has_grown or (not stored and Outcome.NEW in outcomes):
            self._publisher.want(added.batches)
        self._note_stored(count(arrivals))
        return outcomes

    def _store_sorted(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        # Another node may store one of these reports between the look-up and the insert: then all is looked up again.
        while True:
            try:
                with self._write() as db:
                    counted = partial(sql_statements.count_up, slot=self._slot())
                    return store_sorted(db, arrivals, _insert, counted, self.OPEN, " FOR UPDATE")
            except _NotAllNewPostgres:
                continue

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """Show the cells of surveys, given their ``release_batch`` by their keys, that have grown by as many."""
        with self._connection() as connection:
            grown = connection.execute(_GROWN, [list(batches), list(batches.values())]).fetchall()
            for survey in grown:
                connection.execute("SELECT sottovoce_show_9(%s, %s)", survey)

    def _catch_up(self) -> None:
        self._publisher.settle()

    def _slot(self) -> int:
        return self._own_slot.number

    def clock(self) -> float | None:
        """Seconds since 1970 by the server's clock."""
        with self._read() as db:
            return float(db.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])  # type: ignore[index]

    def settle(self) -> bool:
        """Scrub; a reader makes it raise ``StorageError``."""
        self.scrub()
        return True

    def scrub(self) -> None:
        """Settle what has arrived, write invitations anew in the order of random keys, and remove what was deleted."""
        self._settling.run()
        with self._connection() as connection:
            sort_invitations(connection)
            if self._are_tokens_spent:
                self._rewrite_tokens(connection)
            connection.execute(_VACUUM)

    def _rewrite_tokens(self, connection: psycopg.Connection[Any]) -> None:
        # Privacy: VACUUM leaves bytes of a spent token, and the number of its transaction, in the page.
        self._are_tokens_spent = False
        try:
            write_anew(connection, ("tokens",), lambda: self._settling.ended)
        except BaseException:
            self._are_tokens_spent = True
            raise

    def _forget(self) -> None:
        self._soon(self._rewrite)

    def _rewrite(self) -> None:
        """Write every table anew that has rows of surveys: the old pages go with their files."""
        self._settling.run()
        with self._connection() as connection:
            write_anew(connection, _WRITTEN_ANEW, lambda: self._settling.ended)

    def _drop_reports(self, db: sql_statements.Handle, name: str) -> None:
        for (survey,) in db.execute("SELECT key FROM surveys WHERE name = ?", [name]).fetchall():
            db.execute("SELECT sottovoce_drop_partition_9(?)", [survey])

    def _rekey(self, db: sql_statements.Handle, survey: int) -> None:
        db.execute("SELECT sottovoce_rekey_9(?)", [survey])

    def _hold(self, db: sql_statements.Handle, survey: int) -> None:
        db.execute("SELECT sottovoce_hold_9(?)", [survey])

    @contextmanager
    def _read_reports(self) -> Iterator[PostgresHandle]:
        with self._connection() as connection, connection.transaction():
            connection.execute(_AS_OF_ONE_MOMENT)
            # Before the moment is chosen: until its end no file goes whose rows lie elsewhere only since.
            connection.execute("LOCK TABLE reports, blind_invitations IN ACCESS SHARE MODE")
            yield PostgresHandle(connection)

    def check(self) -> None:
        """Raise ``StorageError`` unless the database can be written to and this program can work with its schema."""
        with self._write() as db:
            migrate.check_usable(db)
            db.execute("UPDATE pulse SET beat = 1 - beat")
        self._own_slot.check()

    def verify(self) -> list[str]:
        """Describe contradictions between the tables; damaged pages are for the server's own checks."""
        with self._read_reports() as db:
            self._check_known(db)
            return checks.problems(db, described(db))

    def _version(self, db: sql_statements.Handle) -> int:
        return int((db.execute("SELECT version FROM schema_version").fetchone() or (0,))[0])

    def _set_version(self, db: sql_statements.Handle, version: int) -> None:
        db.execute("UPDATE schema_version SET version = ?", [version])

    def close(self) -> None:
        """Stop background work and close all connections."""
        self._publisher.end()
        self._settling.ended = True
        if self._maintenance is not None:
            self._maintenance.end()
        self._own_slot.close()
        self._pool.close()

    def _check_known(self, db: sql_statements.Handle) -> None:
        migrate.check_known(db)

    @contextmanager
    def _read(self) -> Iterator[PostgresHandle]:
        with self._connection() as connection, connection.transaction():
            connection.execute(_AS_OF_ONE_MOMENT)
            yield PostgresHandle(connection)

    @contextmanager
    def _write(self) -> Iterator[PostgresHandle]:
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
    """
    Whatever the server's default is: nothing is acknowledged before it is synced, and who has waited for a lock sees
    what came meanwhile. And say that we show late.
    """
    connection.execute(NEW_NODE)
    connection.execute("SET default_transaction_isolation = 'read committed'")
    if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
        connection.execute("SET synchronous_commit = on")


class _NotAllNewPostgres(Exception):
    """Something in the group is not new, or not allowed; nothing of it was stored."""


def _insert(db: PostgresHandle, arrivals: Sequence[ReportBatch]) -> None:
    # A report may have been stored, or stored and withdrawn, elsewhere since its id was looked up.
    if db.insert(arrivals) != count(arrivals) or db.is_any_settled(arrivals) or is_any_withdrawn(db, arrivals):
        raise _NotAllNewPostgres


def _arguments(arrivals: Sequence[ReportBatch], added: Change) -> list[str | list[bytes]]:
    """Return the arguments of the SQL function, without the slot."""
    surveys = sorted(added.batches)
    tokens = sorted(sql_statements.tokens_of(arrivals))
    return [
        _numbers(surveys),
        _numbers(added.batches[survey] for survey in surveys),
        _numbers(block.plan.survey for block in arrivals),
        _numbers(block.wave for block in arrivals),
        [block.report_ids for block in arrivals],
        [block.packed for block in arrivals],
        _numbers(token[0] for token in tokens),
        [token[1] for token in tokens],
        _numbers(added.cells.ravel().tolist()),
        _numbers(added.counts.ravel().tolist()),
    ]


def _numbers(many: Iterable[int]) -> str:
    """An array as PostgreSQL writes it: the library takes as long for these as all else takes together."""
    return f"{{{','.join(map(str, many))}}}"
