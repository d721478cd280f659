"""Tell the time for opening, closing and deleting surveys: the database's clock, since all nodes share it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from sottovoce.aggregator.clock import Clock, now
from sottovoce.aggregator.surveys.clock_check import APART
from sottovoce.shared.errors import StorageError


class KeepsTime(Protocol):
    """A storage."""

    def clock(self) -> float | None:
        """Return seconds since 1970 by the database's clock; None if it has no clock of its own."""


def present(storage: KeepsTime, clock: Clock = now) -> datetime:
    """Return the present moment by the database's clock, or by this machine's if the database has no clock."""
    seconds = storage.clock()
    return clock() if seconds is None else datetime.fromtimestamp(seconds, UTC)


def check_clocks(storage: KeepsTime, clock: Clock = now) -> None:
    """Raise StorageError if this machine's clock is more than ``APART`` seconds from the database's."""
    SharedClock(storage, clock).check()


class SharedClock:
    """The database's time, extrapolated with a monotonic clock (``running``, in seconds) between queries.

    The database is queried at the start and at each ``check``. ``clock`` is this machine's.
    """

    def __init__(self, storage: KeepsTime, clock: Clock, running: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._running = running
        self._ask()

    def __call__(self) -> datetime:
        """Return the present moment, even if this machine's clock was set meanwhile."""
        return self._clock() if self._begin is None else datetime.fromtimestamp(self._begin + self._running(), UTC)

    def check(self) -> None:
        """Query the database's clock again; raise StorageError if this machine's is more than five seconds apart."""
        before = self._clock()
        seconds = self._ask()
        # Compare with the times before and after the query, since its duration is no difference of the clocks.
        if seconds is not None and not before.timestamp() - APART <= seconds <= self._clock().timestamp() + APART:
            raise StorageError(
                "this machine's clock and the database's are more than five seconds apart; set the one that is wrong,"
                " and let a time service keep both"
            )

    def _ask(self) -> float | None:
        seconds = self._storage.clock()
        self._begin = None if seconds is None else seconds - self._running()
        return seconds
