"""Run joint analyses one at a time, with a cache of the columns of closed surveys."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock, Timer
from time import monotonic
from typing import Any

from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.disclosure_control import answered
from sottovoce.aggregator.analysis.report_columns import Columns, Progress, read_columns
from sottovoce.aggregator.analysis.requests import Request
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.shared.errors import StorageError

IDLE = 15 * 60
"""Seconds without use after which the cache drops columns."""

_Key = tuple[str, int | None]
_State = tuple[tuple[StoredSurvey, ...], tuple[int, ...]]


@dataclass
class _CachedColumns:
    columns: Columns
    state: _State
    used: float


class ColumnsCache:
    """
    Cache of the columns of closed surveys and waves.

    Args:
        storage: the database.
        clock: returns the current time, which decides if a wave is closed.
        seconds: monotonic clock in seconds, for idle times.
    """

    def __init__(self, storage: Storage, clock: Clock, seconds: Callable[[], float] = monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._seconds = seconds
        self._cache: dict[_Key, _CachedColumns] = {}
        self._reading = Lock()

    def __len__(self) -> int:
        """Return the number of cached surveys and waves."""
        return len(self._cache)

    def columns(self, name: str, wave: int | None = None, progress: Progress | None = None) -> Columns:
        """
        Return the columns of a survey; read them again if the survey or its log has changed.

        Args:
            name: name of the survey.
            wave: only this wave; None for all.
            progress: called while columns are read; not called if they are cached.

        Raises:
            EstimateError: no such survey or wave, or it is open.
        """
        with self._reading:
            revisions = self._storage.revisions(name)
            check_closed(self._storage, revisions, wave, self._clock())
            state = self._state(name, revisions)
            cached = self._cache.get((name, wave))
            if cached is None or cached.state != state:
                columns = read_columns(self._storage, revisions, wave, progress)
                cached = self._cache[name, wave] = _CachedColumns(columns, state, self._seconds())
            cached.used = self._seconds()
            return cached.columns

    def drop(self) -> None:
        """Drop columns that were idle for long, and those of deleted surveys."""
        with self._reading:
            there = {stored.name for stored in self._storage.surveys()}
            last = self._seconds() - IDLE
            self._cache = {key: cached for key, cached in self._cache.items() if key[0] in there and cached.used > last}

    def _state(self, name: str, revisions: list[StoredSurvey]) -> _State:
        """Return the cache key: it changes with every report and with every entry of the survey's log."""
        steps = (line.number for line in self._storage.record() if line.about.split()[0] == name)
        return tuple(revisions), tuple(steps)


REFRESH_SECONDS = 60
"""Seconds between two searches for idle columns."""


class JointResults:
    """
    Runner of joint analyses that leaves threads for other requests.

    Args:
        cache: cache of columns.
        storage: the database, which knows if a privacy budget withholds results.
        threads: number of threads of the application.
    """

    def __init__(self, cache: ColumnsCache, storage: Storage, threads: int) -> None:
        self._cache = cache
        self._storage = storage
        self._rooms = BoundedSemaphore(max(threads // 2, 1))
        self._running = Lock()
        self._timer: Timer | None = None

    def document(self, name: str, asked: Request) -> dict[str, Any]:
        """
        Run an analysis and return its document.

        Raises:
            EstimateError: the analysis is impossible, or the survey is still open.
            Refusal: ``busy``: too many requests wait already.
        """
        with self.turn():
            self._schedule()
            return answered(self._storage, name, asked, lambda: self._cache.columns(name, asked.wave))

    def drop(self) -> None:
        """Drop cached columns that were idle for long, and those of deleted surveys."""
        self._cache.drop()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """
        Hold the lock of long computations; also for other work that takes long.

        The semaphore bounds how many threads wait for the lock, so that short requests always find a free thread.

        Raises:
            Refusal: ``busy``: too many threads wait already.
        """
        if not self._rooms.acquire(blocking=False):
            raise Refusal("busy")
        try:
            with self._running:
                yield
        finally:
            self._rooms.release()

    def _schedule(self) -> None:
        """Start the timer that drops idle columns; it stops when the cache is empty and never delays intake."""
        if self._timer is None or not self._timer.is_alive():
            self._timer = Timer(REFRESH_SECONDS, self._refresh_metrics)
            self._timer.daemon = True
            self._timer.start()

    def _refresh_metrics(self) -> None:
        with self._running:
            self._timer = None
            # Without the database the list of surveys is unknown; the next round tries again.
            with suppress(StorageError):
                self._cache.drop()
            if len(self._cache):
                self._schedule()
