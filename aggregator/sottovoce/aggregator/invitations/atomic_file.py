"""A small file is replaced as a whole: whoever is killed meanwhile leaves the old one or the new one."""

import os
import tempfile
from pathlib import Path


def put(path: Path, text: str) -> None:
    """
    Put a new file in the place of the old one, durably, readable by its owner alone from the first byte on.

    What root writes belongs to whom the folder does: a node that runs as somebody else could not read it.

    Args:
        path: its place; the folder must be there.
        text: in ASCII.

    Raises:
        OSError: as the system says; then the old one is there still.
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
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def hand_over(handle: int, folder: Path) -> None:
    """
    Give a file that root has open to the owner of a folder; nobody else can give any away.

    Args:
        handle: of the file.
        folder: in which it lies.
    """
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(handle, owner.st_uid, owner.st_gid)
