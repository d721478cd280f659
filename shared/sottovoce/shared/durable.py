"""Write small files so that they are whole, and on the disk, or not there at all; and the digests of files."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a file or folder, and yield its handle; a file that is made is its owner's alone."""
    handle = os.open(path, flags, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def replace_file(path: Path, parts: Iterable[bytes], prepare: Callable[[int], object] = lambda _handle: None) -> None:
    """Replace a file, atomically and durably; mode 0600 from the first byte.

    ``prepare`` gets the handle of the new one before anything is written. Raises OSError if the write failed; the old
    file is unchanged.
    """
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            prepare(handle)
            file.writelines(parts)
            file.flush()
            os.fsync(handle)
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)
    # Only then does the renamed entry survive a power failure.
    sync(path.parent)


def sync(folder: Path) -> None:
    """Sync a folder, where the system can, so that files created or renamed in it are durable."""
    if os.name == "posix":
        with opened(folder) as handle:
            os.fsync(handle)


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
