"""The gate: what it does itself, what it hands to a thread, and that neither holds up anybody else."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import quote

import pytest
from sottovoce.aggregator.accounts.authentication import new_cookie, new_key
from sottovoce.aggregator.api.health import COUNTED
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.intake.asgi_gate import REQUEST_BYTES, UPLOADS_AT_ONCE, Gate
from sottovoce.aggregator.intake.http_connection import Connection, Connections
from sottovoce.aggregator.intake.request_limits import UPLOAD, UPLOAD_PATH, VISITOR_UPLOAD
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.errors import StorageError
from sottovoce.shared.report import Report, dump_report

from tests.conftest import FakeClock
from tests.surveys import ANSWERS, survey

T = TypeVar("T")
PATH = "/api/v1/surveys/exam/reports"
WRITE = ("POST", "/nowhere")
WRITTEN = [("content-length", "0")]


def report() -> Report:
    return randomize(survey(), encode(survey(), ANSWERS), Draws())


@pytest.fixture
def gate(storage: SQLiteStorage, clock: FakeClock) -> Gate:
    storage.publish(survey())
    return Gate(create_app(Settings(), storage, clock, {}), Settings(), storage)


def run(doing: Coroutine[Any, Any, T], seconds: float = 20) -> T:
    """What it comes to, on an event loop of its own: this thread may have one that a browser's tests began."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asyncio.wait_for(doing, seconds)).result()


class Wire(asyncio.Transport):
    """The network's side of a connection, which keeps the first answer."""

    def __init__(self, peer: str) -> None:
        super().__init__({"peername": (peer.strip("[]"), 1), "sockname": ("x", 80)})
        self.answer = asyncio.get_running_loop().create_future()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Read the answer, but for the date, which says nothing of the request."""
        head, _, body = bytes(data).partition(b"\r\n\r\n")
        line, *fields = head.decode().split("\r\n")
        if not self.answer.done() and not line.startswith("HTTP/1.1 1"):
            headers = [(name.title(), value) for name, _, value in (field.partition(": ") for field in fields)]
            self.answer.set_result((int(line.split()[1]), [one for one in headers if one[0] != "Date"], body))

    def is_closing(self) -> bool:
        return False

    def resume_reading(self) -> None:
        """What came is given at once."""

    pause_reading = write_eof = close = resume_reading


def send(
    gate: Gate, method: str, path: str, headers: list[tuple[str, str]], body: bytes = b"", peer: str = "127.0.0.1"
) -> tuple[Connection, Wire]:
    """A connection on which this came."""
    connection, wire = Connection(Connections(gate)), Wire(peer)
    connection.connection_made(wire)
    host = [] if "host" in {name.lower() for name, _ in headers} else [("host", "x")]
    fields = "".join(f"{name}: {value}\r\n" for name, value in [*host, *headers])
    connection.data_received(f"{method} {quote(path)} HTTP/1.1\r\n{fields}\r\n".encode() + body)
    return connection, wire


async def ask_raw(
    gate: Gate,
    method: str,
    path: str,
    headers: list[tuple[str, str]],
    body: bytes | None = b"",
    peer: str = "127.0.0.1",
) -> tuple[int, list[tuple[str, str]], bytes]:
    connection, wire = send(gate, method, path, headers, body or b"", peer)
    declared = dict(headers).get("content-length", "")
    if declared.isdecimal() and len(body or b"") < int(declared):
        asyncio.get_running_loop().call_later(0.05, connection.eof_received)
    try:
        return await wire.answer
    except asyncio.CancelledError:
        connection.connection_lost(None)
        raise


async def ask(gate: Gate, path: str, body: bytes | None = None) -> tuple[int, Any]:
    headers = [] if body is None else [("content-type", "application/json"), ("content-length", str(len(body)))]
    status, _, reply = await ask_raw(gate, "GET" if body is None else "POST", path, headers, body or b"")
    return status, json.loads(reply or b"null")


def test_reports_are_stored_together_and_each_gets_its_receipt(gate: Gate, storage: SQLiteStorage) -> None:
    reports = [report() for _ in range(40)]
    bodies = [dump_report(one, survey()) for one in [*reports, reports[0], replace(report(), values=(9, 0, 0))]]

    async def all_at_once() -> list[tuple[int, Any]]:
        return await asyncio.gather(*(ask(gate, PATH, body) for body in bodies))

    found = run(all_at_once())
    assert [status for status, _ in found] == [200] * 41 + [422]
    assert [reply["report_id"] for _, reply in found[:40]] == [one.report_id for one in reports]
    assert found[40] == found[0]
    assert found[41][1]["code"] == "out_of_range"
    assert storage.surveys()[0].reports == 40


def test_database_that_does_not_answer_holds_up_who_needs_it_only(
    gate: Gate, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look-up waits in a thread; a report that needs none, and a survey's page, are answered meanwhile."""
    answers = threading.Event()
    original = storage.find_report

    def slow(*key: Any) -> Any:
        assert answers.wait(20)
        return original(*key)

    monkeypatch.setattr(storage, "find_report", slow)

    async def meanwhile() -> tuple[list[tuple[int, Any]], tuple[int, Any]]:
        await ask(gate, PATH, dump_report(report(), survey()))
        waiting = asyncio.create_task(ask(gate, PATH, dump_report(replace(report(), values=(9, 0, 0)), survey())))
        others = [await ask(gate, PATH, dump_report(report(), survey())), await ask(gate, "/api/v1/surveys/exam")]
        assert not waiting.done()
        answers.set()
        return others, await waiting

    others, refused = run(meanwhile())
    assert [status for status, _ in others] == [200, 200]
    assert (refused[0], refused[1]["code"]) == (422, "out_of_range")


