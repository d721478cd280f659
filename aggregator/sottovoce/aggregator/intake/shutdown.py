"""Graceful shutdown of a serving process on SIGTERM.

The server (granian) waits for every open request, however slow its sender, until a supervisor kills the process. So
this module refuses bodies that are incomplete, answers complete requests, and ends the process after ``GRACE`` seconds
even if a thread still waits for the database: nothing unfinished was acknowledged.

Behind a load balancer that polls ``/readyz``, the process first reports that it is not ready, and keeps serving for
``drain_seconds`` until the load balancer has noticed.
"""

import asyncio
import os
import signal
import threading
from contextlib import suppress

GRACE = 3.0
"""Seconds for requests in progress; shorter than the time after which supervisors send SIGKILL."""


class Ending:
    """State of the shutdown of one process.

    Args:
        drain_seconds: time to keep serving after SIGTERM.

    Attributes:
        told: SIGTERM was received; the process keeps serving.
        begun: the process refuses new bodies and is about to end.
    """

    def __init__(self, drain_seconds: int = 0) -> None:
        self.is_draining = False
        self.has_begun = False
        self._drain_seconds = drain_seconds
        self._bodies: set[asyncio.Timeout] = set()

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Handle SIGTERM in the place of the server, which still ends on SIGINT."""
        with suppress(NotImplementedError):  # on Windows
            loop.add_signal_handler(signal.SIGTERM, self._drain, loop)
            # uvloop records a signal that arrives before the loop's first iteration, but handles it only when another
            # signal wakes it up. So send one.
            loop.add_signal_handler(signal.SIGUSR1, loop.remove_signal_handler, signal.SIGUSR1)
            loop.call_soon(signal.raise_signal, signal.SIGUSR1)

    def add(self, limit: asyncio.Timeout) -> None:
        """Register the timeout of a body that is being read."""
        self._bodies.add(limit)
        if self.has_begun:
            _run_out(limit)

    def remove(self, limit: asyncio.Timeout) -> None:
        """Unregister the timeout of a body that is complete or was given up."""
        self._bodies.discard(limit)

    def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep serving for ``drain_seconds``, then begin; further SIGTERMs do not shorten it."""
        if not self.is_draining:
            self.is_draining = True
            loop.call_later(self._drain_seconds, self.begin)

    def begin(self) -> None:
        """Expire the timeouts of all bodies and stop the server; the process ends after ``GRACE`` in any case."""
        if self.has_begun:
            return
        self.has_begun = True
        last = threading.Timer(GRACE, os._exit, [0])
        last.daemon = True
        last.start()
        for limit in self._bodies:
            _run_out(limit)
        signal.raise_signal(signal.SIGINT)


def _run_out(limit: asyncio.Timeout) -> None:
    limit.reschedule(asyncio.get_running_loop().time())
