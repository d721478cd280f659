"""
One thread that writes: what waits is stored as one group, in one durable transaction, and then acknowledged.

Nobody waits for a group to fill: while one group is being synced, the next one gathers. The thread is a daemon and has
nothing to flush at the end of the process: whatever was not committed was not acknowledged either.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from typing import Any

from sottovoce.aggregator.storage import Arrival, Outcome, Storage
from sottovoce.aggregator.storage.columns import count
from sottovoce.shared.errors import ReportRejected, StorageError

MOST_WAITING = 32_768
"""Reports that may wait; further ones are told to come back."""

MOST_IN_GROUP = 16_384
"""Random keys touch a page of the database each, unless enough of them come at once."""

PAUSE = 60.0
"""Seconds between two rounds of housekeeping."""

Job = tuple[Sequence[Arrival], int, "Future[list[Outcome]]"]
"""With the number of its reports."""


class GroupCommit:
    """
    Stores groups of reports for all threads of one process.

    Args:
        storage: where to.
        housekeeping: called by the thread at its start and every minute; nothing of it may be lost on the way out.
        waiting: the most reports that may wait.
    """

    def __init__(
        self, storage: Storage, housekeeping: Callable[[], Any] = lambda: None, waiting: int = MOST_WAITING
    ) -> None:
        self._storage = storage
        self._housekeeping = housekeeping
        self._most = waiting
        self._jobs: deque[Job] = deque()
        self._reports = 0
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def store(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """
        What became of these reports; every NEW one is durable.

        Raises:
            ReportRejected: ``busy``, too much is waiting already.
            StorageError: not stored.
        """
        return self.submit(arrivals).result()

    def submit(self, arrivals: Sequence[Arrival]) -> "Future[list[Outcome]]":
        """
        The same, without waiting for it.

        Raises:
            ReportRejected: ``busy``.
        """
        future: Future[list[Outcome]] = Future()
        reports = count(arrivals)
        with self._changed:
            if self._reports + reports > self._most:
                raise ReportRejected("busy", "too many reports are waiting to be stored")
            if self._ended:
                raise StorageError("the aggregator is ending")
            self._jobs.append((arrivals, reports, future))
            self._reports += reports
            self._changed.notify()
        return future

    def end(self) -> None:
        """Store what waits, and end the thread: for tests; a process may just end."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        due = time.monotonic()
        while not (self._ended and not self._jobs):
            if time.monotonic() >= due:
                self._keep_house()
                due = time.monotonic() + PAUSE
            group = self._next_group(due)
            if group:
                self._store(group)

    def _keep_house(self) -> None:
        # What the database cannot do now, readiness tells, and the next round tries again.
        with suppress(StorageError):
            self._housekeeping()

    def _next_group(self, due: float) -> list[Job]:
        """What waits, as far as it fits into one group; empty if nothing comes in time."""
        group: list[Job] = []
        size = 0
        with self._changed:
            if not self._jobs and not self._ended:
                self._changed.wait(max(0.0, due - time.monotonic()))
            while self._jobs and (not group or size + self._jobs[0][1] <= MOST_IN_GROUP):
                group.append(self._jobs.popleft())
                size += group[-1][1]
            self._reports -= size
        return group

    def _store(self, group: list[Job]) -> None:
        try:
            stored = iter(self._storage.store([arrival for arrivals, _, _ in group for arrival in arrivals]))
        except StorageError as error:
            for _, _, future in group:
                future.set_exception(error)
        except Exception as error:
            # A bug that one report brings out must not refuse the others.
            if len(group) == 1:
                group[0][2].set_exception(error)
            else:
                for job in group:
                    self._store([job])
        else:
            for _, reports, future in group:
                future.set_result(list(islice(stored, reports)))
