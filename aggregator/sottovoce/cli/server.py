"""The process that looks after the one that serves, the worker: it holds the address, and starts the worker, again and
again.

No SIGTERM, SIGINT or SIGHUP is lost while it starts, whichever process receives it.
"""

import asyncio
import errno
import gc
import math
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import Pipe, Process, set_start_method
from multiprocessing.connection import Connection, wait
from pathlib import Path
from shutil import rmtree

import click
from sottovoce.aggregator.intake.http_connection import BACKLOG, Connections
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.walls import hide_memory
from sottovoce.cli.command import STOPS
from sottovoce.shared.errors import StorageError

if sys.platform != "win32":
    import resource

KILL_SECONDS = 8
"""Longer than the worker gives itself, shorter than the ten seconds of containers: both count from its last new
work.
"""

CRASH_SECONDS = 5
"""Two ends of workers within this time are a fault that another start does not mend."""


def serve_in_worker(
    application: str, listener: socket.socket, parent: Connection, drain_seconds: int, temporary: str
) -> None:
    """Serve in the process that was started for it, and tell the parent when it begins.

    Its temporary files are in a folder whose name begins with ``temporary``, which the parent removes.
    """
    hear_orders()
    # A read-only root or a full disk has no place for it, and reports come in all the same.
    with suppress(OSError):
        os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix=temporary)
    module, _, name = application.partition(":")
    gate = getattr(import_module(module), name)()
    gate.start()
    parent.send(False)
    # Uvloop is not made for Windows.
    loops = import_module("asyncio" if sys.platform == "win32" else "uvloop")
    with asyncio.Runner(loop_factory=loops.new_event_loop) as runner:
        runner.run(Connections(gate).serve(listener, drain_seconds))


def hear_orders() -> None:
    """Make a starting worker end at once on SIGTERM, also on one that came during its fork and was blocked until now.

    With the handlers inherited from its parent it would record the signal and never act. SIGINT and SIGHUP go to
    every process of a terminal; the parent handles them and stops the worker.
    """
    for number in STOPS - {signal.SIGTERM}:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _block_stops(False)


def _block_stops(blocks: bool) -> None:
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK if blocks else signal.SIG_UNBLOCK, STOPS)


def run(settings: Settings, application: str = "sottovoce.cli.worker:make_app", lines: Sequence[str] = ()) -> None:
    """Serve until a signal stops it: one worker process, started again if it dies.

    ``application`` makes what is served. ``lines`` are printed once it answers; at its end if it never did, since a
    link to sign in is made only once. Raises StorageError, in words, if the address cannot be listened on.
    """
    os.environ.update(settings.to_environment())
    # Each connection is an open file, and the usual limit is 1,024.
    if sys.platform != "win32":
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Some systems name no limit, and then refuse to set none.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    hide_memory()
    # Loaded before the fork, the modules lie in memory once, and a worker that starts again is there at once.
    import_module(application.partition(":")[0])
    gc.freeze()
    waiting = list(lines)
    try:
        with bind(settings) as listener:
            # Those who come before the worker, or while it starts again, wait for it.
            listener.listen(BACKLOG)
            temporary = f"sottovoce-{settings.host}-{settings.port}-"
            try:
                _look_after(application, listener, settings.drain_seconds, waiting, temporary)
            finally:
                _remove_left(temporary)
    finally:
        _print(waiting)


def _remove_left(temporary: str) -> None:
    """Remove files of workers that ended while they wrote them: copies of reports, which deletions do not reach."""
    with suppress(FileNotFoundError):
        for left in Path(tempfile.gettempdir()).glob(f"{temporary}*"):
            rmtree(left, ignore_errors=True)


def _look_after(
    application: str, listener: socket.socket, drain_seconds: int, lines: list[str], temporary: str
) -> None:
    """Start workers until a signal stops it; exit with 1 if they keep dying."""
    told, tell = Pipe(duplex=False)
    for number in STOPS:
        signal.signal(number, lambda *_: tell.send(True))
    set_start_method("fork" if sys.platform == "linux" else "spawn", force=True)
    died = -math.inf
    while True:
        _remove_left(temporary)
        worker = Process(target=serve_in_worker, args=(application, listener, tell, drain_seconds, temporary))
        _block_stops(True)
        worker.start()
        _block_stops(False)
        while told in wait([told, worker.sentinel]):
            if told.recv():
                worker.terminate()
                worker.join(KILL_SECONDS + drain_seconds)
                worker.kill()
                return
            _print(lines)
        worker.join()
        click.echo(f"The process that serves ended unexpectedly, with {worker.exitcode}.", err=True)
        died, before = time.monotonic(), died
        if died - before < CRASH_SECONDS:
            sys.exit(1)


def _print(lines: list[str]) -> None:
    while lines:
        click.echo(lines.pop(0), err=True)


_WHY = {
    errno.EADDRINUSE: "another program uses this port. Choose another one with --port, or stop that program",
    errno.EACCES: "you have no permission to use this port. Choose one above 1023 with --port",
    errno.EADDRNOTAVAIL: "this machine has no such address. Choose another one with --host",
}


def bind(settings: Settings) -> socket.socket:
    """Return a socket with the address, which does not listen yet; raises StorageError, in words, if it cannot."""
    listener = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    if sys.platform != "win32":  # where it would share the address with another program
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        why = _WHY.get(error.errno or 0, "cannot be listened on")
        if isinstance(error, socket.gaierror):
            raise StorageError(f'"{settings.host}" is no address of this machine. Name one with --host') from None
        raise StorageError(f"{settings.host}:{settings.port}: {why}") from None
    return listener
