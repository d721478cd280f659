"""kill -9 under load: of the whole group, of the worker, on both back ends; and an orderly end. Nothing is lost."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random, SystemRandom

import psycopg
import pytest
import requests
from sottovoce.aggregator.storage import ReportBatch, Storage
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.cli.process import free_port, wait_until_ready
from sottovoce.shared.spec import Survey

from tests import postgres
from tests.bench.load import write_bodies
from tests.journey.test_collection import batch, reports
from tests.journey.test_hostile_http import JSON
from tests.recount import recount
from tests.storage.test_contract import plan
from tests.surveys import survey

PATH = "/api/v1/surveys/exam/reports"
BACK_ENDS: dict[str, Callable[[], str]] = {"sqlite": lambda: "", "postgresql": postgres.fresh}
"""The address of a fresh database of each kind."""


class Server:
    """An aggregator in a process group of its own, that can be killed and started again on the same database."""

    python = sys.executable
    """Where another release is installed, its own."""

    def __init__(
        self, folder: Path, database: str = "", published: Survey | None = None, sources: Path | None = None
    ) -> None:
        self.folder, self.database, self.sources = folder, database, sources
        folder.mkdir(exist_ok=True)
        # Else the database has its survey, and perhaps a schema of those sources.
        if sources is None and self.python == sys.executable:
            storage = self.storage()
            storage.publish(published or survey())
            storage.close()
        self.start()

    def storage(self) -> Storage:
        return open_url(self.database, self.folder)

    def start(self) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        environment = {**os.environ, **before_others(self.sources), "SOTTOVOCE_DATABASE": self.database}
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.python, "-m", "sottovoce.cli", "serve", "--data", str(self.folder), "--port", str(port)],
                stderr=log, start_new_session=True, env=environment,
            )  # fmt: skip
        try:
            wait_until_ready(self.url, self.process)
        except BaseException:
            self.kill_group()
            raise

    def workers(self) -> list[int]:
        """The processes below the one that was started, deepest last."""
        found = [int(pid) for pid in _children(self.process.pid)]
        return found + [int(pid) for parent in found for pid in _children(parent)]

    def kill_group(self) -> None:
        """As a power cut would, but for the disk."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> int:
        """Ask it to end; gives the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def before_others(sources: Path | None) -> dict[str, str]:
    """The environment in which packages of this folder, if there is one, come before those that are installed."""
    return {} if sources is None else {"PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}


def _children(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


class Senders:
    """Threads that send reports and note which were acknowledged; each third sends batches, ``pause`` seconds apart."""

    def __init__(self, url: str, threads: int = 6, pause: float = 0) -> None:
        self.url, self._pause = url, pause
        self.acknowledged: set[str] = set()
        self.sent: dict[str, bytes] = {}
        self.refused = 0
        self.wrong: list[int] = []
        self._ended = threading.Event()
        self._progress = threading.Semaphore(0)
        # As daemons: a test that fails midway would leave them sending for good.
        self._threads = [
            threading.Thread(target=self._send, args=(number % 3 == 0,), daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, count: int) -> None:
        for _ in range(count):
            assert self._progress.acquire(timeout=30)

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _send(self, together: bool) -> None:
        while not self._ended.wait(self._pause):
            bodies = reports(20 if together else 1)
            ids = {json.loads(body)["report_id"]: body for body in bodies}
            self.sent.update(ids)
            path, body = (f"{PATH}/batch", batch(bodies)) if together else (PATH, bodies[0])
            try:
                reply = requests.post(self.url + path, data=body, headers=JSON, timeout=30)
            except requests.RequestException:
                # A server that is away refuses at once: without a pause the threads would do nothing but ask it.
                self._ended.wait(0.1)
                continue
            if reply.status_code == 200:
                self.acknowledged.update(ids)
                self._progress.release()
            elif reply.status_code in {429, 503}:
                self.refused += 1
            else:
                self.wrong.append(reply.status_code)


def check(server: Server, senders: Senders) -> None:
    """Acknowledged is stored, nothing is stored that was not sent, counts are those of the rows, the file is whole."""
    storage = server.storage()
    stored = storage.surveys()[0]
    ids = {bytes(row[1]).hex() for row in storage.export_table("reports")}
    assert storage.verify() == []
    assert stored.reports == len(ids)
    assert storage.live_counts(stored.key) == recount(storage, stored)
    storage.close()
    assert senders.wrong == []
    assert senders.acknowledged - ids == set()
    assert ids - set(senders.sent) == set()


@contextmanager
def served(
    folder: Path, database: str = "", published: Survey | None = None, sources: Path | None = None
) -> Iterator[Server]:
    """A server with the small survey, or another one, that is gone in the end, whatever happened."""
    server = Server(folder, database, published, sources)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill_group()


def rounds(server: Server, count: int, moment: int = 15) -> Senders:
    """Kill the whole group under load and start again, so many times; then every report is sent once more."""
    everything = Senders(server.url, 0)
    for number in range(count):
        senders = Senders(server.url)
        senders.wait(moment + 7 * number % 20)
        server.kill_group()
        senders.end()
        everything.acknowledged |= senders.acknowledged
        everything.sent |= senders.sent
        check(server, everything)
        server.start()
    sender = requests.Session()
    for body in list(everything.sent.values())[:200]:
        reply = sender.post(server.url + PATH, data=body, headers=JSON, timeout=30)
        assert reply.json()["sha256"] == hashlib.sha256(body).hexdigest()
    check(server, everything)
    return everything


def kill_worker(server: Server, moment: int = 10) -> Senders:
    """Kill only the worker under load; it is respawned without anybody's help."""
    senders = Senders(server.url)
    senders.wait(moment)
    killed = server.workers()[-1]
    os.kill(killed, signal.SIGKILL)
    # What was on its way may still be acknowledged; after as many more, the new worker has answered.
    senders.wait(30)
    assert killed not in server.workers()
    senders.end()
    return senders


