"""Index of SQLite's log, the file ``-shm``: which page each frame of the log holds.

Privacy: it keeps this after the log was emptied, and so the order in which pages of reports and of tokens changed.
"""

import os
from pathlib import Path

HEADER_BYTES = 136
"""Two copies of the header, and the state of readers; SQLite needs nothing behind them while the log is empty."""


class WalIndex:
    """The index of one database's log.

    Its file stays open until the process ends: closing it would release all locks of this process on it, which are
    SQLite's own.

    Args:
        database: path of the database.
    """

    def __init__(self, database: Path) -> None:
        self._path, self._log = (database.with_name(database.name + end) for end in ("-shm", "-wal"))
        self._opened: dict[int, int] = {}

    def forget_pages(self) -> bool:
        """Overwrite the numbers of pages if the log is empty; return False if it is not.

        The caller holds SQLite's lock of writers.
        """
        try:
            if self._log.stat().st_size:
                return False
            found = self._path.stat()
        except FileNotFoundError:
            return True
        if found.st_ino not in self._opened:
            self._opened[found.st_ino] = os.open(self._path, os.O_WRONLY)
        os.pwrite(self._opened[found.st_ino], bytes(max(0, found.st_size - HEADER_BYTES)), HEADER_BYTES)
        return True

    def close(self) -> None:
        """Close what SQLite has removed, since no connection has locks on it any more."""
        if not self._path.exists():
            for descriptor in self._opened.values():
                os.close(descriptor)
            self._opened.clear()
