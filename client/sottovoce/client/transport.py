"""Talk to an aggregator over HTTP: the only module that uses the network. It sees finished reports, never an answer."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from typing import Any, NamedTuple

import requests
from sottovoce.client.draws import Draws
from sottovoce.shared.errors import MAY_PASS, TransportError

TRIES = 5
MAX_SURVEY_BYTES = 4 * 1024 * 1024
MAX_REVISIONS_BYTES = 8 * MAX_SURVEY_BYTES
MAX_REPLY_BYTES = 64 * 1024
MAX_STATUS_BYTES = 256 * 1024  # eight revisions of a thousand waves
_TIMEOUT = (10, 30)  # seconds to connect, seconds between bytes
_MAX_WAIT = 60
_HEADERS = {"User-Agent": "sottovoce", "Accept": "application/json", "Accept-Encoding": "gzip"}

# Nothing came, or only a part of it: whether the report has arrived is unknown, and sending it again is safe.
_UNFINISHED = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)


def now() -> datetime:
    """Return the device's time; used only when the aggregator asks for a wait until some moment and tells no time."""
    return datetime.now(UTC)


def jitter() -> float:
    """Draw a share from 0 to 1/2, so that devices that failed together do not come back together."""
    return Draws().below(500) / 1000


class Reply(NamedTuple):
    """A reply, read whole: its body has at most as many bytes as were asked for, and one more if it had more."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """The connection to one aggregator.

    Its methods raise TransportError: refused, or no answer after ``TRIES`` tries, or after one try where they ask once.

    Args:
        origin: the aggregator's address, without a trailing slash.
        session: sessions are not shared between threads.
        sleep: how to wait between tries, in seconds.
        clock: the present moment, with its time zone.
        jitter: the share by which a wait is made longer.
        fresh: makes a session for one request, where that must not share a connection with any other.
    """

    def __init__(
        self,
        origin: str,
        session: requests.Session | None = None,
        sleep: Callable[[float], object] = time.sleep,
        *,
        clock: Callable[[], datetime] = now,
        jitter: Callable[[], float] = jitter,
        fresh: Callable[[], requests.Session] = requests.Session,
    ) -> None:
        self.origin = origin
        self._session = _private_session(session or requests.Session())
        self._fresh = fresh
        self._sleep = sleep
        self._clock = clock
        self._jitter = jitter

    def fetch_survey(self, name: str) -> bytes:
        """Fetch the survey's canonical bytes."""
        reply = self._try("GET", f"/api/v1/surveys/{name}", limit=MAX_SURVEY_BYTES)
        if len(reply.body) > MAX_SURVEY_BYTES:
            raise TransportError("the aggregator sent a survey that is too large")
        return reply.body

    def fetch_revisions(self, name: str) -> bytes | None:
        """Fetch all revisions in one reply, so that no request says which is meant; None from an older aggregator."""
        reply = self._find("GET", f"/api/v1/surveys/{name}/revisions", limit=MAX_REVISIONS_BYTES)
        if reply is not None and len(reply.body) > MAX_REVISIONS_BYTES:
            raise TransportError("the aggregator sent a survey that is too large")
        return None if reply is None else reply.body

    def fetch_status(self, name: str) -> dict[str, Any] | None:
        """Fetch the status (see ``revisions.standing``), once, since a person waits; None if there is no such route."""
        reply = self._find("GET", f"/api/v1/surveys/{name}/status", limit=MAX_STATUS_BYTES, tries=1)
        return None if reply is None else _object(reply, "status", MAX_STATUS_BYTES)

    def check_token(self, name: str, token: str) -> bool | None:
        """Return True if a token is unspent; None if the aggregator has no such route. Only its hash is sent, once."""
        body = json.dumps({"token_sha256": hashlib.sha256(token.encode()).hexdigest()}, separators=(",", ":")).encode()
        try:
            reply = self._find("POST", f"/api/v1/surveys/{name}/token", body, tries=1)
        except TransportError as error:
            if error.reason == "token_invalid":
                return False
            raise
        return None if reply is None else _object(reply, "reply").get("good") is True

    def fetch_file(self, path: str) -> bytes | None:
        """Fetch a file of the respondent's page; None if there is none."""
        reply = self._find("GET", path, limit=MAX_SURVEY_BYTES)
        return None if reply is None else reply.body

    def redeem(self, survey: str, body: bytes) -> bytes:
        """Request signatures on a connection of its own and return the reply; every try sends the same bytes."""
        return self._try("POST", f"/api/v1/surveys/{survey}/redeem", body, limit=MAX_SURVEY_BYTES, is_alone=True).body

    def submit(self, survey: str, body: bytes, token: str = "") -> dict[str, Any]:
        """Send a report and return its receipt; every try sends the same bytes and the same token.

        The one-time token, or "", travels in a header.
        """
        bearer = f"Bearer {token}" if token else ""
        return _object(self._try("POST", f"/api/v1/surveys/{survey}/reports", body, bearer), "receipt")

    def submit_signed(self, survey: str, body: bytes, signature: str) -> dict[str, Any]:
        """Send a report whose id is signed, as ``submit`` does, but on a connection of its own: any other request on it
        would tell whose report it is. The signature of the id travels in a header, and nothing else does.
        """
        path = f"/api/v1/surveys/{survey}/reports"
        return _object(self._try("POST", path, body, f"Blind {signature}", is_alone=True), "receipt")

    def withdraw(self, survey: str, report_id: str) -> dict[str, Any]:
        """Withdraw a report, the same if asked twice; the error's reason is ``not_found`` if it never arrived."""
        body = json.dumps({"report_id": report_id}, separators=(",", ":")).encode()
        return _object(self._try("POST", f"/api/v1/surveys/{survey}/withdraw", body), "confirmation")

    def _find(
        self, method: str, path: str, body: bytes | None = None, *, limit: int = MAX_REPLY_BYTES, tries: int = TRIES
    ) -> Reply | None:
        """Do the same as ``_try``; return None if there is nothing at this address."""
        try:
            return self._try(method, path, body, limit=limit, tries=tries)
        except TransportError as error:
            if error.status == requests.codes.not_found:
                return None
            raise

    def _try(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        permission: str = "",
        *,
        limit: int = MAX_REPLY_BYTES,
        tries: int = TRIES,
        is_alone: bool = False,
    ) -> Reply:
        """Send one request, repeated with waits of 1, 2, 4, 8 s and jitter while it may help; other 4xx are final."""
        for attempt in range(tries):
            with self._connected(is_alone) as session:
                reply = self._request_once(session, method, path, body, permission, limit)
            if reply is not None and reply.status == requests.codes.ok:
                return reply
            if reply is not None and not (reply.status in MAY_PASS or reply.status >= 500):
                raise _refusal(reply)
            if attempt + 1 < tries:
                self._sleep(self._wait(attempt, reply))
        if reply is None:
            raise TransportError("the aggregator cannot be reached")
        raise _refusal(reply)

    @contextmanager
    def _connected(self, is_alone: bool) -> Iterator[requests.Session]:
        """Yield the session of this transport, or one for a single request that shares no connection with it."""
        if not is_alone:
            yield self._session
            return
        session = _private_session(self._fresh())
        try:
            session.headers["Connection"] = "close"
            yield session
        finally:
            session.close()

    def _request_once(
        self, session: requests.Session, method: str, path: str, body: bytes | None, permission: str, limit: int
    ) -> Reply | None:
        headers = _HEADERS if body is None else {**_HEADERS, "Content-Type": "application/json"}
        if permission:
            # A header, never the address: addresses end up in logs.
            headers = {**headers, "Authorization": permission}
        url = self.origin + path
        try:
            # A redirect would carry the report to a place that the respondent has not agreed to.
            reply = session.request(
                method, url, data=body, headers=headers, timeout=_TIMEOUT, allow_redirects=False, stream=True
            )
            try:
                return Reply(reply.status_code, reply.headers, _read(reply, limit))
            finally:
                reply.close()
        except _UNFINISHED:
            return None
        except requests.RequestException:
            raise TransportError("the aggregator's address or reply cannot be used") from None

    def _wait(self, attempt: int, reply: Reply | None) -> float:
        """Return the seconds to wait: what the aggregator asks for (up to a minute), else 2^attempt; with jitter."""
        asked = None if reply is None else _retry_after(reply, self._clock)
        seconds = 2**attempt if asked is None else min(max(asked, 0), _MAX_WAIT)
        return seconds * (1 + self._jitter())


