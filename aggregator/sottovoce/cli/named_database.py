"""Names of databases in errors about opening them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

from sottovoce.cli.progress import waiting
from sottovoce.shared.errors import StorageError


def database_name(url: str, file: Path | None) -> str:
    """Return the path of a database's file, or its server and name without user and password."""
    server = urlsplit(url)
    return str(file.absolute()) if file else f"{server.hostname or ''}{server.path}"


@contextmanager
def named_database(url: str, file: Path | None) -> Iterator[None]:
    """Name the database in an error about opening it, without user and password.

    Args:
        url: its address; "" for a file in the data folder.
        file: its file; None for a server.

    Raises:
        StorageError: it cannot be opened.
    """
    # Its warnings would be printed once a second until the connection is given up.
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    try:
        with nullcontext() if file else waiting("Connecting to the database"):
            yield
    except StorageError as error:
        if not str(error).startswith("the database is unavailable"):
            raise
        if file is not None:
            raise StorageError(f"{file}: {error}") from None
        raise StorageError(f"{database_name(url, None)}: {error}. Check its address, and if its server runs") from None