@pytest.mark.parametrize(
    ("declared", "more", "expected"),
    [
        (-1, [], (400, "malformed")),
        (1, [], (400, "malformed")),
        (0, ["authorization"] * 2, (400, "malformed")),
        (0, ["content-type"], (400, "malformed")),
        (0, ["transfer-encoding"], (411, "length_required")),
    ],
)
def test_head_that_two_readers_might_read_differently_is_refused(
    gate: Gate, storage: SQLiteStorage, declared: int, more: list[str], expected: tuple[int, str]
) -> None:
    """Another length than the whole report's, a header twice, equal or not, and chunks, which end nowhere."""
    body = dump_report(report(), survey())
    head = {"content-type": "application/json", "content-length": str(len(body) + declared)}
    others = {"authorization": "Bearer x", "transfer-encoding": "chunked"} | head
    status, _, reply = run(ask_raw(gate, "POST", PATH, [*head.items(), *((name, others[name]) for name in more)], body))

    assert (status, json.loads(reply)["code"]) == expected
    assert storage.surveys()[0].reports == 0


def test_body_that_ends_early_is_refused(gate: Gate) -> None:
    """Who closed only his own way of the connection is told so."""
    head = [("content-type", "application/json"), ("content-length", "400")]
    status, headers, reply = run(ask_raw(gate, "POST", PATH, head, None))

    assert (status, json.loads(reply)["code"]) == (400, "malformed")
    assert ("Connection", "close") in headers


def test_flask_learns_no_address(gate: Gate) -> None:
    """Neither the connection's nor one that a proxy names, and no header passes for another one."""
    seen: list[dict[str, Any]] = []
    original = gate._app.wsgi_app  # type: ignore[attr-defined]
    gate._app.wsgi_app = lambda environ, start: seen.append(environ) or original(environ, start)  # type: ignore
    named = [("x-forwarded-for", "203.0.113.7"), ("forwarded", "for=203.0.113.7"), ("x-real-ip", "203.0.113.7"),
             ("x_forwarded_for", "203.0.113.7"), ("content_length", "7")]  # fmt: skip
    run(ask_raw(gate, "GET", "/api/v1/surveys/exam", named, peer="203.0.113.7"))

    assert "203.0.113" not in str(seen)
    assert seen[0]["CONTENT_LENGTH"] == "0"


