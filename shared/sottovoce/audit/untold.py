"""What leaves something behind, or for later, without an audit event of the interpreter: it is told all the same."""

import atexit
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from sottovoce.audit.instead import all_instead

Tell = Callable[[str, tuple[Any, ...], bool], None]
"""``tell(name, given, is_later)``: what was called, with what, and whether its work is done at another time."""

_FORBIDDEN = ("mkfifo", "mknod", "memfd_create")
_WRITING = ("write", "pwrite", "writev", "pwritev", "sendfile", "copy_file_range", "splice")
_ALARMS = ("signal", "alarm", "setitimer")


@contextmanager
def told(tell: Tell) -> Iterator[None]:
    """While this lasts, ``tell`` hears of what is written past files, left in shared memory or put off."""
    places: list[tuple[object, str, bool, bool]] = [
        *((os, name, False, False) for name in _FORBIDDEN),
        *((os, name, False, True) for name in _WRITING),
        *((signal, name, True, False) for name in _ALARMS),
        *((module, "shm_open", False, False) for module in _shared_memory()),
        (atexit, "register", True, False),
        (threading.Thread, "start", True, False),
    ]
    own = ((place, name, getattr(place, name, None), is_later, is_done) for place, name, is_later, is_done in places)
    with all_instead(
        (place, name, _telling(tell, name, does, is_later, is_done))
        for place, name, does, is_later, is_done in own
        if does is not None
    ):
        yield


def _shared_memory() -> list[ModuleType]:
    with suppress(ImportError):
        return [import_module("_posixshmem")]
    return []


def _telling(tell: Tell, name: str, own: Callable[..., Any], is_later: bool, is_done: bool) -> Callable[..., Any]:
    def call(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - those of the function
        tell(name, (*given, *sorted(more.items())), is_later)
        return own(*given, **more) if is_done else None

    return call


@contextmanager
def descriptors_to(file: int) -> Iterator[None]:
    """What is written to the process's own output, by whatever means, goes to a file."""
    # Where it reads from can often be written to as well.
    kept = [(number, os.dup(number)) for number in (0, 1, 2)]
    try:
        for number, _ in kept:
            os.dup2(file, number)
        yield
    finally:
        for number, copy in kept:
            os.dup2(copy, number)
            os.close(copy)
