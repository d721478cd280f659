"""
One thread that writes: what waits is stored as one group, in one durable transaction, and then acknowledged.

Nobody waits for a group to fill: while one group is being synced, the next one gathers. Only where several came
together just before, the next ones are given a moment to do so too: most of a group's cost is the same for one report
as for thirty. The thread is a daemon and has nothing to flush at the end of the process: whatever was not committed was
not acknowledged either.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from sottovoce.aggregator.http.request_metrics import Histogram, Series
from sottovoce.aggregator.storage import Outcome, ReportBatch, Storage
from sottovoce.aggregator.storage.reports.batch_columns import count
from sottovoce.shared.errors import ReportRejected, StorageError

MOST_WAITING = 32_768
"""Reports that may wait; further ones are told to come back."""

MOST_IN_GROUP = 16_384
"""Random keys touch a page of the database each, unless enough of them come at once."""

MOMENT = 0.0005
"""Seconds that those who come together are waited for; a respondent alone never waits."""

SIZES = (1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Reports in a group, as metrics tell groups apart."""

PATIENCE = 1.0
"""Seconds after which work that lets reports go first has its turn all the same, between two groups."""

PAUSE = 60.0
"""Seconds between two rounds of housekeeping."""

T = TypeVar("T")

Job = Sequence[ReportBatch]
"""Reports that came together; what becomes of them is told together."""

Found = list[Outcome] | Exception
"""What became of the reports of a job, or why nothing did."""


class CommitGroup:
    """Jobs that are stored in one transaction, and all done at once: one thing to wait for, not one for each report."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.reports = 0
        self.stored: Future[list[Found]] = Future()

    def add(self, job: Job, reports: int) -> "Submitted":
        """Take in a job of so many reports."""
        self.jobs.append(job)
        self.reports += reports
        return Submitted(self, len(self.jobs) - 1)


@dataclass(frozen=True, slots=True)
class Submitted:
    """
    A job on its way into the database.

    Attributes:
        group: that it is stored with.
        place: of the job in it.
    """

    group: CommitGroup
    place: int

    def result(self, timeout: float | None = None) -> list[Outcome]:
        """
        What became of its reports, once that is durable.

        Raises:
            StorageError: not stored.
            TimeoutError: not within so many seconds.
        """
        found = self.group.stored.result(timeout)[self.place]
        if isinstance(found, Exception):
            raise found
        return found


def settled(found: Found) -> Submitted:
    """A job of which is known what became of it."""
    group = CommitGroup()
    group.stored.set_result([found])
    return group.add((), 0)


@dataclass(frozen=True)
class _Work:
    """What is done when no report waits, how, and by when at the latest."""

    what: Callable[[], Any]
    done: Future[Any]
    due: float


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
        self._groups: deque[CommitGroup] = deque()
        self._works: deque[_Work] = deque()
        self._reports = 0
        self._several = False
        self._sizes = Histogram(SIZES)
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def store(self, job: Job) -> list[Outcome]:
        """
        What became of these reports; every NEW one is durable.

        Raises:
            ReportRejected: ``busy``, too much is waiting already.
            StorageError: not stored.
        """
        return self.submit(job).result()

    def submit(self, job: Job) -> Submitted:
        """
        The same, without waiting for it.

        Raises:
            ReportRejected: ``busy``.
        """
        reports = count(job)
        with self._changed:
            if self._reports + reports > self._most:
                raise ReportRejected("busy", "too many reports are waiting to be stored")
            if self._ended:
                raise StorageError("the aggregator is ending")
            if not self._groups or self._groups[-1].reports + reports > MOST_IN_GROUP:
                self._groups.append(CommitGroup())
            self._reports += reports
            self._changed.notify()
            return self._groups[-1].add(job, reports)

    def after_reports(self, what: Callable[[], T]) -> T:
        """
        What a piece of work finds, done by the thread that writes when no report waits: so a save of a draft keeps no
        report waiting, except that after a second it comes between two groups.

        Raises:
            StorageError: the aggregator is ending, or as the work itself does.
        """
        work = _Work(what, Future(), time.monotonic() + PATIENCE)
        with self._changed:
            if self._ended:
                raise StorageError("the aggregator is ending")
            self._works.append(work)
            self._changed.notify()
        found: T = work.done.result()
        return found

    @property
    def waiting(self) -> int:
        """Reports that wait to be stored at this moment."""
        return self._reports

    @property
    def sizes(self) -> Series:
        """How many reports groups had that were stored so far."""
        return self._sizes.series

    def end(self) -> None:
        """Store what waits, and end the thread: for tests; a process may just end."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        due = time.monotonic()
        while not (self._ended and not self._groups and not self._works):
            if time.monotonic() >= due:
                self._keep_house()
                due = time.monotonic() + PAUSE
            group = self._next_group(due)
            if group is not None:
                self._sizes.note(group.reports)
                group.stored.set_result(self._store(group.jobs))
            self._work()

    def _work(self) -> None:
        with self._changed:
            if not self._works or (self._groups and time.monotonic() < self._works[0].due):
                return
            work = self._works.popleft()
        try:
            work.done.set_result(work.what())
        except Exception as error:
            # Whoever waits for it is told, and the thread goes on.
            work.done.set_exception(error)

    def _keep_house(self) -> None:
        # What the database cannot do now, readiness tells, and the next round tries again.
        with suppress(StorageError):
            self._housekeeping()

    def _next_group(self, due: float) -> CommitGroup | None:
        """What waits, to which nothing is added from now on; None if nothing comes in time."""
        with self._changed:
            if not self._groups and not self._works and not self._ended:
                self._changed.wait(max(0.0, due - time.monotonic()))
            if not self._groups:
                return None
        if self._several:
            time.sleep(MOMENT)
        with self._changed:
            group = self._groups.popleft()
            self._reports -= group.reports
        self._several = len(group.jobs) > 1
        return group

    def _store(self, jobs: Sequence[Job]) -> list[Found]:
        try:
            stored = iter(self._storage.store([arrival for job in jobs for arrival in job]))
        except StorageError as error:
            return [error] * len(jobs)
        except Exception as error:
            # A bug that one report brings out must not refuse the others.
            return [error] if len(jobs) == 1 else [self._store([job])[0] for job in jobs]
        return [list(islice(stored, count(job))) for job in jobs]
