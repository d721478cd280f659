"""The client before a real server that misbehaves: the same bytes until they are acknowledged, and nowhere else."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from sottovoce.client.ledger import MemoryLedger
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import TRIES, Transport
from sottovoce.shared.errors import TransportError

from tests.listener import Listener, always, cut, honest, http, listening
from tests.surveys import ANSWERS, survey

ASKED = survey()
NOON = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
DATE = format_datetime(NOON + timedelta(seconds=20), usegmt=True)

BUSY = always(http("503 Service Unavailable", b"{}", "Retry-After: 7"))
BUSY_UNTIL = always(http("503 Service Unavailable", b"{}", f"Retry-After: {DATE}"))
HALF = always(http("200 OK", b'{"format":"sottovoce-re', length=300))
HALF_CHUNK = always(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{")
NO_HTTP = always(b"220 smtp.example ESMTP\r\nContent-Length: 0\r\n\r\n")
NO_GZIP = always(http("200 OK", b"no gzip", "Content-Encoding: gzip"))


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.moment, self.waits = NOON, []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.moment += timedelta(seconds=seconds)


def person(server: Listener, time: Time) -> Respondent:
    transport = Transport(server.url, sleep=time.sleep, clock=lambda: time.moment, jitter=lambda: 0)
    return Respondent(ASKED, transport, MemoryLedger())


def test_faults_that_may_pass_are_survived_with_the_same_bytes() -> None:
    time = Time()
    with listening(honest(ASKED), [cut, BUSY, HALF, BUSY_UNTIL]) as server:
        receipt = person(server, time).answer(ANSWERS)

    assert server.bodies == [receipt["body"].encode()] * 5
    # 1 s, 7 s as asked, 4 s, and the 8 s that were left of the 20.
    assert time.waits == [1, 7, 4, 8]
    assert len({request.head for request in server.captured}) == 1


@pytest.mark.parametrize("fault", [cut, BUSY, HALF, HALF_CHUNK, NO_HTTP, NO_GZIP],
                         ids=["cut", "busy", "half", "half chunk", "no http", "no gzip"])  # fmt: skip
def test_fault_that_stays_ends_in_words_and_is_tried_again_later(fault) -> None:
    time = Time()
    with listening(honest(ASKED), [fault] * TRIES) as server:
        me = person(server, time)
        with pytest.raises(TransportError):
            me.answer(ANSWERS)
        assert (len(server.bodies), len(time.waits), me.receipt) == (TRIES, TRIES - 1, None)
        me.send()

    assert len(set(server.bodies)) == 1


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect",
                                    "308 Permanent Redirect"])  # fmt: skip
def test_redirect_is_never_followed(status: str) -> None:
    """Neither with the report nor without it: the place it names hears nothing."""
    with listening(honest(ASKED)) as elsewhere:
        redirect = always(http(status, b"", f"Location: {elsewhere.url}/api/v1/surveys/exam/reports"))
        with listening(redirect) as server:
            me = person(server, Time())
            with pytest.raises(TransportError, match=status[:3]):
                me.answer(ANSWERS)
            with pytest.raises(TransportError, match=status[:3]):
                Respondent.connect(f"{server.url}/s/exam", MemoryLedger())
        assert elsewhere.captured == []


@pytest.mark.parametrize(
    "body",
    [b"<html>Welcome to the Wi-Fi", b"[]", b"{}", b"", b"null", b"[" * 50_000, b"\xff\xfe", b" " * 200_000,
     json.dumps({"format": "sottovoce-receipt/1", "survey": "exam", "sha256": "0" * 64}).encode()],
    ids=lambda body: repr(body[:12]),
)  # fmt: skip
def test_nonsense_acknowledges_nothing(body: bytes) -> None:
    with listening(honest(ASKED), [always(http("200 OK", body))]) as server:
        me = person(server, Time())
        with pytest.raises(TransportError):
            me.answer(ANSWERS)
        assert (len(server.bodies), me.receipt) == (1, None)
        me.send()

    assert len(set(server.bodies)) == 1


def test_cookie_of_the_aggregator_is_not_carried() -> None:
    """It would tie the report to the reading of the survey."""
    answer = honest(ASKED)
    marked = lambda request: answer(request).replace(b"\r\n\r\n", b"\r\nSet-Cookie: who=sentinel; Path=/\r\n\r\n", 1)  # noqa: E731
    with listening(marked) as server:
        me = Respondent.connect(f"{server.url}/s/exam", MemoryLedger())
        me.answer(ANSWERS)
        me.send()

    assert len(server.captured) == 3
    assert not any(b"sentinel" in request.head for request in server.captured)


def test_refusal_is_final() -> None:
    closed = always(http("409 Conflict", b'{"code":"closed","detail":"SENTINEL"}'))
    with listening(closed) as server, pytest.raises(TransportError, match="closed") as caught:
        person(server, Time()).answer(ANSWERS)
    assert len(server.bodies) == 1
    assert "SENTINEL" not in str(caught.value)
