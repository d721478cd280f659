"""The only place that speaks to the network: retries, refusals, and nothing of an answer."""

import pytest
import requests
from sottovoce.client.transport import MAX_SURVEY_BYTES, TRIES, Transport
from sottovoce.shared.errors import TransportError

from tests.unit.client.fakes import Reply, Session

BODY = b'{"report":1}'


def transport(*replies):
    """(transport, its session, the waits it made)."""
    session, waits = Session(*replies), []
    return Transport("https://a.example", session, waits.append), session, waits


def test_submit_sends_the_same_bytes_every_time():
    """Retrying is always safe, whatever went wrong before."""
    sender, session, waits = transport(
        requests.ConnectionError(), requests.Timeout(), Reply(503), Reply(429), Reply(content={"ok": 1})
    )

    assert sender.submit("s", BODY) == {"ok": 1}
    assert [options["data"] for _, _, options in session.requests] == [BODY] * 5
    assert len({url for _, url, _ in session.requests}) == 1
    assert [int(wait / 1.5) <= 2**attempt <= wait for attempt, wait in enumerate(waits)] == [True] * 4


@pytest.mark.parametrize("failure", [requests.ConnectionError(), Reply(500), Reply(502), Reply(429)])
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


@pytest.mark.parametrize("content", [b"<html>", b"[]", b""])
def test_receipt_that_is_no_object_is_refused(content):
    """A page of HTML with status 200 acknowledges nothing."""
    sender, _, _ = transport(Reply(200, content))

    with pytest.raises(TransportError, match="receipt"):
        sender.submit("s", BODY)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("7", 7, 10.5), ("0", 0, 0), ("99999", 60, 90), ("-1", 1, 1.5), ("soon", 1, 1.5), ("²", 1, 2)],
)
def test_wait_follows_the_aggregator_within_reason(header, least, most):
    """A minute at most, with jitter; what is not a number of seconds is ignored."""
    sender, _, waits = transport(Reply(429, headers={"Retry-After": header}), Reply(content={"ok": 1}))

    sender.submit("s", BODY)

    assert least <= waits[0] <= most


def test_survey_that_is_too_large_is_refused():
    """A device does not parse whatever it is sent."""
    sender, _, _ = transport(Reply(content=b"x" * (MAX_SURVEY_BYTES + 1)))

    with pytest.raises(TransportError, match="too large"):
        sender.fetch_survey("s")


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
