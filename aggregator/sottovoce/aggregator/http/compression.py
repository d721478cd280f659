"""Compress researchers' pages, with protection against BREACH.

A page holds its session's CSRF token together with text from its URL. An attacker who makes a browser request chosen
URLs with the session's cookie, and sees the lengths of compressed replies, could learn the token letter by letter
(BREACH, 2013). ``SameSite=Strict`` stops other sites, but not pages on the same domain. So only replies to requests by
the user or by our own pages are compressed, as ``Sec-Fetch-Site`` says, which no page can forge; without it, none.
"""

import gzip
from collections.abc import Callable, Mapping

import brotli
from flask import Flask, Response, request

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


def register(app: Flask) -> None:
    """Compress replies of this app to browsers."""
    app.after_request(_compress)


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
