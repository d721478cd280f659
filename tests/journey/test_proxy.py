"""The sample of nginx in front of two nodes on one PostgreSQL: everything works, and nobody writes down who came."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.access.keys import new_key
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.postgres import PostgresStorage
from sottovoce.cli.process import free_port, wait_until_ready

from tests import nginx, postgres
from tests.journey.test_collection import reports
from tests.journey.test_hostile_http import JSON
from tests.journey.test_traces import MARK, MARKS, QUERY
from tests.surveys import survey

PATH = "/api/v1/surveys/exam/reports"
ADDRESSES = ("127.0.0.1", "203.0.113.77")
"""Where the requests come from, and where they say that they do."""


class Node:
    """One of two aggregators, whose output is kept in a file."""

    def __init__(self, folder: Path, database: str) -> None:
        self.port = free_port()
        # Its own lines would name the address at which it listens.
        settings = Settings(database=database, port=self.port, proxy_hops=1, data=folder / "none",
                            public_url="https://survey.example.org")  # fmt: skip
        with (folder / "nodes.log").open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "sottovoce.cli", "serve"], stderr=log, stdout=log,
                                            env={**os.environ, **settings.to_environment()})  # fmt: skip
        wait_until_ready(f"http://127.0.0.1:{self.port}", self.process)

    def end(self) -> None:
        """Stop it, if it runs."""
        self.process.terminate()
        self.process.wait(timeout=20)


@pytest.fixture
def database() -> str:
    """With the survey, and a researcher."""
    url = postgres.fresh()
    storage = PostgresStorage(url)
    storage.publish(survey())
    storage.add_researcher("ann", new_key()[1])
    storage.close()
    return url


@contextmanager
def two(folder: Path, database: str) -> Iterator[list[Node]]:
    """Both nodes; ended on exit."""
    nodes: list[Node] = []
    try:
        nodes += [Node(folder, database), Node(folder, database)]
        yield nodes
    finally:
        for node in nodes:
            node.end()


def ask(url: str, folder: Path, body: bytes, path: str = PATH) -> int:
    """The status of a marked request."""
    return requests.post(f"{url}{path}{QUERY}", data=body, headers={**JSON, **MARKS}, timeout=30,
                         verify=str(folder / "certificate")).status_code  # fmt: skip


def break_off(url: str) -> None:
    """Requests that nginx would write an error about: no HTTP, a body that ends early, TLS that is none."""
    place = ("127.0.0.1", int(url.rsplit(":", 1)[1]))
    for sent in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + MARK.encode(), b""):
        with suppress(OSError), socket.create_connection(place, timeout=5) as connection:
            connection.sendall(sent)


def provoke(url: str, folder: Path, nodes: list[Node], bodies: list[bytes]) -> list[int]:
    """A body too large, half requests, one node away, both away; the statuses."""
    break_off(url)
    found = [ask(url, folder, b" " * (5 * 2**20))]
    nodes[0].end()
    found += [ask(url, folder, body) for body in bodies]
    nodes[1].end()
    found += [ask(url, folder, bodies[0]), ask(url, folder, bodies[0], "/api/v1/surveys/exam/close")]
    time.sleep(0.1)
    return found


def test_nobody_writes_down_who_came_when_all_goes_wrong(tmp_path: Path, database: str) -> None:
    """No address, id, token, agent or query in any file or output, whatever fails; and no report is lost meanwhile."""
    bodies = reports(12)
    with two(tmp_path, database) as nodes, nginx.proxy(tmp_path, [node.port for node in nodes]) as url:
        assert [ask(url, tmp_path, body) for body in bodies[:6]] == [200] * 6
        statuses = provoke(url, tmp_path, nodes, bodies[6:])
    assert statuses == [413, *[200] * 6, 502, 502]
    storage = PostgresStorage(database)
    assert storage.revisions("exam")[0].reports == 12
    storage.close()

    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "nginx.conf"]
    assert {path.name for path in files} >= {"proxy.log", "nodes.log"}
    ids = [body.partition(b'"report_id":"')[2][:32] for body in bodies]
    for path in files:
        held = path.read_bytes()
        assert [mark for mark in (MARK, *ADDRESSES) if mark.encode() in held] == [], path.name
        assert not any(report_id in held for report_id in ids)


def test_an_error_log_would_have_named_them(tmp_path: Path) -> None:
    """So such failures are written down by nginx: the switch in the sample is what keeps addresses out."""
    log = tmp_path / "error.log"
    with nginx.proxy(tmp_path, (free_port(), free_port()), log) as url:
        break_off(url)
        assert [ask(url, tmp_path, body) for body in (b" " * (5 * 2**20), *reports(1))] == [413, 502]

    for told in ("127.0.0.1", "too large body", "upstream", MARK):
        assert told in log.read_text(errors="replace")
