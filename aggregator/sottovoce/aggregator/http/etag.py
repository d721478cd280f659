"""Answer conditional requests: ETags and 304 replies (RFC 9110, 13)."""

import hashlib

from flask import Response, request


def etag_of(shown: bytes) -> str:
    """Return the ETag of these bytes: their hash, which reveals nothing beyond them."""
    return hashlib.sha256(shown).hexdigest()[:32]


def unless_known(reply: Response, etag: str = "") -> Response:
    """Set a reply's ETag, and turn it into 304 without a body if ``If-None-Match`` names the ETag.

    ``etag`` is from ``etag_of``, for pages that also contain the reader's name; "" hashes the whole reply. Privacy: the
    hash is of the bytes shown, so it reveals no report that is not shown yet, and no reader.
    """
    reply.set_etag(etag or etag_of(reply.get_data()))
    reply.make_conditional(request)
    return reply
