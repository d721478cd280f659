"""Format and name the ledger's files. Every field is checked: any user of the device can write there.

An entry's file is named by a digest of its key, as a token names a person. A field that was added later may be missing,
as in a file of an earlier version.
"""

import hashlib
import json
import os
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from sottovoce.client.ledger import Entry, Key, Record
from sottovoce.shared.errors import BudgetExhausted

_TEXTS = ("body", "digest", "ended", "refused", "signature")
_KNOWN = tuple(field.name for field in fields(Entry))
_NEEDED = {field.name for field in fields(Entry) if field.default is MISSING}

# One line for each field, as ``indent=1`` would write it, by the encoder that is not written in Python.
_LINES = json.JSONEncoder(separators=(",\n ", ": "))
_BINARY = getattr(os, "O_BINARY", 0)
_AT_ONCE = 1 << 16


def name_of(key: Key) -> str:
    """Return an entry's name: a digest, since a token names a person."""
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def dump_record(key: Key, entry: Entry) -> bytes:
    """Format the file of an entry; without its token."""
    # Without the token, which names a person: a stolen ledger must not show who was invited.
    about = {"origin": key.origin, "survey": key.survey, "wave": key.wave}
    return f"{{\n {_LINES.encode({**about, **vars(entry)})[1:-1]}\n}}".encode()


class StoredEntries:
    """The entries in the files of one ledger, each spelling parsed once: programs look at the same few many times."""

    def __init__(self) -> None:
        self._understood: dict[str, tuple[bytes, Record]] = {}
        self._names: dict[Key, str] = {}

    def read(self, path: str, name: str) -> Record:
        """Read and parse the file of an entry.

        Raises:
            BudgetExhausted: it is damaged.
            OSError: as the system says.
        """
        content = _content(path)
        before, record = self._understood.get(name, (None, None))
        # Compared by bytes: modification times are too coarse for two writes within one tick.
        if record is None or content != before:
            try:
                document = json.loads(content)
                key = Key(str(document["origin"]), str(document["survey"]), int(document["wave"]))
            except (ValueError, LookupError, TypeError, RecursionError):
                raise unreadable(path) from None
            record = Record(key, _entry(path, document), bound=name != name_of(key), name=name)
            self._understood[name] = (content, record)
        return record

    def name_of(self, key: Key) -> str:
        """Return the file name for ``key``, cached (see the function ``name_of``)."""
        found = self._names.get(key)
        if found is None:
            found = self._names[key] = name_of(key)
        return found


def _content(path: str) -> bytes:
    """Read the bytes of a small file, in as few steps as there are: a ledger is read often."""
    handle = os.open(path, os.O_RDONLY | _BINARY)
    try:
        return b"".join(iter(lambda: os.read(handle, _AT_ONCE), b""))
    finally:
        os.close(handle)


def dump_drawn(drawn: tuple[int, ...]) -> bytes:
    """Format the file of a set of questions."""
    return json.dumps({"drawn": drawn}, indent=1).encode()


def parse_drawn(path: Path) -> tuple[int, ...]:
    """Parse the set of questions in a file; raises BudgetExhausted if it is damaged."""
    try:
        drawn = json.loads(path.read_bytes())["drawn"]
        # ``type`` and not ``isinstance``: True is an int in Python and no place in a pool.
        if not isinstance(drawn, list) or not all(type(number) is int for number in drawn):
            raise unreadable(path)
        return tuple(drawn)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise unreadable(path) from None


def unreadable(path: Path | str) -> BudgetExhausted:
    """Return the error for a file that cannot be read: it may stand for a report already sent, so none is drawn."""
    return BudgetExhausted(f"the ledger cannot be read; nothing was drawn and nothing was sent. Damaged: {path}")


def unwritable(consequence: str) -> BudgetExhausted:
    """Return the error for what cannot be written, and what follows from it."""
    return BudgetExhausted(f"the ledger cannot be written; {consequence}")


def _entry(path: str, document: Any) -> Entry:  # noqa: ANN401 - what JSON reads
    """Return the entry in a file; fields with a default may be missing, as in a file of an earlier version."""
    try:
        known = {name: document[name] for name in _KNOWN if name in document}
        right = known.keys() >= _NEEDED and known["epsilon"] >= 0 and type(known.get("send_at", 0)) is int
        right = right and all(isinstance(known.get(name, ""), str) for name in _TEXTS)
    except (LookupError, TypeError):
        right = False
    if not right:
        raise unreadable(path)
    return Entry(**known)
