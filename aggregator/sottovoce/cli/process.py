"""An aggregator as a process of its own, for the demonstration and for whatever tries the real program."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event

import requests
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import StorageError

SECONDS = 4
"""Timeout, below the five seconds of the container's own health check."""
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - asked, not listened at
"""Address to request if a node listens on all interfaces."""


@contextmanager
def aggregator(settings: Settings, stopped: Event | None = None) -> Iterator[None]:
    """An aggregator process of its own, ready on entry and ended on exit.

    Args:
        settings: its own.
        stopped: set to stop waiting for it to be ready.

    Raises:
        StorageError: it is not ready, or ``stopped`` was set.
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
    """Tell a started aggregator to end; one that does not is killed, and what it started ends with it.

    Args:
        process: what was started.
        seconds: for which it may go on.

    Returns:
        Its exit code.
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
    """Return as soon as a started aggregator answers that it is ready.

    Args:
        url: its address.
        process: the started process; if it ends, so does the wait.
        seconds: to wait at most.
        stopped: set to stop waiting.

    Raises:
        StorageError: it ended, is not ready in time, or ``stopped`` was set.
    """
    deadline, stopped = time.monotonic() + seconds, stopped or Event()
    while time.monotonic() < deadline and process.poll() is None and not stopped.is_set():
        try:
            if requests.get(f"{url}/readyz", timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.05)
    raise StorageError("the aggregator did not start")


def free_port() -> int:
    """Return a free port.

    Raises:
        StorageError: a hundred tries found none.
    """
    for _ in range(100):
        # Below the ports that systems give to connections: one of those could be taken before it is bound.
        port = 20_000 + int.from_bytes(os.urandom(4)) % 12_000
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise StorageError("no free port was found; name one with --port")


def is_alive(settings: Settings) -> bool:
    """Return True if the node with these settings answers."""
    return request_node(settings, "healthz") is not None


def request_node(settings: Settings, page: str) -> requests.Response | None:
    """Return the answer of a node on this machine; None if there is none."""
    host = EVERY_ADDRESS.get(settings.host, f"[{settings.host}]" if ":" in settings.host else settings.host)
    with requests.Session() as session:
        # A proxy from the environment could respond in place of a node that is down.
        session.trust_env = False
        try:
            return session.get(f"http://{host}:{settings.port}/{page}", timeout=SECONDS)
        except requests.RequestException:
            return None
