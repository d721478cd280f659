"""Addresses that only this computer or its own network can open."""

from ipaddress import ip_address
from urllib.parse import urlsplit

_ENDINGS = (".local", ".localhost", ".lan", ".internal", ".intranet", ".home.arpa", ".test")
"""Endings of names that public name servers do not know (RFC 6761, 6762, 8375)."""


def private_host(link: str) -> str:
    """Return the host of a link that people elsewhere cannot open: a loopback or private address, or a private name.

    Args:
        link: a link, or a text that is none.

    Returns:
        The host; "" for a public one, and for a text that is no link.
    """
    try:
        host = (urlsplit(link).hostname or "").rstrip(".")
    except ValueError:
        return ""
    try:
        return "" if ip_address(host).is_global else host
    except ValueError:
        return host if host and ("." not in host or host.endswith(_ENDINGS)) else ""
