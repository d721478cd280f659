"""Bridge from RSGI to WSGI for requests whose body has been read."""

import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any, Protocol

from sottovoce.aggregator.intake.request_limits import PASSED, Pairs


class Headers(Protocol):
    """Headers of an RSGI request, with names in lower case."""

    def items(self) -> Pairs:
        """Return names and values in order; a name may occur more than once."""


class Scope(Protocol):
    """RSGI scope: a request without its body; ``server`` and ``client`` are addresses with ports."""

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
"""Triple of status, headers and body."""

_ADDRESSES = frozenset({"x-forwarded-for", "x-real-ip", "forwarded"})


def run_wsgi(app: WSGI, scope: Scope, body: bytes) -> Reply:
    """Run a WSGI application in the calling thread and return its complete reply.

    Args:
        app: WSGI application.
        scope: RSGI scope of the request.
        body: complete body of the request.
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
    """Return the WSGI environment of a request (PEP 3333) without the sender's address, for privacy."""
    host, port = host_and_port(scope.server)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        # PEP 3333: native strings hold the bytes of the path, decoded as Latin-1.
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
        # Drop names with an underscore: in the environment they look like the name with a hyphen (header spoofing).
        if name not in _ADDRESSES and "_" not in name:
            key = "HTTP_" + name.upper().replace("-", "_")
            environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_CONTENT_LENGTH", None)
    return environ


def host_and_port(address: str) -> tuple[str, str]:
    """Split an address such as ``127.0.0.1:80`` or ``[::1]:80``."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), port
