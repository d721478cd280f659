"""Joint results that requests share: each is computed once for the same reports."""

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
"""Seconds without use after which columns are dropped."""

_Key = tuple[str, int | None]
_State = tuple[tuple[StoredSurvey, ...], tuple[int, ...]]


@dataclass
class _CachedColumns:
    columns: Columns
    state: _State
    used: float


class KeptColumns:
    """
    The columns of closed surveys and waves, each read once.

    Args:
        storage: the database.
        clock: the present moment, by which waves are closed.
        seconds: a clock that is never set, for idle times.
    """

    def __init__(self, storage: Storage, clock: Clock, seconds: Callable[[], float] = monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._seconds = seconds
        self._kept: dict[_Key, _CachedColumns] = {}
        self._reading = Lock()

    def __len__(self) -> int:
        """How many surveys and waves are kept."""
        return len(self._kept)

    def columns(self, name: str, wave: int | None = None, progress: Progress | None = None) -> Columns:
        """
        The columns of a survey; read anew if it was opened, corrected or answered since.

        Args:
            name: the survey's.
            wave: only this one; None for all.
            progress: told while they are read, never if they are kept.

        Raises:
            EstimateError: there is no such survey or wave, or it is open.
        """
        with self._reading:
            revisions = self._storage.revisions(name)
            check_closed(self._storage, revisions, wave, self._clock())
            state = self._state(name, revisions)
            kept = self._kept.get((name, wave))
            if kept is None or kept.state != state:
                columns = read_columns(self._storage, revisions, wave, progress)
                kept = self._kept[name, wave] = _CachedColumns(columns, state, self._seconds())
            kept.used = self._seconds()
            return kept.columns

    def drop(self) -> None:
        """Forget what has been idle, and surveys that are there no more."""
        with self._reading:
            there = {stored.name for stored in self._storage.surveys()}
            last = self._seconds() - IDLE
            self._kept = {key: kept for key, kept in self._kept.items() if key[0] in there and kept.used > last}

    def _state(self, name: str, revisions: list[StoredSurvey]) -> _State:
        """What changes with every report and every step of the survey's life."""
        steps = (line.number for line in self._storage.record() if line.about.split()[0] == name)
        return tuple(revisions), tuple(steps)


LOOK = 60
"""Seconds between two looks for columns that nobody has used for long."""


class JointResults:
    """
    Makes joint results without taking all threads.

    Args:
        kept: the columns.
        storage: says what is withheld.
        threads: of the application.
    """

    def __init__(self, kept: KeptColumns, storage: Storage, threads: int) -> None:
        self._kept = kept
        self._storage = storage
        self._rooms = BoundedSemaphore(max(threads // 2, 1))
        self._running = Lock()
        self._timer: Timer | None = None

    def document(self, name: str, asked: Request) -> dict[str, Any]:
        """
        The answer.

        Raises:
            EstimateError: there is none, or not yet.
            Refusal: ``busy``.
        """
        with self.turn():
            self._look_later()
            return answered(self._storage, name, asked, lambda: self._kept.columns(name, asked.wave))

    def drop(self) -> None:
        """Forget columns of surveys that are no more, and those that were not used for long."""
        self._kept.drop()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """
        For whatever else takes long: one thing runs at a time, and only some threads wait for it.

        Raises:
            Refusal: ``busy``.
        """
        if not self._rooms.acquire(blocking=False):
            raise Refusal("busy")
        try:
            with self._running:
                yield
        finally:
            self._rooms.release()

    def _look_later(self) -> None:
        """In a thread of its own, that ends with the last columns: intake never waits for it."""
        if self._timer is None or not self._timer.is_alive():
            self._timer = Timer(LOOK, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._running:
            self._timer = None
            # Without the database nothing says which surveys are left: another time.
            with suppress(StorageError):
                self._kept.drop()
            if len(self._kept):
                self._look_later()
