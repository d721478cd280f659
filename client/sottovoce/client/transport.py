"""The only place that speaks to the network; it sees finished reports, never an answer."""

import time
from collections.abc import Callable
from typing import Any

import requests
from sottovoce.client.draws import Draws
from sottovoce.shared.errors import TransportError

TRIES = 5
MAX_SURVEY_BYTES = 4 * 1024 * 1024
_TIMEOUT = (10, 30)  # seconds to connect, seconds between bytes
_MAX_WAIT = 60
_HEADERS = {"User-Agent": "sottovoce", "Accept": "application/json", "Accept-Encoding": "gzip"}


class Transport:
    """
    Talks to one aggregator.

    Args:
        origin: the aggregator's address, without a trailing slash.
        session: a ``requests`` session; sessions are not shared between threads.
        sleep: how to wait between tries, in seconds.
    """

    def __init__(
        self, origin: str, session: requests.Session | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.origin = origin
        self._session = session or requests.Session()
        # Without this, a .netrc on the device would put a name and a password on the wire.
        self._session.auth = _no_credentials
        self._sleep = sleep

    def fetch_survey(self, name: str) -> bytes:
        """
        The survey's canonical bytes.

        Raises:
            TransportError: no answer after ``TRIES`` tries, or refused.
        """
        reply = self._try("GET", f"/api/v1/surveys/{name}")
        if len(reply.content) > MAX_SURVEY_BYTES:
            raise TransportError("the aggregator sent a survey that is too large")
        return reply.content

    def submit(self, survey: str, body: bytes, token: str = "") -> dict[str, Any]:
        """
        The receipt for a report; every try sends the same bytes and the same token.

        Raises:
            TransportError: no answer after ``TRIES`` tries, or refused.
        """
        reply = self._try("POST", f"/api/v1/surveys/{survey}/reports", body, token)
        try:
            receipt = reply.json()
        except ValueError:
            receipt = None
        if not isinstance(receipt, dict):
            raise TransportError("the aggregator's receipt is not JSON", reply.status_code)
        return receipt

    def _try(self, method: str, path: str, body: bytes | None = None, token: str = "") -> requests.Response:
        """One request, repeated with waits of 1, 2, 4, 8 s and jitter while it may help; a 4xx is final."""
        for attempt in range(TRIES):
            reply = self._once(method, path, body, token)
            if reply is not None and reply.status_code == requests.codes.ok:
                return reply
            if reply is not None and not _may_pass(reply):
                raise _refusal(reply)
            if attempt + 1 < TRIES:
                self._sleep(_wait(attempt, reply))
        if reply is None:
            raise TransportError("the aggregator cannot be reached")
        raise _refusal(reply)

    def _once(self, method: str, path: str, body: bytes | None, token: str) -> requests.Response | None:
        headers = _HEADERS if body is None else {**_HEADERS, "Content-Type": "application/json"}
        if token:
            # A header, never the address: addresses end up in logs.
            headers = {**headers, "Authorization": f"Bearer {token}"}
        try:
            # A redirect would carry the report to a place that the respondent has not agreed to.
            return self._session.request(
                method, self.origin + path, data=body, headers=headers, timeout=_TIMEOUT, allow_redirects=False
            )
        except (requests.ConnectionError, requests.Timeout):
            return None
        except requests.RequestException:
            raise TransportError("the aggregator's address or reply cannot be used") from None


def _no_credentials(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _may_pass(reply: requests.Response) -> bool:
    return reply.status_code == requests.codes.too_many_requests or reply.status_code >= 500


def _wait(attempt: int, reply: requests.Response | None) -> float:
    """Seconds to wait: what the aggregator asks for (up to a minute), else 2^attempt; with up to half as much again."""
    asked = "" if reply is None else reply.headers.get("Retry-After", "")
    seconds = min(int(asked), _MAX_WAIT) if asked.isascii() and asked.isdigit() else 2**attempt
    return seconds * (1 + Draws().below(500) / 1000)


def _refusal(reply: requests.Response) -> TransportError:
    """The aggregator's own words are not shown: only a code of known form, and the status."""
    try:
        code = reply.json()["code"]
    except (ValueError, LookupError, TypeError):
        code = None
    reason = code if isinstance(code, str) and code.isascii() and code.isidentifier() and len(code) <= 40 else None
    said = f" ({reason})" if reason else ""
    return TransportError(f"the aggregator refused with status {reply.status_code}{said}", reply.status_code, reason)
