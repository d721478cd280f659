"""Many connections that take places and ask for nothing: others are answered meanwhile, and memory stays."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.conftest import Running, processes, start
from tests.journey.test_hostile_http import good, post
from tests.surveys import survey

MANY = 1_500
"""More than the usual limit of open files, and than the server takes if it is not told otherwise."""

MOST_MEMORY = 150  # MiB
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
HALF_A_HEAD = b"POST /api/v1/surveys/exam/reports HTTP/1.1\r\nHost: x\r\nX-Slow: "
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
ATTACKS = {"idle": b"", "half heads": HALF_A_HEAD, "HTTP/2 prefaces": PREFACE, "kept alive": WHOLE}


@contextmanager
def open_files(soft: int) -> Iterator[None]:
    """This process, and those it starts meanwhile, may have so many open files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator that was started under the usual limit of 1,024 open files."""
    with ExitStack() as stack:
        with open_files(1024):
            running = stack.enter_context(start(tmp_path_factory.mktemp("many"), survey(), rate_limit=0))
        stack.enter_context(open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        yield running


def memory(server: Running) -> float:
    """What its processes hold in memory, in MiB."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in processes(server.url))
    return pages * resource.getpagesize() / 2**20


def connect(server: Running, data: bytes = b"") -> socket.socket:
    """A connection on which this was sent."""
    parts = urlsplit(server.url)
    connection = socket.create_connection((parts.hostname, parts.port or 80), timeout=20)
    connection.sendall(data)
    return connection


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    reply = b""
    try:
        while chunk := connection.recv(65536):
            reply += chunk
    except ConnectionResetError:
        pass
    return reply


@pytest.mark.parametrize("data", ATTACKS.values(), ids=ATTACKS)
def test_connections_that_ask_for_nothing_hold_nobody_up(server: Running, data: bytes) -> None:
    """While they are all there: a report is stored, the survey is served, the server is ready, and hardly grows."""
    assert post(server, good()).status_code == 200
    before = memory(server)
    with ExitStack() as stack:
        for _ in range(MANY):
            connection = stack.enter_context(connect(server, data))
            assert data != WHOLE or connection.recv(65536).startswith(b"HTTP/1.1 200")
        served = [post(server, good()).status_code for _ in range(10)]
        served += [requests.get(address, timeout=15).status_code for address in (server.api, f"{server.url}/readyz")]
        grown = memory(server) - before

    assert served == [200] * 12
    assert grown < MOST_MEMORY


def test_http_2_without_tls_is_not_spoken(server: Running) -> None:
    """Neither at once nor by an upgrade: every reply is of HTTP/1.1."""
    with connect(server, PREFACE) as connection:
        reply = received(connection)
    upgrade = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n"
    with connect(server, upgrade + b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n") as connection:
        upgraded = received(connection)

    assert not reply or reply.startswith(b"HTTP/1.1 400")
    assert upgraded.startswith(b"HTTP/1.1 200")


def test_head_that_does_not_end_is_cut_off(server: Running) -> None:
    """Because of its time, and because of its size."""
    with connect(server, HALF_A_HEAD) as slow, connect(server, HALF_A_HEAD + b"x" * 16_384) as large:
        replies = [received(large), received(slow)]

    assert replies[0].startswith(b"HTTP/1.1 431")
    assert b" 200 " not in replies[1]
