"""Queue analyses: one of each survey at a time, each in a process of its own, with limits of time and memory.

A job is found by its id, which is made of its request and the state of its data: a page that is loaded again finds the
running job instead of starting another. Jobs live on the node that took them and end with it.

One process that has finished is kept for the next job, since starting Python with numpy takes longer than most
analyses. It is ended when no job came for a while.
"""

import atexit
import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from threading import Event, Lock, Thread, Timer
from time import monotonic
from typing import Any, BinaryIO, NamedTuple, cast

from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.jobs import child
from sottovoce.aggregator.walls import environment
from sottovoce.shared.errors import EstimateError, Sentence

AT_ONCE = 4
"""Surveys whose analyses a node computes at the same time; each survey has one at a time."""

OF_VISITORS = "visitors:"
"""Beginning of the names of visitors' files, which share one place, so that surveys do not wait for them."""

SECONDS_OF_VISITORS = 60
"""Most seconds of an analysis of a visitor's file: the others wait for the one place that all share."""

MOST_WAITING = 20
"""Jobs of one survey that may wait."""

MAX_FINISHED = 100
"""Finished jobs that a node keeps."""

Compute = Callable[[child.Asked, child.Data], Document]
"""Function that computes an analysis in a process of its own."""

Work = Callable[[Compute], Document]
"""Function of a job, which reads the reports and has them computed."""

STOPPED = {
    "time_limit": (
        "stopped after {seconds} seconds, the limit of one analysis here: use fewer predictors or categories, or "
        "compute it in the terminal or in Python, which have no limit"
    ),
    "memory": (
        "stopped because it needed more than {memory} MiB, the limit of one analysis here: use fewer predictors or "
        "categories, or compute it in the terminal or in Python, which have no limit"
    ),
    "system_memory": (
        "stopped by the system of the server, which had no memory left: use fewer predictors or categories, ask who "
        "runs the server for more memory, or compute it in the terminal or in Python on another machine"
    ),
    "cancelled": "this analysis was cancelled; send its request again to compute it",
    "failed": "the computation ended without a result; the log of the aggregator says where",
}
"""Reasons why an analysis was stopped, each with a sentence that says what helps."""

_log = logging.getLogger("sottovoce")

_CHILD = "sottovoce.aggregator.analysis.jobs.child"

IDLE = 15 * 60
"""Seconds after which a process without a job is ended."""


