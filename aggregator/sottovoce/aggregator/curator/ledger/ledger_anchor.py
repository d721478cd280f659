"""Store a budget's ledger, in a file next to the data, and apart from the data its head: number and hash of the last
entry.

A ledger alone does not show that its end was cut off, or that an old copy replaced it (a rollback). An old head
restored together with the old ledger would hide the rollback. The folder of heads must therefore be outside the data
and outside their backups.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from sottovoce.shared.durable import opened, replace_file, sync
from sottovoce.shared.errors import StorageError

if sys.platform != "win32":
    import fcntl

_HEAD = re.compile(r"([0-9]{1,12}):([0-9a-f]{64})\n")


class LedgerHead(NamedTuple):
    """Number and hash of a ledger's last entry."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"


@dataclass(frozen=True)
class LedgerAnchor:
    """Folder with the heads of budgets: path in the setting ``SOTTOVOCE_LEDGER_ANCHOR_DIR``."""

    folder: Path

    def check_apart(self, data: Path) -> None:
        """Raise StorageError unless the folder exists outside the data's, since one copy would hold both."""
        if not self.folder.is_dir():
            raise StorageError(
                "SOTTOVOCE_LEDGER_ANCHOR_DIR must name a folder that exists, outside the data and backups"
            )
        if self.folder.resolve().is_relative_to(data.resolve()):
            raise StorageError(
                "SOTTOVOCE_LEDGER_ANCHOR_DIR lies in the folder of the data; name one outside, and outside backups"
            )

    def get(self, name: str) -> LedgerHead | None:
        """Return the head of the budget of data with this SHA-256, or None; StorageError if it cannot be read."""
        try:
            text = self._path(name).read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            text = ""
        found = _HEAD.fullmatch(text)
        if found is None:
            raise StorageError("the head of this budget cannot be read")
        return LedgerHead(int(found[1]), found[2])

    def note(self, name: str, head: LedgerHead) -> None:
        """Replace the head of a data set's budget, atomically and durably."""
        replace_file(self._path(name), [f"{head}\n".encode()])

    @contextmanager
    def exclusive_lock(self, name: str) -> Iterator[None]:
        """Hold the exclusive lock on the budget of a data set; wait for it if another process has it.

        The lock file is in the folder of heads, so that it also excludes writers to a copy of the ledger elsewhere.

        Raises:
            StorageError: the folder cannot be written to or supports no file locks, without which two writers could
                spend the same epsilon twice.
        """
        if sys.platform == "win32":
            raise StorageError("a budget needs locks on files, which this system does not have")
        with ExitStack() as stack:
            try:
                handle = stack.enter_context(opened(self.folder / f"{name}.lock", os.O_RDWR | os.O_CREAT))
            except OSError:
                raise StorageError("the folder that SOTTOVOCE_LEDGER_ANCHOR_DIR names cannot be written to") from None
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
            except OSError:
                raise StorageError("a budget needs locks on files, which the folder of heads does not have") from None
            yield

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.head"


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
        with opened(self.path, os.O_WRONLY | os.O_APPEND) as handle:
            if os.write(handle, line) != len(line):
                raise OSError
            os.fsync(handle)

    def sync(self) -> None:
        """Sync the file, in case its last writer was killed before its own sync."""
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
