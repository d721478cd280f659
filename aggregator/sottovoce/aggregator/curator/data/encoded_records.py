"""Encode a curator's records as a file next to the data, written by ``bind`` and read to answer every question.

    {"columns": .., "count": n, ..}      one line of canonical JSON
    columns, one after the other         n integers each, little-endian, as wide as the *declaration* requires

Binding encodes every text once; answering reads n integers of a fixed width. The time for that depends on the
declaration and the number of records, and on no value, which closes a timing side channel: a cell that was not as
declared takes as many bytes as any other. The file holds every record: protect it and delete it like the data.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.curator.declaration import WORD_BITS, ColumnKind, DataRecords, Declaration, Values, word_count
from sottovoce.shared import canonical
from sottovoce.shared.durable import replace_file
from sottovoce.shared.errors import StorageError

FORMAT = "sottovoce-records/1"
ENDING = ".placed"

_LONGEST_HEAD = 1 << 20
_AGAIN = "bind the data again, with the same terms: nothing of the budget changes"


@dataclass(frozen=True)
class PlacedRecords:
    """Encoded records of one data set.

    Attributes:
        file: path of the data; the encoded records are in the same folder.
        data: SHA-256 of the data.
        stamp: ``stamp_of`` the data file, taken before its SHA-256 was computed.
    """

    file: Path
    data: str
    declaration: Declaration
    stamp: Sequence[str]

    @property
    def path(self) -> Path:
        """Path of the encoded records: the data file's name with the ending .placed."""
        return _place(self.file)

    def write(self, records: DataRecords) -> None:
        """Write all columns, atomically replacing an earlier file; raise StorageError if it cannot be written."""
        columns = self.declaration.columns.items()
        narrow = [records.columns[name].astype(_width(kind)).tobytes() for name, kind in columns]
        head = {
            "format": FORMAT,
            "data": self.data,
            "declaration": self.declaration.digest,
            "count": records.count,
            "columns": [hashlib.sha256(each).hexdigest() for each in narrow],
            "stamp": list(self.stamp),
        }
        try:
            # The copy gets the permissions of the data file, without execution.
            replace_file(
                self.path,
                [canonical.dump({**head, "hash": _hash(head)}), b"\n", *narrow],
                lambda handle: os.fchmod(handle, self.file.stat().st_mode & 0o666),
            )
        except OSError:
            raise StorageError(
                f"{self.path.name} cannot be written beside the data; there must be room for it"
            ) from None

    def read(self, names: Sequence[str]) -> DataRecords:
        """Read some declared columns.

        Raises StorageError if the file is missing, damaged, or belongs to other data or to another declaration.
        """
        try:
            with self.path.open("rb") as file:
                head = _head(file.readline(_LONGEST_HEAD))
                if (head["data"], head["declaration"]) != (self.data, self.declaration.digest):
                    raise StorageError(f"{self.path.name} has the records of other data or declarations; {_AGAIN}")
                start, count = file.tell(), int(head["count"])
                found = {}
                for (name, kind), digest in zip(self.declaration.columns.items(), head["columns"], strict=True):
                    size = count * _width(kind).itemsize * word_count(kind.largest)
                    if name in names:
                        file.seek(start)
                        found[name] = self._column(file.read(size), digest, kind)
                    start += size
        except FileNotFoundError:
            raise StorageError(f"{self.path.name}, the placed records of these data, is missing; {_AGAIN}") from None
        except (OSError, KeyError, TypeError, ValueError, OverflowError):
            raise self._damaged() from None
        return DataRecords(count, {name: found[name] for name in names}, {})

    def _column(self, content: bytes, digest: str, kind: ColumnKind) -> Values:
        if hashlib.sha256(content).hexdigest() != digest:
            raise self._damaged()
        words = word_count(kind.largest)
        values = np.frombuffer(content, _width(kind)).astype(np.int64)
        return values if words == 1 else values.reshape(-1, words)

    def _damaged(self) -> StorageError:
        return StorageError(f"{self.path.name}, the placed records of these data, is damaged; {_AGAIN}")


def known_digest(file: Path) -> str | None:
    """Return the SHA-256 of data that were bound and are unchanged since, by size and times; None if it is unknown.

    Trusting the times is enough here: it only selects the budget. Answers come from the encoded records, whose own
    digests ``read`` checks.
    """
    try:
        with _place(file).open("rb") as placed:
            head = _head(placed.readline(_LONGEST_HEAD))
        return str(head["data"]) if head["stamp"] == stamp_of(file) else None
    except (OSError, KeyError, TypeError, ValueError):
        return None


def stamp_of(file: Path) -> list[str]:
    """Return size, mtime and ctime of a file, which change when it is written to; empty if it cannot be read."""
    try:
        found = file.stat()
    except OSError:
        return []
    return [str(each) for each in (found.st_size, found.st_mtime_ns, found.st_ctime_ns)]


def _place(file: Path) -> Path:
    return file.with_name(file.name + ENDING)


def _head(line: bytes) -> Mapping[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.pop("hash", "") != _hash(found):
        raise ValueError
    return found


def _hash(head: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical.dump(head)).hexdigest()


def _width(kind: ColumnKind) -> np.dtype[Any]:
    """Return the narrowest unsigned type for any cell of this kind, whatever cells occur."""
    return np.dtype(np.min_scalar_type(min(kind.largest, (1 << WORD_BITS) - 1))).newbyteorder("<")
