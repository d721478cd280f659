"""Writing a folder that a user has named: all of it or nothing, and never into one that holds something."""

import glob
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.shared.errors import StorageError
from sottovoce.shared.file_errors import cannot_write

_PART = ".part"


def check_new_folder(folder: Path) -> None:
    """
    Refuse, before anything is done, a folder that holds something: no file of it is ever written over.

    Raises:
        StorageError: it is there and not empty, is no folder, or is a link.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise StorageError(f'"{folder}" is not an empty folder; it was left as it is. Name another one')


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """
    A place for a folder that gets its name only when all of it is there.

    Leftovers of a killed run are removed first: they may contain reports.

    Raises:
        StorageError: cannot be written; nothing is left under the name, or in its folder.
    """
    path = path.absolute()
    try:
        for left in path.parent.glob(f".{glob.escape(path.name)}.*{_PART}"):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=_PART, dir=path.parent) as place:
            part = Path(place, path.name)
            part.mkdir()
            yield part
            # An empty folder of this name is replaced; one that has got something meanwhile is not.
            part.rename(path)
    except OSError as error:
        raise StorageError(cannot_write(path, error).replace("the file", "the folder", 1)) from None
