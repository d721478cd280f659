import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.jobs import queue
from sottovoce.aggregator.analysis.jobs.child import (
    Job,
    pack_job,
    pack_reply,
    read_message,
    unpack_job,
    unpack_reply,
    write_message,
)
from sottovoce.aggregator.analysis.jobs.queue import (
    AT_ONCE,
    MOST_WAITING,
    OF_VISITORS,
    AnalysisLimits,
    AnalysisStopped,
    Compute,
    JobQueue,
    QueuedJob,
    Worker,
    WorkerPool,
)
from sottovoce.aggregator.analysis.requests import KINDS_OF_REQUEST, parse_request
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import EstimateError, Sentence, StorageError

from tests.unit.aggregator.analysis.closed_surveys import OPTIONS
from tests.unit.aggregator.analysis.jobs.long_model import asked, long_columns

PAIRS = parse_request("pairs", {})

FEW = long_columns(200)

COLUMNS = long_columns()


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool()
    yield made
    made.end()


def short(compute: Compute) -> Document:
    return compute(PAIRS, FEW)


def long(compute: Compute) -> Document:
    return compute(asked(), COLUMNS)


def started(queue: JobQueue, survey: str = "long", id: str = "1") -> QueuedJob:
    job = queue.submit(survey, id, long)
    while job.worker is None:
        time.sleep(0.001)
    return job


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def reason(job: QueuedJob | None) -> str:
    job.finished.wait()
    with pytest.raises(AnalysisStopped) as stopped:
        job.result()
    return stopped.value.reason


ANY = {"wave": 0, "where": "year = first"}

WEIGHTED = {**ANY, "margins": {"year": {"first": "0.5", "second": 1}}, "confidence": 0.9}

ALL: dict[str, dict[str, Any]] = {
    "crosstab": {**WEIGHTED, "rows": "a", "columns": "b", "within": "c", "among": "all"},
    "compare": {**WEIGHTED, "outcome": "a", "groups": "b", "category": "yes", "among": "all"},
    "pairs": ANY,
    "test": {**ANY, "question": "a", "shares": {"yes": "0.3"}, "among": "all", "confidence": 0.9},
    "mixture": {**ANY, "question": "a", "formula": "~ b", "confidence": 0.9},
    "items": {**ANY, "questions": ["a", "b"], "model": "sum", "confidence": 0.9},
    "regression": {
        **WEIGHTED, "outcome": "a", "on": ["b"], "strata": False, "model": "logit",
        "errors": "sandwich", "among": "all", "declining": "common", "cluster": "c", "at": [{"b": "x"}, {"b": 3}],
        "scales": "numbers",
    },
    "weights": {**ANY, "margins": {"year": {"first": 0.5, "second": 0.5}}},
}  # fmt: skip

"""Every option of each kind, other than its default."""


INSTEAD = {
    "compare": {"outcome": "a", "groups": "arm", "against": "b"},
    "regression": {"formula": "a ~ b * c", "cluster_effect": "d", "points": 30},
    "test": {"question": "a", "mean": 3},
}

"""Options that go without others."""


def test_result_is_that_of_this_process_and_found_again(pool: WorkerPool) -> None:
    """The same figures, computed once; the process waits for the next job."""
    queue = JobQueue(AnalysisLimits(), pool)
    job = queue.submit("s", "1", short)
    job.finished.wait()

    assert job.result() == PAIRS.document(FEW)
    assert queue.submit("s", "1", short) is job is queue.find("s", "1")
    assert queue.find("other", "1") is None
    first = pool.take()
    pool.give_back(first)
    assert pool.take() is first
    first.close()


def test_cancelled_job_leaves_no_process(pool: WorkerPool) -> None:
    queue = JobQueue(AnalysisLimits(), pool)
    job = started(queue)
    pid = job.worker.pid
    queue.stop(job)

    assert reason(job) == "cancelled"
    assert is_gone(pid)
    assert queue.submit("long", "1", short) is job
    again = queue.submit("long", "1", short, again=True)
    again.finished.wait()
    assert again.result()["format"] == "sottovoce-pairs/1"


