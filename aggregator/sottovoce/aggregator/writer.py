"""
One thread that writes: what waits is stored as one group, in one durable transaction, and then acknowledged.

Nobody waits for a group to fill: while one group is being synced, the next one gathers. A group is written in the
order of the random report ids, so that not even the order within it is that of arrival. The thread is a daemon and has
nothing to flush at the end of the process: whatever was not committed was not acknowledged either.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import numpy as np
from sottovoce.aggregator.storage import Arrival, Outcome, Storage
from sottovoce.shared.errors import ReportRejected, StorageError

MOST_WAITING = 32_768
"""Reports that may wait; further ones are told to come back."""

MOST_IN_GROUP = 16_384
"""Random keys touch a page of the database each, unless enough of them come at once."""

PAUSE = 60.0
"""Seconds between two rounds of housekeeping."""

Job = tuple[Sequence[Arrival], "Future[list[Outcome]]"]


class Writer:
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
        job: Job = (arrivals, Future())
        with self._changed:
            if self._reports + len(arrivals) > self._most:
                raise ReportRejected("busy", "too many reports are waiting to be stored")
            if self._ended:
                raise StorageError("the aggregator is ending")
            self._jobs.append(job)
            self._reports += len(arrivals)
            self._changed.notify()
        return job[1]

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
            while self._jobs and (not group or size + len(self._jobs[0][0]) <= MOST_IN_GROUP):
                group.append(self._jobs.popleft())
                size += len(group[-1][0])
            self._reports -= size
        return group

    def _store(self, group: list[Job]) -> None:
        arrivals = list(chain.from_iterable(arrived for arrived, _ in group))
        order = _order([arrival.report_id for arrival in arrivals])
        try:
            stored = self._storage.store([arrivals[index] for index in order])
        except StorageError as error:
            for _, future in group:
                future.set_exception(error)
        except Exception as error:
            # A bug that one report brings out must not refuse the others.
            if len(group) == 1:
                group[0][1].set_exception(error)
            else:
                for job in group:
                    self._store([job])
        else:
            outcomes = iter(_in_place(order, stored))
            for arrived, future in group:
                future.set_result(list(islice(outcomes, len(arrived))))


def _order(report_ids: list[bytes]) -> list[int]:
    """Positions in the order of the random ids, in place of that of arrival; their first eight bytes do."""
    halves = np.frombuffer(b"".join(report_ids), dtype=">u8").reshape(len(report_ids), 2)
    order: list[int] = np.argsort(halves[:, 0].astype(np.uint64)).tolist()
    return order


def _in_place(order: list[int], stored: list[Outcome]) -> list[Outcome]:
    """The outcomes in the order of arrival; ``order`` says where each of them belongs."""
    outcomes = stored.copy()
    for index, outcome in zip(order, stored, strict=True):
        outcomes[index] = outcome
    return outcomes
