"""
Researchers' pages, compressed for browsers that can read it.

A page holds its session's form token beside what the address says (the language form leads back to it). Whoever could
make a browser ask for chosen addresses with the session's cookie, and see how long the replies are, would learn such a
token letter by letter (BREACH). The cookie is ``SameSite=Strict``, so no other site can; to be sure of neighbours on
the same domain too, only what a person or one of our own pages asked for is compressed, which the browser says in
``Sec-Fetch-Site`` and no page can forge. Whoever sends no such header gets the same page, longer.
"""

import gzip
from collections.abc import Callable, Mapping

import brotli
from flask import Flask, Response, request

LEAST = 1000
"""Bytes below which it is not worth it."""

_FOLDER = "/dashboard"
_OWN = frozenset({"same-origin", "none"})
_TYPES = frozenset({"text/html", "text/css", "text/javascript", "text/csv", "image/svg+xml", "application/json"})
_CODINGS: Mapping[str, Callable[[bytes], bytes]] = {
    # Halfway: a page of twenty questions takes some milliseconds, and the best would save a tenth more in a second.
    "br": lambda body: brotli.compress(body, quality=6),
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
}


def register(app: Flask) -> None:
    """Compress the pages of this app."""
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
            # The same in every coding, so it no longer names these very bytes (RFC 9110, 8.8.3.3).
            reply.set_etag(tag, weak=True)
    return reply
