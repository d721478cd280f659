"""
How the serving process ends when it is told to: what is whole is answered, what is not is refused, nobody holds it up.

The server itself waits for every request that was begun, however long the other side takes, until the process that
looks after it loses its patience. Here bodies that are not whole get their refusal at once, and whatever else is left
after a while, such as a thread that waits for a database, ends with the process: nothing of it was acknowledged.

Where somebody in front asks ``/readyz`` to know whom to send to, the process says there first that it will end, and
serves on until that is known everywhere.
"""

import asyncio
import os
import signal
import threading
from contextlib import suppress

GRACE = 3.0
"""Seconds for what is under way; less than anybody waits who kills what does not end."""


class Ending:
    """
    Of one process.

    Args:
        drain_seconds: for which it serves on after it was told to end.

    Attributes:
        told: it was told to end.
        begun: it takes nothing new.
    """

    def __init__(self, drain_seconds: int = 0) -> None:
        self.told = False
        self.begun = False
        self._drain_seconds = drain_seconds
        self._bodies: set[asyncio.Timeout] = set()

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take the order to end (TERM) from the server, which goes on to obey the other one (INT)."""
        with suppress(NotImplementedError):  # on Windows
            loop.add_signal_handler(signal.SIGTERM, self._drain, loop)
            # What came before the loop's first turn was noted (uvloop), and is looked at when another signal comes.
            loop.add_signal_handler(signal.SIGUSR1, loop.remove_signal_handler, signal.SIGUSR1)
            loop.call_soon(signal.raise_signal, signal.SIGUSR1)

    def add(self, limit: asyncio.Timeout) -> None:
        """A body begins to be read, within this time."""
        self._bodies.add(limit)
        if self.begun:
            _run_out(limit)

    def remove(self, limit: asyncio.Timeout) -> None:
        """It is whole, or nobody waits for it any more."""
        self._bodies.discard(limit)

    def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve on for a while; who supervises may say it twice, which makes it no shorter."""
        if not self.told:
            self.told = True
            loop.call_later(self._drain_seconds, self.begin)

    def begin(self) -> None:
        """Let the time of all bodies run out, and the server end; the process ends after ``GRACE`` whatever happens."""
        if self.begun:
            return
        self.begun = True
        last = threading.Timer(GRACE, os._exit, [0])
        last.daemon = True
        last.start()
        for limit in self._bodies:
            _run_out(limit)
        signal.raise_signal(signal.SIGINT)


def _run_out(limit: asyncio.Timeout) -> None:
    limit.reschedule(asyncio.get_running_loop().time())
