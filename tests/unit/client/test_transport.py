"""The only place that speaks to the network: retries, refusals, and nothing of an answer."""

from datetime import UTC, datetime

import pytest
import requests
from sottovoce.client.transport import MAX_SURVEY_BYTES, TRIES, Transport, jitter
from sottovoce.shared.errors import TransportError

from tests.unit.client.fakes import Reply, Session

BODY = b'{"report":1}'
NOON = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)


def transport(*replies, **options):
    """(transport, its session, the waits it made)."""
    session, waits = Session(*replies), []
    return Transport("https://a.example", session, waits.append, clock=lambda: NOON, **options), session, waits


def test_submit_sends_the_same_bytes_every_time():
    """Retrying is always safe, whatever went wrong before."""
    sender, session, waits = transport(
        requests.ConnectionError(), requests.Timeout(), Reply(503), Reply(429), Reply(content={"ok": 1})
    )

    assert sender.submit("s", BODY) == {"ok": 1}
    assert [options["data"] for _, _, options in session.requests] == [BODY] * 5
    assert len({url for _, url, _ in session.requests}) == 1
    assert [2**attempt <= wait <= 1.5 * 2**attempt for attempt, wait in enumerate(waits)] == [True] * 4


def test_waits_double_and_carry_the_jitter():
    """1, 2, 4, 8 s, each longer by the share that is drawn."""
    sender, _, waits = transport(Reply(503), jitter=lambda: 0.25)

    with pytest.raises(TransportError):
        sender.submit("s", BODY)
    assert waits == [1.25, 2.5, 5, 10]


def test_jitter_is_a_share_up_to_a_half():
    """And not always the same one."""
    shares = [jitter() for _ in range(200)]

    assert all(0 <= share < 0.5 for share in shares)
    assert len(set(shares)) > 50


UNFINISHED = [
    requests.ConnectionError(), requests.ReadTimeout(), requests.exceptions.ChunkedEncodingError(),
    requests.exceptions.ContentDecodingError(),
]  # fmt: skip


@pytest.mark.parametrize(
    "failure",
    [*UNFINISHED, *map(Reply, (408, 425, 429, 500, 502, 503))],
    ids=lambda failure: str(failure) or type(failure).__name__,
)
def test_transport_gives_up_after_some_tries(failure):
    """And waits between tries, not after the last."""
    sender, session, waits = transport(failure)

    with pytest.raises(TransportError):
        sender.submit("s", BODY)
    assert (len(session.requests), len(waits)) == (TRIES, TRIES - 1)


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 409, 410, 413, 204])
def test_final_answer_is_not_tried_again(status):
    """A refusal will not change, and a redirect leads to a place that the respondent has not agreed to."""
    sender, session, _ = transport(Reply(status, {"code": "closed"}))

    with pytest.raises(TransportError) as caught:
        sender.submit("s", BODY)
    assert (caught.value.status, caught.value.reason, len(session.requests)) == (status, "closed", 1)
    assert session.requests[0][2]["allow_redirects"] is False


@pytest.mark.parametrize("code", ["<script>", "x" * 41, 7, None, "two words", "ünï"])
def test_words_of_the_aggregator_are_not_shown(code):
    """Only a code of known form reaches the respondent's screen."""
    sender, _, _ = transport(Reply(400, {"code": code, "detail": "SENTINEL"}))

    with pytest.raises(TransportError) as caught:
        sender.submit("s", BODY)
    assert caught.value.reason is None
    assert str(caught.value) == "the aggregator refused with status 400"


@pytest.mark.parametrize("content", [b"<html>", b"[]", b"", b"null"])
def test_reply_that_is_no_problem_document_is_still_a_refusal(content):
    """A proxy's page of HTML in the place of a problem document."""
    sender, _, _ = transport(Reply(403, content))

    with pytest.raises(TransportError, match="status 403"):
        sender.submit("s", BODY)


