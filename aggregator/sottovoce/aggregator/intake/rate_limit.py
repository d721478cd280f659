"""
How often one network may send, without keeping who it is.

A network's prefix is hashed with a key that lives in this process's memory only and is drawn anew each day; the hash
stands in no file and no log.
"""

import hashlib
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterable

DAY = 86400.0
MOST_NETWORKS = 100_000
"""Networks remembered at once; beyond that all are forgotten, which lets some send more."""

_THIS_MACHINE = frozenset({"127.0.0.1", "::1"})
"""Known without being parsed: all requests come from there if a proxy stands in front."""


class Rates:
    """
    A bucket for each network that fills evenly and holds one minute's worth.

    Args:
        per_minute: requests that one network may send in a minute; 0 means as many as it likes.
        hops: proxies in front whose X-Forwarded-For is believed.
        monotonic: seconds that never go back.
    """

    def __init__(self, per_minute: int, hops: int = 0, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._hops = hops
        self._now = monotonic
        self._renew()

    def allow(self, peer: str | None, forwarded: str = "") -> bool:
        """
        Whether a request may pass, which counts it.

        Args:
            peer: the address that the connection comes from.
            forwarded: all lines of X-Forwarded-For in their order, with commas between; "" if there is none.
        """
        network = self._network(peer, forwarded)
        if not self._per_minute or network is None:
            return True
        now = self._now()
        if now - self._renewed >= DAY or len(self._buckets) >= MOST_NETWORKS:
            self._renew()
        key = self._hash(network)
        left = self._left(key, now)
        self._buckets[key] = (max(left - 1, 0.0), now)
        return left >= 1

    def has_room(self, peer: str | None, forwarded: str = "") -> bool:
        """
        Whether a request would pass, which counts nothing.

        Args:
            peer: the address that the connection comes from.
            forwarded: all lines of X-Forwarded-For in their order, with commas between; "" if there is none.
        """
        network = self._network(peer, forwarded)
        return not self._per_minute or network is None or self._left(self._hash(network), self._now()) >= 1

    def _hash(self, network: bytes) -> bytes:
        return hashlib.blake2b(network, key=self._key, digest_size=16).digest()

    def _left(self, key: bytes, now: float) -> float:
        left, then = self._buckets.get(key, (float(self._per_minute), now))
        return min(self._per_minute, left + (now - then) * self._per_minute / 60)

    def _renew(self) -> None:
        self._key = secrets.token_bytes(32)
        self._buckets: dict[bytes, tuple[float, float]] = {}
        self._renewed = self._now()

    def _network(self, peer: str | None, forwarded: str) -> bytes | None:
        """The prefix; None for this machine itself, which is where a proxy or a demonstration sends from."""
        if not self._hops and peer in _THIS_MACHINE:
            return None
        named: Iterable[str | None] = [peer]
        if self._hops:
            named = [text.strip() for text in forwarded.split(",")][-self._hops :][:1]
        try:
            address = ipaddress.ip_address(next(iter(named)) or "")
        except ValueError:
            return b"unknown" if self._hops else None
        # A socket for both families shows IPv4 so; all of it would be one network of IPv6.
        address = getattr(address, "ipv4_mapped", None) or address
        if address.is_loopback:
            return None
        return address.packed[:3] if address.version == 4 else address.packed[:6]