class Worker:
    """A process that computes one analysis at a time; it gets no socket, no database and no setting of the server."""

    def __init__(self) -> None:
        # One thread of linear algebra: the other processors are for reports, and results do not depend on their number.
        # One arena: of those of other threads, which a message is read into, the C library returns no last block.
        known = environment() | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
        self._process = subprocess.Popen(  # noqa: S603 - this program's own module
            [sys.executable, "-P", "-m", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=known,
        )

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def run(self, job: child.Job, progress: Callable[[int, int], None]) -> dict[str, Any]:
        """Compute a job and return its reply, or why it stopped if the process has ended.

        ``progress`` is called with the number of finished steps and of all steps.
        """
        sent, replies = cast(tuple[BinaryIO, BinaryIO], (self._process.stdin, self._process.stdout))
        try:
            child.write_message(sent, *child.pack_job(job))
            while "progress" in (reply := child.unpack_reply(child.read_message(replies))):
                progress(*reply["progress"])
        except (EOFError, OSError, ValueError):
            # A process that was killed, and by no one here, was killed by the system, which ran out of memory.
            ended = self._process.wait()
            killed = "system_memory" if ended == -signal.SIGKILL else "memory"
            return {"stopped": "failed" if ended >= 0 else killed}
        return reply

    def kill(self) -> None:
        """End the process at once, and wait until it has ended."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process and close its pipes; only for the thread that uses it."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            # What was not sent is of no use to a process that has ended.
            with suppress(OSError):
                cast(BinaryIO, stream).close()


class WorkerPool:
    """Processes for jobs, of which one may wait for the next job."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._spare: Worker | None = None
        self._timer: Timer | None = None

    def take(self) -> Worker:
        """Return the waiting process, or a new one."""
        with self._lock:
            spare, self._spare = self._spare, None
        return spare if spare is not None and spare.is_alive else Worker()

    def give_back(self, worker: Worker) -> None:
        """Keep a process for the next job, or end it if one waits already."""
        with self._lock:
            is_free = self._spare is None
            if is_free:
                self._spare = worker
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = Timer(IDLE, self.end)
                self._timer.daemon = True
                self._timer.start()
        if not is_free:
            worker.close()

    def end(self) -> None:
        """End the process that waits for work."""
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.close()


POOL = WorkerPool()
"""Processes of this node; one pool, however many applications a test makes."""

atexit.register(POOL.end)


class AnalysisLimits(NamedTuple):
    """Limits of one analysis: seconds, and MiB of memory (0: none)."""

    seconds: float = 600
    memory: int = 1024


_CONTAINER = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"


def within_container(memory: int) -> int:
    """Return this limit in MiB of memory, or three quarters of what the container of the process may take, if less."""
    for path in map(Path, _CONTAINER):
        # Outside of containers there is no such file; without a limit it says "max".
        with suppress(OSError, ValueError):
            memory = min(memory, int(path.read_text(encoding="ascii")) * 3 // 4 >> 20)
    return memory


class AnalysisStopped(EstimateError):
    """A stop of the analysis of a job before it had a result, for a reason that is a key of ``STOPPED``."""

    code = "analysis_stopped"

    def __init__(self, job: str, reason: str, limits: AnalysisLimits) -> None:
        super().__init__(Sentence(STOPPED[reason], seconds=f"{limits.seconds:g}", memory=limits.memory))
        self.job, self.reason = job, reason


@dataclass(eq=False)
class QueuedJob:
    """An analysis that waits, runs or has finished; its id is made of the request and the state of its data.

    Attributes:
        place: name of the jobs of which one runs at a time.
        limits: those of the node, with less time for a visitor's file.
        began: monotonic time of its start in seconds; None while it waits.
        progress: finished steps and all steps; None if it has told none.
        finished: set when it has a document or an error.
        used: monotonic time of the last use.
    """

    survey: str
    id: str
    work: Work
    place: str
    limits: AnalysisLimits
    began: float | None = None
    progress: tuple[int, int] | None = None
    finished: Event = field(default_factory=Event)
    document: Document | None = None
    error: Exception | None = None
    used: float = field(default_factory=monotonic)
    worker: Worker | None = None
    stopping: str = ""

    @property
    def seconds(self) -> int:
        """Seconds since its start; 0 while it waits."""
        return 0 if self.began is None else int(monotonic() - self.began)

    @property
    def was_stopped(self) -> bool:
        """True if it was stopped before it had a result."""
        return isinstance(self.error, AnalysisStopped)

    def result(self) -> Document:
        """Return the document of a finished job, or raise its error."""
        if self.document is None:
            raise self.error or EOFError
        return self.document

    def report(self, done: int, whole: int) -> None:
        """Note how far it is."""
        self.progress = (done, whole)


class JobQueue:
    """Jobs of one node, waiting or running."""

    def __init__(self, limits: AnalysisLimits, pool: WorkerPool = POOL) -> None:
        self._limits = limits
        self._pool = pool
        self._lock = Lock()
        self._jobs: dict[str, QueuedJob] = {}
        self._waiting: list[QueuedJob] = []
        self._running: list[QueuedJob] = []

    def submit(self, survey: str, id: str, work: Work, again: bool = False) -> QueuedJob | None:
        """Return the job of this id, started if there is none, or ``again`` if stopped; None if too many wait."""
        self.forget_unused()
        with self._lock:
            found = self._jobs.get(id)
            if found is None or (again and found.was_stopped):
                if sum(job.survey == survey for job in self._waiting) >= MOST_WAITING:
                    return None
                place, limits = survey, self._limits
                if survey.startswith(OF_VISITORS):
                    place, limits = OF_VISITORS, limits._replace(seconds=min(SECONDS_OF_VISITORS, limits.seconds))
                found = self._jobs[id] = QueuedJob(survey, id, work, place, limits)
                self._waiting.append(found)
                self._start_next()
            found.used = monotonic()
            return found

    def find(self, survey: str, id: str) -> QueuedJob | None:
        """Return the job of a survey with this id; None if it never was here, or the node has restarted since."""
        found = self._jobs.get(id)
        return found if found is not None and found.survey == survey else None

    def place(self, job: QueuedJob) -> int:
        """Return the place of a job in the queue of its survey, from 1; 0 if it does not wait."""
        with self._lock:
            queue = [each for each in self._waiting if each.place == job.place]
        return queue.index(job) + 1 if job in queue else 0

    def stop(self, job: QueuedJob, reason: str = "cancelled") -> None:
        """Stop a job that waits or runs: its process is killed at once."""
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
                job.error = AnalysisStopped(job.id, reason, job.limits)
                job.finished.set()
            elif job in self._running:
                job.stopping = job.stopping or reason
                if job.worker is not None:
                    job.worker.kill()

    def forget(self, job: QueuedJob) -> None:
        """Forget a job that was stopped, so that its request computes it again."""
        with self._lock:
            if job.was_stopped:
                self._jobs.pop(job.id, None)

    def prepare(self) -> None:
        """Start the process of the next job before it is needed."""
        self._pool.give_back(self._pool.take())

    def drop(self, survey: str) -> None:
        """Stop and forget the jobs of a survey."""
        for job in [each for each in self._jobs.values() if each.survey == survey]:
            self.stop(job)
            with self._lock:
                self._jobs.pop(job.id, None)

    def forget_unused(self) -> int:
        """Forget finished jobs that were not looked at for long; return the number of the others."""
        with self._lock:
            finished = sorted((job for job in self._jobs.values() if job.finished.is_set()), key=attrgetter("used"))
            last = monotonic() - IDLE
            for place, job in enumerate(finished):
                if job.used <= last or place < len(finished) - MAX_FINISHED:
                    del self._jobs[job.id]
            return len(self._jobs)

    def _start_next(self) -> None:
        for job in [*self._waiting]:
            busy = {each.place for each in self._running}
            if len(busy) < AT_ONCE and job.place not in busy:
                self._waiting.remove(job)
                self._running.append(job)
                job.began = monotonic()
                Thread(target=self._run, args=(job,), daemon=True).start()

    def _run(self, job: QueuedJob) -> None:
        limit = Timer(job.limits.seconds, self.stop, (job, "time_limit"))
        limit.daemon = True
        limit.start()
        try:
            job.document = job.work(partial(self._compute, job))
        except EstimateError as error:
            job.error = error.with_traceback(None)
        except Exception as error:
            job.error = error
        finally:
            limit.cancel()
            # The work may hold simulated reports, which are not kept with the result.
            del job.work
            with self._lock:
                self._running.remove(job)
                # A database that was down is no result: the next request tries again.
                if job.error is not None and not isinstance(job.error, EstimateError):
                    self._jobs.pop(job.id, None)
                job.finished.set()
                self._start_next()
            child.return_memory()

    def _compute(self, job: QueuedJob, asked: child.Asked, columns: child.Data) -> Document:
        worker = self._pool.take()
        with self._lock:
            job.worker = worker
            stopping = job.stopping
        message = child.Job(asked, columns, job.limits.memory)
        reply: Document = {"stopped": stopping} if stopping else worker.run(message, job.report)
        with self._lock:
            job.worker = None
        if "stopped" in reply:
            worker.close()
            if "bug" in reply:
                _log.error("bug: %s", reply["bug"])
            raise AnalysisStopped(job.id, job.stopping or str(reply["stopped"]), job.limits)
        self._pool.give_back(worker)
        if "error" in reply:
            raise EstimateError(reply["error"])
        return cast(Document, reply["document"])