@pytest.mark.parametrize("fresh", BACK_ENDS.values(), ids=BACK_ENDS)
def test_kills_and_an_end_in_order_lose_nothing_that_was_acknowledged(tmp_path: Path, fresh: Callable[[], str]) -> None:
    """One round of the group, one of the worker; then TERM under load: exit code 0, and what is stored was told."""
    seed = SystemRandom().randrange(1000)
    print(f"moments of seed {seed}")
    draws = Random(seed)  # noqa: S311 - moments only
    with served(tmp_path / "data", fresh()) as server:
        everything = rounds(server, 1, draws.randint(10, 30))
        senders = kill_worker(server, draws.randint(5, 20))
        everything.acknowledged |= senders.acknowledged
        everything.sent |= senders.sent
        last = Senders(server.url)
        last.wait(20)
        assert server.end() == 0
        last.end()
        everything.acknowledged |= last.acknowledged
        everything.sent |= last.sent
        check(server, everything)
        storage = server.storage()
        ids = {bytes(row[1]).hex() for row in storage.export_table("reports")}
        storage.close()
        assert ids & last.sent.keys() == last.acknowledged


def test_two_processes_share_one_postgresql_under_load(tmp_path: Path) -> None:
    url = postgres.fresh()
    with served(tmp_path / "one", url) as one, served(tmp_path / "two", url) as two:
        first, second = Senders(one.url, 3), Senders(two.url, 3)
        first.wait(25)
        second.wait(25)
        one.kill_group()
        second.wait(10)
        first.end()
        second.end()
        second.acknowledged |= first.acknowledged
        second.sent |= first.sent
        check(two, second)


def test_connections_lost_under_load_lose_no_report(tmp_path: Path) -> None:
    url = postgres.fresh()
    drop = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    with served(tmp_path / "data", url) as server, psycopg.connect(url, autocommit=True) as connection:
        senders = Senders(server.url)
        for _ in range(4):
            senders.wait(10)
            connection.execute(drop)
        senders.wait(20)
        senders.end()
        check(server, senders)


@pytest.mark.slow
@pytest.mark.parametrize("fresh", BACK_ENDS.values(), ids=BACK_ENDS)
def test_million_reports_are_there_after_a_kill(tmp_path: Path, fresh: Callable[[], str]) -> None:
    with served(tmp_path / "data", fresh()) as server:
        fill(server, 1_000_000)
        before = Senders(server.url)
        before.wait(60)
        server.kill_group()
        before.end()
        server.start()
        after = Senders(server.url)
        after.wait(10)
        after.end()
        storage = server.storage()
        stored = storage.surveys()[0]
        assert all(storage.find_report(stored.key, bytes.fromhex(one)) for one in before.acknowledged)
        assert storage.live_counts(stored.key) == recount(storage, stored)
        assert stored.reports >= 1_000_000 + len(before.acknowledged | after.acknowledged)
        assert storage.verify() == []
        storage.close()


def fill(server: Server, count: int) -> None:
    storage = server.storage()
    exam = plan(storage.surveys()[0].key)
    for start in range(0, count, 16_000):
        ids = sorted(os.urandom(16) for _ in range(min(16_000, count - start)))
        storage.store([ReportBatch(exam, 0, report_id, pack((report_id[0] & 1, 2, 0))) for report_id in ids])
    storage.close()


def overload(
    folder: Path, monkeypatch: pytest.MonkeyPatch, connections: int, seconds: float, database: str = ""
) -> None:
    """More at once than the server takes: refusals that say when to come back, and no loss."""
    monkeypatch.setenv("SOTTOVOCE_MAX_BODY_KIB", str(connections // 4 * 9))
    folder.mkdir()
    bodies = reports(4000)
    write_bodies(folder / "bodies", bodies)
    with served(folder / "data", database) as server:
        before = _memory(server)
        command = ["-m", "tests.bench.load", server.url.rsplit(":", 1)[1], PATH, str(connections), str(seconds)]
        ended = subprocess.run([sys.executable, *command, str(folder / "bodies")], capture_output=True, check=True)
        found = json.loads(ended.stdout)
        statuses = found["statuses"]
        storage = server.storage()
        assert (set(statuses), found["abrupt"]) == ({"200", "503"}, 0)
        assert storage.surveys()[0].reports == statuses["200"]
        assert storage.live_counts(1) == recount(storage, storage.surveys()[0])
        storage.close()
        assert _memory(server) - before < 150 * 1024


def _memory(server: Server) -> int:
    """Kibibytes that the worker holds."""
    status = Path(f"/proc/{server.workers()[-1]}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


@pytest.mark.parametrize("fresh", BACK_ENDS.values(), ids=BACK_ENDS)
def test_overload_is_refused_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: Callable[[], str]
) -> None:
    overload(tmp_path / "overload", monkeypatch, 128, 1, fresh())


@pytest.mark.slow
def test_fifty_kills_lose_nothing(tmp_path: Path) -> None:
    with served(tmp_path / "data") as server:
        rounds(server, 25)
    for number in range(25):
        with served(tmp_path / str(number)) as server:
            check(server, kill_worker(server))


@pytest.mark.slow
def test_twenty_kills_lose_nothing_on_postgresql(tmp_path: Path) -> None:
    with served(tmp_path / "data", postgres.fresh()) as server:
        rounds(server, 20)
