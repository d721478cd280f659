"""Writing to a file that a user has named, and to nothing else."""

import json
import os
import stat
import tempfile
from pathlib import Path

import click
from sottovoce.shared.errors import StorageError

_SYSTEM = (Path("/dev"), Path("/dev/fd"))


def write_json(document: object, out: Path | None) -> None:
    """Write to a file that appears whole or not at all, or to standard output."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(text, out)


def write_text(text: str, out: Path) -> None:
    """
    Write to a file that appears whole or not at all; a device such as ``/dev/stdout``, or a pipe, is written to.

    Raises:
        StorageError: cannot be written, or is a link: what it leads to may not be what was meant.
    """
    # /dev/stdout is a link as well, which the system made, and may lead to a file.
    by_system = out.is_symlink() and out.absolute().parent in _SYSTEM
    if out.is_symlink() and not by_system:
        raise StorageError("this is a link; name the file that it leads to")
    try:
        if _takes_text(out) or (by_system and out.is_file()):
            with os.fdopen(os.open(out, os.O_WRONLY | os.O_APPEND), "w", encoding="utf-8") as stream:
                stream.write(text)
        elif by_system or (out.exists() and not out.is_file()):
            raise StorageError("this is neither a file nor a device that takes text")
        else:
            _replace(text, out)
    except OSError:
        raise StorageError("the file cannot be written") from None


def _takes_text(out: Path) -> bool:
    mode = out.stat().st_mode if out.exists() else 0
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _replace(text: str, out: Path) -> None:
    # A name that nobody can have put a link under.
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
