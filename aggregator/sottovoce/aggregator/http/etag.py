"""Replies that are not sent again to whoever has them (RFC 9110, 13)."""

import hashlib

from flask import Response, request


def etag_of(shown: bytes) -> str:
    """The ETag of what is shown: its hash, which says nothing that it does not."""
    return hashlib.sha256(shown).hexdigest()[:32]


def unless_known(reply: Response, etag: str = "") -> Response:
    """
    The reply with its ETag, or 304 without a body where ``If-None-Match`` names it.

    The ETag is the hash of the very bytes that are shown, and so says nothing that they do not: no arrival that is not
    shown yet, no time, and not who asks. A page that also says who reads it brings that of its figures.

    Args:
        reply: whole.
        etag: by ``etag_of``; "" for that of the whole reply.
    """
    reply.set_etag(etag or etag_of(reply.get_data()))
    reply.make_conditional(request)
    return reply
