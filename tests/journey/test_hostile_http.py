"""Malformed, oversize, lying, slow and repeated requests against the real server: a problem document, nothing kept."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest
import requests
from sottovoce.client.draws import Draws
from sottovoce.client.page import by_path
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Survey

from tests.conftest import Running, start
from tests.page_files import page_files
from tests.surveys import ANSWERS, survey
from tests.unit.aggregator.intake.test_admission import mutants
from tests.unit.shared.test_schema import validator

JSON = {"Content-Type": "application/json"}
SMALL = survey()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One aggregator for all of this, which waits less than usual for the rest of a body."""
    with start(tmp_path_factory.mktemp("hostile"), survey(), body_seconds=3) as process:
        yield process


def good(asked: Survey = SMALL) -> bytes:
    return dump_report(randomize(asked, encode(asked, ANSWERS), Draws()), asked)


def post(server: Running, body: bytes, **headers: str) -> requests.Response:
    return requests.post(f"{server.api}/reports", data=body, headers={**JSON, **headers}, timeout=15)


def raw(server: Running, data: bytes, seconds: float = 15) -> bytes:
    """Send bytes as they are, and read until the other side closes or says enough."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=seconds) as connection:
        connection.sendall(data)
        reply = b""
        while b"\r\n\r\n" not in reply or b"}" not in reply:
            chunk = connection.recv(65536)
            if not chunk:
                break
            reply += chunk
        return reply


def head(server: Running, *lines: str) -> bytes:
    path = urlsplit(f"{server.api}/reports").path
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: x", *lines, "", ""]).encode()


def check_problem(reply: requests.Response, status: int, code: str, sentinel: str = "") -> None:
    """A small problem document that echoes nothing."""
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["Content-Type"] == "application/problem+json"
    validator("problem").validate(reply.json())
    assert len(reply.content) < 400
    assert not sentinel or sentinel not in reply.text


def test_every_mutant_is_a_400_and_nothing_is_stored(server: Running) -> None:
    before = server.reports()
    for mutant in mutants(good().decode().rstrip()):
        check_problem(post(server, mutant), 400, "malformed")

    assert server.reports() == before


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"values": [2, 0, 0]}, 422, "out_of_range"),
        ({"values": [0, -1, 0]}, 422, "out_of_range"),
        ({"values": [0, 0, 2**53]}, 422, "out_of_range"),
        ({"values": [0, 0, 2**64]}, 422, "out_of_range"),
        ({"values": [0, 0]}, 422, "out_of_range"),
        ({"values": []}, 422, "out_of_range"),
        ({"values": [None, 0, 0]}, 422, "out_of_range"),
        ({"digest": "0" * 64}, 409, "digest_mismatch"),
        ({"survey": "other"}, 404, "unknown_survey"),
    ],
)
def test_wrong_content_has_its_own_reason(server: Running, change: dict[str, object], status: int, code: str) -> None:
    document = {**json.loads(good()), **change}
    body = json.dumps(document, separators=(",", ":")).encode().ljust(len(good()))
    reply = post(server, body)

    if len(body) == len(good()):
        check_problem(reply, status, code)
    else:
        assert reply.status_code in {400, status}


def test_unknown_survey_is_a_404_that_does_not_repeat_the_name(server: Running) -> None:
    address = f"{server.url}/api/v1/surveys/sentinel"
    check_problem(requests.get(address, timeout=15), 404, "unknown_survey", "sentinel")
    check_problem(requests.post(f"{address}/reports", data=good(), headers=JSON, timeout=15), 404, "unknown_survey",
                  "sentinel")  # fmt: skip


def test_same_id_is_acknowledged_again_and_another_body_is_a_409(server: Running) -> None:
    body = good()
    first, again = post(server, body), post(server, body)
    document = json.loads(body)
    document["values"][0] = 1 - document["values"][0]
    other = json.dumps(document, separators=(",", ":")).encode().ljust(len(body))
    before = server.reports()

    assert (first.status_code, first.json()) == (200, again.json())
    check_problem(post(server, other), 409, "id_conflict")
    assert server.reports() == before


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/foo+json", "application/json; charset=latin-1", "multipart/form-data", "", "json"],
)
def test_other_content_type_is_a_415(server: Running, content_type: str) -> None:
    reply = requests.post(f"{server.api}/reports", data=good(), headers={"Content-Type": content_type}, timeout=15)

    check_problem(reply, 415, "unsupported_type")


def test_utf_8_may_be_said(server: Running) -> None:
    """The one parameter that changes nothing is allowed."""
    assert post(server, good(), **{"Content-Type": "application/json; charset=UTF-8"}).status_code == 200


def test_compressed_body_is_a_415(server: Running) -> None:
    """No Content-Encoding, not even identity."""
    for coding in ("gzip", "identity", "br"):
        check_problem(post(server, good(), **{"Content-Encoding": coding}), 415, "unsupported_type")


def test_body_over_the_limit_is_a_413(server: Running) -> None:
    check_problem(post(server, good() + b" " * 70_000), 413, "too_large")
    reply = raw(server, head(server, "Content-Type: application/json", "Content-Length: 99999999999"))
    assert b" 413 " in reply.split(b"\r\n")[0]


def test_missing_length_is_a_411(server: Running) -> None:
    """A chunked body is not read."""
    chunked = head(server, "Content-Type: application/json", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n"

    assert b" 411 " in raw(server, chunked).split(b"\r\n")[0]


def test_two_lengths_or_a_wrong_one_are_refused(server: Running) -> None:
    """Anything that two readers could read in two ways is a 400."""
    body = good()
    for lines in (
        ("Content-Length: 5", f"Content-Length: {len(body)}"),
        ("Content-Length: -1",),
        ("Content-Length: 0x10",),
    ):
        reply = raw(server, head(server, "Content-Type: application/json", *lines) + body)
        assert b" 400 " in reply.split(b"\r\n")[0]


def test_length_that_lies_stores_nothing(server: Running) -> None:
    """More declared than sent: no answer is stored; less declared than sent: the report is cut and malformed."""
    before = server.reports()
    body = good()
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=15) as connection:
        connection.sendall(head(server, "Content-Type: application/json", f"Content-Length: {len(body) + 9}") + body)
        connection.shutdown(socket.SHUT_WR)
        told = connection.recv(65536)
    short = raw(
        server,
        head(server, "Content-Type: application/json", f"Content-Length: {len(body) - 9}", "Connection: close") + body,
    )

    for reply in (told, short):
        assert b" 400 " in reply.split(b"\r\n")[0]
        assert b"\r\nx-content-type-options: nosniff\r\n" in reply.lower()
        assert b"\r\ncache-control: no-store\r\n" in reply.lower()
    assert server.reports() == before


def test_a_hundred_slow_bodies_hold_nobody_up(server: Running) -> None:
    parts = urlsplit(server.url)
    start_of_body = head(server, "Content-Type: application/json", f"Content-Length: {len(good())}") + b"{"
    slow = []
    for _ in range(100):
        connection = socket.create_connection((parts.hostname, parts.port or 80), timeout=30)
        connection.sendall(start_of_body)
        slow.append(connection)
    served = [post(server, good()).status_code for _ in range(20)]
    refused = [connection.recv(65536) for connection in slow]
    for connection in slow:
        connection.close()

    assert served == [200] * 20
    assert all(b" 408 " in reply.split(b"\r\n")[0] for reply in refused)


@pytest.mark.parametrize("name", ["exam'--", "exam%27%3B%20DROP%20TABLE%20reports--", "exam%22%20OR%201=1", "exam%00"])
def test_sql_in_a_name_or_a_token_is_a_name_or_a_token(server: Running, name: str) -> None:
    before = server.reports()
    address = f"{server.url}/api/v1/surveys/{name}"
    for reply in (
        requests.get(address, timeout=15),
        requests.post(f"{address}/reports", data=good(), headers=JSON, timeout=15),
        requests.post(f"{address}/withdraw", data=b'{"report_id":"' + b"0" * 32 + b'"}', headers=JSON, timeout=15),
    ):
        check_problem(reply, 404, reply.json()["code"], "exam")
    injected = {"Authorization": "Bearer ' OR '1'='1"}
    check_problem(requests.get(f"{server.api}/export", headers=injected, timeout=15), 401, "unauthorized")

    assert server.reports() == before


def test_other_methods_and_paths_are_problem_documents(server: Running) -> None:
    check_problem(requests.delete(f"{server.api}/reports", timeout=15, headers={"Content-Length": "0"}), 405,
                  "method_not_allowed")  # fmt: skip
    check_problem(requests.get(f"{server.url}/sentinel", timeout=15), 404, "not_found", "sentinel")
    check_problem(requests.get(f"{server.url}/assets/../../etc/passwd", timeout=15), 404, "not_found")
    check_problem(requests.get(f"{server.url}/assets/%2e%2e/pyproject.toml", timeout=15), 404, "not_found")


def test_proxys_headers_and_a_strange_host_change_nothing(server: Running) -> None:
    lies = {
        "Host": "sentinel.example",
        "X-Forwarded-Host": "sentinel.example",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": "203.0.113.77",
        "X-Original-URL": "/dashboard",
        "X-Rewrite-URL": "/dashboard",
    }
    paths = "/dashboard /dashboard/ /dashboard/login /api/v1/surveys /api//v1/surveys /api/v1/surveys/exam /s/exam /no"
    for path in paths.split():
        honest, lied = (
            requests.get(server.url + path, headers=headers, timeout=15, allow_redirects=False)
            for headers in ({}, lies)
        )
        kept = {name: value for name, value in lied.headers.items() if name != "date"}
        assert (lied.status_code, lied.content) == (honest.status_code, honest.content)
        assert kept == {name: value for name, value in honest.headers.items() if name != "date"}
        assert "sentinel" not in str(lied.headers)
        assert lied.headers.get("Location", "/dashboard/login") == "/dashboard/login"


def test_preflight_allows_a_saved_page_and_nothing_more(server: Running) -> None:
    origin = {"Origin": "null", "Access-Control-Request-Method": "POST"}
    allowed = requests.options(f"{server.api}/reports", headers=origin, timeout=15)
    private = requests.get(f"{server.url}/api/v1/surveys", headers={**origin, **server.researcher}, timeout=15)

    assert allowed.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in allowed.headers
    assert private.status_code == 200
    assert "Access-Control-Allow-Origin" not in private.headers


def test_survey_bytes_are_the_same_for_everybody(server: Running) -> None:
    """Forty disguises, one text, and no cookie or tag that would tell two people apart."""
    replies = [
        requests.get(server.api, headers={"User-Agent": f"agent {n}", "Accept-Language": f"l{n}", "X-F": str(n)},
                     timeout=15)
        for n in range(40)
    ]  # fmt: skip

    assert {reply.content for reply in replies} == {server.survey.canonical}
    assert {"Set-Cookie", "ETag", "Last-Modified"}.isdisjoint(set().union(*(reply.headers for reply in replies)))


def test_closed_survey_is_a_409(running: Running) -> None:
    known = good(running.survey)
    post(running, known)
    requests.post(f"{running.api}/close", headers=running.researcher, timeout=15)

    check_problem(post(running, good(running.survey)), 409, "closed")
    assert post(running, known).status_code == 200
    assert running.reports() == 1


def test_64_copies_at_once_count_once(server: Running) -> None:
    before, body = server.reports(), good()
    barrier = threading.Barrier(64)
    statuses: list[int] = []

    def send() -> None:
        barrier.wait()
        statuses.append(post(server, body).status_code)

    threads = [threading.Thread(target=send) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert statuses == [200] * 64
    assert server.reports() == before + 1


def test_network_that_sends_too_much_is_told_to_come_back(tmp_path: Path) -> None:
    with start(tmp_path, survey(), rate_limit=2, proxy_hops=1) as process:
        # The network is the first three parts of what the nearest proxy says; whatever stands before that is a lie.
        replies = [post(process, good(), **{"X-Forwarded-For": f"10.9.8.7, 203.0.113.{n}"}) for n in range(8)]
        other = post(process, good(), **{"X-Forwarded-For": "198.51.100.1"})
        allowed = requests.options(f"{process.api}/reports", headers={"X-Forwarded-For": "203.0.113.1"}, timeout=15)
        content = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

    assert [reply.status_code for reply in replies] == [200] * 2 + [429] * 6
    check_problem(replies[-1], 429, "too_many", "203.0.113")
    assert replies[-1].headers["Retry-After"].isdigit()
    assert (other.status_code, allowed.status_code) == (200, 200)
    assert b"203.0.113" not in content


def test_validator_is_a_real_one() -> None:
    """The schema check in these tests can fail."""
    with pytest.raises(jsonschema.ValidationError):
        validator("problem").validate({"code": "nonsense"})


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("gzip", "gzip"), ("br", "br"), ("gzip, deflate, br", "br"), ("br;q=0, gzip", "gzip"), ("deflate", None)],
)
def test_page_is_compressed_for_whoever_can_read_it(server: Running, accepted: str, coding: str | None) -> None:
    files = by_path(page_files(), "exam")
    for part in (path for path in files if path.endswith(("/exam", "/respondent.js", "/en.json"))):
        plain = requests.get(f"{server.url}{part}", headers={"Accept-Encoding": "identity"}, timeout=15)
        packed = requests.get(f"{server.url}{part}", headers={"Accept-Encoding": accepted}, timeout=15)
        assert "Content-Encoding" not in plain.headers
        assert (packed.headers.get("Content-Encoding"), packed.headers["Vary"]) == (coding, "Accept-Encoding")
        assert plain.content == packed.content
        assert coding is None or int(packed.headers["Content-Length"]) < len(plain.content)
