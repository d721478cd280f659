"""Move fresh reports, and rewrite tables, in the order of random keys.

Privacy: PostgreSQL notes with each row which transaction wrote it, places rows in the order of writing, and leaves
deleted ones in the files. What is settled or rewritten here gets new files and one transaction. Each step is one
transaction, so that a process may be killed at any moment; the next run begins anew. All need a connection outside a
transaction; those that lock a table try it ``tries`` times, and raise StorageError if a reader prevented it.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, LiteralString

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier
from sottovoce.aggregator.storage.define_tables import VIEW
from sottovoce.aggregator.storage.postgres.schema import make
from sottovoce.aggregator.storage.table_catalogue import select
from sottovoce.shared.errors import StorageError

MOVED_ROWS = 10_000
"""Reports moved at once: those that arrive meanwhile wait for some fifty milliseconds."""

TRIES, PAUSE_SECONDS = 60, 0.5
"""How often a lock is tried, and the pause between two tries, in which others go on."""

WAIT_MILLISECONDS = 100
"""How long each try waits for a reader: all who come later wait behind it."""

_MOVE = """
    INSERT INTO settled (survey, wave, report_id, "values")
    SELECT survey, wave, report_id, "values" FROM fresh ORDER BY survey, report_id
"""
_MOVE_PART = """
    WITH moved AS (
        DELETE FROM fresh WHERE (survey, report_id) IN (
            SELECT survey, report_id FROM fresh ORDER BY survey, report_id LIMIT %s
        ) RETURNING survey, wave, report_id, "values"
    )
    INSERT INTO settled (survey, wave, report_id, "values")
    SELECT survey, wave, report_id, "values" FROM moved ORDER BY survey, report_id
"""
_LOCK: tuple[LiteralString, ...] = (
    "LOCK TABLE settled IN ROW EXCLUSIVE MODE",
    "LOCK TABLE fresh IN ACCESS EXCLUSIVE MODE",
)
_REPLACE = ("DROP TABLE {0}", "ALTER TABLE sorted_{0} RENAME TO {0}", "ALTER INDEX sorted_{0}_pkey RENAME TO {0}_pkey")
# Their sums over all slots, in slot 0, and no count that only withdrawn reports have made.
_LEVEL = [
    f"WITH former AS (DELETE FROM {table} RETURNING *) INSERT INTO {table} ".encode()  # noqa: S608 - constants
    + select(table).replace(f" {table} ", " former ").encode()
    for table in ("cells", "counts")
]
_LEVEL.append(b"DELETE FROM counts WHERE reports = 0")
_READ_TOO_LONG = "the counts have been read for too long to write them anew; it is tried again"
_WAIT_BRIEFLY = "SELECT set_config('lock_timeout', %s::text, %s)"
_NEXT = "SELECT txid_snapshot_xmax(txid_current_snapshot()) & 4294967295"
_SEES_EARLIER = """
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
    AND pid <> pg_backend_pid() AND age(backend_xmin) > age(%s::text::xid)
