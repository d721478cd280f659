"""
A mark beside the file of keys, by which a node sees that an older copy of its database was put back.

``restore`` holds invitations; a file that was copied over, or what the database's own tools bring back, does not. So
the database has a mark that only grows, each minute while a node runs, and each node notes the last one that it saw
outside the database. A database whose mark is below the noted one is older than that node: what was good in it may
have been redeemed since. A node that never ran on it, or cannot write beside the keys, notices nothing.
"""

import hashlib
import json
import logging
import os
from pathlib import Path
from urllib.parse import urlsplit

from sottovoce.aggregator.invitations.atomic_file import put
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.stored_surveys import survey_of

_log = logging.getLogger("sottovoce")

_OLDER = "the database is older than when a node ran here last: an old copy was put back"


def place_of(database: str, data: Path) -> str:
    """
    A digest of where a database is, whoever signs in to it.

    Args:
        database: its address; "" if it is embedded.
        data: the folder of an embedded one.
    """
    address = urlsplit(database)
    host = address.netloc.rpartition("@")[2]
    where = f"{host}{address.path}?{address.query}" if database else str(data.resolve())
    return hashlib.sha256(where.encode()).hexdigest()[:16]


class RollbackMarks:
    """
    The last marks that nodes with this file of keys saw, by the first line of each database's record.

    Args:
        keys_file: as ``SOTTOVOCE_BLIND_KEYS_FILE`` names it; "" for none.
        place: of the database, as ``place_of`` says: a restore drill or a copy elsewhere, which began with the same
            line, has a mark of its own.
    """

    def __init__(self, keys_file: str, place: str = "") -> None:
        self._place = place
        self._keys = Path(keys_file) if keys_file else None
        self._path = Path(f"{keys_file}.marks")
        self._is_refused = False

    def look(self, storage: Storage, now: int) -> None:
        """
        Hold invitations if the database is older than this node saw it, and note its mark.

        Args:
            storage: the database.
            now: seconds since 1970, by its clock.

        Raises:
            StorageError: it does not answer.
        """
        line = self._line(storage)
        if line is None:
            return
        known = self._read()
        mark, was_older = storage.note_mark(now, known.get(line, 0))
        if was_older:
            _log.error("storage: %s; invitations are held, see: sottovoce doctor", _OLDER)
        self._write({**known, line: mark})

    def problem(self, storage: Storage) -> str:
        """What whoever runs this has to know of it, in words; "" if nothing."""
        line = self._line(storage)
        if line is None or not any(survey_of(row.document).is_blind for row in storage.surveys() if not row.closed):
            return ""
        known = self._read().get(line)
        if known is None:
            return (
                f"no node has noted beside the file of keys how new the database is ({self._path.name}): here nobody"
                " would notice that an old copy was put back by hand; whoever does that says: sottovoce token"
                " hold-after-restore"
            )
        return f"{_OLDER}; invitations are held as soon as a node starts" if known > storage.mark() else ""

    def _line(self, storage: Storage) -> str | None:
        """What tells databases apart that have nothing to do with each other; None where no key is."""
        # Not by ``exists``, which fails where a folder may not be looked into.
        if self._keys is None or not os.access(self._keys, os.F_OK):
            return None
        record = storage.record()
        return f"{record[0].hash.hex()} {self._place}".strip() if record else None

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(self._path.read_text(encoding="ascii"))
            return {str(line): int(mark) for line, mark in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self, marks: dict[str, int]) -> None:
        """Durably; a folder that only the keys may be read from is told of once."""
        try:
            put(self._path, json.dumps(marks))
        except OSError:
            if not self._is_refused:
                _log.warning("blind keys: nothing can be noted beside them; see sottovoce doctor")
            self._is_refused = True
