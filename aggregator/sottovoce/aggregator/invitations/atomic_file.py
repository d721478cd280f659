"""Replace a small file atomically: a crash leaves either the old or the new content."""

import os
import tempfile
from pathlib import Path


def put(path: Path, text: str) -> None:
    """Replace a file in an existing folder by ASCII text, atomically and durably; mode 0600 from the first byte.

    If root runs this, the file gets the owner of its folder, so that a node that runs as another user can read it.
    Raises OSError if the write failed; the old file is unchanged.
    """
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            hand_over(handle, path.parent)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)
    # Sync the folder too: only then does the renamed entry survive a power failure.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def hand_over(handle: int, folder: Path) -> None:
    """Give an open file to the owner of its folder; do nothing unless root runs it."""
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(handle, owner.st_uid, owner.st_gid)
