"""Say in a sentence what is wrong with a file or a name, with a similar name if there is one, and how to install an
extra.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a sentence, with a space before it, that suggests the most similar of the known words; "" without one.

    ``cutoff`` is the similarity from which on a word is suggested, from 0 to 1.
    """
    similar = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f' Did you mean "{similar[0]}"?' if similar else ""


def cannot_read(path: Path, error: OSError) -> str:
    """Return a sentence on a file that could not be read; a missing one gets the name of a similar file beside it."""
    if isinstance(error, FileNotFoundError):
        names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        return f'the file "{path}" was not found.{did_you_mean(path.name, names, cutoff=0.75)}'
    return f'the file "{path}" cannot be read: {_reason(path, error)}'


def cannot_write(path: Path, error: OSError) -> str:
    """Return a sentence on a file that could not be written."""
    if isinstance(error, FileExistsError):
        return f'the file "{path}" exists already; it was left as it is. Name another one'
    if not path.parent.is_dir():
        return f'the file "{path}" cannot be written: the folder "{path.parent}" does not exist'
    return f'the file "{path}" cannot be written: {_reason(path, error)}'


def _reason(path: Path, error: OSError) -> str:
    if isinstance(error, IsADirectoryError) or path.is_dir():
        return "it is a folder"
    if isinstance(error, PermissionError):
        return "you have no permission"
    return (error.strerror or "the system refuses").lower()


def install_command(extra: str) -> str:
    """Return the commands that install an extra from a checkout or a wheel.

    A bare ``sottovoce[...]`` would ask a package index, where the name may belong to others.
    """
    return f'pip install ".[{extra}]" in a checkout, or pip install "FILE.whl[{extra}]" with the file of the release'
