"""Set the headers of all replies, errors included."""

import re
from collections.abc import Sequence

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

ANY_ORIGIN = [("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin")]
"""CORS headers of the respondents' routes: saved pages and static hosts may read surveys and send reports."""

_RESPONDENTS = re.compile(
    r"(GET|HEAD|OPTIONS) /api/v1/surveys/[^/]+(/revisions|/status)?"
    r"|(POST|OPTIONS) /api/v1/surveys/[^/]+/(reports|reports/batch|withdraw|token|redeem)"
).fullmatch


def form_policy(style: str) -> str:
    """Return the CSP of the respondents' form, which no page may frame; ``style`` is the hash of its style."""
    return (
        f"default-src 'none'; script-src 'self'; style-src {style}; img-src data:; connect-src 'self'; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def question_headers(policy: str) -> dict[str, str]:
    """Return the headers of the page of a single question, which any site may open or hold; ``policy`` is its CSP.

    Its origin is its protection, so that nothing of this server may script it, and its process, so that no other page
    feels its work. It is in the group of the window that opened it, to which the answer goes; the sandbox lets it ask
    before it is left, but open nothing.
    """
    return {
        "Content-Security-Policy": f"{policy}; frame-ancestors *; sandbox allow-scripts allow-same-origin allow-modals",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cross-Origin-Opener-Policy": "unsafe-none",
        "Origin-Agent-Cluster": "?1",
        "Cache-Control": "public, max-age=3600",
    }


def link_headers(policy: str) -> dict[str, str]:
    """Return the headers of the page of a question that leads on, which nothing lies around; ``policy`` has hashes."""
    return {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'", "Origin-Agent-Cluster": "?1"}


def security_headers(secure: bool) -> Sequence[tuple[str, str]]:
    """Return the headers of every reply; ``secure`` (served over HTTPS) adds Strict-Transport-Security."""
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
    """Return True if replies to this request carry ``ANY_ORIGIN``."""
    return _RESPONDENTS(f"{method} {path}") is not None


_OF_PAGES = {"cross-origin-opener-policy", "permissions-policy"}
_OF_DATA = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")


def add_headers(given: Sequence[tuple[str, str]], standing: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Add the standing headers that a reply has not set itself.

    JSON and scripts need no headers about windows and devices: that saves bytes on slow connections. JSON gets the
    strictest policy. A script keeps its policy, since it may be a service worker, whose requests the policy governs.
    """
    lower = {name.lower(): value for name, value in given}
    kind = lower.get("content-type", "text/html")
    if kind.startswith(("application/json", "text/javascript")):
        standing = [(name, value) for name, value in standing if name.lower() not in _OF_PAGES]
    if kind.startswith("application/json"):
        standing = [_OF_DATA if name == _OF_DATA[0] else (name, value) for name, value in standing]
    return [*given, *[header for header in standing if header[0].lower() not in lower]]
