"""Run joint analyses: each in a process of its own, found again by its request, with a cache of their columns."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import BoundedSemaphore, Lock, Timer
from time import monotonic

from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.disclosure_control import answered
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.jobs.queue import AnalysisLimits, Compute, JobQueue, QueuedJob, Work
from sottovoce.aggregator.analysis.planned_comparisons import PLANNED, planned_document
from sottovoce.aggregator.analysis.published_counts import count_arms
from sottovoce.aggregator.analysis.report_columns import Columns, Progress, read_columns
from sottovoce.aggregator.analysis.requests import Request, parse_request
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import StorageError
from sottovoce.shared.spec import Survey

IDLE = 15 * 60
"""Seconds without use after which the cache drops columns."""

_Key = tuple[str, int | None]
_State = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass
class _CachedColumns:
    columns: Columns
    state: _State
    used: float


class ColumnsCache:
    """Cache of the columns of closed surveys and waves.

    ``clock`` decides if a wave is closed; ``seconds`` is a monotonic clock for idle times.
    """

    def __init__(self, storage: Storage, clock: Clock, seconds: Callable[[], float] = monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._seconds = seconds
        self._cache: dict[_Key, _CachedColumns] = {}
        # A lock for each survey: while one is read, the columns of the others are at hand.
        self._reading: dict[_Key, Lock] = defaultdict(Lock)

    def __len__(self) -> int:
        """Return the number of cached surveys and waves."""
        return len(self._cache)

    def columns(self, name: str, wave: int | None = None, progress: Progress | None = None) -> Columns:
        """Return the columns of a survey (``wave`` None: of all waves); read them again if it or its log has changed.

        ``progress`` is called while they are read, not if they are cached. Raises EstimateError if there is no such
        survey or wave, or it is open.
        """
        with self._reading[name, wave]:
            state = self.state(name, wave)
            cached = self._cache.get((name, wave))
            if cached is None or cached.state != state:
                columns = read_columns(self._storage, self._storage.revisions(name), wave, progress)
                # Once more, since a survey that was opened meanwhile may have got reports that were read, too.
                self.state(name, wave)
                cached = self._cache[name, wave] = _CachedColumns(columns, state, self._seconds())
            cached.used = self._seconds()
            return cached.columns

    def drop(self) -> None:
        """Drop columns that were idle for long, and those of deleted surveys."""
        there = {stored.name for stored in self._storage.surveys()}
        last = self._seconds() - IDLE
        for key, cached in list(self._cache.items()):
            if key[0] not in there or cached.used <= last:
                self._cache.pop(key, None)

    def state(self, name: str, wave: int | None = None) -> _State:
        """Return the state of a survey's data: it changes with every entry of the survey's log, and of a test run with
        every report.

        Privacy: a closed wave's reports change no more, and the addresses of its analyses must not tell when a report
        of another wave arrives. Raises as ``columns``.
        """
        revisions = self._storage.revisions(name)
        check_closed(self._storage, revisions, wave, self._clock())
        counts = tuple(each.reports for each in revisions if survey_of(each.document).trial)
        return counts, self._storage.steps_of(name)


REFRESH_SECONDS = 60
"""Seconds between two searches for idle columns."""


WAIT_SECONDS = 1.5
"""Seconds for which a request waits for its analysis before it says that it is being computed."""

BUSY_WAIT_SECONDS = 0.1
"""The same where all threads but one wait already, so that short requests always find a free thread."""


class Calculating(Exception):
    """An analysis that is not finished yet; ``place`` in the queue of its survey is from 1, or 0 if it runs."""

    def __init__(self, job: QueuedJob, place: int) -> None:
        super().__init__(job.id)
        self.job, self.place = job, place


class JointResults:
    """Runner of joint analyses that leaves threads for other requests; ``threads`` is the application's number."""

    def __init__(self, cache: ColumnsCache, storage: Storage, threads: int, limits: AnalysisLimits) -> None:
        self._cache = cache
        self._storage = storage
        self._slots = BoundedSemaphore(max(threads - 1, 1))
        self._turns = defaultdict[str, tuple[Lock, BoundedSemaphore]](
            lambda: (Lock(), BoundedSemaphore(max(threads // 2, 1)))
        )
        self._timer: Timer | None = None
        self._released: set[str] = set()
        self.jobs = JobQueue(limits)

    def document(self, name: str, asked: Request, again: bool = False) -> Document:
        """Return the document of an analysis; with ``again``, compute it also if it was stopped before.

        Raises:
            EstimateError: the analysis is impossible or was stopped, or the survey is still open.
            Calculating: it takes longer than a request waits.
            Refusal: ``busy``: too many analyses of this survey wait already.
        """
        state, released = self._cache.state(name, asked.wave), self._storage.releases.has_any(name)
        work = partial(answered, self._storage, name, asked, partial(self._cache.columns, name, asked.wave))
        return self.computed(name, (state, released, asked), work, again)

    def arms(self, name: str) -> Document:
        """Return the counts of each random arm of a closed survey, see ``published_counts``; raises as ``document``."""
        return self.computed(name, (ARM, self._cache.state(name)), lambda _: count_arms(self._cache.columns(name)))

    def planned(self, survey: Survey) -> Document:
        """Return the planned comparisons of a closed survey, see ``planned_comparisons``; raises as ``document``."""
        name = survey.name

        def work(compute: Compute) -> Document:
            def answer(kind: str, options: Document) -> Document:
                asked = parse_request(kind, options)
                return answered(self._storage, name, asked, partial(self._cache.columns, name), compute)

            return planned_document(survey, answer)

        return self.computed(name, (PLANNED, self._cache.state(name), self._storage.releases.has_any(name)), work)

    def find(self, name: str, job: str) -> QueuedJob | None:
        """Return a job by its id; None if it is not here, or was computed before a budget withheld its result."""
        if name not in self._released and self._storage.releases.has_any(name):
            self._released.add(name)
            self.jobs.drop(name)
        return self.jobs.find(name, job)

    def computed(self, name: str, key: object, work: Work, again: bool = False) -> Document:
        """Return the document of a job of a survey, which has one running job at most; raises as ``document``.

        Args:
            key: request and state of the data; equal for equal results.
            again: compute it also if it was stopped before.
        """
        job = self.jobs.submit(name, hashlib.sha256(repr((name, key)).encode()).hexdigest()[:32], work, again)
        if job is None:
            raise Refusal("busy")
        self._schedule()
        return self.result(job)

    def result(self, job: QueuedJob) -> Document:
        """Wait for a job a short time and return its document; EstimateError if none, Calculating if not finished."""
        is_free = self._slots.acquire(blocking=False)
        try:
            if not job.finished.wait(WAIT_SECONDS if is_free else BUSY_WAIT_SECONDS):
                raise Calculating(job, self.jobs.place(job))
        finally:
            if is_free:
                self._slots.release()
        return job.result()

    def drop(self, name: str) -> None:
        """Drop the columns and jobs of a deleted survey."""
        self._cache.drop()
        self._released.discard(name)
        self.jobs.drop(name)

    @contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """Hold the lock of a survey's long work in this process: the writing of its files, simulations and releases.

        One survey takes half of the threads at most and all surveys leave one, so that short requests always find a
        free thread and the files of one survey do not wait for those of another. Raises Refusal ``busy`` if too many
        threads wait.
        """
        lock, own_slots = self._turns[name]
        with _slot(own_slots), _slot(self._slots), lock:
            yield

    def _schedule(self) -> None:
        """Start the timer that drops idle columns and results; it stops when there are none and never delays intake."""
        if self._timer is None or not self._timer.is_alive():
            self._timer = Timer(REFRESH_SECONDS, self._refresh_metrics)
            self._timer.daemon = True
            self._timer.start()

    def _refresh_metrics(self) -> None:
        self._timer = None
        # Without the database the list of surveys is unknown; the next round tries again.
        with suppress(StorageError):
            self._cache.drop()
        if len(self._cache) or self.jobs.forget_unused():
            self._schedule()


@contextmanager
def _slot(slots: BoundedSemaphore) -> Iterator[None]:
    if not slots.acquire(blocking=False):
        raise Refusal("busy")
    try:
        yield
    finally:
        slots.release()
