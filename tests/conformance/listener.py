"""Record requests at a local HTTP server and proxy as their bytes come, with what lies on the client's disk by then.

A client under audit runs in a process of its own. Its aggregator is this server, and so is its proxy, so that requests
to other hosts arrive here too. Nothing in the client is replaced or asked: only what it sends and leaves is looked at.
"""

import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 60
MAX_HEAD_BYTES = 1 << 16

Disk = tuple[tuple[str, int, bytes], ...]
"""The files below a folder: relative name, mode and content, in the order of their names."""


@dataclass(frozen=True)
class MockReply:
    """A reply, JSON unless it says otherwise."""

    status: int
    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True)
class WireRequest:
    """A request as it was sent.

    Attributes:
        connection: number of its connection among those of the run.
        line: the request line, without the address of the listener.
        headers: names and values as they were sent, in order.
        disk: files of the client when the request had come; empty for a request that carries no body.
    """

    connection: int
    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    disk: Disk

    @property
    def method(self) -> str:
        return self.line.partition(" ")[0]

    @property
    def address(self) -> str:
        """The path at the listener; the whole address of any other host."""
        return self.line.partition(" ")[2].rpartition(" ")[0]

    def header(self, name: str) -> str | None:
        """Return the value of a header; None if there is none or several."""
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return found[0] if len(found) == 1 else None


Responder = Callable[[WireRequest], MockReply | None]
"""Replies in the place of an aggregator; None cuts the connection."""


def read_disk(folder: Path) -> Disk:
    """Return the files below a folder, with named pipes and links by their kind alone."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)  # noqa: PTH118 - thousands of files are read
            with suppress(FileNotFoundError):
                mode = os.lstat(path).st_mode
                content = Path(path).read_bytes() if stat.S_ISREG(mode) else b""
                found.append((os.path.relpath(path, folder), mode, content))
    return tuple(sorted(found))


class Listener:
    """A listener on a free port of this computer, at ``origin``; use it as a context manager."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.origin = "http://{}:{}".format(*self._socket.getsockname())
        self._lock = threading.Lock()
        self._site: Responder | None = None
        self._folder: Path | None = None
        self._requests: list[WireRequest] = []
        self._numbers: dict[int, int] = {}
        self._count = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        # Without this the thread that accepts would hold the port until the next connection.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    @contextmanager
    def recording(self, site: Responder, folder: Path | None = None) -> Iterator[list[WireRequest]]:
        """Answer with a site and yield its requests; ``folder`` is the client's, None where it is not looked at."""
        with self._lock:
            self._site, self._folder, self._requests, self._numbers = site, folder, [], {}
        try:
            yield self._requests
        finally:
            with self._lock:
                self._site = None

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self._count += 1
                threading.Thread(target=self._serve, args=(connection, self._count), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        connection.settimeout(TIMEOUT_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(OSError, ValueError), connection, connection.makefile("rb") as stream:
            while True:
                line = stream.readline(MAX_HEAD_BYTES).decode("latin-1").rstrip("\r\n")
                if not line:
                    return
                headers = _read_headers(stream)
                # Clients behind a proxy send the body only then, and Linux would wait for 40 ms.
                if hasattr(socket, "TCP_QUICKACK"):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                reply, is_last = self._answered(line, headers, stream, number)
                if reply is None:
                    return
                connection.sendall(_spelled(reply))
                if is_last:
                    return

    def _answered(
        self, line: str, headers: tuple[tuple[str, str], ...], stream: BinaryIO, number: int
    ) -> tuple[MockReply | None, bool]:
        """Return the reply to one request, and whether its connection ends with it."""
        known = {name.lower(): value for name, value in headers}
        body = stream.read(int(known.get("content-length", "0")))
        with self._lock:
            if self._site is None:
                return None, True
            disk = () if self._folder is None or not body else read_disk(self._folder)
            place = self._numbers.setdefault(number, len(self._numbers))
            request = WireRequest(place, self._relative(line), headers, body, disk)
            self._requests.append(request)
            is_last = known.get("connection", "").lower() == "close" or request.method == "CONNECT"
            return self._site(request), is_last

    def _relative(self, line: str) -> str:
        """Return a request line as a server gets it that is reached without a proxy."""
        method, _, rest = line.partition(" ")
        own = urlsplit(self.origin).netloc
        address = rest.removeprefix(f"http://{own}") if rest.startswith(f"http://{own}/") else rest
        return f"{method} {address}"


def _read_headers(stream: BinaryIO) -> tuple[tuple[str, str], ...]:
    headers = []
    while line := stream.readline(MAX_HEAD_BYTES).decode("latin-1").rstrip("\r\n"):
        name, _, value = line.partition(":")
        headers.append((name, value.strip()))
    return tuple(headers)


def _spelled(reply: MockReply) -> bytes:
    # A cookie that no client may ever send back.
    head = (
        f"HTTP/1.1 {reply.status} Reply\r\nContent-Type: {reply.content_type}\r\nContent-Length: {len(reply.body)}\r\n"
        "Set-Cookie: audit=known; Path=/\r\nCache-Control: no-store\r\n\r\n"
    )
    return head.encode() + reply.body