def test_rate_is_counted_once_behind_a_proxy(storage: SQLiteStorage, clock: FakeClock) -> None:
    """By the gate; Flask, which does not see who it is, would take all for one."""
    settings = Settings(rate_limit=1, proxy_hops=1)
    gate = Gate(create_app(settings, storage, clock, {}), settings, storage)
    senders = ["203.0.113.1", "198.51.100.1", "203.0.113.2"]
    statuses = [run(ask_raw(gate, *WRITE, [("x-forwarded-for", one), *WRITTEN]))[0] for one in senders]

    assert statuses == [404, 404, 429]


@pytest.mark.parametrize("peer", ["203.0.113.1", "[2001:db8::1]"])
def test_rate_is_counted_by_the_address_of_the_connection(storage: SQLiteStorage, clock: FakeClock, peer: str) -> None:
    settings = Settings(rate_limit=1)
    gate = Gate(create_app(settings, storage, clock, {}), settings, storage)
    statuses = [run(ask_raw(gate, *WRITE, WRITTEN, peer=one))[0] for one in (peer, peer, "[::1]", "[::1]")]

    assert statuses == [404, 429, 404, 404]


def test_who_only_reads_is_not_counted(storage: SQLiteStorage, clock: FakeClock) -> None:
    """A lecture hall behind one address that opens the form at once; one of them may write."""
    storage.publish(survey())
    settings = Settings(rate_limit=1)
    gate = Gate(create_app(settings, storage, clock, {}), settings, storage)
    paths = ["/", "/healthz", "/api/v1/surveys/exam", "/api/v1/surveys/exam/status", "/dashboard/login"] * 3
    read = [run(ask_raw(gate, "GET", path, [("accept", "text/html")], peer="203.0.113.1"))[0] for path in paths]
    wrote = [run(ask_raw(gate, *WRITE, WRITTEN, peer="203.0.113.1"))[0] for _ in range(2)]

    assert read == [200] * 15
    assert wrote == [404, 429]


@pytest.mark.parametrize(("hops", "told"), [(0, 1), (1, 0)])
def test_proxy_that_is_not_believed_is_told_once(
    storage: SQLiteStorage, clock: FakeClock, caplog: pytest.LogCaptureFixture, hops: int, told: int
) -> None:
    """In the log, without an address; nothing is said where it is believed."""
    settings = Settings(proxy_hops=hops)
    gate = Gate(create_app(settings, storage, clock, {}), settings, storage)
    for _ in range(3):
        run(ask_raw(gate, *WRITE, [*WRITTEN, ("x-forwarded-for", "203.0.113.1")]))

    assert caplog.text.count("SOTTOVOCE_PROXY_HOPS") == told
    assert "203.0.113" not in caplog.text


def test_every_refusal_of_the_gate_is_counted(gate: Gate) -> None:
    long = [("content-length", "70000"), ("content-type", "application/json")]
    requests: dict[str, tuple[str, list[tuple[str, str]]]] = {
        "length_required": (PATH, []),
        "malformed": (PATH, [("content-length", "9"), *[("content-type", "application/json")] * 2]),
        "unsupported_type": (PATH, [("content-length", "9"), ("content-type", "text/plain")]),
        "too_large": (PATH, long),
        "unauthorized": ("/api/v1/surveys/exam/publish", long),
    }
    for path, head in requests.values():
        run(ask_raw(gate, "POST", path, head))
    assert gate._admission.rejected == dict.fromkeys(requests, 1)
    assert set(requests) <= set(COUNTED)


