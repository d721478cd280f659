"""The time by which surveys open, close and are forgotten: the database's, which is one for all nodes."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from sottovoce.aggregator.clock import Clock, now
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.clock_check import APART
from sottovoce.shared.errors import StorageError


def present(storage: Storage, clock: Clock = now) -> datetime:
    """The present moment by the database's clock, or by this machine's where the database has no other."""
    told = storage.clock()
    return clock() if told is None else datetime.fromtimestamp(told, UTC)


def check_clocks(storage: Storage, clock: Clock = now) -> None:
    """
    Return if this machine's clock and the database's agree.

    Args:
        storage: the database.
        clock: the present moment, as this machine tells it.

    Raises:
        StorageError: they differ.
    """
    SharedClock(storage, clock).check()


class SharedClock:
    """
    Tells the database's time without asking it each time.

    Args:
        storage: the database; it is asked once here, and at each ``check``.
        clock: the present moment, as this machine tells it.
        running: seconds since any moment, by a clock that nobody sets.
    """

    def __init__(self, storage: Storage, clock: Clock, running: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._running = running
        self._ask()

    def __call__(self) -> datetime:
        """The present moment: however this machine's clock is set meanwhile."""
        if self._begin is None:
            return self._clock()
        return datetime.fromtimestamp(self._begin + self._running(), UTC)

    def check(self) -> None:
        """
        Ask the database anew, and return if this machine's clock agrees with its.

        Raises:
            StorageError: they are more than five seconds apart.
        """
        before = self._clock()
        told = self._ask()
        # Whatever the answer took is no difference.
        if told is not None and not before.timestamp() - APART <= told <= self._clock().timestamp() + APART:
            raise StorageError(
                "this machine's clock and the database's are more than five seconds apart; set the one that is wrong,"
                " and let a time service keep both"
            )

    def _ask(self) -> float | None:
        told = self._storage.clock()
        self._begin = None if told is None else told - self._running()
        return told
