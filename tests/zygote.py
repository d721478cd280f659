"""Runs our program as forks of a process that has imported it: to import it is nine tenths of what a start costs.

Whoever starts one by ``subprocess`` cannot tell: it has arguments, environment, folder, files, session and parent of
its own, and ends as it would.
"""

import ctypes
import gc
import inspect
import os
import pickle
import runpy
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

EXECUTED = ("test_start.py", "test_stop.py", "test_secrets.py", "test_demo.py", "test_hostile_connections.py")
"""Files on starts, on signals while one starts, on limits, and on what other users of a machine can read."""

PROGRAM = [sys.executable, "-m", "sottovoce.cli"]
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "OPENBLAS_")
"""Variables that are read at a start only: with others than the tests' own, the program is executed."""

USUAL = {"executable": None, "preexec_fn": None, "pass_fds": (), "shell": False, "gid": None, "gids": None,
         "uid": None, "umask": -1, "process_group": -1}  # fmt: skip
ADOPTS = 36
"""PR_SET_CHILD_SUBREAPER: what a child has started is this process's own child once that one has ended."""

LONGEST = 200_000
"""Bytes of a request."""


class _Zygote:
    """A process that has imported the program, and ends when nobody can ask it any more."""

    def __init__(self) -> None:
        self.asked, heard = socket.socketpair(type=socket.SOCK_SEQPACKET)
        # Spaces where a fork writes its own words, by which others find it.
        command = [sys.executable, "-m", "tests.zygote", str(heard.fileno()), " " * 2_000]
        with heard:
            self.process = subprocess.Popen(command, cwd=Path(__file__).parents[1], pass_fds=[heard.fileno()])

    def fork(self, request: bytes, files: Sequence[int]) -> int:
        socket.send_fds(self.asked, [request], files)
        number = int(self.asked.recv(LONGEST))
        assert self.asked.recv(LONGEST)
        return number


@contextmanager
def forked_starts() -> Iterator[None]:
    """Start the program by forks, except from files on starts and where one is started in an unusual way."""
    if sys.platform != "linux":
        yield
        return
    execute, lock, usual = subprocess.Popen._execute_child, Lock(), _read_at_start(os.environ)  # type: ignore[attr-defined]
    zygote, adopt = cache(_Zygote), ctypes.CDLL(None).prctl

    def start(*how: Any) -> None:
        asked, test = inspect.signature(execute).bind(*how).arguments, os.environ.get("PYTEST_CURRENT_TEST", "")
        environment = dict(os.environ if asked["env"] is None else asked["env"])
        words = [os.fspath(word) for word in asked["args"]] if isinstance(asked["args"], list) else []
        alike = words[:3] == PROGRAM and USUAL.items() <= asked.items() and _read_at_start(environment) == usual
        if not alike or any(file in test for file in EXECUTED):
            execute(*how)
            return
        process = asked["self"]
        pipes = [asked[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")]
        files = [own if pipe == -1 else pipe for own, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        folder = str(Path.cwd() / (asked["cwd"] or ""))
        with lock:
            adopt(ADOPTS, 1)
            process.pid = zygote().fork(pickle.dumps((words, folder, environment, asked["start_new_session"])), files)
            adopt(ADOPTS, 0)
        process._child_created = True
        process._close_pipe_fds(*pipes)

    subprocess.Popen._execute_child = start  # type: ignore[attr-defined]
    yield
    subprocess.Popen._execute_child = execute  # type: ignore[attr-defined]
    if zygote.cache_info().currsize:
        with zygote().asked, zygote().process as process:
            process.terminate()


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


def _serve(asked: socket.socket) -> None:
    """Fork for each request, until nobody can send one."""
    gc.freeze()
    while (received := socket.recv_fds(asked, LONGEST, 3))[0]:
        between = os.fork()
        if not between:
            if one := os.fork():
                asked.send(str(one).encode())
                os._exit(0)
            asked.close()
            _become(received[1], *pickle.loads(received[0]))  # noqa: S301 - our own
            return
        for file in received[1]:
            os.close(file)
        os.waitpid(between, 0)
        asked.send(b"its parent has ended")


def _become(files: Sequence[int], words: list[str], folder: str, environment: dict[str, str], session: bool) -> None:
    if session:
        os.setsid()
    for own, file in enumerate(files):
        os.dup2(file, own)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    begin, end = map(int, Path("/proc/self/stat").read_text().split()[47:49])
    ctypes.memmove(begin, "\0".join(words).encode().ljust(end - begin, b"\0"), end - begin)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())  # type: ignore[union-attr]
    sys.path[0], sys.argv = folder, words[2:]
    runpy.run_module("sottovoce.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for module in ("serve", "server", "staff", "worker"):
        import_module(f"sottovoce.cli.{module}")
    _serve(socket.socket(fileno=int(sys.argv[1])))
