"""
How much several nodes on one PostgreSQL carry: groups of 16 at the storage, and single reports through HTTP.

Each with the disk of this machine, and with 5 ms more at every commit, as where storage lies across a network. In
turns, so that what else the machine does falls on all; the processor's time stands beside, since that is shared. Rounds
end when their time is used up, which on a quiet machine is after two minutes and a half at most.

``python -m tests.bench.nodes URL SECONDS`` is one such node without HTTP, begins at a line on its input, and prints
what it did.
"""

import json
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg
from sottovoce.aggregator.collect.survey_rules import SurveyRules
from sottovoce.aggregator.storage import Arrival, Outcome
from sottovoce.aggregator.storage.postgres import PostgresStorage
from sottovoce.aggregator.storage.rows import pack

from tests import postgres
from tests.bench import single
from tests.bench.ingest import report, ten_questions
from tests.bench.server import running

ROUNDS = 2
SECONDS = 2.0
LIMIT = 75.0
"""Seconds for each delay, after which no further round begins but the first of each."""

SILENT = 30.0
"""Seconds after which a process that should have ended is ended, and the bench with it."""

GROUP = 16
CONNECTIONS = 32
DELAYS = (0, 5)
"""Milliseconds more at every commit."""

WAITING = "SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'), count(*) FROM pg_stat_activity"
WAITING += " WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()"


class Found(NamedTuple):
    """
    What a number of nodes did.

    Attributes:
        rate: reports a second, of all.
        p99: milliseconds of a group, or of a reply, of the slowest node.
        cpu: microseconds of processor a report, of the nodes alone.
        waiting: share of the busy connections that waited for another's row.
    """

    rate: float
    p99: float
    cpu: float
    waiting: float


Rounds = dict[int, list[Found]]
"""By number of nodes."""


def figures() -> None:
    """The medians of the rounds, and of the rounds' ratios to one node."""
    for delay in DELAYS:
        end = time.monotonic() + LIMIT
        # The first half of the time is the storage's.
        show(f"groups of {GROUP}", delay, in_turns(at_storage, (1, 2, 4), delay, end - LIMIT / 2))
        show("single, HTTP", delay, in_turns(through_http, (1, 2), delay, end))


def in_turns(measure: Callable[[int, str], Found], numbers: Sequence[int], delay: int, end: float) -> Rounds:
    """
    What these numbers of nodes did, one after the other, in each round.

    Args:
        measure: so many nodes on a database.
        numbers: of nodes.
        delay: milliseconds more at every commit.
        end: by the clock of this process; a round that would last beyond is left out.
    """
    found: Rounds = {nodes: [] for nodes in numbers}
    for done in range(ROUNDS):
        started = time.monotonic()
        for nodes, rounds in found.items():
            rounds.append(measure(nodes, fresh(delay)))
        if done + 1 < ROUNDS and 2 * time.monotonic() - started > end:
            break
    return found


def fresh(delay: int) -> str:
    """A new database with the survey, in which each commit takes so many milliseconds more."""
    url = postgres.fresh()
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET commit_delay = {1000 * delay:d}")  # type: ignore[call-overload]
        connection.execute(f"ALTER DATABASE {name} SET commit_siblings = 0")  # type: ignore[call-overload]
    with closing(PostgresStorage(url)) as storage:
        storage.publish(ten_questions())
    return url


def at_storage(nodes: int, url: str) -> Found:
    """Each node is a process that stores one group after the other."""
    command = [sys.executable, "-m", "tests.bench.nodes", url, str(SECONDS)]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            for _ in range(nodes)
        ]
        for process in processes:
            # Before it is waited for.
            stack.callback(process.kill)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        waiting = share_waiting(url, SECONDS)
        told = [json.loads(process.communicate(timeout=SILENT)[0]) for process in processes]
    reports = sum(one["reports"] for one in told)
    rate = sum(one["reports"] / one["seconds"] for one in told)
    return Found(rate, max(one["p99"] for one in told), 1e6 * sum(one["cpu"] for one in told) / reports, waiting)


def share_waiting(url: str, seconds: float) -> float:
    """Of the connections that were busy meanwhile, the share that waited for a lock of another one."""
    waited = busy = 0
    end = time.monotonic() + seconds
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < end:
            row = connection.execute(WAITING).fetchone() or (0, 0)
            waited, busy = waited + row[0], busy + row[1]
            time.sleep(0.02)
    return waited / max(1, busy)


def through_http(nodes: int, url: str) -> Found:
    """Nodes of the program itself, with as many connections in all."""
    asked = ten_questions()
    path = f"/api/v1/surveys/{asked.name}/reports"
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        (folder / "bodies").write_bytes(b"\n".join(report(asked) for _ in range(single.TEMPLATES)))
        ports = [stack.enter_context(running(made(folder / f"{node}"), url)) for node in range(nodes)]
        with ThreadPoolExecutor(nodes + 1) as threads:
            watched = threads.submit(share_waiting, url, single.SECONDS)
            loads = [threads.submit(single.load, port, path, CONNECTIONS // nodes, folder / "bodies") for port in ports]
            told = [load.result() for load in loads]
    rates = [one["rate"] for one in told]
    cpu = sum(one["cpu"] * rate for one, rate in zip(told, rates, strict=True)) / max(1.0, sum(rates))
    return Found(sum(rates), max(one["p99"] for one in told), cpu, watched.result())


def made(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir(mode=0o755)
    return folder


def show(what: str, delay: int, found: Rounds) -> None:
    """One line for each number of nodes."""
    for nodes, rounds in found.items():
        ratio = median(one.rate / base.rate for one, base in zip(rounds, found[1], strict=True))
        rate, p99, cpu, waiting = (median(column) for column in zip(*rounds, strict=True))
        print(
            f"{what:<14} sync + {delay} ms  {nodes} node{'s' if nodes > 1 else ' '} {rate:8,.0f}/s  x{ratio:.2f}"
            f"  p99 {p99:6.1f} ms  processor {cpu:5.0f} us a report  waiting for a row {waiting:.2f}",
            flush=True,
        )


def node(url: str, seconds: float) -> dict[str, float]:
    """One node without HTTP."""
    with closing(PostgresStorage(url)) as storage:
        plan = SurveyRules(storage.surveys()[0], 1).plan
        values = [pack(tuple(number >> bit & 1 for bit in range(10))) for number in range(1024)]
        print("ready", flush=True)
        sys.stdin.readline()
        took: list[float] = []
        started, cpu = time.perf_counter(), time.process_time()
        while time.perf_counter() - started < seconds:
            group = [Arrival(plan, 0, secrets.token_bytes(16), secrets.choice(values)) for _ in range(GROUP)]
            before = time.perf_counter()
            assert storage.store(group) == [Outcome.NEW] * GROUP
            took.append(1000 * (time.perf_counter() - before))
        ended = time.perf_counter() - started
        return {
            "reports": GROUP * len(took),
            "seconds": ended,
            "cpu": time.process_time() - cpu,
            "p99": sorted(took)[len(took) * 99 // 100],
        }


if __name__ == "__main__":
    print(json.dumps(node(sys.argv[1], float(sys.argv[2]))), flush=True)
