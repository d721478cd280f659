"""Whether the database can be written to, asked of it seldom."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from sottovoce.aggregator.storage import Storage
from sottovoce.shared.errors import StorageError

AGE = 0.5
"""Seconds for which an answer of the database is good."""


class Readiness:
    """
    Whether the database can be written to; asked of it twice a second at most, since anybody may ask.

    Args:
        storage: the database.
        patience: seconds within which it must answer. A database that is locked, or a server that has stopped to
            answer, would keep whoever asks it for much longer.
    """

    def __init__(self, storage: Storage, patience: float = 1.0) -> None:
        self._storage = storage
        self._patience = patience
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._probe: Future[None] = Future()
        self._probe.set_result(None)
        self._checked = float("-inf")
        self._failure: str | None = None

    def check(self) -> None:
        """
        Return if the database could be written to within the last half second.

        Raises:
            StorageError: it could not.
        """
        with self._lock:
            if time.monotonic() - self._checked >= AGE:
                if self._probe.done():
                    self._probe = self._thread.submit(self._storage.check)
                self._failure = self._answer()
                self._checked = time.monotonic()
            if self._failure is not None:
                raise StorageError(self._failure)

    def _answer(self) -> str | None:
        try:
            self._probe.result(self._patience)
        except StorageError as error:
            return str(error)
        except TimeoutError:
            return "the database does not answer"
        return None
