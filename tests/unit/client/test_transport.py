"""The only place that speaks to the network: retries, refusals, and nothing of an answer."""

import hashlib
import json
from datetime import UTC, datetime

import pytest
import requests
from sottovoce.client.transport import MAX_SURVEY_BYTES, TRIES, Transport, jitter
from sottovoce.shared.errors import TransportError

from tests.unit.client.fakes import Reply, Session

BODY = b'{"report":1}'
NOON = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)


def transport(*replies, **options):
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


def test_waits_double_and_carry_the_jitter_of_up_to_a_half():
    """1, 2, 4, 8 s, each longer by the share that is drawn."""
    sender, _, waits = transport(Reply(503), jitter=lambda: 0.25)

    with pytest.raises(TransportError):
        sender.submit("s", BODY)
    assert waits == [1.25, 2.5, 5, 10]

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
    assert "closed: no report is taken or given back" in str(caught.value)
    assert session.requests[0][2]["allow_redirects"] is False


@pytest.mark.parametrize("code", ["<script>", "x" * 41, 7, None, "two words", "ünï"])
def test_words_of_the_aggregator_are_not_shown(code):
    """Only a code of known form reaches the respondent's screen."""
    sender, _, _ = transport(Reply(400, {"code": code, "detail": "SENTINEL"}))

    with pytest.raises(TransportError) as caught:
        sender.submit("s", BODY)
    assert caught.value.reason is None
    assert str(caught.value) == "the aggregator refused with status 400"


@pytest.mark.parametrize(
    "content", [b"<html>", b"[]", b"null", b"", b"[" * 60_000, b'{"a":' * 9_000, b" " * 70_000 + b"{}"]
)
@pytest.mark.parametrize(("status", "told"), [(200, "receipt"), (403, "status 403")])
def test_reply_that_is_no_object_acknowledges_nothing(content, status, told):
    """A proxy's page of HTML in the place of a receipt or of a problem document."""
    sender, _, _ = transport(Reply(status, content))

    with pytest.raises(TransportError, match=told):
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


def test_what_is_too_large_is_refused_and_not_read_to_the_end():
    """A device does not parse whatever it is sent, and a lying aggregator cannot fill its memory."""
    sender, _, _ = transport(Reply(content=b"x" * (MAX_SURVEY_BYTES + 1)))

    with pytest.raises(TransportError, match="too large"):
        sender.fetch_survey("s")

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


ASKED = {
    "revisions": lambda sender: sender.fetch_revisions("s"),
    "status": lambda sender: sender.fetch_status("s"),
    "token": lambda sender: sender.check_token("s", "0123456789ABCDEF"),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_older_aggregator_does_not_tell(ask):
    """A route that is not there is no refusal: people answer as they did before."""
    sender, session, _ = transport(Reply(404, {"code": "not_found"}))

    assert ask(sender) is None
    assert len(session.requests) == 1


@pytest.mark.parametrize("name", ["status", "token"])
def test_what_a_person_waits_for_is_asked_once(name):
    """Begin is pressed, and nobody waits through four more tries for what they can do without."""
    for failure in (requests.ConnectionError(), Reply(503), Reply(429)):
        sender, session, waits = transport(failure)
        with pytest.raises(TransportError):
            ASKED[name](sender)
        assert (len(session.requests), waits) == (1, [])


def test_check_token_sends_the_hash_alone():
    """The token itself stays on the device until it is spent; good is what is said to be good."""
    sender, session, _ = transport(Reply(content={"format": "sottovoce-token/1", "good": True}))

    assert sender.check_token("s", "0123456789ABCDEF") is True
    [(method, url, options)] = session.requests
    assert (method, url) == ("POST", "https://a.example/api/v1/surveys/s/token")
    assert json.loads(options["data"]) == {"token_sha256": hashlib.sha256(b"0123456789ABCDEF").hexdigest()}
    assert "Authorization" not in options["headers"]
    for reply in ({}, {"good": 1}, {"good": "true"}, {"good": False}):
        assert transport(Reply(content=reply))[0].check_token("s", "0" * 16) is False
    assert transport(Reply(401, {"code": "token_invalid"}))[0].check_token("s", "0" * 16) is False


def test_status_of_many_waves_is_read():
    """Eight revisions of a thousand waves are more than a receipt may be; a megabyte is no status."""
    waves = [{"revision": 1, "waves": ["closed"] * 1000}] * 8

    assert transport(Reply(content={"revisions": waves}))[0].fetch_status("s") == {"revisions": waves}
    with pytest.raises(TransportError, match="status"):
        transport(Reply(content=b" " * 2**20 + b"{}"))[0].fetch_status("s")


def test_revisions_are_read_within_reason(monkeypatch):
    """Eight of the largest surveys, and no byte more."""
    monkeypatch.setattr("sottovoce.client.transport.MAX_REVISIONS_BYTES", 100)

    assert transport(Reply(content=b"x" * 100))[0].fetch_revisions("s") == b"x" * 100
    with pytest.raises(TransportError, match="too large"):
        transport(Reply(content=b"x" * 101))[0].fetch_revisions("s")
