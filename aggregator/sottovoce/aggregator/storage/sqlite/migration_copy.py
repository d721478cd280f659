"""Copy a SQLite database before its migration: the way back to the previous release."""

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sottovoce.aggregator.storage.incomplete_copy import UNFINISHED
from sottovoce.aggregator.storage.sqlite.schema import VERSION
from sottovoce.shared.errors import StorageError

KEPT_SECONDS = 7 * 86400
"""Age of a copy that a node removes by itself."""


def needs_migration(file: Path) -> bool:
    """Return True if a file is a database of an earlier release."""
    return file.exists() and 0 < _number(file, "PRAGMA user_version") % UNFINISHED < VERSION


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
