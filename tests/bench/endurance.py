"""How the aggregator bears overload, slow lines, a broken disk, kill -9 and TERM: figures of one machine."""

import json
import os
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import requests

from tests.bench.load import write_bodies
from tests.conftest import processes
from tests.journey.test_collection import reports
from tests.journey.test_hostile_http import JSON
from tests.journey.test_kill import PATH, Senders, Server, check, fill, served

ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
RUSH = 2000
"""Connections at once, as when a lecture hall opens the form."""
SECONDS = 10.0
BODIES = 60_000


def figures(databases: dict[str, Callable[[], str]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        write_bodies(folder / "bodies", reports(BODIES))
        for name, fresh in databases.items():
            for number, measure in enumerate((overloaded, slow_lines, not_ready, restarted, ended)):
                with served(folder / f"{name}{number}", fresh()) as server:
                    print(f"{name:<12} {measure(server, folder)}", flush=True)


def overloaded(server: Server, folder: Path) -> str:
    """Many connections, of which none waits before it sends again."""
    port = server.url.rsplit(":", 1)[1]
    command = [sys.executable, "-m", "tests.bench.load", port, PATH, str(RUSH), str(SECONDS)]
    with watched(server) as seen:
        ended = subprocess.run([*command, str(folder / "bodies")], capture_output=True, check=True)
    found = json.loads(ended.stdout)
    storage = server.storage()
    stored = storage.surveys()[0].reports
    storage.close()
    return (
        f"{RUSH} connections: {found['statuses']}, without Retry-After {found['abrupt']},"
        f" stored {stored:,}, accepted p50 {found['p50']:.0f} ms p99 {found['p99']:.0f} ms,"
        f" memory +{(max(seen) - seen[0]) / 1024:.0f} MiB"
    )


def slow_lines(server: Server, folder: Path) -> str:  # noqa: ARG001 - as the others
    """A hundred connections that send a byte a second, and a hundred requests beside them."""
    host, port = server.url.removeprefix("http://").split(":")
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n".encode()
    slow = [socket.create_connection((host, int(port))) for _ in range(100)]
    for connection in slow:
        connection.sendall(head)
    took = []
    for body in reports(100):
        for connection in slow[::10]:
            connection.sendall(b" ")
        started = time.perf_counter()
        assert requests.post(server.url + PATH, data=body, headers=JSON, timeout=30).ok
        took.append(time.perf_counter() - started)
    for connection in slow:
        connection.close()
    return f"beside 100 slow connections: worst of 100 requests {1000 * max(took):.0f} ms"


def not_ready(server: Server, folder: Path) -> str:  # noqa: ARG001 - as the others
    """Seconds until readiness turns red, and until it is green again."""
    faults = postgres_faults(server) if server.database else sqlite_faults(server)
    words = []
    for name, (break_it, mend_it) in faults.items():
        ready(server, 200)
        started = time.perf_counter()
        break_it()
        ready(server, 503)
        red = time.perf_counter() - started
        mend_it()
        started = time.perf_counter()
        ready(server, 200)
        words.append(f"{name} {red:.1f} s (green {time.perf_counter() - started:.1f} s)")
    return f"red after: {', '.join(words)}"


def sqlite_faults(server: Server) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """A full disk (a limit on the size of files stands for it), another schema, a lock that stays."""
    path = server.folder / "sottovoce.sqlite"
    workers = processes(server.url)
    other = sqlite3.connect(path, isolation_level=None)
    version = other.execute("PRAGMA user_version").fetchone()[0]

    def limit(size: int) -> None:
        for pid in workers:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return {
        "full disk": (lambda: limit(1), lambda: limit(resource.RLIM_INFINITY)),
        "another schema": (
            lambda: other.execute("PRAGMA user_version = 999"),
            lambda: other.execute(f"PRAGMA user_version = {version:d}"),
        ),
        "locked": (lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.execute("ROLLBACK")),
    }


def postgres_faults(server: Server) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """A read-only database, another schema, a lock that stays."""
    other = psycopg.connect(server.database, autocommit=True)
    name = other.execute("SELECT current_database()").fetchone()[0]  # type: ignore[index]
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"

    def read_only(on: str) -> None:
        other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {on}")  # type: ignore[call-overload]
        # The setting holds for new connections only.
        other.execute(others, [name])

    return {
        "read-only": (lambda: read_only("on"), lambda: (other.execute("SET transaction_read_only = off"),
                                                        read_only("off"))),
        "another schema": (
            lambda: other.execute("UPDATE schema_version SET version = version + 99, usable_from = usable_from + 99"),
            lambda: other.execute("UPDATE schema_version SET version = version - 99, usable_from = usable_from - 99"),
        ),
        "locked": (lambda: other.execute("BEGIN; LOCK TABLE pulse"), lambda: other.execute("ROLLBACK")),
    }  # fmt: skip


def ready(server: Server, status: int) -> None:
    while requests.get(f"{server.url}/readyz", timeout=30).status_code != status:
        time.sleep(0.02)


def restarted(server: Server, folder: Path) -> str:  # noqa: ARG001 - as the others
    """Killed under load with many rows in the database, and started again."""
    fill(server, ROWS)
    senders = Senders(server.url)
    senders.wait(200)
    server.kill_group()
    senders.end()
    log = server.folder / "sottovoce.sqlite-wal"
    size = f", {log.stat().st_size / 2**20:.0f} MiB of log" if log.exists() else ""
    started = time.perf_counter()
    server.start()
    return f"{ROWS:,} rows{size}: ready {time.perf_counter() - started:.2f} s after kill -9"


def ended(server: Server, folder: Path) -> str:  # noqa: ARG001 - as the others
    """TERM under load."""
    senders = Senders(server.url)
    senders.wait(100)
    started = time.perf_counter()
    code = server.end()
    took = time.perf_counter() - started
    senders.end()
    check(server, senders)
    return f"TERM under load: exit code {code} after {took:.1f} s"


@contextmanager
def watched(server: Server) -> Iterator[list[int]]:
    """Kibibytes that the worker holds, noted all the time."""
    status = Path(f"/proc/{server.workers()[-1]}/status")
    seen: list[int] = []
    over = threading.Event()

    def note() -> None:
        while not over.wait(0.05) or not seen:
            seen.append(int(status.read_text().split("VmRSS:")[1].split()[0]))

    thread: Any = threading.Thread(target=note)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
