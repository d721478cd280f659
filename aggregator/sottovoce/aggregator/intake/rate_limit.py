"""Rate limit by network, without storing addresses.

A network's prefix is hashed with a key that is only in this process's memory and changes every day. The hash is never
written to a file or log.
"""

import hashlib
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterable

DAY = 86400.0
"""Lifetime of the hash key, in seconds."""
MOST_NETWORKS = 100_000
"""Maximum number of buckets; beyond it all are dropped, which bounds memory but lets some networks send more."""

_THIS_MACHINE = frozenset({"127.0.0.1", "::1"})
"""Loopback addresses, compared as text first: behind a proxy all requests come from one of them."""


class Rates:
    """Token bucket for each network; a full bucket holds the requests of one minute.

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

        Args:
            peer: address of the connection's other end.
            forwarded: values of all X-Forwarded-For lines, in order, joined with commas; "" if there are none.
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
        """Return True if a request would be within the limit, without counting it.

        Args:
            peer: address of the connection's other end.
            forwarded: values of all X-Forwarded-For lines, in order, joined with commas; "" if there are none.
        """
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
        addresses: Iterable[str | None] = [peer]
        if self._hops:
            # Count from the right: a sender can put any addresses at the left of X-Forwarded-For.
            addresses = [text.strip() for text in forwarded.split(",")][-self._hops :][:1]
        try:
            address = ipaddress.ip_address(next(iter(addresses)) or "")
        except ValueError:
            return b"unknown" if self._hops else None
        # A dual-stack socket reports IPv4 as ::ffff:a.b.c.d, which would all share one IPv6 prefix.
        address = getattr(address, "ipv4_mapped", None) or address
        if address.is_loopback:
            return None
        return address.packed[:3] if address.version == 4 else address.packed[:6]
