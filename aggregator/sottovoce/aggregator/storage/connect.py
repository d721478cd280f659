"""From the address of a database to the back end that serves it."""

from pathlib import Path

from sottovoce.aggregator.storage.interface import Storage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import StorageError

FILE = "sottovoce.sqlite"


_FILE_URL = "sqlite:///"


def file_of(url: str, folder: Path) -> Path | None:
    """The file of the embedded database that ``open_url`` opens; None if it is another one."""
    if not url:
        return folder / FILE
    return Path(url.removeprefix(_FILE_URL)) if url.startswith(_FILE_URL) else None


def open_url(url: str, folder: Path, unfinished: bool = False, stopped: bool = False) -> Storage:
    """
    The database at an address.

    Args:
        url: ``postgresql://...``, ``sqlite:///path``, or empty for the embedded database in ``folder``.
        folder: the data folder.
        unfinished: open it also if a copy into it was not finished.
        stopped: no other node runs on it, see ``PostgresStorage``.

    Raises:
        StorageError: the address is of another kind, or the database cannot be opened. It is not repeated: it may
            hold a password.
    """
    file = file_of(url, folder)
    if file is not None:
        return SQLiteStorage(file, unfinished)
    if url.startswith(("postgresql://", "postgres://")):
        return _postgres(url, unfinished, stopped)
    raise StorageError("the address of a database begins with postgresql:// or sqlite:///")


def _postgres(url: str, unfinished: bool, stopped: bool) -> Storage:
    try:
        from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
    except ModuleNotFoundError:
        raise StorageError("PostgreSQL needs: pip install 'sottovoce[aggregator,postgres]'") from None
    return PostgresStorage(url, unfinished=unfinished, stopped=stopped)
