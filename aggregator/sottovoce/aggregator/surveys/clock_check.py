"""Check that this machine's clock is steady enough for decisions that cannot be undone, such as deletions."""

import time
from collections.abc import Callable

from sottovoce.aggregator.clock import Clock

APART = 5.0
"""Tolerance for the difference of two clocks, in seconds."""

STEADY = 600.0
"""Seconds for which the clocks must have agreed."""


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
