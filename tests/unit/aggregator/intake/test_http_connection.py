"""HTTP as it is spoken: what is a request, where it ends, how long it may take, and which reports are taken at once."""

import asyncio
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.intake.asgi_gate import Gate
from sottovoce.aggregator.intake.http_connection import (
    AHEAD_BYTES,
    HEAD_BYTES,
    HEAD_SECONDS,
    UNREAD_SECONDS,
    Connection,
    Connections,
    HttpRequest,
    log_failure,
)
from sottovoce.aggregator.intake.request_limits import RateLimits
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.report import dump_report

from tests.conftest import FakeClock
from tests.surveys import ANSWERS, survey
from tests.unit.aggregator.intake.test_asgi_gate import run

ALIVE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LINE = b"POST /api/v1/surveys/exam/reports HTTP/1.1\r\n"
TO = LINE + b"Host: x\r\n"
BROWSER = (
    b'Host: x\r\nConnection: keep-alive\r\nContent-Length: %d\r\nsec-ch-ua-platform: "Linux"\r\nUser-Agent: Mozilla/5.0'
    b" (X11)\r\nContent-Type: application/json\r\nAccept: */*\r\nOrigin: null\r\nAccept-Language: de\r\n\r\n"
)
PROXY = b"x-forwarded-for: 203.0.113.9\r\nhost: x\r\ncontent-length: %d\r\ncontent-type: application/json\r\n\r\n"
CHUNKED = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Node:
    """A gate in front of a published survey, with one report stored."""

    gate: Gate
    storage: SQLiteStorage
    connections: Connections

    def say(self, *parts: bytes, ends: bool = False) -> bytes:
        """All that comes back, until the other side ends or has nothing more to say."""
        return run(self.talk(*parts, ends=ends))

    async def talk(self, *parts: bytes, ends: bool = False) -> bytes:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(log_failure)
        server = await loop.create_server(lambda: Connection(self.connections), "127.0.0.1")
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.05 * (part is not parts[-1]))
        if ends:
            writer.write_eof()
        found = b""
        try:
            while more := await asyncio.wait_for(reader.read(65536), 0.2 if found else 10):
                found += more
        except TimeoutError:
            found += b"<open>"
        writer.close()
        server.close()
        return found


@pytest.fixture
def node(storage: SQLiteStorage, clock: FakeClock) -> Node:
    storage.publish(survey())
    gate = Gate(create_app(Settings(), storage, clock, {}), Settings(), storage)
    found = Node(gate, storage, Connections(gate))
    assert b" 200 OK" in found.say(report(BROWSER)[: len(LINE) + 20], report(BROWSER)[len(LINE) + 20 :])
    return found


def report(head: bytes) -> bytes:
    body = dump_report(randomize(survey(), encode(survey(), ANSWERS), Draws()), survey())
    return LINE + head % len(body) + body


def statuses(said: bytes) -> list[int]:
    return [int(part[:3]) for part in said.split(b"HTTP/1.1 ")[1:]]