def _private_session(session: requests.Session) -> requests.Session:
    # Without this, a .netrc on the device would put a name and a password on the wire.
    session.auth = lambda request: request
    # A cookie would tie the report to the reading of the survey, and one survey to the next.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return session


def _read(reply: requests.Response, limit: int) -> bytes:
    """Read the body, or its beginning if it is longer than ``limit``: a device does not take in whatever it is sent."""
    body = b""
    for part in reply.iter_content(limit + 1):
        body += part
        if len(body) > limit:
            break
    return body[: limit + 1]


def _retry_after(reply: Reply, clock: Callable[[], datetime]) -> float | None:
    """Return the seconds that ``Retry-After`` asks for, as number or date; None if it says nothing that can be used."""
    text = reply.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return int(text)
    until = _moment(text)
    if until is None:
        return None
    # The aggregator's own clock where it tells it: the device's may be years off.
    return (until - (_moment(reply.headers.get("Date", "")) or clock())).total_seconds()


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _object(reply: Reply, what: str, limit: int = MAX_REPLY_BYTES) -> dict[str, Any]:
    document = _json(reply, limit)
    if not isinstance(document, dict):
        raise TransportError(f"the aggregator's {what} is not JSON", reply.status)
    return document


def _json(reply: Reply, limit: int = MAX_REPLY_BYTES) -> object:
    if len(reply.body) > limit:
        return None
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        return None


# Codes of refusals that people meet, in words.
_TOLD = {"closed": "closed: no report is taken or given back", "unknown_survey": "it has no such survey, or no more"}


def _refusal(reply: Reply) -> TransportError:
    """Return the refusal as an error: only a code of known form and the status, never the aggregator's own words."""
    document = _json(reply)
    code = document.get("code") if isinstance(document, dict) else None
    reason = code if isinstance(code, str) and code.isascii() and code.isidentifier() and len(code) <= 40 else None
    suffix = f" ({_TOLD.get(reason, reason)})" if reason else ""
    return TransportError(f"the aggregator refused with status {reply.status}{suffix}", reply.status, reason)
