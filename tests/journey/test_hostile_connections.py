"""Many connections that ask for nothing, or send what they may not: others are answered meanwhile, memory stays."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
    parts = urlsplit(server.url)
    connection = socket.create_connection((parts.hostname, parts.port or 80), timeout=20)
    connection.sendall(data)
    return connection


def received(connection: socket.socket) -> bytes:
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
    with connect(server, PREFACE) as connection:
        reply = received(connection)
    upgrade = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n"
    with connect(server, upgrade + b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n") as connection:
        upgraded = received(connection)

    assert not reply or reply.startswith(b"HTTP/1.1 400")
    assert upgraded.startswith(b"HTTP/1.1 200")


def test_head_that_does_not_end_is_cut_off(server: Running) -> None:
    with connect(server, HALF_A_HEAD) as slow, connect(server, HALF_A_HEAD + b"x" * 16_384) as large:
        replies = [received(large), received(slow)]

    assert replies[0].startswith(b"HTTP/1.1 431")
    assert b" 200 " not in replies[1]


def large_body(path: str, length: int, *lines: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {length}", *lines]
    return "\r\n".join([*head, "", ""]).encode()


@pytest.mark.parametrize(
    ("end", "most"), [("publish", 4 * 2**20), ("tokens/revoke", 512 * 1024)], ids=["publish", "revoke"]
)
def test_large_body_is_not_read_from_who_is_no_researcher(server: Running, end: str, most: int) -> None:
    address = f"{server.api}/{end}"
    small = requests.post(address, data=b"{}", headers={"Content-Type": "application/json"}, timeout=15)
    wrong, right = "Authorization: Bearer researcher-wrong", f"Authorization: Bearer {server.token}"
    for lines in ([], [wrong], ["Authorization: Bearer "]):
        with connect(server, large_body(urlsplit(address).path, most, *lines)) as connection:
            head, _, body = received(connection).partition(b"\r\n\r\n")
        assert (head.split()[1], body) == (b"401", small.content)
        assert {b"www-authenticate: Bearer", b"connection: close"} <= set(head.split(b"\r\n"))
    with connect(server, large_body(urlsplit(address).path, most + 1, right)) as connection:
        assert received(connection).startswith(b"HTTP/1.1 413")


def test_researchers_large_body_is_read(server: Running) -> None:
    headers = {**server.researcher, "Content-Type": "application/json"}
    text = b'{"tokens": []}'
    revoked = requests.post(f"{server.api}/tokens/revoke", data=text.ljust(500_000), headers=headers, timeout=15)
    survey_file = requests.post(f"{server.api}/publish", data=b"{}".ljust(4 * 2**20), headers=headers, timeout=15)

    assert revoked.status_code == 200
    assert survey_file.json()["code"] == "spec_invalid"


def test_large_bodies_of_strangers_take_no_memory(server: Running) -> None:
    """Eighty of the largest at once, each sent to its last byte but one, or as far as the server takes it."""
    before = memory(server)
    length = 4 * 2**20
    with ExitStack() as stack:
        for _ in range(80):
            connection = stack.enter_context(connect(server, large_body("/api/v1/surveys/exam/publish", length)))
            with suppress(ConnectionError):
                connection.sendall(b" " * (length - 1))
        served = [post(server, good()).status_code for _ in range(5)]
        grown = memory(server) - before

    assert served == [200] * 5
    assert grown < MOST_MEMORY