def quick(node: Node, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each report from now on was taken at once."""
    taken: list[bool] = []
    take = node.gate.take
    monkeypatch.setattr(node.gate, "take", lambda *sent: taken.append(take(*sent)) or taken[-1])
    return taken


@pytest.mark.parametrize("head", [BROWSER, PROXY], ids=["browser", "proxy"])
def test_report_that_comes_whole_is_taken_without_a_task(
    node: Node, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    """From a browser and from a proxy, one after another on one connection; only a proxy's networks are counted."""
    node.gate._limits = RateLimits(Settings(rate_limit=3, proxy_hops=int(head == PROXY)))
    taken, sent = quick(node, monkeypatch), [report(head) for _ in range(5)]
    said = node.say(*sent)
    assert statuses(said) == ([200] * 5 if head == BROWSER else [200] * 3 + [429])
    assert taken == [True] * (5 if head == BROWSER else 3) + [False] * (head == PROXY)
    assert node.storage.surveys()[0].reports == taken.count(True) + 1
    assert node.gate._bytes == 0


@pytest.mark.parametrize(
    "line",
    [b"Authorization: Bearer x", b"Content-Encoding: identity", b"Transfer-Encoding: chunked", b"Connection: close",
     b"Expect: 100-continue", b"Content-Length: 5", b"X-Forwarded-For: 1.2.3.4, 203.0.113.9", b"A: \xc3\xa9",
     b"content-type: application/json", b"A:b", b"X-Forwarded-For: nobody", b"Content_Length: 5"],
)  # fmt: skip
def test_report_with_a_line_that_may_change_something_goes_the_usual_way(
    node: Node, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    taken = quick(node, monkeypatch)
    assert len(statuses(node.say(report(PROXY.replace(b"host: x", line))))) == 1
    assert taken == []


def test_report_in_two_parts_is_stored_wherever_it_was_cut(node: Node) -> None:
    """Between its head and its body, within either, and at the end of a line; its sender may have said all by then."""
    for at in (1, 30, len(LINE) - 1, len(LINE), 200, 300, 400, 550):
        whole = report(BROWSER)
        assert statuses(node.say(whole[:at], whole[at:], ends=True)) == [200]
    assert node.storage.surveys()[0].reports == 9


def test_requests_in_one_go_are_answered_in_turn(node: Node) -> None:
    said = node.say(ALIVE + report(BROWSER) + b"\r\n" + ALIVE.replace(b"healthz", b"none") + ALIVE + report(BROWSER))
    assert statuses(said) == [200, 200, 404, 200, 200]
    assert said.endswith(b"<open>")


def test_requests_of_who_has_said_all_are_answered_in_turn(node: Node) -> None:
    """It waits for its answers only; the last says that no more comes."""
    said = node.say(ALIVE + report(BROWSER) + ALIVE + ALIVE, ends=True)
    assert statuses(said) == [200] * 4
    assert said.count(b"connection: close") == 1
    assert not said.endswith(b"<open>")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (ALIVE.replace(b"1.1", b"1.0"), 200),
        (ALIVE.replace(b"Host: x", b"Host: x\r\nConnection: Close"), 200),
        (ALIVE.replace(b"Host: x", b"Host: x\r\nContent-Length: 40"), 200),
        (ALIVE.replace(b"Host: x", b"Host: x\r\nTransfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n\r\n", 200),
        (ALIVE.replace(b"Host: x", b"Host: x\r\nTransfer-Encoding: chunked") + b"x\r\n", 200),
        (TO + CHUNKED + b"3\r\nabc\r\n0\r\n\r\n", 411),
        (TO + b"Content-Length: 3\r\n" + CHUNKED + b"3\r\nabc\r\n0\r\n\r\n", 411),
        (TO + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
        (TO + b"Content-Length: 3\r\nContent-Type: text/plain\r\n\r\nabc", 415),
        (LINE + b"Content-Length: 3\r\nContent-Type: application/json\r\n\r\nabc", 400),
        (TO + b"host: y\r\nContent-Length: 3\r\nContent-Type: application/json\r\n\r\nabc", 400),
    ],
)
def test_nothing_is_read_behind_a_body_of_which_the_end_is_unknown(node: Node, sent: bytes, status: int) -> None:
    """What follows could be meant as a body: one reply, which says so, and the end of the connection."""
    said = node.say(sent + ALIVE)
    assert statuses(said) == [status]
    assert b"\r\nconnection: close\r\n" in said.lower()
    assert not said.endswith(b"<open>")


@pytest.mark.parametrize(
    "sent",
    [b"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n",
     b"GET /healthz HTTP/1.1\r\nA: \0\r\n\r\n", b"GET /healthz\r\n\r\n",
     b"GET /healthz HTTP/2.0\r\n\r\n", b"GET healthz HTTP/1.1\r\n\r\n", b"GET  /healthz HTTP/1.1\r\n\r\n",
     b"GET /healthz\x01 HTTP/1.1\r\n\r\n", b"GET /healthz HTTP/1.1\r\n: x\r\n\r\n", b"\x16\x03\x01\r\n\r\n",
     b"GET /healthz HTTP/1.1\r\nA: b\rC: d\r\n\r\n", b"CONNECT x:80 HTTP/1.1\r\n\r\n", b"G(T / HTTP/1.1\r\n\r\n"],
)  # fmt: skip
def test_head_that_is_none_is_refused(node: Node, sent: bytes) -> None:
    """Also with the host that every request has."""
    said = node.say(sent.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nHost: x\r\n") + ALIVE)
    assert said == said[: said.index(b"\r\n\r\n") + 4]
    assert statuses(said) == [400]


def test_head_has_room_and_time(node: Node) -> None:
    """As much as a browser needs; who sends nothing, or never ends, is gone after a while."""
    filled = ALIVE[:-2] + b"A: " + b"b" * (HEAD_BYTES - len(b"/healthz" + b"HostxA")) + b"\r\n\r\n"
    assert [statuses(node.say(head)) for head in (filled, filled.replace(b"A: ", b"A: b"))] == [[200], [431]]

    async def idle(sent: bytes) -> int:
        talking = asyncio.create_task(node.talk(sent))
        await asyncio.sleep(0.2)
        (connection,) = node.connections.held
        seconds = 0
        while node.connections.held:
            connection.wait_no_longer()
            seconds += 1
            await asyncio.sleep(0)
        await talking
        return seconds

    assert [run(idle(sent)) for sent in (b"", ALIVE[:-2], ALIVE)] == [HEAD_SECONDS + 1] * 3


def test_head_alone_is_asked_and_a_body_is_called_for(node: Node) -> None:
    """HEAD has the length of what GET gets and no body; who waits to be asked for a body is asked if it is wanted."""
    said = node.say(ALIVE.replace(b"GET", b"HEAD"))
    assert said.endswith(b"\r\n\r\n<open>")
    assert b"\r\ncontent-length: 3\r\n" in said
    whole = report(BROWSER.replace(b"Accept:", b"Expect: 100-continue\r\nAccept:"))
    at = whole.index(b"\r\n\r\n") + 4
    assert statuses(node.say(whole[:at], whole[at:])) == [100, 200]
    assert statuses(node.say(whole.replace(b"application/json", b"text/plain")[:at])) == [415]


def test_path_is_decoded_once_and_the_host_of_a_proxy_is_none_of_it(node: Node) -> None:
    asked = b"GET http://x.example/health%7a?a=%41", b"GET HTTPS://x.example/healthz", b"GET /health%257a"
    assert [statuses(node.say(each + b" HTTP/1.1\r\nHost: x\r\n\r\n")) for each in asked] == [[200], [200], [404]]


def test_letters_beyond_ascii_cost_no_more_than_themselves(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line with some has the rest of its value, and none that means something without them."""
    heads: list[HttpRequest] = []

    async def answer(head: HttpRequest, connection: Connection, _: object) -> None:
        heads.append(head)
        connection.reply(200, [], b"")

    monkeypatch.setattr(node.gate, "answer", answer)
    node.say(ALIVE.replace(b"Host: x", "Host: ä.example\r\nCookie: a=é; session=b".encode()))
    assert heads[0].headers == [("host", "??.example"), ("cookie", "a=??; session=b")]


class Held(asyncio.Transport):
    """A client that sends more than was asked for, or does not read."""

    def __init__(self) -> None:
        super().__init__({"sockname": None})
        self.reads: Any = True
        self.is_closed = False
        self.unread = 0

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.is_closed
        self.unread += len(data)

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.is_closed = True


def test_no_more_is_kept_than_was_asked_for(node: Node) -> None:
    """While a request is under way the rest waits in the network, also after the answer to one of many."""

    async def flood() -> list[bool]:
        held = Held()
        connection = Connection(node.connections)
        connection.connection_made(held)
        connection.data_received(ALIVE + ALIVE * (AHEAD_BYTES // 4))
        connection.data_received(b"a")
        before = held.reads
        await asyncio.sleep(0)
        return [before, held.reads, held.unread > 0]

    assert run(flood()) == [False, False, True]


def test_above_the_limit_the_oldest_that_waits_makes_room(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who only holds connections keeps nobody out; what is under way is not cut off."""
    monkeypatch.setattr("sottovoce.aggregator.intake.http_connection.CONNECTIONS", 3)

    async def crowd(sent: bytes) -> list[bool]:
        wires = [Held() for _ in range(5)]
        for wire in wires:
            connection = Connection(node.connections)
            connection.connection_made(wire)
            connection.data_received(sent if wire is not wires[1] else b"")
            if wire.is_closed:
                connection.connection_lost(None)  # as the loop tells it, before a reply is ready
        assert len(node.connections.held) == 3
        node.connections.held.clear()
        return [wire.is_closed for wire in wires]

    assert run(crowd(b"")) == [True, True, False, False, False]
    assert run(crowd(ALIVE)) == [False, True, False, False, True]


def test_heads_that_are_not_whole_are_bounded(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest makes room, however often it sends a byte more; one whose head came whole is none of them."""
    monkeypatch.setattr("sottovoce.aggregator.intake.http_connection.HEADS", 2)

    async def crowd() -> list[bool]:
        wires = [Held() for _ in range(5)]
        for wire, sent in zip(wires, (b"", ALIVE[:-2], ALIVE[:-2], ALIVE, ALIVE[:-2]), strict=True):
            connection = Connection(node.connections)
            connection.connection_made(wire)
            for place in range(0, len(sent), 8):
                connection.data_received(sent[place : place + 8])
        assert (len(node.connections.heads), len(node.connections.held)) == (2, 4)
        node.connections.held.clear()
        return [wire.is_closed for wire in wires]

    assert run(crowd()) == [False, True, False, False, False]


def test_who_does_not_read_gets_no_more_and_is_let_go(node: Node) -> None:
    """Its further requests wait until it has read, and all are answered then; it ends if it reads nothing for long."""

    async def deaf() -> tuple[int, int, int]:
        wire = Held()
        connection = Connection(node.connections)
        connection.connection_made(wire)
        connection.pause_writing()
        connection.data_received(ALIVE * 3)
        await asyncio.sleep(0.1)
        once = wire.unread
        connection.wait_no_longer()
        for _ in range(UNREAD_SECONDS - 1):
            connection.wait_no_longer()
        assert not wire.is_closed
        wire.unread -= 1  # it reads
        for _ in range(UNREAD_SECONDS):
            connection.wait_no_longer()
        assert not wire.is_closed
        connection.resume_writing()
        await asyncio.sleep(0.1)
        whole = wire.unread + 1
        seconds = 0
        while not wire.is_closed:
            connection.wait_no_longer()
            seconds += 1
        return once, whole, seconds

    once, whole, seconds = run(deaf())
    assert once > 0
    assert (whole, seconds) == (3 * once, UNREAD_SECONDS + 1)


def test_who_has_gone_is_sent_nothing_and_no_failure_is_told(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    """Wherever it broke off, and whatever was to be sent then."""

    async def gone(sent: bytes) -> None:
        wire = Held()
        connection = Connection(node.connections)
        connection.connection_made(wire)
        connection.data_received(sent)
        wire.abort()
        connection.connection_lost(None)
        await asyncio.sleep(0.1)

    whole = report(BROWSER.replace(b"Accept:", b"Expect: 100-continue\r\nAccept:"))
    for sent in (whole[: whole.index(b"{")], whole, whole[:-1], report(BROWSER), report(BROWSER) + ALIVE, ALIVE):
        run(gone(sent))
    assert caplog.text == ""
    assert node.gate._bytes == 0


def test_client_whose_end_is_not_known_yet_is_left_in_peace(node: Node) -> None:
    class Reset(Held):
        def is_closing(self) -> bool:
            return False

        def write_eof(self) -> None:
            raise OSError

    async def talk() -> int:
        wire = Reset()
        connection = Connection(node.connections)
        connection.connection_made(wire)
        connection.data_received(b"nonsense\r\n\r\n")
        return wire.unread

    assert run(talk()) > 0


MARK = "an answer that nobody may see"


@pytest.mark.parametrize(
    "replied",
    [(200, [("A", f"{MARK}\r\nB: c")], b""), (200, [("A", f"{MARK} ")], b""), (200, [("A", f"{MARK} \u2026")], b""),
     (200, [("Content-Length", "1")], MARK.encode()), (200, [("Content-Length", "99")], MARK.encode()),
     (999, [], b""), None],
    ids=["line end", "space", "letters", "longer", "shorter", "status", "error"],
)  # fmt: skip
def test_reply_that_is_no_http_is_a_failure_that_is_told(
    node: Node, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, replied: Any
) -> None:
    """Nobody waits for ever, nothing of it is sent, and the log has the place without the words."""

    async def answer(_request: object, connection: Connection, _refused: object) -> None:
        if replied is None:
            raise ValueError(MARK)
        connection.reply(*replied)

    monkeypatch.setattr(node.gate, "answer", answer)
    said = node.say(ALIVE)
    assert statuses(said) == [500]
    assert not said.endswith(b"<open>")
    assert MARK not in said.decode() + caplog.text
    assert "bug: " in caplog.text


def test_file_is_sent_from_the_disk(node: Node, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Read, and joined with its head, it would be in memory three times: 500 MB for a million reports."""
    (tmp_path / "file").write_bytes(b"1,0\n" * 99)
    with (tmp_path / "file").open("rb") as file:
        content = mmap(file.fileno(), 0, access=ACCESS_READ)
    replied, reply = [], Connection.reply

    def app(_environ: object, start: Any) -> list[mmap]:
        start("200 OK", [])
        return [content]

    def note(connection: Connection, status: int, headers: Any, body: bytes) -> None:
        replied.append(body)
        reply(connection, status, headers, body)

    monkeypatch.setattr(node.gate, "_app", app)
    monkeypatch.setattr(Connection, "reply", note)
    assert node.say(b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n").endswith(b"\r\n\r\n" + content[:] + b"<open>")
    assert replied[0] is content


def test_failure_that_nobody_sees_is_logged_without_its_words(
    node: Node, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def take(*_: object) -> bool:
        raise ValueError(MARK)

    monkeypatch.setattr(node.gate, "take", take)
    assert node.say(report(BROWSER)) == b""
    assert "bug: ValueError at the event loop" in caplog.text
    assert MARK not in caplog.text
    assert "Connection" not in caplog.text
