"""Whether this machine's clock may decide what cannot be undone."""

import time
from collections.abc import Callable

from sottovoce.aggregator.clock import Clock

APART = 5.0
"""Seconds by which clocks that agree may differ."""

STEADY = 600.0
"""Seconds for which they must have agreed."""


class SteadyClock:
    """
    Compares the clock with one that nobody sets, and with the database's.

    Args:
        clock: the present moment, as this machine tells it: it may be wrong at the start, and be set at any time.
        database: seconds since 1970 by the database's own clock; None where that is this machine's.
        running: seconds since any moment, by a clock that cannot be set.
    """

    def __init__(
        self, clock: Clock, database: Callable[[], float | None], running: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._database = database
        self._running = running
        self._begin()

    def __call__(self) -> bool:
        """
        Whether all clocks have agreed whenever this was asked in the last ten minutes. What waits for it waits for
        ten minutes after each start, and after each time that the clock was set.

        Raises:
            StorageError: the database does not answer.
        """
        told = self._database()
        wall = self._clock().timestamp()
        moved = abs(wall - self._running() - self._offset) > APART
        if moved or (told is not None and abs(told - wall) > APART):
            self._begin()
        return self._running() - self._since >= STEADY

    def _begin(self) -> None:
        self._since = self._running()
        self._offset = self._clock().timestamp() - self._since
