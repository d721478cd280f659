"""From the address of a database to the back end that serves it."""

from pathlib import Path

from sottovoce.aggregator.storage.base import Storage
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.shared.errors import StorageError

FILE = "sottovoce.sqlite"


def open_url(url: str, folder: Path) -> Storage:
    """
    The database at an address.

    Args:
        url: ``postgresql://...``, ``sqlite:///path``, or empty for the embedded database in ``folder``.
        folder: the data folder.

    Raises:
        StorageError: the address is of another kind, or the database cannot be opened. It is not repeated: it may
            hold a password.
    """
    if not url:
        return SQLiteStorage(folder / FILE)
    if url.startswith("sqlite:///"):
        return SQLiteStorage(Path(url.removeprefix("sqlite:///")))
    if url.startswith(("postgresql://", "postgres://")):
        return _postgres(url)
    raise StorageError("the address of a database begins with postgresql:// or sqlite:///")


def _postgres(url: str) -> Storage:
    try:
        from sottovoce.aggregator.storage.postgres import PostgresStorage
    except ModuleNotFoundError:
        raise StorageError("PostgreSQL needs: pip install 'sottovoce[aggregator,scale]'") from None
    return PostgresStorage(url)
