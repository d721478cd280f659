"""Where a budget's ledger lies: in a file beside the data, or wherever else its lines can be added to durably."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sottovoce.aggregator.curator.ledger.ledger_anchor import sync


class LedgerPlace(Protocol):
    """A ledger as whole lines; what they mean is not known here. Methods raise ``OSError`` or ``StorageError``."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    def read(self) -> bytes | None:
        """What there is, durable or not; None if there is no ledger."""

    def cut(self, size: int) -> None:
        """Take out what is behind so many bytes: a line that was cut off."""

    def begin(self, line: bytes) -> None:
        """Begin with this line, durably, whatever there was."""

    def add(self, line: bytes, after: int) -> None:
        """
        Add a line, durably.

        Args:
            line: with its end.
            after: how many lines there are.
        """

    def sync(self) -> None:
        """Make all that ``read`` has found durable."""


@dataclass(frozen=True)
class LedgerFile:
    """
    A ledger in a file of its own.

    Attributes:
        path: of the file.
    """

    path: Path

    @property
    def name(self) -> str:
        """The file's."""
        return self.path.name

    def read(self) -> bytes | None:
        """Its bytes; None if there is no file."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    def cut(self, size: int) -> None:
        """Shorten it."""
        os.truncate(self.path, size)

    def begin(self, line: bytes) -> None:
        """Make it anew."""
        self.path.write_bytes(b"")
        self.add(line, 0)
        sync(self.path.parent)

    def add(self, line: bytes, after: int) -> None:  # noqa: ARG002 - the lock beside the head lets one writer in
        """At its end, in one write."""
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            if os.write(handle, line) != len(line):
                raise OSError
            os.fsync(handle)
        finally:
            os.close(handle)

    def sync(self) -> None:
        """Of a file that somebody else wrote to and was killed."""
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
