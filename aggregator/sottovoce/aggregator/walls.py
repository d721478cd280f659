"""Walls of Linux around the process that reads other people's files.

Landlock lets it read Python's own folders and nothing else, write nothing, reach no port and no process. A filter of
system calls lets it make no socket and no process, send no signal, and change no file's mode, owner, times or
attributes, which Landlock leaves open. Neither can be taken down again. It may still ask whether a file exists, and how
large and old it is.
"""

import ctypes
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

KEPT = ("PATH", "PYTHON", "LANG", "LC_", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SYSTEMROOT", "OPENBLAS_")
"""Beginnings of the names of the environment's variables that the process gets; the last makes equal figures."""

LEAST_LANDLOCK = 6
"""First version of Landlock that keeps signals and abstract sockets inside, too (Linux 6.12)."""

_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache")
_LIMITS = ("/proc/self/cgroup", "/proc/meminfo", "/sys/fs/cgroup")
"""What DuckDB reads to learn how much memory there is; it does not start without the first."""
_SET_DUMPABLE, _SET_SECCOMP, _NO_NEW_PRIVILEGES = 4, 22, 38
# The same numbers on every kind of processor: see linux/landlock.h.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_FILE_RIGHTS, _READ_FILE, _READ_FOLDER, _TCP, _SCOPES = (1 << 16) - 1, 1 << 2, 1 << 3, 3, 3
# Kinds of processors as the filter sees them, and the numbers of what it forbids: sockets, other processes' memory,
# limits and priority, signals, programs, what is set of files, and rings of calls that no filter sees. A process is a
# clone without CLONE_THREAD.
_ALIKE = (424, 425, 434, 438, 452, 463, 466, 469)
_FORBIDDEN = {
    "x86_64": (0xC000003E, 56, 302, (41, 53, 57, 58, 59, 62, 101, 129, 200, 234, 297, 310, 311, 322,
                                     *range(90, 95), 132, 141, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280)),
    "aarch64": (0xC00000B7, 220, 261, (117, 129, 130, 131, 138, 198, 199, 221, 240, 270, 271, 281,
                                       5, 6, 7, 14, 15, 16, *range(52, 56), 88, 140)),
}  # fmt: skip
_CLONE3, _CLONE_THREAD, _X32 = 435, 0x10000, 0x40000000
_KILL, _REFUSE, _UNKNOWN, _ALLOW = 0x80000000, 0x00050001, 0x00050026, 0x7FFF0000


def missing() -> str:
    """Return why the walls cannot stand here in English; "" if they can."""
    if sys.platform != "linux":
        return "this system is not Linux"
    if platform.machine() not in _FORBIDDEN:
        return f"there is no filter of system calls for a processor of the kind {platform.machine()}"
    version = _call(_CREATE_RULESET, None, 0, 1)
    if version < LEAST_LANDLOCK:
        return "Landlock is off in this kernel or container" if version < 1 else "Linux is older than 6.12"
    return ""


def environment() -> dict[str, str]:
    """Return what the process may know of the server's environment."""
    return {name: value for name, value in os.environ.items() if name.startswith(KEPT)}


def hide_memory() -> None:
    """Keep other processes of the same user from reading the memory and the environment of this one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def raise_walls() -> None:
    """Shut this process in, where the system can; threads that run already stay outside, so call it first."""
    if missing():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    rules = _call(_CREATE_RULESET, struct.pack("QQQ", _FILE_RIGHTS, _TCP, _SCOPES), 24, 0)
    python = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    for path in {*sys.path, *python, *_LIBRARIES, *_LIMITS}:
        with suppress(OSError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rights = _READ_FILE | (_READ_FOLDER if Path(path).is_dir() else 0)
            _call(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, place), 0)
            os.close(place)
    program = b"".join(_program())
    held = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    stand = (
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
        and _call(_RESTRICT_SELF, rules, 0) == 0
        and libc.prctl(_SET_SECCOMP, 2, filters, 0, 0) == 0
    )
    os.close(rules)
    if not stand:
        raise OSError("the walls around the process of analyses could not be raised")


def _program() -> Iterator[bytes]:
    """Yield the instructions of the filter: the number of a call decides, and the first argument of two of them."""
    kind, clone, limits, forbidden = _FORBIDDEN[platform.machine()]
    load, equal, at_least, has_bits, end = 0x20, 0x15, 0x35, 0x45, 0x06

    def step(code: int, value: int, skipped: int = 0) -> bytes:
        return struct.pack("=HBBI", code, 0, skipped, value)

    yield from (step(load, 4), struct.pack("=HBBI", equal, 1, 0, kind), step(end, _KILL))
    yield from (step(load, 0), step(at_least, _X32, 1), step(end, _REFUSE))
    for number in (*forbidden, *_ALIKE):
        yield from (step(equal, number, 1), step(end, _REFUSE))
    # Without it the C library takes the older call, whose flags a filter can see.
    yield from (step(equal, _CLONE3, 1), step(end, _UNKNOWN))
    # A thread is allowed and a process is not; a limit of this process, and none of another one.
    for number, code, value in ((clone, has_bits, _CLONE_THREAD), (limits, equal, 0)):
        yield from (step(equal, number, 4), step(load, 16), step(code, value, 1), step(end, _ALLOW), step(end, _REFUSE))
    yield step(end, _ALLOW)


def _call(number: int, *arguments: int | bytes | None) -> int:
    """Return what a system call of Linux returns; -1 if it fails."""
    plain = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *plain))
