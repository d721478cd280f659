"""Select the storage back end by the URL of a database."""

from pathlib import Path

from sottovoce.aggregator.storage.sql_storage import Storage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import StorageError, install_command

FILE = "sottovoce.sqlite"

_FILE_URL = "sqlite:///"


def file_of(url: str, folder: Path) -> Path | None:
    """Return the SQLite file that ``open_url`` opens for this URL; None for another back end."""
    if not url:
        return folder / FILE
    return Path(url.removeprefix(_FILE_URL)) if url.startswith(_FILE_URL) else None


def open_url(
    url: str, folder: Path, unfinished: bool = False, stopped: bool = False, migrates: bool = False
) -> Storage:
    """Open the database at a URL; if it is empty, the SQLite file in ``folder``.

    Args:
        unfinished: open it even if a copy into it was not finished.
        stopped: no other node runs on it, see ``PostgresStorage``.
        migrates: migrate a database of an earlier release, which nodes of that release could not use any more.

    Raises:
        StorageError: the scheme is unknown, the database cannot be opened, or it needs a migration. The message does
            not quote the URL, which may contain a password.
    """
    file = file_of(url, folder)
    if file is not None:
        return SQLiteStorage(file, unfinished, migrates)
    if url.startswith(("postgresql://", "postgres://")):
        try:
            # Imported late, so that an installation with SQLite only needs no PostgreSQL driver.
            from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
        except ModuleNotFoundError:
            raise StorageError(f"PostgreSQL needs {install_command('postgres')}") from None
        return PostgresStorage(url, unfinished=unfinished, stopped=stopped, migrates=migrates)
    raise StorageError("the address of a database begins with postgresql:// or sqlite:///")
