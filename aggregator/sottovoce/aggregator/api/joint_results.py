"""Joint results that requests share: each is computed once for the same reports."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Lock, Timer
from typing import Any

from sottovoce.aggregator.analysis.column_cache import KeptColumns
from sottovoce.aggregator.analysis.disclosure_control import answered
from sottovoce.aggregator.analysis.requests import Request
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.storage import Storage
from sottovoce.shared.errors import StorageError

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
