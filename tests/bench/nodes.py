"""How much several nodes on one PostgreSQL carry: groups of 16 at the storage, and single reports through HTTP.

Each with the disk of this machine, and with 5 ms more at every commit, as where storage lies across a network. In
turns, so that what else the machine does falls on all; the processor's time stands beside, since that is shared: of the
nodes, of the server and of what sends, which is a process that does as little as it can. Rounds end when their time is
used up, which on a quiet machine is after four minutes at most.

Through HTTP with as many people at once as scale.md had, and with more: a few connections wait for the disk, in groups
that only get smaller where there are more nodes, so that they tell of commits; many fill a node's processor, and tell
of nodes.

``python -m tests.bench.nodes URL SECONDS GROUP`` is one such node without HTTP, begins at a line on its input, and
prints what it did.
"""

import json
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg
from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.storage import Outcome, ReportBatch
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage

from tests import postgres
from tests.bench.ingest import load, processor_seconds, report, ten_questions
from tests.bench.load import write_bodies
from tests.bench.server import running

ROUNDS = 2
SECONDS = 3.0
LIMIT = 40.0
"""Seconds for each line of figures, after which no further round begins but the first."""

SILENT = 30.0
"""Seconds after which a process that should have ended is ended, and the bench with it."""

GROUP = 16
CONNECTIONS = (32, 256)
"""Open at once, in all."""

BODIES = 20_000
"""Reports that there are to be sent, more than there is time for."""

IDLE = 0.05
"""Seconds of processor in half a second, below which nodes have nothing left to do."""

DELAYS = (0, 5)
"""Milliseconds more at every commit."""

WAITING = "SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'), count(*) FROM pg_stat_activity"
WAITING += " WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()"


class Found(NamedTuple):
    """What a number of nodes did.

    Attributes:
        rate: reports a second, of all.
        p99: milliseconds of a group, or of a reply, of the slowest node.
        cpu: microseconds of processor a report, of the nodes alone.
        server: the same of PostgreSQL, if it is on this machine.
        generator: the same of what sends reports.
        waiting: share of the busy connections that waited for another's row.
    """

    rate: float
    p99: float
    cpu: float
    server: float
    generator: float
    waiting: float


Rounds = dict[int, list[Found]]
"""By number of nodes."""


def figures() -> None:
    """The medians of the rounds, and of the rounds' ratios to one node."""
    for delay in DELAYS:
        show(f"groups of {GROUP}", delay, in_turns(at_storage, (1, 2, 4), delay))
        for connections in CONNECTIONS:
            measure = partial(through_http, connections=connections)
            show(f"HTTP, {connections} at once", delay, in_turns(measure, (1, 2), delay))


def in_turns(measure: Callable[[int, str], Found], numbers: Sequence[int], delay: int) -> Rounds:
    """What these numbers of nodes did, one after the other, in each round; ``delay`` is milliseconds more a commit.

    A number of nodes that would last too long is left out.
    """
    end = time.monotonic() + LIMIT
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


def at_storage(nodes: int, url: str, group: int = GROUP, module: str = "tests.bench.nodes") -> Found:
    """Each node is a process that stores one group of so many reports after the other, by this module."""
    command = [sys.executable, "-m", module, url, str(SECONDS), str(group)]
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
        before = of_server(url)
        waiting = share_waiting(url, SECONDS)
        told = [json.loads(process.communicate(timeout=SILENT)[0]) for process in processes]
    reports = sum(one["reports"] for one in told)
    rate = sum(one["reports"] / one["seconds"] for one in told)
    server = 1e6 * (of_server(url) - before) / reports
    own = 1e6 * sum(one["cpu"] for one in told) / reports
    return Found(rate, max(one["p99"] for one in told), own, server, 0.0, waiting)


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


