"""Check limits before a request's body is read (rate, size and media type), and count requests and their durations by
route and class of status.

For privacy, the process records nothing else about requests: no address, survey, person or time, and in memory only.
"""

import hashlib
import logging
import re
import secrets
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from socket import AF_INET, AF_INET6, inet_pton
from threading import Lock

from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Limit
from sottovoce.aggregator.settings import Settings

MAX_BODY = 64 * 1024
FOR_RESEARCHERS = {"/tokens/revoke": 512 * 1024, "/publish": 4 * 1024 * 1024}
FOR_PAGES = {"/design": 512 * 1024, "/dashboard/new": 512 * 1024, "/dashboard/login": 640 * 1024}
UPLOAD_PATH = "/dashboard/analyze"
UPLOAD = (100 << 20) + MAX_BODY
"""Path of the page that takes data files, and bytes of its body: a file of 100 MB and the fields of its form."""

VISITOR_UPLOAD = (10 << 20) + MAX_BODY
"""The same for visitors without an account."""

FOR_UPLOADS = {UPLOAD_PATH: UPLOAD}
LARGER = {"/reports/batch": 512 * 1024, "/redeem": 512 * 1024, **FOR_PAGES, **FOR_RESEARCHERS, **FOR_UPLOADS}
"""Limits of a body in bytes: ``MAX_BODY``, but larger for paths with these endings."""

PASSED = "sottovoce.passed"
"""WSGI environment key: the gate has checked this request. No header can set it, since their keys begin with HTTP_."""

HeaderPairs = Sequence[tuple[str, str]]
"""Pairs of header name, in lower case, and value."""

FAILURES = 30
"""Invalid tokens that one network may try in a minute: enough for the typing mistakes of a classroom. The same limit
holds for codes of an institution's sign-in, since each causes a request to the institution and few can wait at once.
"""

UNBELIEVED = (
    "requests seem to pass a proxy: they carry X-Forwarded-For, but SOTTOVOCE_PROXY_HOPS is 0, so all clients count as "
    "one network; set it to the number of proxies"
)

_log = logging.getLogger("sottovoce")

_FREE = ("GET ", "HEAD ", "OPTIONS ")
"""Reads have no limit: a lecture hall behind one address loads the form, its assets and the survey at once."""

_GUESSABLE = re.compile(r"POST /api/v1/surveys/[^/]+/(token|redeem)|GET /dashboard/oidc/callback").fullmatch
_REFUSED = problems.STATUS["token_invalid"]
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_ONCE = frozenset({"content-length", "content-type", "authorization"})
_JSON = {"application/json", "application/json;charset=utf-8", "application/json; charset=utf-8"}

DAY = 86400.0
"""Lifetime of the hash key, in seconds."""
MOST_NETWORKS = 100_000
"""Maximum number of buckets; beyond it all are dropped, which bounds memory but lets some networks send more."""

_THIS_MACHINE = frozenset({"127.0.0.1", "::1"})
"""Loopback addresses, compared as text first: behind a proxy all requests come from one of them."""
_LOOPBACK, _MAPPED = inet_pton(AF_INET6, "::1"), inet_pton(AF_INET6, "::ffff:0:0")[:12]

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds of the histogram of durations, in seconds."""

GATE = "gate"
NO_ROUTE = "none"
"""Labels in the place of a route: ``GATE`` for requests refused before routing, ``NO_ROUTE`` for unknown paths."""

RouteStatus = tuple[str, str]
"""Pair of a route and a class of status such as ``2xx``."""


@dataclass(frozen=True)
class Series:
    """Snapshot of a histogram: the sum, and the counts per bin (upper bound included), then above the last bound."""

    counts: tuple[int, ...]
    total: float

    def in_steps(self, step: int) -> "Series":
        """Round cumulative counts down to multiples of ``step`` and scale the total; hides single requests."""
        reached = [sum(self.counts[: end + 1]) // step * step for end in range(len(self.counts))]
        steps = tuple(after - before for before, after in zip([0, *reached], reached, strict=False))
        return Series(steps, self.total * reached[-1] / max(sum(self.counts), 1))


class Histogram:
    """Histogram of measurements; ``bounds`` are the upper bounds of its bins, ascending."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._total = 0.0

    def note(self, size: float, times: int = 1) -> None:
        """Add a measurement that was made so many times; not thread-safe."""
        self._counts[bisect_left(self._bounds, size)] += times
        self._total += times * size

    @property
    def series(self) -> Series:
        """Snapshot of the present counts."""
        return Series(tuple(self._counts), self._total)


