"""Writing a new folder or file that a user has named: all of it or nothing, and never over something that is there."""

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.shared.errors import StorageError
from sottovoce.shared.file_errors import cannot_write

PART = ".part"


@contextmanager
def part_beside(path: Path) -> Iterator[Path]:
    """A path of this name in a temporary folder beside it, once the folders of killed runs are removed."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{PART}"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=PART, dir=path.parent) as folder:
        yield Path(folder, path.name)


def check_new_folder(folder: Path) -> None:
    """Refuse, before anything is done, a folder that holds something: no file of it is ever written over.

    Raises:
        StorageError: it is there and not empty, is no folder, or is a link.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise StorageError(f'"{folder}" is not an empty folder; it was left as it is. Name another one')


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A place for a folder that gets its name only when all of it is there.

    Leftovers of a killed run are removed first: they may contain reports.

    Raises:
        StorageError: cannot be written; nothing is left under the name, or in its folder.
    """
    path = path.absolute()
    try:
        with part_beside(path) as part:
            part.mkdir()
            yield part
            # An empty folder of this name is replaced; one that has got something meanwhile is not.
            part.rename(path)
    except OSError as error:
        raise StorageError(cannot_write(path, error).replace("the file", "the folder", 1)) from None


def create_file(path: Path, body: bytes) -> None:
    """Write a file that was not there before, and that its user alone can read.

    Raises:
        StorageError: cannot be written, or is there.
    """
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(body)
    except OSError as error:
        raise StorageError(cannot_write(path, error)) from None