@pytest.mark.parametrize("content", [b"<html>", b"[]", b"", b"[" * 60_000, b'{"a":' * 9_000, b" " * 70_000 + b"{}"])
def test_receipt_that_is_no_object_is_refused(content):
    """A page of HTML with status 200 acknowledges nothing."""
    sender, _, _ = transport(Reply(200, content))

    with pytest.raises(TransportError, match="receipt"):
        sender.submit("s", BODY)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("0", 0), ("99999", 60), ("9" * 5000, 1), ("-1", 1), ("soon", 1), ("²", 1), ("1.5", 1), (" 7 ", 7),
     ("Mon, 01 Jun 2026 12:00:09 GMT", 9), ("Mon, 01 Jun 2026 11:00:00 GMT", 0), ("Mon, 01 Jun 2026 14:00:09 +0200", 9),
     ("Mon, 01 Jun 2026 12:00:09", 9), ("Tue, 02 Jun 2026 12:00:00 GMT", 60), ("Mon, 99 Jun 2026 12:00:00 GMT", 1),
     ("Mon, 01 Jun 99999999999 12:00:00 GMT", 1)],
)  # fmt: skip
def test_wait_follows_the_aggregator_within_reason(header, seconds):
    """Seconds or a date, a minute at most; what is neither is ignored."""
    sender, _, waits = transport(
        Reply(429, headers={"Retry-After": header}), Reply(content={"ok": 1}), jitter=lambda: 0
    )

    sender.submit("s", BODY)

    assert waits == [seconds]


def test_date_is_read_by_the_clock_of_the_aggregator():
    """The device's own may be years off."""
    headers = {"Retry-After": "Mon, 01 Jun 2020 12:00:09 GMT", "Date": "Mon, 01 Jun 2020 12:00:00 GMT"}
    sender, _, waits = transport(Reply(503, headers=headers), Reply(content={"ok": 1}), jitter=lambda: 0)

    sender.submit("s", BODY)

    assert waits == [9]


def test_survey_that_is_too_large_is_refused():
    """A device does not parse whatever it is sent."""
    sender, _, _ = transport(Reply(content=b"x" * (MAX_SURVEY_BYTES + 1)))

    with pytest.raises(TransportError, match="too large"):
        sender.fetch_survey("s")


def test_body_without_an_end_is_not_read_to_the_end():
    """A lying aggregator cannot fill the device's memory."""
    read = []

    class Endless(Reply):
        def iter_content(self, size):
            while True:
                read.append(size)
                yield bytes(size)

    sender, _, _ = transport(Endless())

    with pytest.raises(TransportError, match="too large"):
        sender.fetch_survey("s")
    with pytest.raises(TransportError, match="not JSON"):
        sender.submit("s", BODY)
    assert sum(read) < 2 * MAX_SURVEY_BYTES


def test_withdraw_names_the_report_in_the_body():
    """An id in the address would end up in logs."""
    sender, session, _ = transport(Reply(content={"ok": 1}))

    assert sender.withdraw("s", "ab") == {"ok": 1}
    ((method, url, options),) = session.requests
    assert (method, url) == ("POST", "https://a.example/api/v1/surveys/s/withdraw")
    assert options["data"] == b'{"report_id":"ab"}'


def test_unusable_address_is_a_transport_error():
    """No other kind of error leaves the transport, and none repeats the request."""
    sender, _, _ = transport(requests.exceptions.InvalidURL("SENTINEL"))

    with pytest.raises(TransportError) as caught:
        sender.submit("s", BODY)
    assert "SENTINEL" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_device_sends_no_credentials_and_no_token_in_the_address():
    """A .netrc on the device would put a name and a password on the wire."""
    sender, session, _ = transport(Reply(content={"ok": 1}))
    sender.submit("s", BODY)
    prepared = requests.Request("GET", "https://a.example").prepare()

    assert session.auth(prepared) is prepared
    assert "Authorization" not in prepared.headers
    assert session.requests[0][1] == "https://a.example/api/v1/surveys/s/reports"
