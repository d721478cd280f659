"""What leaves something behind, or for later, without an audit event of the interpreter: it is told all the same."""

import atexit
import os
import select
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from sottovoce.audit.instead import all_instead

LATER, NEVER, TOLD, WAITED = "later", "never", "told", "waited"
"""
What is put off until nobody looks; what no client needs, whatever is answered; what may be done, and is told; and waits
in another way than by sleeping, which no client needs either.
"""

Tell = Callable[[str, str, tuple[Any, ...]], None]
"""``tell(how, name, given)``: one of the above, what was called, and with what."""

_NEVER = (
    "mkfifo", "mknod", "memfd_create", "setsid", "setpgid", "nice", "setpriority", "sched_setaffinity", "_exit",
    "abort",
)  # fmt: skip
ASKING = ("stat", "lstat", "access", "statvfs", "readlink")
_WRITING = ("write", "pwrite", "writev", "pwritev", "sendfile", "copy_file_range", "splice")
_ALARMS = ("signal", "alarm", "setitimer")
_WAITS = (
    *((select, name) for name in ("select", "poll", "epoll", "kqueue")),
    *((signal, name) for name in ("pause", "sigwait", "sigwaitinfo", "sigtimedwait")),
    (threading.Condition, "wait"),
)
"""Other ways to wait than to sleep."""


def told(tell: Tell) -> AbstractContextManager[None]:
    """While this lasts, ``tell`` hears of what is written past files, left in shared memory, put off or asked for."""
    # No thread begins meanwhile: the others were there before, are not the client's, and wait and look as always.
    client = threading.get_ident()
    return all_instead((place, name, _telling(tell, how, name, own, client)) for place, name, how, own in _places())


@cache
def _places() -> list[tuple[object, str, str, Callable[..., Any]]]:
    """What is told: where it stands, its name, how, and itself."""
    places: list[tuple[object, str, str]] = [
        *((os, name, NEVER) for name in _NEVER),
        *((os, name, TOLD) for name in (*_WRITING, *ASKING)),
        *((signal, name, LATER) for name in _ALARMS),
        *((place, name, WAITED) for place, name in _WAITS),
        *((module, "shm_open", NEVER) for module in _known("_posixshmem")),
        *((module, "fork_exec", NEVER) for module in _known("_posixsubprocess")),
        (subprocess, "_fork_exec", NEVER),
        (atexit, "register", LATER),
        (threading.Thread, "start", LATER),
        (threading, "_start_new_thread", LATER),
        (weakref.finalize, "__init__", LATER),
        *((module, "start_new_thread", LATER) for module in _known("_thread")),
    ]
    return [(place, name, how, getattr(place, name)) for place, name, how in places if hasattr(place, name)]


def _known(name: str) -> list[ModuleType]:
    """The module, where the system has it."""
    with suppress(ImportError):
        return [import_module(name)]
    return []


def _telling(tell: Tell, how: str, name: str, own: Callable[..., Any], client: int) -> Callable[..., Any]:
    def call(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - those of the function
        if (how == WAITED or name in ASKING) and threading.get_ident() != client:
            return own(*given, **more)
        tell(NEVER if how == WAITED else how, name, (*given, *sorted(more.items())))
        return own(*given, **more) if how == TOLD else None

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
