"""Runs a WSGI application on a request that a server hands over in the manner of ASGI, its body read already."""

import sys
from collections.abc import Callable, Iterable, MutableMapping
from io import BytesIO
from typing import Any

from sottovoce.aggregator.collect.limits import PASSED

Scope = MutableMapping[str, Any]
WSGI = Callable[..., Iterable[bytes]]
Reply = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers with names in lower case, body."""

_ADDRESSES = frozenset({b"x-forwarded-for", b"x-real-ip", b"forwarded"})


def run_wsgi(app: WSGI, scope: Scope, body: bytes) -> Reply:
    """
    The application's reply, whole.

    Args:
        app: the application; it runs in the calling thread.
        scope: the request, as ASGI describes it.
        body: all of its body.
    """
    started: list[tuple[str, list[tuple[str, str]]]] = []
    chunks = app(make_environ(scope, body), lambda status, headers, _info=None: started.append((status, headers)))
    try:
        content = b"".join(chunks)
    finally:
        getattr(chunks, "close", lambda: None)()
    status, headers = started[-1]
    return int(status.split(" ", 1)[0]), encode_headers(headers), content


def encode_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Headers as ASGI wants them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def make_environ(scope: Scope, body: bytes) -> dict[str, Any]:
    """The request as PEP 3333 describes it, without the address that it came from."""
    host, port = scope.get("server") or ("localhost", 80)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # WSGI's text is bytes in Latin-1.
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        PASSED: True,
    }
    for name, value in scope["headers"]:
        # A name with an underscore would be taken for the one with a hyphen.
        if name not in _ADDRESSES and b"_" not in name:
            key, text = "HTTP_" + name.decode("latin-1").upper().replace("-", "_"), value.decode("latin-1")
            environ[key] = f"{environ[key]},{text}" if key in environ else text
    environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_CONTENT_LENGTH", None)
    return environ
