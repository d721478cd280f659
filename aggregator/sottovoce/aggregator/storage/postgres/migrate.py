"""Making of the tables of a PostgreSQL database, and its migration from an earlier release while no node runs."""

from typing import Any

import psycopg
from psycopg import errors
from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.events import MIGRATED, NO_ACTOR
from sottovoce.aggregator.storage.incomplete_copy import known_version, refuse_migration
from sottovoce.aggregator.storage.postgres import schema
from sottovoce.aggregator.storage.postgres.connection import NOW, PostgresHandle
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.shared.errors import StorageError

LOCK = 0x50770
"""Number of the advisory lock under which one process at a time migrates."""

WAIT_SECONDS = 60
"""Seconds that a migration waits for readers of a table."""

_VERSION = "SELECT version FROM schema_version"
_SET_VERSION = "UPDATE schema_version SET version = version + %s, usable_from = %s"


def check_usable(db: Handle, unfinished: bool = False) -> None:
    """Return if the database has this program's schema.

    Args:
        db: within a transaction.
        unfinished: accept a database with an unfinished copy.

    Raises:
        StorageError: it is older or newer, or belongs to a copy that was not finished.
    """
    version = known_version(db.execute(_VERSION).fetchone()[0], schema.VERSION, unfinished)
    if version < schema.VERSION:
        raise StorageError("the database has an older schema than this program; start the program again")


def migrate(connection: psycopg.Connection[Any], unfinished: bool, stopped: bool, migrates: bool) -> None:
    """Make the tables of a new database, or migrate one of an earlier release, all or nothing.

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
        table.append(db, seconds // 86400, MIGRATED, NO_ACTOR, str(schema.VERSION))
    connection.execute(_SET_VERSION, [schema.VERSION - version, schema.VERSION])
