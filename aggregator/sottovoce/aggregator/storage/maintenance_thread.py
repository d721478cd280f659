"""Settle reports soon after they arrive, and do slow maintenance on request, in a thread."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from sottovoce.shared.errors import StorageError

QUIET_SECONDS = 20.0
"""Settle after so long without a report."""

OLDEST_SECONDS = 240.0
"""Settle under steady load before the oldest unsettled report is five minutes old."""

MOST_REPORTS = 10_000
"""Settle a rush in parts of this size, so that no part takes long; a back end may have a size of its own."""

RETRY_SECONDS = 5.0
"""Pause after an attempt to settle that a reader of the database prevented."""

END_TIMEOUT_SECONDS = 10.0


class MaintenanceThread:
    """Thread that settles when reports are due, and runs requested work, one after the other.

    It settles once at the start, since the process before may have been killed. It ends with the process, wherever it
    is: only work that may be killed at any point is for it.

    Args:
        settle: returns True if nothing unsettled is left; False, or a ``StorageError``, leads to another attempt.
        now: monotonic clock, in seconds.
        most_reports: settle at once when so many reports are unsettled.
    """

    def __init__(
        self, settle: Callable[[], bool], now: Callable[[], float] = time.monotonic, most_reports: int = MOST_REPORTS
    ) -> None:
        self._settle = settle
        self._now = now
        self._most_reports = most_reports
        self._changed = threading.Condition()
        self._requested: list[Callable[[], object]] = []
        self._ended = False
        self._reports = 0
        self._oldest: float | None = None
        self._due: float | None = now()
        self._thread = threading.Thread(target=self._run, name="maintenance", daemon=True)
        self._thread.start()

    def note_stored(self, reports: int) -> None:
        """Note that reports were stored, or, with 0, an invitation redeemed or rows deleted, to be settled in time."""
        with self._changed:
            now = self._now()
            self._reports += reports
            self._oldest = now if self._oldest is None else self._oldest
            is_rush = self._reports >= self._most_reports
            # A later moment than the thread waits for needs no notification: it looks again when it wakes.
            is_sooner = self._due is None or is_rush
            self._due = now if is_rush else min(now + QUIET_SECONDS, self._oldest + OLDEST_SECONDS)
            if is_sooner:
                self._changed.notify()

    def request(self, work: Callable[[], object]) -> None:
        """Run this soon; work that is requested again before its turn runs once."""
        with self._changed:
            if work not in self._requested:
                self._requested.append(work)
            self._changed.notify()

    def end(self) -> None:
        """End the thread, and wait a moment for the work that it is doing."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join(END_TIMEOUT_SECONDS)

    def _run(self) -> None:
        while (work := self._next()) is not None:
            # What the database cannot do now, a later attempt does.
            with suppress(StorageError):
                work()

    def _next(self) -> Callable[[], object] | None:
        """Wait for the next work; return None if the thread is to end."""
        with self._changed:
            while not self._ended:
                wait = None if self._due is None else self._due - self._now()
                if wait is not None and wait <= 0:
                    self._reports, self._oldest, self._due = 0, None, None
                    return self._settle_or_retry
                if self._requested:
                    return self._requested.pop(0)
                self._changed.wait(wait)
            return None

    def _settle_or_retry(self) -> None:
        started, is_settled = self._now(), False
        try:
            is_settled = self._settle()
        finally:
            if not is_settled:
                with self._changed:
                    self._oldest, self._due = started, self._now() + RETRY_SECONDS
