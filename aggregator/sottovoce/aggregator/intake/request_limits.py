"""What may be asked at all, before a body is read: how often, how much, and of which type."""

import logging
import re
from collections.abc import Iterable

from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Limit
from sottovoce.aggregator.intake.rate_limit import Rates
from sottovoce.aggregator.settings import Settings

MAX_BODY = 64 * 1024
FOR_RESEARCHERS = {"/tokens/revoke": 512 * 1024, "/publish": 4 * 1024 * 1024}
FOR_PAGES = {"/design": 512 * 1024, "/dashboard/new": 512 * 1024, "/dashboard/login": 640 * 1024}
LARGER = {"/reports/batch": 512 * 1024, "/redeem": 512 * 1024, **FOR_PAGES, **FOR_RESEARCHERS}
"""Limits of a body in bytes: of all routes but those that end so."""

PASSED = "sottovoce.passed"
"""In a WSGI environment: the gate has looked at this request. No header can set it, since theirs begin with HTTP."""

Pairs = Iterable[tuple[str, str]]
"""Headers, names in lower case."""

FAILURES = 30
"""
Tokens that are not good that one network may ask about in a minute: as many mistakes as a classroom makes. The same of
codes of an institution's sign-in: each asks the institution, for whom few may wait at once.
"""

UNBELIEVED = (
    "a proxy seems to stand in front: X-Forwarded-For came, and SOTTOVOCE_PROXY_HOPS is 0, so that nobody's network is "
    "told from another's"
)

_log = logging.getLogger("sottovoce")

_FREE = ("GET ", "HEAD ", "OPTIONS ")
"""What only reads: a lecture hall behind one address asks for the form, all its parts and the survey at once."""

_GUESSABLE = re.compile(r"POST /api/v1/surveys/[^/]+/(token|redeem)|GET /dashboard/oidc/callback").fullmatch
_REFUSED = problems.STATUS["token_invalid"]
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_ONCE = frozenset({"content-length", "content-type", "authorization"})
_JSON = {"application/json", "application/json;charset=utf-8", "application/json; charset=utf-8"}


class Limits:
    """
    How often one network may send.

    Args:
        settings: its limit, and the proxies in front.
    """

    def __init__(self, settings: Settings) -> None:
        self._rates = Rates(settings.rate_limit, settings.proxy_hops)
        self._failures = Rates(FAILURES, settings.proxy_hops)
        self._said = settings.proxy_hops > 0
        writes = [_policy(Limit.WRITES, settings.rate_limit)] if settings.rate_limit else []
        self._policies = ", ".join(writes)
        self._policies_of_tokens = ", ".join([*writes, _policy(Limit.FAILED_TOKENS, FAILURES)])

    def check_sender(self, asked: str, peer: str | None, headers: Pairs) -> None:
        """
        Count a request; with ``note`` the only use of the address, which goes no further.

        Args:
            asked: method and path of the request; only what writes, logging in too, is counted.
            peer: the address that the connection comes from.
            headers: of the request.

        Raises:
            Refusal: ``too_many``.
        """
        sender = (peer, _forwarded(headers))
        if sender[1] and not self._said:
            self._said = True
            _log.warning(UNBELIEVED)
        if not asked.startswith(_FREE) and not self._rates.allow(*sender):
            raise Refusal("too_many")
        # Good tokens too, then: who may not ask learns nothing.
        if _GUESSABLE(asked) and not self._failures.has_room(*sender):
            raise Refusal("too_many")

    def headers(self, asked: str, status: int) -> list[tuple[str, str]]:
        """
        What a reply says of the limits that its request counted for (the IETF's draft on RateLimit fields).

        Their size, the same for everybody. What is left is a network's, not a person's: whoever shares it would see the
        others send. So it is told only once there is nothing left, and with the same time for all.

        Args:
            asked: method and path of the request.
            status: of the reply.
        """
        if asked.startswith(_FREE):
            return []
        of_tokens = _GUESSABLE(asked)
        policies = self._policies_of_tokens if of_tokens else self._policies
        found = [("RateLimit-Policy", policies)] if policies else []
        # Which of the two limits of tokens it was is not told.
        if status == problems.STATUS["too_many"] and not of_tokens:
            found.append(("RateLimit", f'"{Limit.WRITES}";r=0;t={problems.RETRY_AFTER}'))
        return found

    def note(self, asked: str, status: int, peer: str | None, headers: Pairs) -> None:
        """
        Count a token or a code that is not good.

        Args:
            asked: method and path of the request.
            status: of the reply.
            peer: the address that the connection comes from.
            headers: of the request.
        """
        if status == _REFUSED and _GUESSABLE(asked):
            self._failures.allow(peer, _forwarded(headers))


def _policy(limit: Limit, per_minute: int) -> str:
    return f'"{limit}";q={per_minute};w=60'


def check_head(method: str, path: str, headers: Pairs) -> int:
    """
    The declared length of a request's body; 0 for a method that has none.

    Args:
        method: as the request has it.
        path: decides how large a body may be.
        headers: names in lower case, with their values, in their order.

    Raises:
        Refusal: no plain JSON, no length, or too large.
    """
    if method not in _WITH_BODY:
        return 0
    found: dict[str, str] = {}
    for name, value in headers:
        if name in found and name in _ONCE:
            raise Refusal("malformed")
        found[name] = value
    declared = _declared(found)
    no_json = declared > 0 and path.startswith("/api/") and found.get("content-type", "").lower() not in _JSON
    if no_json or "content-encoding" in found:
        raise Refusal("unsupported_type")
    if declared > next((limit for end, limit in LARGER.items() if path.endswith(end)), MAX_BODY):
        raise Refusal("too_large")
    return declared


def _forwarded(headers: Pairs) -> str:
    # Of several lines the last is the nearest proxy's; the first may be the sender's own.
    return ",".join(value for name, value in headers if name == "x-forwarded-for")


def _declared(headers: dict[str, str]) -> int:
    declared = headers.get("content-length")
    if declared is None or "transfer-encoding" in headers:
        raise Refusal("length_required")
    if not (declared.isascii() and declared.isdigit()) or len(declared) > 12:
        raise Refusal("malformed")
    return int(declared)