class Traffic:
    """Request metrics of one process; thread-safe."""

    def __init__(self) -> None:
        self._histograms = defaultdict[tuple[str, int], Histogram](partial(Histogram, BOUNDS))
        self._lock = Lock()

    def note(self, route: str, status: int, seconds: float, requests: int = 1) -> None:
        """Count requests that took so many seconds; ``route`` is an endpoint, ``GATE`` or ``NO_ROUTE``."""
        with self._lock:
            self._histograms[route, status // 100].note(seconds, requests)

    def series(self) -> Mapping[RouteStatus, Series]:
        """Return snapshots of all histograms."""
        with self._lock:
            return {(route, f"{kind}xx"): each.series for (route, kind), each in self._histograms.items()}


class Rates:
    """Token bucket for each network, without addresses; a full bucket holds the requests of one minute.

    A network's prefix is hashed with a key that is only in this process's memory and changes every day. The hash is
    never written to a file or log.

    Args:
        per_minute: requests that one network may send in a minute; 0 for no limit.
        hops: number of trusted proxies that add to X-Forwarded-For.
        monotonic: clock in seconds that never goes back.
    """

    def __init__(self, per_minute: int, hops: int = 0, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._hops = hops
        self._now = monotonic
        self._renew()

    def allow(self, peer: str | None, forwarded: str = "") -> bool:
        """Count a request; return True if the network is within its limit.

        ``peer`` is the address of the connection's other end, ``forwarded`` the values of all X-Forwarded-For lines, in
        order, joined with commas.
        """
        network = self._network(peer, forwarded)
        if not self._per_minute or network is None:
            return True
        now = self._now()
        if now - self._renewed >= DAY or len(self._buckets) >= MOST_NETWORKS:
            self._renew()
        key = self._hash(network)
        left = self._tokens_left(key, now)
        self._buckets[key] = (max(left - 1, 0.0), now)
        return left >= 1

    def is_within_limit(self, peer: str | None, forwarded: str = "") -> bool:
        """Return True if a request would be within the limit, without counting it; arguments as for ``allow``."""
        network = self._network(peer, forwarded)
        return not self._per_minute or network is None or self._tokens_left(self._hash(network), self._now()) >= 1

    def _hash(self, network: bytes) -> bytes:
        return hashlib.blake2b(network, key=self._key, digest_size=16).digest()

    def _tokens_left(self, key: bytes, now: float) -> float:
        left, then = self._buckets.get(key, (float(self._per_minute), now))
        return min(self._per_minute, left + (now - then) * self._per_minute / 60)

    def _renew(self) -> None:
        self._key = secrets.token_bytes(32)
        self._buckets: dict[bytes, tuple[float, float]] = {}
        self._renewed = self._now()

    def _network(self, peer: str | None, forwarded: str) -> bytes | None:
        """Return the network prefix (IPv4 /24, IPv6 /48); None for this machine, which has no limit."""
        if not self._hops and peer in _THIS_MACHINE:
            return None
        # Count from the right: a sender can put any addresses at the left of X-Forwarded-For.
        text = forwarded.split(",")[-self._hops :][0].strip() if self._hops else peer or ""
        try:
            address = inet_pton(AF_INET6 if ":" in text else AF_INET, text.partition("%")[0])
        except (OSError, ValueError):
            return b"unknown" if self._hops else None
        # A dual-stack socket reports IPv4 as ::ffff:a.b.c.d, which would all share one IPv6 prefix.
        address = address.removeprefix(_MAPPED)
        if len(address) == 4:
            return None if address[0] == 127 else address[:3]
        return None if address == _LOOPBACK else address[:6]


class RateLimits:
    """Rate limits of one network: for writes and for invalid tokens."""

    def __init__(self, settings: Settings) -> None:
        self._rates = Rates(settings.rate_limit, settings.proxy_hops)
        self._failures = Rates(FAILURES, settings.proxy_hops)
        self._has_warned = settings.proxy_hops > 0
        writes = [_policy(Limit.WRITES, settings.rate_limit)] if settings.rate_limit else []
        self._policies = ", ".join(writes)
        self._policies_of_tokens = ", ".join([*writes, _policy(Limit.FAILED_TOKENS, FAILURES)])

    def check_sender(self, asked: str, peer: str | None, forwarded: str) -> None:
        """Count a request of one network, and refuse it above the limit with ``too_many``.

        Only writes are counted, sign-ins included; ``asked`` is method and path, ``peer`` the address of the
        connection's other end, ``forwarded`` the values of all X-Forwarded-For lines as for ``Rates.allow``. Privacy:
        only this method and ``note`` read the addresses; nothing stores them or passes them on.
        """
        if forwarded and not self._has_warned:
            self._has_warned = True
            _log.warning(UNBELIEVED)
        if not asked.startswith(_FREE) and not self._rates.allow(peer, forwarded):
            raise Refusal("too_many")
        # Refuse valid tokens as well above the limit, so that the reply does not reveal which tokens are valid.
        if _GUESSABLE(asked) and not self._failures.is_within_limit(peer, forwarded):
            raise Refusal("too_many")

    def headers(self, asked: str, status: int) -> list[tuple[str, str]]:
        """Return the RateLimit fields of a reply (IETF draft-ietf-httpapi-ratelimit-headers).

        ``RateLimit-Policy`` states the limits, the same for all senders. Privacy: the remaining quota belongs to a
        network, so it would show each of its members that others send. ``RateLimit`` is therefore sent only when
        nothing remains, always with the same time.
        """
        if asked.startswith(_FREE):
            return []
        of_tokens = _GUESSABLE(asked)
        policies = self._policies_of_tokens if of_tokens else self._policies
        fields = [("RateLimit-Policy", policies)] if policies else []
        # Do not reveal which of the two limits of token requests was exceeded.
        if status == problems.STATUS["too_many"] and not of_tokens:
            fields.append(("RateLimit", f'"{Limit.WRITES}";r=0;t={problems.RETRY_AFTER}'))
        return fields

    def note(self, asked: str, status: int, peer: str | None, forwarded: str) -> None:
        """Count a reply that refused a token or sign-in code; arguments as for ``check_sender``."""
        if status == _REFUSED and _GUESSABLE(asked):
            self._failures.allow(peer, forwarded)


def _policy(limit: Limit, per_minute: int) -> str:
    return f'"{limit}";q={per_minute};w=60'


def check_head(method: str, path: str, headers: HeaderPairs) -> int:
    """Check the headers of a request's body and return its declared length; 0 for a method without a body.

    ``path`` decides how large a body may be. Raises Refusal: ``unsupported_type``, ``length_required``, ``too_large``
    or ``malformed``.
    """
    if method not in _WITH_BODY:
        return 0
    seen = dict(headers)
    if len(seen) < len(headers):
        # Repeated headers are ambiguous: proxy and server may each read another one (request smuggling).
        names = [name for name, _ in headers if name in _ONCE]
        if len(names) > len(set(names)):
            raise Refusal("malformed")
    declared = _content_length(seen)
    no_json = declared > 0 and path.startswith("/api/") and seen.get("content-type", "").lower() not in _JSON
    if no_json or "content-encoding" in seen:
        raise Refusal("unsupported_type")
    if declared > MAX_BODY and declared > next((most for end, most in LARGER.items() if path.endswith(end)), MAX_BODY):
        raise Refusal("too_large")
    return declared


def _content_length(headers: dict[str, str]) -> int:
    declared = headers.get("content-length")
    if declared is None or "transfer-encoding" in headers:
        raise Refusal("length_required")
    if not (declared.isascii() and declared.isdigit()) or len(declared) > 12:
        raise Refusal("malformed")
    return int(declared)
