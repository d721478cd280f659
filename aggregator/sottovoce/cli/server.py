"""The process that looks after the one that serves, which is ``worker``: it listens, starts it, and starts it again.

No SIGTERM or SIGINT is lost while it starts, whichever process receives it.
"""

import _thread
import errno
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

import click
from granian import Granian
from granian.errors import FatalError
from granian.log import LogLevels
from granian.server.mp import WorkerProcess
from sottovoce.aggregator.intake.http_connection import Connections
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.walls import hide_memory
from sottovoce.cli.process import is_alive
from sottovoce.shared.errors import StorageError

if sys.platform != "win32":
    import resource

STOPS = {signal.SIGINT, signal.SIGTERM}
"""The signals that stop the server."""

KILL_SECONDS = 8
"""Longer than the worker gives itself, shorter than the ten seconds of containers: both count from its last new
work.
"""


class Supervisor(Granian):  # type: ignore[misc]
    """Granian's server, which also handles a stop signal that arrives while its main loop is busy."""

    def signal_handler_interrupt(self, *_: object, **__: object) -> None:
        """Record the signal, and wake the main loop from a thread.

        The handler interrupts the main thread. That may hold the lock of the event that wakes it (a deadlock), or be
        about to clear the event (a lost signal).
        """
        self.interrupt_signal = True
        _thread.start_new_thread(self._wake, ())

    def _spawn_worker(self, **arguments: object) -> WorkerProcess:
        worker = super()._spawn_worker(**arguments)
        worker.is_alive = lambda: is_running(worker.inner)
        return worker

    def _wake(self) -> None:
        while True:
            self.main_loop_interrupt.set()
            time.sleep(0.1)


def is_running(process: BaseProcess) -> bool:
    """Return True until it has ended, whichever thread has been told so.

    Granian waits for a worker in two threads. If the other thread learns of the end first, granian's own check says for
    a moment that the worker lives, and logs that it kills it. The system's sentinel has no such moment.
    """
    return not wait([process.sentinel], 0)


@WorkerProcess.wrap_target  # type: ignore[untyped-decorator]
def serve_in_worker(_id: int, gate: Any, sockets: Sequence[Any], _ipc: object, loop: Any, *_: object) -> None:  # noqa: ANN401
    """Serve in the process that granian started, in the place of its own server."""
    listener = sockets[0].build() if sockets[0] else sockets[1]
    gate.start(loop)
    loop.run_until_complete(Connections(gate).serve(socket.socket(fileno=socket.dup(listener.get_fd()))))


def hear_orders_in_children() -> None:
    """Make a starting worker end at once on SIGTERM.

    With the handlers inherited from its parent it would record the signal and never act. A signal during the fork is
    blocked until after it. SIGINT goes to every process of a terminal; the parent handles it and stops the workers.
    """
    if sys.platform == "win32":
        return

    def begin() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        release()

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)

    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, STOPS), after_in_parent=release, after_in_child=begin
    )


def run(settings: Settings, application: str = "sottovoce.cli.worker:make_app", lines: Sequence[str] = ()) -> None:
    """Serve until a signal stops it: one worker process, respawned if it dies.

    ``application`` makes what is served. ``lines`` are printed once it answers; at its end if it never did, since a
    link to sign in is made only once.
    """
    os.environ.update(settings.to_environment())
    # Each connection is an open file, and the usual limit is 1,024.
    if sys.platform != "win32":
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Some systems name no limit, and then refuse to set none.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    hear_orders_in_children()
    hide_memory()
    # Loaded before the fork, the modules lie in memory once, and a worker that starts again is there at once.
    import_module(application.partition(":")[0])
    gc.freeze()
    server = Supervisor(
        application,
        address=settings.host,
        port=settings.port,
        factory=True,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=KILL_SECONDS + settings.drain_seconds,
    )
    waiting = list(lines)
    server.on_startup(Thread(target=_print_when_alive, args=(settings, waiting), daemon=True).start)
    server.on_shutdown(lambda: _print(waiting))
    try:
        server.serve(spawn_target=serve_in_worker)
    except FatalError:
        sys.exit(1)


def _print_when_alive(settings: Settings, lines: list[str]) -> None:
    while lines and not is_alive(settings):
        time.sleep(0.1)
    _print(lines)


def _print(lines: list[str]) -> None:
    while lines:
        click.echo(lines.pop(0), err=True)


_WHY = {
    errno.EADDRINUSE: "another program uses this port. Choose another one with --port, or stop that program",
    errno.EACCES: "you have no permission to use this port. Choose one above 1023 with --port",
    errno.EADDRNOTAVAIL: "this machine has no such address. Choose another one with --host",
}


def check_address(settings: Settings) -> None:
    """Check now that the address can be listened on; raises StorageError, in words, if it cannot."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except socket.gaierror:
            raise StorageError(f'"{settings.host}" is no address of this machine. Name one with --host') from None
        except OSError as error:
            raise StorageError(
                f"{settings.host}:{settings.port}: {_WHY.get(error.errno or 0, 'cannot be listened on')}"
            ) from None
