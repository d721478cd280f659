"""An aggregator as a process of its own, for the demonstration and for whatever tries the real program.

Signals are turned into an Event, so that child processes can be stopped first. ``healthcheck`` asks the node on this
machine, or in this container, whether it responds.
"""

import _thread
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event

import click
import requests
from sottovoce.aggregator.settings import Settings
from sottovoce.cli.command import STOPS, command
from sottovoce.shared.errors import StorageError, SurveyError

SECONDS = 4
"""Timeout, below the five seconds of the container's own health check."""
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - asked, not listened at
"""Address to request if a node listens on all interfaces."""


@contextmanager
def aggregator(settings: Settings, stopped: Event | None = None) -> Iterator[None]:
    """Run an aggregator process of its own, ready on entry and ended on exit. Raises StorageError if it is not ready,
    or ``stopped`` was set, which ends the wait.
    """
    command = [sys.executable, "-m", "sottovoce.cli", "serve", "--data", str(settings.data), "--port"]
    environment = {**os.environ, **settings.to_environment()}
    process = subprocess.Popen(  # noqa: S603 - our own
        [*command, str(settings.port)], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        wait_until_ready(settings.url, process, stopped=stopped)
        yield
    finally:
        end(process)


def end(process: subprocess.Popen[bytes], seconds: float = 20) -> int:
    """Tell a started aggregator to end, and return its exit code.

    After ``seconds`` it is killed, and what it started ends with it.
    """
    process.terminate()
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def wait_until_ready(
    url: str, process: subprocess.Popen[bytes], seconds: float = 30, stopped: Event | None = None
) -> None:
    """Return as soon as a started aggregator answers that it is ready. Raises StorageError if its process ended, it is
    not ready in time, or ``stopped`` was set.
    """
    deadline, stopped = time.monotonic() + seconds, stopped or Event()
    while time.monotonic() < deadline and process.poll() is None and not stopped.is_set():
        try:
            if requests.get(f"{url}/readyz", timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.1)
    raise StorageError("the aggregator did not start")


def free_port() -> int:
    """Return a free port; raises StorageError if a hundred tries found none."""
    for _ in range(100):
        # Below the ports that systems give to connections: one of those could be taken before it is bound.
        port = 20_000 + int.from_bytes(os.urandom(4)) % 12_000
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise StorageError("no free port was found; name one with --port")


@contextmanager
def capture_signals() -> Iterator[Event]:
    """Turn SIGTERM, SIGINT and SIGHUP into an Event; a second Ctrl-C ends the process at once.

    An exception raised from the signal handler could be lost: Python prints and ignores exceptions that occur in an
    object's finalizer, such as an unused connection's.

    Raises click.Abort if something failed after the signal; a child process may have received the same Ctrl-C.
    """
    stop_requested = Event()

    def note(number: int, _: object) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # In a thread: the signal may interrupt this thread while it holds the event's lock, which would deadlock.
        _thread.start_new_thread(stop_requested.set, ())

    # Also if a shell ignores SIGINT for a background job: the server that was started still receives it.
    before = {number: signal.signal(number, note) for number in STOPS}
    try:
        yield stop_requested
    except SurveyError:
        if stop_requested.is_set():
            raise click.Abort from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@command(example="sottovoce healthcheck --ready")
@click.option("--ready", is_flag=True, help="Also whether it can work on its database.")
def healthcheck(ready: bool) -> None:
    """Ask the node at SOTTOVOCE_HOST and SOTTOVOCE_PORT whether it is alive; exit code 1 if it is not."""
    settings = Settings.from_environment()
    host = EVERY_ADDRESS.get(settings.host, f"[{settings.host}]" if ":" in settings.host else settings.host)
    with requests.Session() as session:
        # A proxy from the environment could respond in place of a node that is down.
        session.trust_env = False
        try:
            reply = session.get(f"http://{host}:{settings.port}/{'readyz' if ready else 'healthz'}", timeout=SECONDS)
        except requests.RequestException:
            raise StorageError("no node answers at SOTTOVOCE_HOST and SOTTOVOCE_PORT") from None
    if not reply.ok:
        raise StorageError("the node answers that it is not ready; /readyz says why")
