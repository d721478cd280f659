"""
The slot in which a process counts on a shared PostgreSQL, and the thread that shows what has grown there.

A slot is a process's own while it holds an advisory lock on a connection that it keeps. The lock makes counting fast
and nothing else: two processes in one slot wait for each other's rows, and count right.
"""

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

import psycopg
from sottovoce.shared.errors import StorageError

SLOTS = 32
"""Processes beyond so many share a slot."""

PAUSE = 0.05
"""Seconds in which further reports come before all are shown at once: under load each group would else cost a sync."""

SETTLE_TIMEOUT_SECONDS = 5.0
"""Seconds for which whoever reads waits for what is being shown; then it is told what is shown by now."""

SLOT_LOCK = 0x50771
"""First number of the advisory locks of slots; the second one is the slot's."""

_TAKE = """
    SELECT slot FROM generate_series(0, %s - 1) AS slot WHERE pg_try_advisory_lock(%s, slot::int) LIMIT 1
"""


class Slot:
    """
    A number from 0 to 31, taken when it is first asked for.

    Args:
        url: of the database.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._kept: psycopg.Connection[Any] | None = None
        self._number: int | None = None

    @property
    def number(self) -> int:
        """In which slot this process counts."""
        if self._number is not None:
            return self._number  # nobody who counts waits for whoever looks after the connection
        with self._lock:
            if self._number is None:
                self._number = self._take()
            return self._number

    def check(self) -> None:
        """Take a slot anew, if the connection that held the lock was lost, or there was no free one."""
        with self._lock:
            if self._number is not None and not self._is_held():
                self._number = self._take()

    def close(self) -> None:
        """Leave the slot to others."""
        with self._lock:
            self._drop()

    def _is_held(self) -> bool:
        if self._kept is None:
            return False
        with suppress(psycopg.Error):
            self._kept.execute("SELECT 1")
            return True
        return False

    def _take(self) -> int:
        self._drop()
        # Where there is no further connection to be had, or no slot, counting goes on in one that may be another's.
        with suppress(psycopg.Error):
            self._kept = psycopg.connect(self._url, autocommit=True, connect_timeout=5, tcp_user_timeout=5000)
            found = self._kept.execute(_TAKE, [SLOTS, SLOT_LOCK]).fetchone()
            if found is not None:
                return int(found[0])
        # Kept, it would look as if it held one.
        self._drop()
        return os.getpid() % SLOTS

    def _drop(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None


class SnapshotPublisher:
    """
    Shows in a thread of its own, so that no group of reports waits for a second sync; after a pause, so that under load
    most groups only say that there is more to show.

    Args:
        show: shows what has grown of surveys, given their ``release_batch`` by their keys.
    """

    def __init__(self, show: Callable[[Mapping[int, int]], None]) -> None:
        self._show = show
        self._thread = ThreadPoolExecutor(1, "showing")
        self._lock = threading.Lock()
        self._wanted: dict[int, int] = {}
        self._last: Future[None] | None = None
        self._hurried = threading.Event()

    def want(self, batches: Mapping[int, int]) -> None:
        """Have these surveys shown soon."""
        with self._lock:
            is_under_way = bool(self._wanted)
            self._wanted.update(batches)
            if not is_under_way:
                self._hurried.clear()
                # Where this process is ending, another one shows: these reports are durable, and must be told so.
                with suppress(RuntimeError):
                    self._last = self._thread.submit(self._run)

    def settle(self) -> bool:
        """Wait until what was wanted is shown, or could not be; returns whether that is over."""
        with self._lock:
            last = self._last
            self._hurried.set()
        return last is None or last in wait([last], SETTLE_TIMEOUT_SECONDS).done

    def end(self) -> None:
        """Show what is still wanted, and end the thread, unless it waits for a database that is silent."""
        self._thread.shutdown(wait=self.settle())

    def _run(self) -> None:
        self._hurried.wait(PAUSE)
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        # Whoever comes next tries again, or the next minute.
        with suppress(StorageError):
            self._show(wanted)
