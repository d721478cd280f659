"""Storage of a budget's ledger: the protocol, and an implementation in a file next to the data."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sottovoce.aggregator.curator.ledger.ledger_anchor import sync


class LedgerPlace(Protocol):
    """Storage of a ledger as lines of bytes, without their meaning. Methods raise ``OSError`` or ``StorageError``."""

    @property
    def name(self) -> str:
        """Name of the ledger for messages."""

    def read(self) -> bytes | None:
        """Return the stored bytes, durable or not; None if there is no ledger."""

    def truncate(self, size: int) -> None:
        """Truncate the ledger to ``size`` bytes, to remove an incomplete last line."""

    def begin(self, line: bytes) -> None:
        """Replace the whole ledger by this line, durably."""

    def add(self, line: bytes, after: int) -> None:
        """Append a line, with its line end, durably; ``after`` lines are already stored."""

    def sync(self) -> None:
        """Make everything that ``read`` returned durable."""


@dataclass(frozen=True)
class LedgerFile:
    """A ledger in a file."""

    path: Path

    @property
    def name(self) -> str:
        """Name of the file, for messages."""
        return self.path.name

    def read(self) -> bytes | None:
        """Return the bytes of the file."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    def truncate(self, size: int) -> None:
        """Truncate the file to ``size`` bytes."""
        os.truncate(self.path, size)

    def begin(self, line: bytes) -> None:
        """Replace the content of the file by this line and sync file and folder."""
        self.path.write_bytes(b"")
        self.add(line, 0)
        sync(self.path.parent)

    def add(self, line: bytes, after: int) -> None:  # noqa: ARG002 - a lock admits one writer at a time
        """Append a line in one write and sync the file."""
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            if os.write(handle, line) != len(line):
                raise OSError
            os.fsync(handle)
        finally:
            os.close(handle)

    def sync(self) -> None:
        """Sync the file, in case its last writer was killed before its own sync."""
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
