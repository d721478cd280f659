"""A thread for what takes long, and which nobody waits for."""

import threading
from collections.abc import Callable
from contextlib import suppress

from sottovoce.shared.errors import StorageError

TIMEOUT_SECONDS = 10.0
"""Seconds for which whoever ends waits for what is being done."""


def at_once(work: Callable[[], None]) -> None:
    """Where somebody does wait for it."""
    work()


class BackgroundThread:
    """
    Does one work after the other; what is wanted again before its turn has come is done once.

    It ends with the process, wherever it is: only work that may be killed at any point is for it.
    """

    def __init__(self) -> None:
        self._wanted: list[Callable[[], None]] = []
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="aside", daemon=True)
        self._thread.start()

    def want(self, work: Callable[[], None]) -> None:
        """Have this done soon."""
        with self._changed:
            if work not in self._wanted:
                self._wanted.append(work)
            self._changed.notify()

    def end(self) -> None:
        """Do nothing more, and wait a moment for what is being done: for tests; a process may just end."""
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
