"""A model that takes long on a real server: reports and other surveys' tables do not wait, and nothing outlives it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.storage import Storage

from tests.exported import TODAY, drawn, send
from tests.journey.test_collection import reports
from tests.journey.test_hostile_http import JSON
from tests.journey.test_kill import Server
from tests.surveys import survey
from tests.unit.aggregator.analysis.jobs.long_model import LONG, publish_long
from tests.unit.aggregator.analysis.jobs.test_queue import is_gone

CHILD = b"analysis.jobs.child"


class LongServer(Server):
    """A server with an open survey, a closed one, and one whose model takes long."""

    def __init__(self, folder: Path, database: str = "") -> None:
        self.token, digest = new_key()
        self.headers = {"Authorization": f"Bearer {self.token}"}
        super().__init__(folder, database)
        storage = self.storage()
        storage.add_researcher("ann", digest)
        _publish(storage)
        storage.close()

    def begin(self) -> str:
        reply = requests.post(f"{self.url}/api/v1/surveys/long/regression", json=LONG, headers=self.headers, timeout=60)
        assert reply.status_code == 202, reply.text
        return f"{self.url}{reply.headers['Location']}"

    def table(self) -> requests.Response:
        """Return the reply with the table of the other survey, which this machine may be too busy to give at once."""
        address, asked = f"{self.url}/api/v1/surveys/done/crosstab", {"rows": "cheated", "columns": "year"}
        deadline = time.monotonic() + 60
        while True:
            reply = requests.post(address, json=asked, headers=self.headers, timeout=60)
            if reply.status_code != 202 or time.monotonic() > deadline:
                return reply

    def state(self, address: str) -> requests.Response:
        return requests.get(address, headers=self.headers, timeout=60)

    def children(self) -> list[int]:
        """Return the processes that compute, waiting until there is one."""
        deadline, found = time.monotonic() + 60, list[int]()
        while not found:
            assert time.monotonic() < deadline
            time.sleep(0.02)
            # The threads of a worker start them, so they are not among the children of its first thread.
            found = [pid for pid, parent in computing() if parent in self.workers()]
        return found


def computing() -> Iterator[tuple[int, int]]:
    """Yield the id of each process on this machine that computes analyses, and the id of its parent."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if CHILD in (folder / "cmdline").read_bytes():
                yield int(folder.name), int((folder / "stat").read_text().rpartition(")")[2].split()[1])


def _publish(storage: Storage) -> None:
    closed = survey(name="done")
    storage.publish(closed)
    send(storage, closed, drawn(closed, 100))
    storage.close_survey("done", TODAY)
    publish_long(storage)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LongServer]:
    made = LongServer(tmp_path / "data")
    yield made
    made.kill_group()


def wait_until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + 60
    while not all(map(is_gone, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_reports_and_other_surveys_do_not_wait_for_a_long_model(server: LongServer) -> None:
    address = server.begin()
    for body in reports(5, survey()):
        sent = requests.post(f"{server.url}/api/v1/surveys/exam/reports", data=body, headers=JSON, timeout=60)
        shown = server.table()
        export = requests.get(f"{server.url}/api/v1/surveys/done/export", headers=server.headers, timeout=60)
        assert [reply.status_code for reply in (sent, shown, export)] == [200, 200, 200]
    running = server.state(address)
    assert (running.status_code, running.json()["state"]) == (202, "running")
    assert server.begin() == address

    children = server.children()
    assert requests.delete(address, headers=server.headers, timeout=60).json()["state"] == "finished"
    # The process of the tables waits for the next one.
    deadline = time.monotonic() + 60
    while sum(not is_gone(pid) for pid in children) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert server.state(address).json()["code"] == "analysis_stopped"


def test_killed_worker_leaves_no_process_and_its_analysis_is_gone(server: LongServer) -> None:
    address = server.begin()
    children = server.children()
    os.kill(server.workers()[0], signal.SIGKILL)

    wait_until_gone(children)
    deadline = time.monotonic() + 60
    while True:
        try:
            reply = server.state(address)
            break
        except requests.ConnectionError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert "restarted" in reply.json()["detail"]
    assert server.begin() == address


def test_server_that_is_told_to_end_ends_its_analyses(server: LongServer) -> None:
    server.begin()
    children = server.children()

    assert server.end() == 0
    wait_until_gone(children)
