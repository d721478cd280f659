"""Probe the readiness of this node: rarely, and remembering failures, so that requests fail fast."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from sottovoce.shared.errors import StorageError

AGE = 0.5
"""Seconds for which the result of a probe is valid."""

PAUSE = 0.5
"""Seconds between probes while the database fails."""

LINE_SECONDS = 60.0
"""Seconds between two lines about the same failure."""

ROUND = 10.0
"""Seconds between background probes without a request."""

_log = logging.getLogger("sottovoce")


class FailureLog:
    """Log of failures that repeat: a line at once, then one a minute at most, with their number and first time."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, str, float]] = {}

    def note(self, failure: str) -> None:
        """Log a failure, or count it if the last line about it is less than a minute old."""
        with self._lock:
            now = self._monotonic()
            # A database that is away fails in several ways by turns, so each failure has a count of its own.
            self._known = {each: one for each, one in self._known.items() if now - one[2] < 2 * LINE_SECONDS}
            first = 0, time.strftime("%Y-%m-%d %H:%M", time.gmtime()), now - LINE_SECONDS
            count, since, logged = self._known.get(failure, first)
            count += 1
            if now - logged >= LINE_SECONDS:
                logged = now
                _log.error("storage: %s (%d %s since %s UTC)", failure, count, "time" if count == 1 else "times", since)
            self._known[failure] = count, since, logged


storage_failures = FailureLog()
"""The log of this process: what fails at every request would fill a disk with lines."""


class Readiness:
    """Readiness of this node; probes the database at most twice a second, because the endpoint is public.

    Args:
        ask: probe; raises ``StorageError`` if the database is not writable, its schema does not fit this program, or
            its clock differs from this machine's.
        timeout_seconds: timeout of a probe; a locked or hanging database would block callers for much longer.
        is_writing: returns True if the probe waits for a write of this process, which is no failure.
    """

    def __init__(
        self, ask: Callable[[], None], timeout_seconds: float = 1.0, is_writing: Callable[[], bool] = lambda: False
    ) -> None:
        self._question = ask
        self._timeout_seconds = timeout_seconds
        self._is_writing = is_writing
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._probe: Future[None] = Future()
        self._probe.set_result(None)
        self._checked = float("-inf")
        self._failure: str | None = None
        self._watched = threading.Lock()

    @property
    def is_red(self) -> bool:
        """Return True if the last probe failed; never wait."""
        return self._failure is not None

    @property
    def is_known(self) -> bool:
        """Return True if the last probe is recent enough for ``check`` to use; never wait."""
        return time.monotonic() - self._checked < AGE

    def check(self) -> None:
        """Return if the database worked within the last half second; probe it if the last result is older.

        Raises StorageError, with the reason, if the database does not work.
        """
        failure = self._failure if self.is_known else self._ask()
        if failure is not None:
            raise StorageError(failure)

    def doubt(self) -> None:
        """Start a background thread that probes until the database works again; called after a failure."""
        if self._watched.acquire(blocking=False):
            threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def watch(self) -> None:
        """Start periodic background probes: a changed schema or a wrong clock causes no error by itself."""
        threading.Thread(target=self._ask_for_good, name="readiness rounds", daemon=True).start()

    def _ask_for_good(self) -> None:
        # At shutdown the executor raises RuntimeError for new probes.
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
                self._record(self._answer())
                self._checked = time.monotonic()
            failure = self._failure
        if failure is not None:
            self.doubt()
        return failure

    def _record(self, failure: str | None) -> None:
        if failure is not None:
            storage_failures.note(f"{failure}; what needs the database is refused until it answers")
        self._failure = failure

    def _answer(self) -> str | None:
        try:
            self._probe.result(self._timeout_seconds)
        except StorageError as error:
            return str(error)
        except TimeoutError:
            return None if self._is_writing() else "the database does not answer"
        return None
