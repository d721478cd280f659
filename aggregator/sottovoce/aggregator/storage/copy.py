"""Back up a database to a file, check a backup before a restore, and copy into another database."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sottovoce.aggregator.storage.sql_storage import Storage
from sottovoce.aggregator.storage.sqlite import schema
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import is_copy
from sottovoce.shared.errors import StorageError, cannot_read
from sqlite_utils import Database

LOGS = ("-wal", "-shm", "-journal")
"""Suffixes of SQLite's companion files, which it reads as part of the database if they exist."""


def save(storage: Storage, path: Path) -> None:
    """Write a backup as of one moment to a new file, in the order of the random ids, while the server keeps writing.

    Raises StorageError if the file cannot be written; the caller removes what was written of it.
    """
    if isinstance(storage, SQLiteStorage):
        storage.backup(path)
        with closing(SQLiteStorage(path)) as saved:
            saved.settle()
        return
    with closing(SQLiteStorage(path)) as saved:
        saved.copy_from(storage)
        saved.scrub()


def check_backup(path: Path) -> None:
    """Check a backup file without changing it or creating companion files.

    Raises StorageError if it is empty, damaged, in use, or no database of this program.
    """
    try:
        # SQLite accepts an empty file as an empty database, which would restore nothing without an error.
        if path.stat().st_size == 0:
            raise StorageError("the file is empty")
        log = path.with_name(path.name + LOGS[0])
        if log.exists() and log.stat().st_size:
            raise StorageError("the file is a database in use, with its log beside it; save it with: backup")
        # ``immutable`` keeps SQLite from creating companion files or recovering a log beside the backup.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            db = Database(connection, execute_plugins=False)
            schema.check_ours(db)
            damaged = schema.damage(db)
    except OSError as error:
        raise StorageError(cannot_read(path, error)) from None
    except sqlite3.Error:
        raise StorageError(f'the file "{path}" is no database, or a damaged one') from None
    if damaged:
        raise StorageError("the file is damaged")


def copy_all(source: Storage, target: Storage) -> None:
    """Copy all tables of a database that no process writes to into one opened with ``unfinished``.

    The target is empty or holds an unfinished copy; it cannot be opened otherwise until the copy is done. Raises
    StorageError if it is not empty, or differs from the source in the end.
    """
    if not target.is_unfinished() and (target.surveys() or target.access.has_accounts() or target.record()):
        raise StorageError("the other database is not empty")
    # Marked first, unmarked last: after a crash no program opens a half copy as a whole one.
    target.mark_unfinished(True)
    target.copy_from(source)
    # The copy was written in some order; scrubbing removes traces of it from free pages.
    target.scrub()
    if not is_copy(source, target):
        raise StorageError("the two databases differ; was the aggregator running?")
    target.mark_unfinished(False)
