"""
Migrate a PostgreSQL database to the present schema while nodes run on it, and decide which nodes may continue.

``schema_version`` is one row: how many migrations the database has behind it, and the earliest schema whose programs
can go on with it. A node is ready while that is not above its own, also after a newer one has migrated.
"""

import time
from typing import Any

import psycopg
from psycopg import errors
from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.events import MIGRATED, NO_ACTOR
from sottovoce.aggregator.storage.incomplete_copy import UNFINISHED, known_version, refuse_migration
from sottovoce.aggregator.storage.postgres.connection import NOW, PostgresHandle
from sottovoce.aggregator.storage.postgres.schema import MIGRATIONS
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.shared.errors import StorageError

LOCK = 0x50770
"""Number of the advisory lock under which one node at a time migrates or rewrites."""

TRIES = 600
PAUSE = 0.5
"""Seconds between two tries to lock the tables. Each try waits as long for those who read them: meanwhile everybody who
comes later would wait behind it.
"""

_WAIT = f"SET LOCAL lock_timeout = {int(PAUSE * 1000):d}"

# The column is there from the eighth migration on.
_STATE = "SELECT version, coalesce((to_jsonb(schema_version) ->> 'usable_from')::bigint, 0) FROM schema_version"
_BEGIN = (
    f"SELECT pg_advisory_xact_lock({LOCK:d})",
    "CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)",
    "INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT FROM schema_version)",
)


def check_usable(db: Handle) -> int:
    """
    The number of the schema, if this program can work with it.

    Args:
        db: within a transaction.

    Raises:
        StorageError: it is older, too new, or that of a copy that was not finished.
    """
    version, usable_from = db.execute(_STATE).fetchone()
    version = known_version(int(version), len(MIGRATIONS), usable_from=int(usable_from))
    if version < len(MIGRATIONS):
        raise StorageError("the database has an older schema than this program; start the program again")
    return version


def check_known(db: Handle) -> None:
    """
    Return if there is nothing in the database that this program does not know.

    Args:
        db: within a transaction.

    Raises:
        StorageError: there may be, or this program cannot work with it at all.
    """
    if check_usable(db) > len(MIGRATIONS):
        raise StorageError("a newer version of this program has changed the database; only that one can do this")


def migrate(connection: psycopg.Connection[Any], unfinished: bool, stopped: bool, migrates: bool) -> None:
    """
    Bring a database to the present schema, unless a newer program has brought it further.

    Args:
        connection: outside a transaction.
        unfinished: take also one into which a copy was begun and not finished.
        stopped: whether no node runs on it, so that none is left behind.
        migrates: False refuses a database of an earlier release.

    Raises:
        StorageError: this program cannot work with it; nodes might run that could not go on; or somebody kept tables
            locked for minutes.
    """
    with connection.transaction():
        for statement in _BEGIN:
            connection.execute(statement)
        written, usable_from = _state(connection)
        version = known_version(written, len(MIGRATIONS), unfinished, usable_from)
    if not (stopped or unfinished):
        _check_rolling(version)
    if not migrates:
        refuse_migration(version, len(MIGRATIONS))
    for number in range(version, len(MIGRATIONS)):
        _until_taken(connection, number, is_new=version == 0)


def _check_rolling(version: int) -> None:
    needed = max((migration.usable_from for migration in MIGRATIONS[version:]), default=0)
    if 0 < version < needed:
        raise StorageError(
            "the database is that of an earlier release, whose nodes cannot go on beside this one: stop them all, run"
            " `sottovoce db migrate --stopped`, then start"
        )


def _state(connection: psycopg.Connection[Any]) -> tuple[int, int]:
    version, usable_from = connection.execute(_STATE).fetchone() or (0, 0)
    return int(version), int(usable_from)


def _until_taken(connection: psycopg.Connection[Any], number: int, is_new: bool) -> None:
    for _ in range(TRIES):
        try:
            with connection.transaction():
                _take(connection, number, is_new)
        except errors.LockNotAvailable:
            time.sleep(PAUSE)
        else:
            return
    raise StorageError("the database's tables are in use, and cannot be changed; is a backup under way?")


def _take(connection: psycopg.Connection[Any], number: int, is_new: bool) -> None:
    connection.execute(_BEGIN[0])
    connection.execute(_WAIT)
    mark = _state(connection)[0] - number
    if mark not in {0, UNFINISHED}:
        return  # another node was faster
    for statement in MIGRATIONS[number].statements:
        connection.execute(statement)
    connection.execute("UPDATE schema_version SET version = %s", [number + 1 + mark])
    if MIGRATIONS[number].usable_from:
        connection.execute("UPDATE schema_version SET usable_from = %s", [MIGRATIONS[number].usable_from])
    if not is_new:
        _note(PostgresHandle(connection), number + 1)


def _note(db: Handle, version: int) -> None:
    """Tell the journal, once there is one."""
    if db.execute("SELECT to_regclass('journal_head') IS NOT NULL").fetchone() == (True,):
        day = db.execute(NOW).fetchone()[0] // 86400
        table.append(db, day, MIGRATED, NO_ACTOR, str(version))
