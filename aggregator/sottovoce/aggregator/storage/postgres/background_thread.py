"""Background thread for long work that no request waits for."""

import threading
from collections.abc import Callable
from contextlib import suppress

from sottovoce.shared.errors import StorageError

TIMEOUT_SECONDS = 10.0
"""Seconds that ``end`` waits for the current work."""


def at_once(work: Callable[[], None]) -> None:
    """Run the work in the calling thread, which waits for it."""
    work()


class BackgroundThread:
    """
    Queue of work for one thread; work that is queued twice before its turn runs once.

    The thread ends with the process at any point: queue only work that may be killed at any point.
    """

    def __init__(self) -> None:
        self._wanted: list[Callable[[], None]] = []
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="aside", daemon=True)
        self._thread.start()

    def want(self, work: Callable[[], None]) -> None:
        """Queue work unless it is queued already."""
        with self._changed:
            if work not in self._wanted:
                self._wanted.append(work)
            self._changed.notify()

    def end(self) -> None:
        """Stop after the current work and wait for it up to the time limit. Tests need this; a process may just end."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join(TIMEOUT_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._wanted and not self._ended:
                    self._changed.wait()
                if self._ended:
                    return
                work = self._wanted.pop(0)
            # What the database cannot do now, the next one tries again.
            with suppress(StorageError):
                work()
