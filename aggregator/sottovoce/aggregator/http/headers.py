"""What every reply carries, errors too."""

import re
from collections.abc import Sequence

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


ANY_ORIGIN = [("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin")]
"""On the respondents' routes: a saved page or a static host may read the survey and send a report."""

_RESPONDENTS = re.compile(
    r"(GET|HEAD|OPTIONS) /api/v1/surveys/[^/]+(/revisions|/status)?"
    r"|(POST|OPTIONS) /api/v1/surveys/[^/]+/(reports|reports/batch|withdraw|token|redeem)"
).fullmatch


def form_policy(style: str, embedders: Sequence[str]) -> str:
    """
    The content security policy of the respondents' form, which no researcher's page needs.

    Args:
        style: the digest of the style that stands in the page.
        embedders: the origins whose pages may hold it in a frame; none, if there are none.
    """
    ancestors = " ".join(embedders) or "'none'"
    return (
        f"default-src 'none'; script-src 'self'; style-src {style}; img-src data:; connect-src 'self'; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
    )


def security_headers(secure: bool) -> Sequence[tuple[str, str]]:
    """
    The headers of every reply.

    Args:
        secure: the aggregator is reached through https, so that browsers may be told to insist on it.
    """
    headers = [
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ("Cache-Control", "no-store"),
    ]
    if secure:
        headers.append(("Strict-Transport-Security", "max-age=31536000"))
    return headers


def is_for_respondents(method: str, path: str) -> bool:
    """Whether replies to such a request carry ``ANY_ORIGIN``."""
    return _RESPONDENTS(f"{method} {path}") is not None


_OF_PAGES = {"cross-origin-opener-policy", "permissions-policy"}
_OF_DATA = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")


def add_headers(given: Sequence[tuple[str, str]], standing: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """
    The headers of a reply, and of the standing ones those that it has not set itself.

    What is no page can open no window and use no camera; data may load nothing at all. A form on a slow line is spared
    the bytes of saying more. A script may be a service worker, which loads what its own policy allows.
    """
    lower = {name.lower(): value for name, value in given}
    kind = lower.get("content-type", "text/html")
    if kind.startswith(("application/json", "text/javascript")):
        standing = [(name, value) for name, value in standing if name.lower() not in _OF_PAGES]
    if kind.startswith("application/json"):
        standing = [_OF_DATA if name == _OF_DATA[0] else (name, value) for name, value in standing]
    return [*given, *[header for header in standing if header[0].lower() not in lower]]
