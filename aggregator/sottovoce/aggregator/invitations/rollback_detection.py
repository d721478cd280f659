"""Detect that an older copy of the database was put back, with a mark stored next to the key file.

``restore`` puts invitations on hold; a copied file or the database's own tools do not. Therefore the database has a
mark that only grows, every minute while a node runs, and each node stores the last mark it saw outside the database. If
the database's mark is lower than the stored one, it is older, and its unredeemed invitations may have been redeemed
since. A node that never ran on the database, or cannot write next to the keys, detects nothing.
"""

import hashlib
import json
import logging
import os
from pathlib import Path
from urllib.parse import urlsplit

from sottovoce.aggregator.invitations.key_file import put
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of

_log = logging.getLogger("sottovoce")

_OLDER = "the database is older than when a node ran here last: an old copy was put back"


def place_of(database: str, data: Path) -> str:
    """Return a digest of a database's location, an URL or else a folder, independent of user name and password."""
    address = urlsplit(database)
    host = address.netloc.rpartition("@")[2]
    where = f"{host}{address.path}?{address.query}" if database else str(data.resolve())
    return hashlib.sha256(where.encode()).hexdigest()[:16]


class RollbackMarks:
    """Last marks that nodes with this key file saw, by identity of the database.

    ``place`` is from ``place_of``: a copy elsewhere, as in a restore drill, has its own mark. Without a key file ("")
    there are none.
    """

    def __init__(self, keys_file: str, place: str = "") -> None:
        self._place = place
        self._keys = Path(keys_file) if keys_file else None
        self._path = Path(f"{keys_file}.marks")
        self._is_refused = False

    def check(self, storage: Storage, now: int) -> None:
        """Put invitations on hold if the database is older than the stored mark, and store its current mark.

        ``now`` is seconds since 1970 by the database's clock. Raises StorageError if the database does not answer.
        """
        line = self._line(storage)
        if line is None:
            return
        known = self._read()
        mark, was_older = storage.note_mark(now, known.get(line, 0))
        if was_older:
            _log.error("storage: %s; invitations are held, see: sottovoce db doctor", _OLDER)
        self._write({**known, line: mark})

    def problem(self, storage: Storage) -> str:
        """Describe a problem with the marks for the operator; "" if there is none."""
        line = self._line(storage)
        if line is None or not any(survey_of(row.document).is_blind for row in storage.surveys() if not row.closed):
            return ""
        known = self._read().get(line)
        if known is None:
            return (
                f"the file {self._path.name} beside the key file does not record the database's age, so a restored old"
                " copy would not be noticed; after a restore by hand run: sottovoce link hold"
            )
        return f"{_OLDER}; invitations are held as soon as a node starts" if known > storage.mark() else ""

    def _line(self, storage: Storage) -> str | None:
        """Identify the database by the first hash of its log and its location; None without a key file or a log."""
        # ``Path.exists`` raises an error if the folder is not searchable; ``os.access`` returns False.
        if self._keys is None or not os.access(self._keys, os.F_OK):
            return None
        record = storage.record()
        return f"{record[0].hash.hex()} {self._place}".strip() if record else None

    def _read(self) -> dict[str, int]:
        try:
            return {str(line): int(mark) for line, mark in json.loads(self._path.read_text(encoding="ascii")).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self, marks: dict[str, int]) -> None:
        """Store the marks durably; if the folder is not writable, log a warning once per process."""
        try:
            put(self._path, json.dumps(marks))
        except OSError:
            if not self._is_refused:
                _log.warning("blind keys: nothing can be noted beside them; see sottovoce db doctor")
            self._is_refused = True
