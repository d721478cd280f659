"""Whether this node can work on the database, asked of it seldom; while it cannot, nobody waits for it."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from sottovoce.shared.errors import StorageError

AGE = 0.5
"""Seconds for which an answer of the database is good."""

PAUSE = 0.5
"""Seconds between two questions while it fails."""

ROUND = 10.0
"""Seconds between two questions that nobody asked for."""

_log = logging.getLogger("sottovoce")


class Readiness:
    """
    Whether this node can work on the database; asked of it twice a second at most, since anybody may ask.

    Args:
        ask: raises ``StorageError`` if the database cannot be written to, its schema is none for this program, or its
            clock differs from this machine's.
        patience: seconds within which it must answer. A database that is locked, or a server that has stopped to
            answer, would keep whoever asks it for much longer.
    """

    def __init__(self, ask: Callable[[], None], patience: float = 1.0) -> None:
        self._question = ask
        self._patience = patience
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._probe: Future[None] = Future()
        self._probe.set_result(None)
        self._checked = float("-inf")
        self._failure: str | None = None
        self._watched = threading.Lock()

    @property
    def is_red(self) -> bool:
        """Whether the last answer was that it cannot; never waits."""
        return self._failure is not None

    @property
    def is_known(self) -> bool:
        """Whether ``check`` would have to ask nobody; never waits."""
        return time.monotonic() - self._checked < AGE

    def check(self) -> None:
        """
        Return if this node could work on the database within the last half second.

        Raises:
            StorageError: it could not; the reason in words.
        """
        failure = self._failure if self.is_known else self._ask()
        if failure is not None:
            raise StorageError(failure)

    def doubt(self) -> None:
        """Somebody was let down by the database: ask it until it answers, in a thread of its own."""
        if self._watched.acquire(blocking=False):
            threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def watch(self) -> None:
        """Ask from now on also if nobody wants to know: a database changes, or a clock goes wrong, without an error."""
        threading.Thread(target=self._ask_for_good, name="readiness rounds", daemon=True).start()

    def _ask_for_good(self) -> None:
        # The process may end meanwhile, and takes no new questions then.
        with suppress(RuntimeError):
            while True:
                self._ask()
                time.sleep(ROUND)

    def _watch(self) -> None:
        try:
            with suppress(RuntimeError):
                while self._ask() is not None:
                    time.sleep(PAUSE)
        finally:
            self._watched.release()

    def _ask(self) -> str | None:
        with self._lock:
            if not self.is_known:
                if self._probe.done():
                    self._probe = self._thread.submit(self._question)
                self._tell(self._answer())
                self._checked = time.monotonic()
            failure = self._failure
        if failure is not None:
            self.doubt()
        return failure

    def _tell(self, failure: str | None) -> None:
        if failure is not None and self._failure is None:
            _log.error("storage: %s; what needs the database is refused until it answers", failure)
        self._failure = failure

    def _answer(self) -> str | None:
        try:
            self._probe.result(self._patience)
        except StorageError as error:
            return str(error)
        except TimeoutError:
            return "the database does not answer"
        return None