"""
NOTE_CHANGE = "UPDATE schema_version SET is_sorted = false WHERE is_sorted"


def settle(connection: psycopg.Connection[Any], tries: int = TRIES) -> None:
    """Move the rows of ``fresh`` to ``settled``, and replace the files in which they were."""
    # Also where all was withdrawn: the bytes are still in the file.
    are_left = connection.execute("SELECT pg_relation_size('fresh') > 0").fetchone() == (True,)
    while are_left:
        with connection.transaction():
            # In this order, so that reports never wait behind the rewriting of ``settled``.
            for statement in _LOCK:
                _lock(connection, statement, tries=tries)
            connection.execute(NOTE_CHANGE)
            are_left = connection.execute("SELECT count(*) > %s FROM fresh", [MOVED_ROWS]).fetchone() == (True,)
            if are_left:
                connection.execute(_MOVE_PART, [MOVED_ROWS])
            else:
                # What arrives from now on is for the next time.
                connection.execute(_MOVE)
                connection.execute("TRUNCATE fresh")


def sort_settled(connection: psycopg.Connection[Any]) -> None:
    """Rewrite ``settled`` if reports came to it, or were taken out of it, since it was rewritten.

    Reports arrive meanwhile; withdrawals wait.
    """
    with connection.transaction():
        _lock(connection, "LOCK TABLE settled IN SHARE ROW EXCLUSIVE MODE")
        is_sorted = connection.execute("SELECT is_sorted FROM schema_version").fetchone() == (True,)
        if not is_sorted:
            _fill(connection, "settled", "survey, report_id")
            _lock(connection, "DROP VIEW reports", *_replace("settled"), VIEW)
            connection.execute("UPDATE schema_version SET is_sorted = true")
    if not is_sorted:
        # Else the first reader notes that all rows are visible, and the log gets a copy of each page.
        connection.execute("VACUUM (SKIP_LOCKED) settled")


def rewrite(connection: psycopg.Connection[Any], table: str, tries: int = TRIES) -> None:
    """Rewrite a table of tokens or invitations; reports and redemptions wait meanwhile."""
    with connection.transaction():
        _lock(connection, f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode(), tries=tries)
        _fill(connection, table, "1, 2")
        for statement in _replace(table):
            connection.execute(statement)


def level_counts(connection: psycopg.Connection[Any], tries: int = TRIES) -> None:
    """Rewrite the live counts, so that all come from one transaction and are in one slot; reports wait meanwhile.

    Privacy: each report leaves a dead row of each count that it changed, with the number of its transaction. In the
    order of these numbers, they tell the values of the reports in the order of arrival; so do the slots of connections
    that take turns, as long as each has few reports.
    """
    # Also before, so that attempts in vain write nothing.
    if are_seen(connection, tries):
        raise StorageError(_READ_TOO_LONG)
    with connection.transaction():
        # In the order in which reports lock them.
        _lock(connection, "LOCK TABLE cells, counts IN SHARE ROW EXCLUSIVE MODE", tries=tries)
        for statement in _LEVEL:
            connection.execute(statement)
    last = time.monotonic() + min(tries, TRIES) * PAUSE_SECONDS
    # Unlike a replaced table, this one shows older snapshots what they are to see.
    if are_seen(connection, tries) or not vacuum_full(connection, ("cells", "counts"), lambda: time.monotonic() > last):
        raise StorageError(_READ_TOO_LONG)


def are_seen(connection: psycopg.Connection[Any], tries: int = TRIES) -> bool:
    """Wait until no transaction sees rows deleted so far, for which VACUUM FULL keeps them; return True if one does."""
    following = connection.execute(_NEXT).fetchone()
    for _ in range(min(tries, TRIES)):
        if connection.execute(_SEES_EARLIER, following).fetchone() is None:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


def vacuum_full(connection: psycopg.Connection[Any], tables: Iterable[str], is_over: Callable[[], bool]) -> bool:
    """Have the server rewrite each table once no transaction uses it; return False if ``is_over`` said to give up."""
    are_done = []
    for table in tables:
        while not (is_done := _vacuum(connection, table)) and not is_over():
            time.sleep(PAUSE_SECONDS)
        are_done.append(is_done)
    return all(are_done)


def _vacuum(connection: psycopg.Connection[Any], table: str) -> bool:
    """Have the server rewrite a table; return False if others use it for ``WAIT_MILLISECONDS``."""
    connection.execute(_WAIT_BRIEFLY, [WAIT_MILLISECONDS, False])
    try:
        connection.execute(SQL("VACUUM FULL {}").format(Identifier(table)))
    except errors.LockNotAvailable:
        return False
    finally:
        connection.execute("RESET lock_timeout")
    return True


def _fill(connection: psycopg.Connection[Any], table: str, order: LiteralString) -> None:
    connection.execute("SET LOCAL enable_seqscan = on")
    make(connection, table, f"sorted_{table}")
    names = {"sorted": Identifier(f"sorted_{table}"), "table": Identifier(table), "order": SQL(order)}
    connection.execute(SQL("INSERT INTO {sorted} SELECT * FROM {table} ORDER BY {order}").format(**names))


def _replace(table: str) -> list[bytes]:
    return [statement.format(table).encode() for statement in _REPLACE]


def _lock(connection: psycopg.Connection[Any], *statements: LiteralString | bytes, tries: int = TRIES) -> None:
    """Run statements that lock tables, in short turns between which others go on."""
    for _ in range(min(tries, TRIES)):
        try:
            with connection.transaction():
                connection.execute(_WAIT_BRIEFLY, [WAIT_MILLISECONDS, True])
                for statement in statements:
                    connection.execute(statement)
        except errors.LockNotAvailable:
            time.sleep(PAUSE_SECONDS)
        else:
            return
    raise StorageError("the tables of reports have been read for too long to settle them; it is tried again")
