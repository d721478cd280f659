"""The sample of nginx in front of two nodes on one PostgreSQL: everything works, and nobody writes down who came."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
import pytest
import requests
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.invitations.tokens import create_tokens, token_hash
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.cli.process import end, free_port, wait_until_ready
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.report import dump_report

from tests import nginx, postgres
from tests.journey.test_collection import reports
from tests.journey.test_hostile_http import JSON
from tests.journey.test_traces import MARK, MARKS, QUERY
from tests.surveys import ANSWERS, survey

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
        self._log, self._environment = folder / "nodes.log", {**os.environ, **settings.to_environment()}
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "sottovoce.cli", "serve"], stderr=log, stdout=log,
                                            env=self._environment)  # fmt: skip
        try:
            wait_until_ready(f"http://127.0.0.1:{self.port}", self.process, 90)
        except BaseException:
            self.end()
            raise

    def is_used(self) -> bool:
        """Whether the proxy holds a connection to it: it has sent something there, answered or not."""
        rows = [line.split()[:4] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return any(place.endswith(f":{self.port:04X}") and state == "01" for _, place, _, state in rows)

    def end(self) -> None:
        end(self.process)


INVITED = survey(access="token")


class Invited:
    """Threads of people with a token each, who report through the proxy and keep what it answered."""

    def __init__(self, url: str, certificate: Path, tokens: list[str]) -> None:
        self.sent: dict[str, str] = {}
        self.wrong: list[str] = []
        self._url, self._certificate, self._tokens = url, certificate, iter(tokens)
        self._ended = threading.Event()
        self._progress = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._send, daemon=True) for _ in range(2)]
        for thread in self._threads:
            thread.start()

    def wait(self, count: int) -> None:
        while self._progress.acquire(blocking=False):
            pass
        for _ in range(count):
            assert self._progress.acquire(timeout=30), self.wrong

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        connection = requests.Session()
        for token in self._tokens:
            if self._ended.is_set():
                return
            body = dump_report(randomize(INVITED, encode(INVITED, ANSWERS), Draws()), INVITED)
            headers = {**JSON, **MARKS, "Authorization": f"Bearer {token}"}
            try:
                reply = connection.post(f"{self._url}{PATH}{QUERY}", data=body, headers=headers, timeout=30,
                                      verify=str(self._certificate))  # fmt: skip
                if reply.status_code != 200 or reply.json()["sha256"] != hashlib.sha256(body).hexdigest():
                    self.wrong.append(f"{reply.status_code} {reply.text}")
            except requests.RequestException as error:
                self.wrong.append(str(error))
            self.sent[json.loads(body)["report_id"]] = token
            self._progress.release()
            # A pace, not a wait: at full speed they would take the processor from the node that starts.
            self._ended.wait(0.02)


def restart(node: Node, people: Invited) -> None:
    """One node, as by its supervisor, while people report; it is over when the proxy sends there again."""
    node.end()
    people.wait(15)
    node.start()
    for _ in range(600):
        people.wait(1)
        if node.is_used():
            return
    raise AssertionError("the proxy has not come back to a node that is ready")


def test_both_nodes_restarted_under_load_lose_nothing_and_tell_nothing(tmp_path: Path) -> None:
    """Every answer is 200 with its receipt; no log names an address, an id or a token, PostgreSQL's own neither."""
    server, own = postgres.own()
    url = postgres.fresh(server)
    storage = PostgresStorage(url)
    storage.publish(INVITED)
    storage.add_researcher("ann", new_key()[1])
    tokens = create_tokens(storage, "exam", 3000)
    before = {path: path.stat().st_size for path in own.glob("*/log")}
    with two(tmp_path, url) as nodes, nginx.proxy(tmp_path, [node.port for node in nodes]) as address:
        people = Invited(address, tmp_path / "certificate", tokens)
        people.wait(15)
        for node in nodes:
            restart(node, people)
        people.end()
    stored = {bytes(row[1]).hex() for row in storage.export_table("reports")}
    storage.close()
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error):
        connection.execute("SELECT this_is_logged")

    assert people.wrong == []
    assert stored == people.sent.keys()
    logs = {path.name: path.read_bytes() for path in tmp_path.glob("*.log")}
    logs["postgresql"] = b"".join(path.read_bytes()[size:] for path, size in before.items())
    assert (logs.keys(), b"this_is_logged" in logs["postgresql"]) == ({"proxy.log", "nodes.log", "postgresql"}, True)
    told = [MARK, *ADDRESSES, *people.sent.keys(), *people.sent.values(),
            *(token_hash(token, "exam").hex() for token in people.sent.values())]  # fmt: skip
    assert [(name, mark) for name, log in logs.items() for mark in told if mark.encode() in log] == []