def test_busy_late_and_too_frequent_requests_are_counted(storage: SQLiteStorage, clock: FakeClock) -> None:
    settings = Settings(rate_limit=1, body_seconds=0)
    app = create_app(settings, storage, clock, {})
    gate = Gate(app, settings, storage)
    head = [("content-length", "9"), ("content-type", "application/json")]

    run(ask_raw(gate, "POST", PATH, head, b"{}", "203.0.113.1"))
    run(ask_raw(gate, "POST", PATH, head, b"{}", "203.0.113.1"))
    gate._settings = Settings(max_body_kib=REQUEST_BYTES // 1024)
    run(ask_raw(gate, "POST", PATH, head))
    gate._settings = Settings(max_body_kib=REQUEST_BYTES // 1024 - 1)
    run(ask_raw(gate, "GET", "/", []))

    assert gate._admission.rejected == {"timeout": 1, "too_many": 1, "busy": 2}
    assert gate._bytes == 0


def test_requests_that_wait_for_a_thread_are_limited_and_reports_are_not(gate: Gate) -> None:
    """Reports wait for the disk only, and their bytes are limited."""
    gate._settings = Settings(max_requests=0)
    assert run(ask_raw(gate, "GET", "/api/v1/surveys/exam", []))[0] == 503
    head = [("content-length", "2"), ("content-type", "application/json")]
    assert run(ask_raw(gate, "POST", PATH, head, b"{}"))[0] == 400
    assert set(gate._admission.rejected) <= set(COUNTED)


def test_proxy_is_believed_by_the_last_of_several_lines(storage: SQLiteStorage, clock: FakeClock) -> None:
    """A sender who writes a line of his own before the proxy's is no other network with each of them."""
    settings = Settings(rate_limit=1, proxy_hops=1)
    gate = Gate(create_app(settings, storage, clock, {}), settings, storage)

    def status(number: int) -> int:
        lines = [("x-forwarded-for", f"10.{number}.0.1"), ("x-forwarded-for", "203.0.113.1")]
        return run(ask_raw(gate, "POST", PATH, lines))[0]

    assert [status(number) for number in range(2)] == [411, 429]


@pytest.mark.parametrize("place", ["_reply", "_run", "_report"])
def test_failure_that_nobody_foresaw_is_a_problem_document(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    """Wherever it happens: with the headers of all replies, of any origin, and without what was sent in the log."""

    def fails(*_: Any) -> Any:
        raise KeyError("sentinel")

    monkeypatch.setattr(gate, place, fails)
    method, path = ("GET", "/api/v1/surveys/exam") if place == "_run" else ("POST", PATH)
    head = [("content-type", "application/json"), ("content-length", "2")]
    status, headers, body = run(ask_raw(gate, method, path, head, b"{}"))

    assert (status, json.loads(body)["code"]) == (500, "internal")
    assert {("Content-Type", "application/problem+json"), ("Access-Control-Allow-Origin", "*")} <= set(headers)
    assert ("X-Content-Type-Options", "nosniff") in headers
    assert "KeyError" in caplog.text
    assert "sentinel" not in caplog.text


def test_failures_of_the_application_are_counted(
    gate: Gate, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that it answers itself: the database's and its own."""
    for code, error in (("storage", StorageError("full")), ("internal", KeyError("bug"))):

        def fails(*_: Any, error: Exception = error) -> Any:
            raise error

        monkeypatch.setattr(storage.access, "key", fails)
        head = [("authorization", "Bearer x")]
        status, _, body = run(ask_raw(gate, "GET", "/api/v1/surveys/exam/export", head))
        assert (status, json.loads(body)["code"]) == (503 if code == "storage" else 500, code)
        assert gate._admission.rejected[code] == 1


def test_large_upload_needs_a_session_and_keeps_no_report_out(
    gate: Gate, storage: SQLiteStorage, clock: FakeClock
) -> None:
    """A data file is read only for staff, in its own room: beside it, reports find theirs."""
    sizes = [("content-length", str(UPLOAD)), ("content-type", "multipart/form-data; boundary=x")]
    refused = run(ask_raw(gate, "POST", UPLOAD_PATH, sizes, b"", "10.0.0.1"))
    assert refused[0] == 401
    cookie, digest = new_cookie()
    storage.add_researcher("ann", new_key()[1])
    ann = storage.access.accounts()[0]
    assert storage.access.start_session(digest, ann.id, "link", int(clock().timestamp()))
    signed_in = [*sizes, ("cookie", f"sottovoce={cookie}")]

    async def beside() -> tuple[list[int], tuple[int, Any]]:
        sent = [send(gate, "POST", UPLOAD_PATH, signed_in) for _ in range(3)]
        # The third upload is refused while the first two are being read.
        while not any(wire.answer.done() for _, wire in sent):
            await asyncio.sleep(0.01)
        stored = await ask(gate, PATH, dump_report(report(), survey()))
        for connection, _ in sent:
            connection.eof_received()
        return sorted([(await wire.answer)[0] for _, wire in sent]), stored

    statuses, (status, _) = run(beside())
    assert statuses == [400, 400, 503]
    assert status == 200


def test_researcher_whose_upload_is_refused_is_told_to_send_it_again(gate: Gate) -> None:
    """Not that a respondent's device keeps the answers; the page leads back to the studio."""
    gate._settings = Settings(public_analysis=1)
    gate._uploads = UPLOADS_AT_ONCE
    sizes = [("content-length", str(VISITOR_UPLOAD)), ("content-type", "multipart/form-data; boundary=x")]
    status, _, body = run(ask_raw(gate, "POST", UPLOAD_PATH, [*sizes, ("accept", "text/html")]))
    told = body.decode()
    assert (status, "go back, and send it again" in told, "Your device" in told) == (503, True, False)
    assert 'href="/dashboard/"' in told


def test_upload_of_a_visitor_leaves_room_for_one_of_staff(gate: Gate) -> None:
    """Where visitors may send files: a small one, one at a time; a larger one needs a session."""
    gate._settings = Settings(public_analysis=1)

    def upload(size: int) -> tuple[Connection, Wire]:
        sizes = [("content-length", str(size)), ("content-type", "multipart/form-data; boundary=x")]
        return send(gate, "POST", UPLOAD_PATH, sizes)

    async def beside() -> list[int]:
        sent = [upload(size) for size in (VISITOR_UPLOAD, VISITOR_UPLOAD, VISITOR_UPLOAD + 1)]
        while sum(wire.answer.done() for _, wire in sent) < 2:
            await asyncio.sleep(0.01)
        for connection, _ in sent:
            connection.eof_received()
        return sorted([(await wire.answer)[0] for _, wire in sent])

    assert run(beside()) == [400, 401, 503]


SLOW = ("POST", PATH, [("content-type", "application/json"), ("content-length", "4")])
"""A request whose body does not come with its head."""


def test_each_body_has_its_own_time_and_the_others_go_on(gate: Gate) -> None:
    """Two that never come are given up, one after the other; one that comes in between, in parts, is read."""
    gate._settings = Settings(body_seconds=1)

    async def bodies() -> list[tuple[int, list[int]]]:
        wires = [send(gate, *SLOW)]
        await asyncio.sleep(0.5)
        wires += [send(gate, *SLOW), send(gate, *SLOW)]
        for part in (b"bo", b"dy"):
            wires[2][0].data_received(part)
            await asyncio.sleep(0.1)
        done = [(await wires[at][1].answer, [other.answer.done() for _, other in wires]) for at in (2, 0, 1)]
        return [(answer[0], others) for answer, others in done]

    assert run(bodies()) == [(400, [False, False, True]), (408, [True, False, True]), (408, [True, True, True])]


def test_end_gives_up_what_is_read_and_what_begins_later(gate: Gate) -> None:
    """All at once, however long they had; also where no body was being read; a request that is whole is answered."""

    async def ended(begun: int) -> list[int]:
        whole = send(gate, "GET", "/healthz", [])
        slow = [send(gate, *SLOW) for _ in range(begun)]
        await asyncio.sleep(0.01)
        for connection, _ in [whole, *slow]:
            connection._all.end()
            connection.end()
        connection, wire = Connection(slow[0][0]._all if slow else whole[0]._all), Wire("127.0.0.1")
        connection.connection_made(wire)
        connection.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n")
        return [(await wire.answer)[0] for wire in (whole[1], *(each for _, each in slow), wire)]

    for begun in (0, 3):
        assert run(ended(begun)) == [200] + [503] * (begun + 1)


TOLD_EARLY = """
import asyncio, signal, socket, types, uvloop
from sottovoce.aggregator.intake.http_connection import Connections
gate = types.SimpleNamespace(is_draining=False)
async def main():
    asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGTERM)
    await Connections(gate).serve(socket.socket())
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
print(gate.is_draining)
"""


def test_order_to_end_before_the_first_turn_is_obeyed() -> None:
    """What a worker is told as soon as it can hear is not forgotten."""
    ended = subprocess.run([sys.executable, "-c", TOLD_EARLY], capture_output=True, text=True, timeout=20, check=True)
    assert ended.stdout.strip() == "True"
