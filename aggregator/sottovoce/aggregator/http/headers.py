"""Set the headers of all replies, errors included, and read and obey those of requests.

Hosts        Requests for other sites are refused, since a stranger's name may resolve to this server (DNS rebinding).
Keys         The header Authorization holds tokens and blind signatures (RFC 9110, 11.6.2; RFC 6750).
Conditional  Requests with a known ETag get 304 (RFC 9110, 13).
Compression  Only researchers' pages are compressed here, with protection against BREACH. A page holds its session's
             CSRF token together with text from its URL. An attacker who makes a browser request chosen URLs with the
             session's cookie, and sees the lengths of compressed replies, could learn the token letter by letter
             (BREACH, 2013). ``SameSite=Strict`` stops other sites, but not pages on the same domain. So only replies to
             requests by the user or by our own pages are compressed, as ``Sec-Fetch-Site`` says, which no page can
             forge; without it, none.
"""

import gzip
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import brotli
from flask import Flask, Response, request
from sottovoce.aggregator.http.problems import Refusal
from werkzeug.sansio.utils import host_is_trusted

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

ANY_ORIGIN = [("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin")]
"""CORS headers of the respondents' routes: saved pages and static hosts may read surveys and send reports."""

is_for_respondents = re.compile(
    r"(GET|HEAD|OPTIONS) /api/v1/surveys/[^/]+(/revisions|/status)?"
    r"|(POST|OPTIONS) /api/v1/surveys/[^/]+/(reports|reports/batch|withdraw|token|redeem)"
).fullmatch
"""Matches method and path of the requests whose replies carry ``ANY_ORIGIN``."""

EXPECTED = "a key is sent as: Authorization: Bearer KEY"

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE).fullmatch
_BLIND = re.compile(r"blind +([A-Za-z0-9_-]{1,1024}) *", re.IGNORECASE).fullmatch

LEAST = 1000
"""Bytes below which a reply is not compressed."""

_FOLDER = "/dashboard"
_OWN = frozenset({"same-origin", "none"})
_TYPES = frozenset({"text/html", "text/css", "text/javascript", "text/csv", "image/svg+xml", "application/json"})
_CODINGS: Mapping[str, Callable[[bytes], bytes]] = {
    # Medium quality takes milliseconds for a page of twenty questions; the best takes a second and saves a tenth more.
    "br": lambda body: brotli.compress(body, quality=6),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}

FOR_ANY_HOST = frozenset({"machine.healthz", "machine.readyz", "machine.metrics", "collect.report", "collect.batch"})
"""Endpoints that programs ask at the address of each node, and those that a page of any site may send reports to."""

FOR_ANYBODY = frozenset({"", "collect", "front", "machine"})
"""Groups of endpoints that need no account: only names that the operator has set are refused here."""


def register_hosts(app: Flask, names: Sequence[str], is_set: bool) -> None:
    """Refuse requests for a host not in ``names``, if there are any; ".name" stands for its subdomains too.

    Names that are not set but learned bind staff's routes only. Staff may then still come by address, as through a
    tunnel: no stranger's page has an address of this machine for its origin.
    """

    def check() -> None:
        endpoint = request.endpoint or ""
        is_for_all = endpoint in FOR_ANY_HOST if is_set else endpoint.partition(".")[0] in FOR_ANYBODY
        if is_for_all or host_is_trusted(request.host, names) or (not is_set and _is_address(request.host)):
            return
        way = "see SOTTOVOCE_TRUSTED_HOSTS, SOTTOVOCE_PUBLIC_URL and the Host header that the proxy passes on"
        raise Refusal("malformed", f"the Host header names another site; {way}")

    if names:
        app.before_request(check)


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    return False


def register(app: Flask, secure: bool) -> None:
    """Compress replies of this app to browsers, and give each reply the headers that it did not set itself."""
    app.after_request(_compress)
    app.wsgi_app = _with_headers(app.wsgi_app, security_headers(secure))  # type: ignore[method-assign]


def _with_headers(app: Any, headers: Sequence[tuple[str, str]]) -> Any:  # noqa: ANN401 - WSGI's own signatures
    """Wrap a WSGI application, so that errors of the framework get the headers too."""

    def with_headers(environ: Any, start_response: Any) -> Any:  # noqa: ANN401
        def start(status: str, given: list[tuple[str, str]], *more: Any) -> Any:  # noqa: ANN401
            return start_response(status, add_headers(given, headers), *more)

        return app(environ, start)

    return with_headers


def _compress(reply: Response) -> Response:
    if not request.path.startswith(_FOLDER) or reply.mimetype not in _TYPES or reply.is_streamed:
        return reply
    reply.vary.update(["Accept-Encoding", "Sec-Fetch-Site"])
    coding = next((coding for coding in _CODINGS if request.accept_encodings[coding] > 0), None)
    asked_here = request.headers.get("Sec-Fetch-Site") in _OWN
    if coding is None or not asked_here or reply.status_code != 200 or "Content-Encoding" in reply.headers:
        return reply
    body = reply.get_data()
    if len(body) >= LEAST:
        reply.set_data(_CODINGS[coding](body))
        reply.headers["Content-Encoding"] = coding
        tag, _ = reply.get_etag()
        if tag:
            # Weak, since the tag is the same for each coding and so does not identify the bytes (RFC 9110, 8.8.3.3).
            reply.set_etag(tag, weak=True)
    return reply


def blind_signature(authorization: str) -> str:
    """Return the blind signature in an ``Authorization`` header of the scheme ``Blind``; "" if there is none."""
    match = _BLIND(authorization)
    return "" if match is None else match[1]


def bearer_token(authorization: str) -> str:
    """Return the token in an ``Authorization`` header of the scheme ``Bearer``, in any case; "" if there is none."""
    match = _BEARER(authorization)
    return "" if match is None else match[1]


def etag_of(shown: bytes) -> str:
    """Return the ETag of these bytes: their hash, which reveals nothing beyond them."""
    return hashlib.sha256(shown).hexdigest()[:32]


def unless_known(reply: Response, etag: str = "") -> Response:
    """Set a reply's ETag, and turn it into 304 without a body if ``If-None-Match`` names the ETag.

    ``etag`` is from ``etag_of``, for pages that also contain the reader's name; "" hashes the whole reply. Privacy: the
    hash covers the bytes shown, so it reveals no report that is not shown yet, and no reader.
    """
    reply.set_etag(etag or etag_of(reply.get_data()))
    reply.make_conditional(request)
    return reply


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
