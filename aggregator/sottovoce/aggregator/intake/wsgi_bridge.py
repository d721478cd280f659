"""Runs a WSGI application on a request that a server hands over in the manner of RSGI, its body read already."""

import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any, Protocol

from sottovoce.aggregator.intake.request_limits import PASSED, Pairs


class Headers(Protocol):
    """Those of a request, names in lower case."""

    def items(self) -> Pairs:
        """In their order; a name may come twice."""


class Scope(Protocol):
    """A request without its body, as RSGI describes it: all is text, the addresses with their ports."""

    method: str
    path: str
    query_string: str
    headers: Headers
    scheme: str
    server: str
    client: str
    http_version: str


WSGI = Callable[..., Iterable[bytes]]
Reply = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers, body."""

_ADDRESSES = frozenset({"x-forwarded-for", "x-real-ip", "forwarded"})


def run_wsgi(app: WSGI, scope: Scope, body: bytes) -> Reply:
    """
    The application's reply, whole.

    Args:
        app: the application; it runs in the calling thread.
        scope: the request.
        body: all of its body.
    """
    started: list[tuple[str, list[tuple[str, str]]]] = []
    chunks = app(make_environ(scope, body), lambda status, headers, _info=None: started.append((status, headers)))
    try:
        content = b"".join(chunks)
    finally:
        getattr(chunks, "close", lambda: None)()
    status, headers = started[-1]
    return int(status.split(" ", 1)[0]), headers, content


def make_environ(scope: Scope, body: bytes) -> dict[str, Any]:
    """The request as PEP 3333 describes it, without the address that it came from."""
    host, port = host_and_port(scope.server)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        # WSGI's text is bytes in Latin-1.
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": "HTTP/1.0" if scope.http_version == "1" else f"HTTP/{scope.http_version}",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        PASSED: True,
    }
    for name, value in scope.headers.items():
        # A name with an underscore would be taken for the one with a hyphen.
        if name not in _ADDRESSES and "_" not in name:
            key = "HTTP_" + name.upper().replace("-", "_")
            environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_CONTENT_LENGTH", None)
    return environ


def host_and_port(address: str) -> tuple[str, str]:
    """The two parts of an address, ``127.0.0.1:80`` or ``[::1]:80``."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), port