@pytest.fixture
def database() -> str:
    url = postgres.fresh()
    storage = PostgresStorage(url)
    storage.publish(survey())
    storage.add_researcher("ann", new_key()[1])
    storage.close()
    return url


@contextmanager
def two(folder: Path, database: str) -> Iterator[list[Node]]:
    nodes: list[Node] = []
    try:
        for _ in range(2):
            nodes.append(Node(folder, database))
        yield nodes
    finally:
        for node in nodes:
            node.end()


def ask(url: str, folder: Path, body: bytes, path: str = PATH) -> int:
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


class SlowNode(ThreadingHTTPServer):
    """Stands for a node that answers everything, a while after it was asked."""

    def __init__(self, port: int, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(("127.0.0.1", port), _SlowAnswer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def end(self) -> None:
        """From now on its port refuses."""
        self.shutdown()
        self.server_close()


class _SlowAnswer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.server.seconds)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is written."""


def test_a_node_that_is_just_back_is_used_when_the_other_goes(tmp_path: Path) -> None:
    """Also before its first answer, until which the proxy takes it for away."""
    ports = (free_port(), free_port())
    other = SlowNode(ports[1], 0)
    with nginx.proxy(tmp_path, ports) as url, ThreadPoolExecutor(12) as people:
        # Some of each of the proxy's processes find the first one away.
        assert [ask(url, tmp_path, b"1") for _ in range(12)] == [200] * 12
        back = SlowNode(ports[0], 1)
        other.end()
        time.sleep(3)
        found = list(people.map(lambda _: ask(url, tmp_path, b"1"), range(12)))
        back.end()
    assert found == [200] * 12


def test_reply_that_signs_ends_the_connection(tmp_path: Path) -> None:
    """A node says so, and the proxy keeps that to itself: whatever came later on it would be the same person's."""
    ports = (free_port(), free_port())
    nodes = [SlowNode(port, 0) for port in ports]
    with nginx.proxy(tmp_path, ports) as url:
        replies = {
            end: requests.post(f"{url}/api/v1/surveys/exam/{end}", data=b"1", headers=JSON, timeout=30,
                               verify=str(tmp_path / "certificate"))
            for end in ("redeem", "reports")
        }  # fmt: skip
    for node in nodes:
        node.end()

    assert {end: (reply.status_code, reply.headers["Connection"]) for end, reply in replies.items()} == {
        "redeem": (200, "close"), "reports": (200, "keep-alive")
    }  # fmt: skip


def test_an_error_log_would_have_named_them(tmp_path: Path) -> None:
    """So such failures are written down by nginx: the switch in the sample is what keeps addresses out."""
    log = tmp_path / "error.log"
    with nginx.proxy(tmp_path, (free_port(), free_port()), log) as url:
        break_off(url)
        assert [ask(url, tmp_path, body) for body in (b" " * (5 * 2**20), *reports(1))] == [413, 502]

    for told in ("127.0.0.1", "too large body", "upstream", MARK):
        assert told in log.read_text(errors="replace")
