"""What may be asked at all, before a body is read: how often, how much, and of which type."""

from collections.abc import Iterable

from sottovoce.aggregator.collect.rate_limit import Rates
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.web.problems import Refusal

MAX_BODY = 64 * 1024
FOR_RESEARCHERS = {"/tokens/revoke": 512 * 1024, "/publish": 4 * 1024 * 1024}
LARGER = {"/reports/batch": 512 * 1024, **FOR_RESEARCHERS}
"""Limits of a body in bytes: of all routes but those that end so."""

PASSED = "sottovoce.passed"
"""In a WSGI environment: the gate has looked at this request. No header can set it, since theirs begin with HTTP."""

Pairs = Iterable[tuple[str, str]]
"""Headers, names in lower case."""

_BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})
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

    def check_sender(self, method: str, peer: str | None, headers: Pairs) -> None:
        """
        Count a request; the only use of the address, which goes no further.

        Args:
            method: of the request; a preflight is the browser's doing, and free.
            peer: the address that the connection comes from.
            headers: of the request.

        Raises:
            Refusal: ``too_many``.
        """
        forwarded = next((value for name, value in headers if name == "x-forwarded-for"), "")
        if method != "OPTIONS" and not self._rates.allow(peer, forwarded):
            raise Refusal("too_many")


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
    if method in _BODILESS:
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


def _declared(headers: dict[str, str]) -> int:
    declared = headers.get("content-length")
    if declared is None or "transfer-encoding" in headers:
        raise Refusal("length_required")
    if not (declared.isascii() and declared.isdigit()) or len(declared) > 12:
        raise Refusal("malformed")
    return int(declared)
