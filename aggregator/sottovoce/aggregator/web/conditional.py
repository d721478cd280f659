"""Replies that are not sent again to whoever has them (RFC 9110, 13)."""

import hashlib

from flask import Response, request


def unless_known(reply: Response) -> Response:
    """
    The reply with its ETag, or 304 without a body where ``If-None-Match`` names it.

    The ETag is the hash of the very bytes that are shown, and so says nothing that they do not: no arrival that is not
    shown yet, no time, and not who asks.
    """
    reply.set_etag(hashlib.sha256(reply.get_data()).hexdigest()[:32])
    reply.make_conditional(request)
    return reply
