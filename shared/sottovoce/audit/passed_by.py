"""
Files that a client only asks for, or was given open, and what a program sets for itself: others see it. A server of
files is asked for what lies on it; who began the program has the other end of what is open; files have the rights that
the program sets for them.
"""

import locale
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

READING = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr"})
"""Audit events of who asks and writes nothing; besides those of files that are opened to be read."""

_OPEN = "/proc/self/fd"


def is_outside(path: Any, home: str) -> bool:  # noqa: ANN401 - whatever a program opens
    """Whether it is a path, and does not lead into a folder."""
    # Compared as texts: it is asked at each step on the disk.
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    opened = os.fsdecode(path)
    return not opened.startswith(home) or (opened != home and opened[len(home)] != os.sep)


def is_elsewhere(path: Any, home: str) -> bool:  # noqa: ANN401 - as above
    """Whether it is a path, and leads neither into a folder or towards it, nor to what Python's packages consist of."""
    if not is_outside(path, home):
        return False
    opened = os.fsdecode(path)
    return not opened.startswith(_program()) and not home.startswith(opened.rstrip(os.sep) + os.sep)


@cache
def _program() -> tuple[str, ...]:
    return tuple(f"{each}{os.sep}" for each in {sys.prefix, sys.base_prefix, *sys.path} - {"", str(Path.cwd())})


def was_given(descriptor: int, home: str) -> bool:
    """Whether a descriptor leads to anything but a file in a folder; False where the system does not tell."""
    try:
        led_to = Path(f"{_OPEN}/{descriptor}").readlink()
    except OSError:
        return Path(_OPEN).is_dir()
    return is_outside(led_to, home) and is_outside(led_to, os.path.realpath(home))


@contextmanager
def settings_kept() -> Iterator[list[bool]]:
    """What a program sets for itself is as it was afterwards; what this gives is filled if it was not."""
    before, changed = _settings(), list[bool]()
    try:
        yield changed
    finally:
        if _settings() != before:
            changed.append(True)
            os.umask(before[0])
            locale.setlocale(locale.LC_ALL, before[1])


def _settings() -> tuple[int, str]:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask, locale.setlocale(locale.LC_ALL)
