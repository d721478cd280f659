"""Recognize addresses that only this computer or its own network can open."""

from ipaddress import ip_address
from urllib.parse import urlsplit

_ENDINGS = (".local", ".localhost", ".lan", ".internal", ".intranet", ".home.arpa", ".test")
"""Endings of names that public name servers do not know (RFC 6761, 6762, 8375)."""


def private_host(link: str) -> str:
    """Return the host of a link that people elsewhere cannot open (loopback, private address or name); else ""."""
    try:
        host = (urlsplit(link).hostname or "").rstrip(".")
    except ValueError:
        return ""
    try:
        return "" if ip_address(host).is_global else host
    except ValueError:
        return host if host and ("." not in host or host.endswith(_ENDINGS)) else ""
