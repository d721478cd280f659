"""Reply with a page to print, with an inline style and no script."""

import base64
import hashlib
import re

from flask import Response

_STYLE = re.compile("<style>(.*?)</style>", re.DOTALL)


def print_reply(page: str) -> Response:
    """Return the page with a content security policy that allows only its inline style, by hash."""
    style = _STYLE.search(page)
    digest = base64.b64encode(hashlib.sha256((style[1] if style else "").encode()).digest()).decode()
    reply = Response(page, content_type="text/html; charset=utf-8")
    reply.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return reply