def through_http(nodes: int, url: str, connections: int) -> Found:
    """Nodes of the program itself, and a process for each that sends to it; ``connections`` are open at once in all."""
    asked = ten_questions()
    path = f"/api/v1/surveys/{asked.name}/reports"
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        for number in range(nodes):
            write_bodies(folder / f"bodies{number}", [report(asked) for _ in range(BODIES // nodes)])
        ports = [stack.enter_context(running(made(folder / f"{number}"), url)) for number in range(nodes)]
        wait_until_started(ports)
        before, own, sending = of_server(url), of_nodes(ports), of_ended()
        with ThreadPoolExecutor(nodes + 1) as threads:
            watched = threads.submit(share_waiting, url, SECONDS)
            loads = [
                threads.submit(load, port, path, connections // nodes, SECONDS, folder / f"bodies{number}")
                for number, port in enumerate(ports)
            ]
            told = [one.result() for one in loads]
        used = of_nodes(ports) - own, of_server(url) - before, of_ended() - sending
    reports = max(1, sum(one["statuses"].get("200", 0) for one in told))
    rate, p99 = sum(one["rate"] for one in told), max(one["p99"] for one in told)
    return Found(rate, p99, *(1e6 * seconds / reports for seconds in used), watched.result())


def wait_until_started(ports: Sequence[int]) -> None:
    """Ready, each node compresses its pages: a second of processor, which has no part in reports."""
    for _ in range(40):
        used = of_nodes(ports)
        time.sleep(0.5)
        if of_nodes(ports) - used < IDLE:
            return


def of_nodes(ports: Sequence[int]) -> float:
    """Seconds of processor that these nodes have used so far."""
    return sum(map(processor_seconds, ports))


def of_ended() -> float:
    """Seconds of processor that processes took which this one started and which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_server(url: str) -> float:
    """Seconds of processor that PostgreSQL has used so far, in all of its processes; 0 if it is on another machine."""
    with psycopg.connect(url) as connection:
        try:
            parent = _stat(connection.info.backend_pid)[1]
        except FileNotFoundError:
            return 0.0
    # Its own and of those that have ended, and what its children used that have not.
    ticks = sum(_stat(int(parent))[11:15])
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            stat = _stat(int(folder.name))
            ticks += sum(stat[11:13]) if stat[1] == parent else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[int]:
    """What Linux tells of a process, from its state on, which is given as 0."""
    _, *numbers = Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(") ")[2].split()
    return [0, *map(int, numbers)]


def made(folder: Path) -> Path:
    folder.mkdir(mode=0o755)
    return folder


def show(what: str, delay: int, found: Rounds) -> None:
    for nodes, rounds in found.items():
        ratio = median(one.rate / base.rate for one, base in zip(rounds, found[1], strict=True))
        rate, p99, cpu, server, generator, waiting = (median(column) for column in zip(*rounds, strict=True))
        print(
            f"{what:<17} sync + {delay} ms  {nodes} node{'s' if nodes > 1 else ' '} {rate:8,.0f}/s  x{ratio:.2f}"
            f"  p99 {p99:6.1f} ms  processor a report: {cpu:5.0f} us of nodes, {server:4.0f} of PostgreSQL,"
            f" {generator:4.0f} of the generator  waiting for a row {waiting:.2f}",
            flush=True,
        )


def node(url: str, seconds: float, group: int) -> dict[str, float]:
    with closing(PostgresStorage(url)) as storage:
        plan = SurveyRules(storage.surveys()[0], 1).plan
        values = [pack(tuple(number >> bit & 1 for bit in range(10))) for number in range(1024)]

        def store() -> None:
            reports = [ReportBatch(plan, 0, secrets.token_bytes(16), secrets.choice(values)) for _ in range(group)]
            assert storage.store(reports) == [Outcome.NEW] * group

        return repeated(store, seconds, group)


def repeated(store: Callable[[], None], seconds: float, group: int) -> dict[str, float]:
    """Store one group of so many reports after the other, once the line on the input has come."""
    print("ready", flush=True)
    sys.stdin.readline()
    took: list[float] = []
    started, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < seconds:
        before = time.perf_counter()
        store()
        took.append(1000 * (time.perf_counter() - before))
    ended = time.perf_counter() - started
    return {
        "reports": group * len(took),
        "seconds": ended,
        "cpu": time.process_time() - cpu,
        "p99": sorted(took)[len(took) * 99 // 100],
    }


if __name__ == "__main__":
    print(json.dumps(node(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))), flush=True)