def test_limits_stop_a_job_and_say_what_helps(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    late = JobQueue(AnalysisLimits(seconds=0.5), pool).submit("long", "1", long)
    large = JobQueue(AnalysisLimits(memory=1), pool).submit("long", "1", long)

    monkeypatch.setattr("sottovoce.aggregator.analysis.jobs.queue.SECONDS_OF_VISITORS", 0.25)
    visitor = JobQueue(AnalysisLimits(), pool).submit(f"{OF_VISITORS}a", "1", long)

    assert reason(visitor) == "time_limit"
    assert "stopped after 0.25 seconds" in str(visitor and visitor.error)
    assert AnalysisLimits().seconds == Settings().analysis_seconds == 600
    assert reason(late) == "time_limit"
    assert reason(large) == "memory"
    assert "stopped after 0.5 seconds" in str(late.error)
    assert "more than 1 MiB" in str(large.error)
    assert "fewer predictors" in str(large.error)


def test_analysis_takes_no_more_than_three_quarters_of_a_container(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else the system ends it, or, in Kubernetes, the node with it, in the place of a sentence that names the limit."""
    (tmp_path / "two").write_text("max\n")
    monkeypatch.setattr(queue, "_CONTAINER", [tmp_path / "none", tmp_path / "two", tmp_path / "one"])
    found = [queue.within_container(1024)]
    (tmp_path / "one").write_text(f"{512 << 20}\n")
    assert [*found, *map(queue.within_container, (1024, 200, 0))] == [1024, 384, 200, 0]


def test_process_that_the_system_killed_reached_no_limit_of_an_analysis(pool: WorkerPool) -> None:
    """A container without memory kills it, whatever an analysis may take: the sentence names no limit."""
    job = started(JobQueue(AnalysisLimits(), pool))
    os.kill(job.worker.pid, signal.SIGKILL)

    assert reason(job) == "system_memory"
    assert "stopped by the system of the server, which had no memory left" in str(job.error)


def test_jobs_of_a_survey_wait_and_those_of_others_do_not(pool: WorkerPool) -> None:
    """Places in the queue; and a queue has an end."""
    queue = JobQueue(AnalysisLimits(), pool)
    running = started(queue)
    waiting = [queue.submit("long", f"w{place}", short) for place in range(MOST_WAITING)]
    other = queue.submit("other", "2", short)
    other.finished.wait()

    assert queue.submit("long", "more", short) is None
    assert other.document is not None
    assert queue.place(running) == 0
    assert [queue.place(job) for job in waiting if job][:3] == [1, 2, 3]
    first, second = waiting[:2]
    assert first is not None
    queue.stop(first)
    assert (reason(first), queue.place(second)) == ("cancelled", 1)
    queue.stop(running)
    second.finished.wait()
    assert second.document is not None


def test_node_computes_a_bounded_number_of_surveys_at_once(pool: WorkerPool) -> None:
    queue, go = JobQueue(AnalysisLimits(), pool), threading.Event()

    def held(_compute: Compute) -> Document:
        go.wait(60)
        return {}

    jobs = [queue.submit(f"s{number}", str(number), held) for number in range(AT_ONCE + 1)]
    assert [job.began is not None for job in jobs if job] == [True] * AT_ONCE + [False]
    go.set()
    for job in jobs:
        job.finished.wait()
        assert job.document == {}


def test_files_of_visitors_share_one_place(pool: WorkerPool) -> None:
    """So that surveys never wait for more than one of them."""
    queue, go = JobQueue(AnalysisLimits(), pool), threading.Event()

    def waiting(_compute: Compute) -> Document:
        go.wait()
        return {}

    first, second = (queue.submit(f"{OF_VISITORS}{name}", name, waiting) for name in "ab")
    other = queue.submit("exam", "c", waiting)
    assert first is not None
    assert second is not None
    assert other is not None
    assert [queue.place(job) for job in (first, second, other)] == [0, 1, 0]
    go.set()
    assert all(job.finished.wait(60) for job in (first, second, other))


def test_errors_arrive_and_passing_ones_are_not_kept(pool: WorkerPool) -> None:
    """A refusal is a result; a database that is down is not."""
    queue = JobQueue(AnalysisLimits(), pool)
    crosstab = parse_request("crosstab", {"rows": "a", "columns": "a"})
    refused = queue.submit("s", "1", lambda compute: compute(crosstab, FEW))

    def down(_: Compute) -> Document:
        raise StorageError("down")

    broken = queue.submit("s", "2", down)
    for job in (refused, broken):
        job.finished.wait()
    with pytest.raises(EstimateError, match="asked for twice"):
        refused.result()  # type: ignore[union-attr]
    with pytest.raises(StorageError):
        broken.result()  # type: ignore[union-attr]
    assert queue.find("s", "1") is refused
    assert queue.find("s", "2") is None


def test_deleted_survey_has_no_jobs(pool: WorkerPool) -> None:
    queue = JobQueue(AnalysisLimits(), pool)
    job = started(queue)
    queue.drop("long")

    assert reason(job) == "cancelled"
    assert queue.find("long", "1") is None


def test_long_job_tells_how_far_it_is(pool: WorkerPool) -> None:
    queue = JobQueue(AnalysisLimits(), pool)
    job = started(queue)
    while job.progress is None:
        assert not job.finished.is_set()
        time.sleep(0.01)
    queue.stop(job)

    assert job.progress[1] == 36


PARENT = """
import time
from sottovoce.aggregator.analysis.jobs.queue import JobQueue, AnalysisLimits
from tests.unit.aggregator.analysis.jobs.test_queue import started
job = started(JobQueue(AnalysisLimits()))
print(job.worker.pid, flush=True)
time.sleep(600)
"""


def anonymous_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1024


def test_process_that_waits_keeps_no_reports() -> None:
    """After a second table of a million reports it is as large as after the first: their bytes are returned."""
    worker, columns = Worker(), long_columns(1_000_000)
    sizes = []
    for answer in ("a", "b", "c"):
        job = Job(parse_request("crosstab", {"rows": "answer", "columns": answer}), columns, 0)
        assert "document" in worker.run(job, lambda _done, _whole: None)
        # The reply comes before the memory is returned, which a short job then waits for.
        worker.run(Job(PAIRS, FEW, 0), lambda _done, _whole: None)
        sizes.append(anonymous_mib(worker.pid))
    worker.close()

    assert max(sizes) - min(sizes) < 3


def test_process_ends_with_a_parent_that_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        assert not is_gone(pid)
        parent.kill()
    deadline = time.monotonic() + 60
    while not is_gone(pid) and time.monotonic() < deadline:
        time.sleep(0.01)

    assert is_gone(pid)


@pytest.mark.parametrize("kind", KINDS_OF_REQUEST)
def test_every_option_arrives_as_it_was_sent(kind: str) -> None:
    assert {each.name for each in fields(KINDS_OF_REQUEST[kind])} == set(ALL[kind]) | set(INSTEAD.get(kind, {}))
    for options in (ALL[kind], INSTEAD.get(kind, ALL[kind])):
        sent = Job(parse_request(kind, options), long_columns(1), 0)
        assert unpack_job(b"".join(pack_job(sent))).asked == sent.asked


@pytest.mark.parametrize("kind", OPTIONS)
def test_job_arrives_as_it_was_sent(kind: str) -> None:
    sent = Job(parse_request(kind, OPTIONS[kind]), long_columns(50), 7)
    found = unpack_job(b"".join(pack_job(sent)))

    assert (found.asked, found.memory) == (sent.asked, 7)
    assert (found.columns.revisions, found.columns.withheld) == (sent.columns.revisions, frozenset())
    assert list(found.columns.values) == list(sent.columns.values)
    for name, column in sent.columns.values.items():
        assert found.columns.values[name].dtype == column.dtype
        np.testing.assert_array_equal(found.columns.values[name], column)


def test_sentences_of_a_reply_can_still_be_translated() -> None:
    inner = Sentence("{n} of {variables}", n=3, variables=("a", "b"))
    sent = {"document": {"warnings": ["plain", Sentence("as {reason}", reason=inner)], "low": None, "at": {"x": 1.5}}}
    found = unpack_reply(pack_reply(sent))

    assert found == json.loads(json.dumps(sent))
    outer = found["document"]["warnings"][1]
    assert (outer.pattern, outer.values["reason"].values) == ("as {reason}", {"n": 3, "variables": ("a", "b")})


def test_half_a_message_is_the_end() -> None:
    """A process that was killed while it wrote has sent nothing."""
    stream = io.BytesIO()
    write_message(stream, b"ab", b"c")

    assert read_message(io.BytesIO(stream.getvalue())) == b"abc"
    with pytest.raises(EOFError):
        read_message(io.BytesIO(stream.getvalue()[:-1]))
