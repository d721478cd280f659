"""Store all waiting reports in one durable transaction in one thread, then acknowledge them (group commit).

The thread does not wait for a group to fill: while one group is synced, the next one gathers. Only if the last group
had several, it waits ``GATHER_SECONDS`` for more reports, since a transaction costs about the same for one as for
thirty. The thread is a daemon without anything to flush at exit: reports not committed were not acknowledged.
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

from sottovoce.aggregator.intake.request_limits import Histogram, Series
from sottovoce.aggregator.storage import Outcome, ReportBatch, Storage
from sottovoce.aggregator.storage.reports.batch_columns import count
from sottovoce.shared.errors import ReportRejected, StorageError

MOST_WAITING = 32_768
"""Reports that may wait; further ones are rejected as ``busy``."""

MOST_IN_GROUP = 16_384
"""Reports in a group at most. Large, since each random key writes a page unless many keys share the transaction."""

GATHER_SECONDS = 0.0005
"""Seconds to wait for more reports if the last group had several; a single respondent never waits."""

SIZES = (1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Bounds of the histogram of group sizes, in reports."""

WORK_DELAY_SECONDS = 1.0
"""Seconds after which low-priority work runs between two groups even if reports wait."""

HOUSEKEEPING_SECONDS = 60.0
"""Seconds between two rounds of housekeeping."""

T = TypeVar("T")

ReportJob = Sequence[ReportBatch]
"""Reports of one request; their outcomes are returned together."""

JobResult = list[Outcome] | Exception
"""Outcomes of a job's reports, or the error that prevented storing them."""


class CommitGroup:
    """Jobs of one transaction; they share one future, since a future for each report would be slow."""

    def __init__(self) -> None:
        self.jobs: list[ReportJob] = []
        self.reports = 0
        self.stored: Future[list[JobResult]] = Future()

    def add(self, job: ReportJob, reports: int) -> "Submitted":
        """Add a job that has this number of reports."""
        self.jobs.append(job)
        self.reports += reports
        return Submitted(self, len(self.jobs) - 1)


@dataclass(frozen=True, slots=True)
class Submitted:
    """Job that was handed to the group commit: its group, and its index in the group."""

    group: CommitGroup
    place: int

    def result(self, timeout: float | None = None) -> list[Outcome]:
        """Wait for the transaction and return the outcomes of the job's reports.

        Raises StorageError if they are not stored, TimeoutError if not within ``timeout`` seconds.
        """
        outcomes = self.group.stored.result(timeout)[self.place]
        if isinstance(outcomes, Exception):
            raise outcomes
        return outcomes


def completed_job(result: JobResult) -> Submitted:
    """Return a job whose outcomes are known, such as one that was stored without the group commit."""
    group = CommitGroup()
    group.stored.set_result([result])
    return group.add((), 0)


@dataclass(frozen=True)
class _Work:
    """Low-priority work, its future, and the monotonic time after which it no longer waits for reports."""

    what: Callable[[], Any]
    done: Future[Any]
    due: float


class GroupCommit:
    """Group commit for all threads of a process.

    ``housekeeping`` is called by the writer thread at its start and every minute, and may be cut off when the process
    ends; ``waiting`` is the most reports that may wait.
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

    def submit(self, job: ReportJob) -> Submitted:
        """Add reports to the next group without waiting.

        Raises ReportRejected, ``busy``, if too many reports wait, StorageError if the process is ending.
        """
        reports = count(job)
        with self._changed:
            # Refuse early with 503: a queue without a bound would only hide the overload until memory ends.
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
        """Run low-priority work in the writer thread and return its result.

        It runs when no report waits, or after ``WORK_DELAY_SECONDS`` between two groups, so saving a draft does not
        delay reports. Raises StorageError if the process is ending, and what the work raises.
        """
        work = _Work(what, Future(), time.monotonic() + WORK_DELAY_SECONDS)
        with self._changed:
            if self._ended:
                raise StorageError("the aggregator is ending")
            self._works.append(work)
            self._changed.notify()
        result: T = work.done.result()
        return result

    @property
    def waiting(self) -> int:
        """Number of reports that wait to be stored."""
        return self._reports

    @property
    def sizes(self) -> Series:
        """Histogram of the sizes of stored groups, in reports."""
        return self._sizes.series

    def end(self) -> None:
        """Store what waits and end the thread; for tests, since a process may end without it."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        due = time.monotonic()
        while not (self._ended and not self._groups and not self._works):
            if time.monotonic() >= due:
                # The readiness check reports a failing database; the next round of housekeeping retries.
                with suppress(StorageError):
                    self._housekeeping()
                due = time.monotonic() + HOUSEKEEPING_SECONDS
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
            # The caller gets the error; the writer thread must survive it.
            work.done.set_exception(error)

    def _next_group(self, due: float) -> CommitGroup | None:
        """Take the next group, closing it for new jobs; None if no report comes until ``due`` or work waits."""
        with self._changed:
            if not self._groups and not self._works and not self._ended:
                self._changed.wait(max(0.0, due - time.monotonic()))
            if not self._groups:
                return None
        if self._several:
            # Only after a group of several: half a millisecond more gathers reports that share one sync.
            time.sleep(GATHER_SECONDS)
        with self._changed:
            group = self._groups.popleft()
            self._reports -= group.reports
        self._several = group.reports > 1
        return group

    def _store(self, jobs: Sequence[ReportJob]) -> list[JobResult]:
        try:
            stored = iter(self._storage.store([arrival for job in jobs for arrival in job]))
        except StorageError as error:
            return [error] * len(jobs)
        except Exception as error:
            # A bug that one report triggers must not fail the others: store job by job.
            return [error] if len(jobs) == 1 else [self._store([job])[0] for job in jobs]
        return [list(islice(stored, count(job))) for job in jobs]
