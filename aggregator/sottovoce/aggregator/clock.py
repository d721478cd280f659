"""Tell the time, convert days, and check that this machine's clock is steady.

The database's clock decides when surveys open, close and are deleted, since all nodes share it. This machine's must be
steady enough for decisions that cannot be undone, such as deletions.
"""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

from sottovoce.shared.errors import StorageError

DAY = 86400
"""Number of seconds in a day."""

Clock = Callable[[], datetime]
"""Function that returns the current time with a time zone; tests pass one that they control."""

APART = 5.0
"""Tolerance for the difference of two clocks, in seconds."""

STEADY = 600.0
"""Seconds for which the clocks must have agreed."""


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def day_of(moment: datetime) -> int:
    """Return the number of days from 1970-01-01 to a moment, in UTC."""
    return int(moment.timestamp()) // DAY


def date_of(day: int) -> date:
    """Convert a number of days since 1970-01-01 to a date."""
    return date(1970, 1, 1) + timedelta(days=day)


class SteadyClock:
    """Comparison of this machine's clock with a monotonic clock and with the database's clock.

    Args:
        clock: returns the present moment by this machine, which may be wrong at the start and be set at any time.
        database: returns seconds since 1970 by the database's clock; None if the database has no clock of its own.
        running: monotonic clock, in seconds.
    """

    def __init__(
        self, clock: Clock, database: Callable[[], float | None], running: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._database = database
        self._running = running
        self._begin()

    def __call__(self) -> bool:
        """Compare the clocks; return True if they agreed at every call in the last ten minutes.

        So it returns False for ten minutes after a start, and after each time that the clock was set. Raises
        StorageError if the database does not answer.
        """
        database = self._database()
        wall = self._clock().timestamp()
        # The wall clock runs evenly unless it was set; the monotonic clock cannot be set.
        moved = abs(wall - self._running() - self._offset) > APART
        if moved or (database is not None and abs(database - wall) > APART):
            self._begin()
        return self._running() - self._since >= STEADY

    def _begin(self) -> None:
        self._since = self._running()
        self._offset = self._clock().timestamp() - self._since


class KeepsTime(Protocol):
    """A storage that may have a clock of its own."""

    def clock(self) -> float | None:
        """Return seconds since 1970 by the database's clock; None if it has none."""


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
