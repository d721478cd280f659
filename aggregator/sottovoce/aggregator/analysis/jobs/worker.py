"""Run processes that compute analyses, seen from the server.

One process that has finished is kept for the next job, since starting Python with numpy takes longer than most
analyses. It is ended when no job came for a while.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Timer
from typing import IO, Any, cast

from sottovoce.aggregator.analysis.jobs.messages import Job, pack_job, read_message, unpack_reply, write_message

_CHILD = "sottovoce.aggregator.analysis.jobs.child"
_SECRET = "SOTTOVOCE_"

IDLE = 15 * 60
"""Seconds after which a process without a job is ended."""


class Worker:
    """A process that computes one analysis at a time; it gets no socket, no database and no setting of the server."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_SECRET)}
        # One thread of linear algebra: the other processors are for reports, and results do not depend on their number.
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(  # noqa: S603 - this program's own module
            [sys.executable, "-m", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    @property
    def was_killed(self) -> bool:
        """True if a signal has ended the process."""
        return self._process.wait() < 0

    def run(self, job: Job, progress: Callable[[int, int], None]) -> dict[str, Any]:
        """Compute a job and return its reply; raise EOFError or OSError if the process has ended.

        ``progress`` is called with the number of finished steps and of all steps.
        """
        write_message(cast(IO[bytes], self._process.stdin), *pack_job(job))  # type: ignore[arg-type]
        while "progress" in (reply := unpack_reply(read_message(cast(IO[bytes], self._process.stdout)))):  # type: ignore[arg-type]
            progress(*reply["progress"])
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
                cast(IO[bytes], stream).close()


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
