"""Speak HTTP/1.1 on the event loop, and pass each request to the gate.

A report that arrives whole, with headers that change nothing, is offered to the gate at once: no task, future or list
of headers is made for it, which halves the time of a report. Any other request is read by h11, and gets a task; the
connection ends after a body that was not read.
"""

import asyncio
import os
import re
import signal
import socket
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from itertools import chain
from threading import Timer
from time import time
from typing import Any, Protocol, cast
from urllib.parse import unquote_to_bytes

import h11
from sottovoce.aggregator.http.problems import Refusal, describe

HEAD_SECONDS = 5
HEAD_BYTES = 8 * 1024
"""Time and room for the head of a request; what is larger or slower is no browser."""

UNREAD_SECONDS = 60
"""Time in which a client must have read some of its replies."""

AHEAD_BYTES = 64 * 1024
"""Bytes read before the gate asks for them."""

GRACE = 3.0
"""Seconds for requests in progress at the end; shorter than the time after which supervisors send SIGKILL."""

BACKLOG = 4096
"""Connections that wait to be accepted."""

CONNECTIONS = 16_384
"""Connections held at once. Those that send nothing cost a few KiB each, and end after a while."""

HEADS = 2048
"""Connections held at once of which a part of a head has come: 16 MiB, beside the limit of bodies in flight."""

_TARGET = re.compile(rb"(?:(?i:https?)://[^/?#]*)?(\*|/[^?#]*)(?:\?([^#]*))?").fullmatch
"""Match of what a request asks for: path and query."""

_USUAL = re.compile(
    rb"""POST\ /api/v1/surveys/([a-z0-9_-]{1,64})/reports\ HTTP/1\.1\r\n (?:(?i:
        (?(2)(?!) | content-length:\ ([1-9][0-9]{0,4}))
        | (?(3)(?!) | content-type:\ (application/json))
        | (?(4)(?!) | x-forwarded-for:\ ([0-9a-f.:,\ ]+))
        | (?(5)(?!) | host:\ ([!-~]+))
        | connection:\ keep-alive
        | (?!content-|x-forwarded-for|host|connection|authorization|transfer-|expect)[0-9a-z-]+:\ [\x20-\x7e]*
    )\r\n)+ \r\n""",
    re.VERBOSE,
).match
"""Match of a report's head: name of the survey, length, media type, sender and host, each at most once."""

REQUEST_BYTES = 8 * 1024
"""Memory of a request besides its body, which counts towards the limit of bodies in flight."""

_INTAKE = re.compile(r"/api/v1/surveys/([^/]+)/reports(/batch)?").fullmatch

HttpReply = tuple[int, list[tuple[str, str]], bytes]
"""Triple of status, headers and body."""


class HttpRequest:
    """Head of a request, and what the gate keeps of it.

    Attributes:
        path: decoded.
        headers: in order, with names in lower case; a name may occur more than once.
        server: address and port.
        client: address.
        intake: match of the path's survey, and of the end of a batch's path; None if no report is sent.
        held: bytes in flight that are counted for this request.
        uploads: 1 if a data file is counted for this request, else 0.
    """

    def __init__(self, read: h11.Request, target: re.Match[bytes], server: tuple[str, int], client: str) -> None:
        self.method, self.protocol = read.method.decode(), f"HTTP/{read.http_version.decode()}"
        self.path = unquote_to_bytes(target[1]).decode("utf-8", "replace")
        self.query_string = (target[2] or b"").decode()
        # Letters beyond ASCII mean nothing here; the rest of the line, such as a session beside another's cookie, does.
        fields = [(name.decode(), value.decode("ascii", "replace")) for name, value in read.headers]
        self.headers = [(name, value.replace("\ufffd", "?")) for name, value in fields]
        self.server, self.client = server, client
        self.intake = _INTAKE(self.path) if self.method == "POST" else None
        self.held, self.uploads = REQUEST_BYTES, 0

    def values(self, wanted: str) -> str:
        """Return the values of all lines of a header."""
        return ",".join([value for name, value in self.headers if name == wanted])


class RequestHandler(Protocol):
    """Part of the gate that connections use."""

    receipt_headers: list[tuple[str, str]]
    is_draining: bool

    async def answer(self, head: HttpRequest, connection: "Connection", refused: Exception | None, /) -> None:
        """Answer one request, errors included; ``refused`` is why a report that was taken was not stored."""

    def take(self, name: str, body: bytes, client: str, forwarded: str, sender: "Connection", /) -> bool:
        """Take a report by comparing its bytes; return False, without effect, for any that has to go the usual way."""


class Connections:
    """All connections of a process."""

    def __init__(self, gate: RequestHandler) -> None:
        self.gate = gate
        # Those that came first, first; those of which a part of a head has come are in both.
        self.held: dict[Connection, None] = {}
        self.heads: dict[Connection, None] = {}
        self.has_ended = False
        self._receipt_head, self._second = b"", 0

    def receipt_head(self) -> bytes:
        """Return the head of a receipt up to its length; it changes every second, with the date."""
        if self._second != int(time()):
            self._second = int(time())
            fields = "".join([f"{name.lower()}: {value}\r\n" for name, value in self.gate.receipt_headers])
            head = f"HTTP/1.1 200 OK\r\n{fields}date: {formatdate(usegmt=True)}\r\ncontent-length: "
            self._receipt_head = head.encode("latin-1")
        return self._receipt_head

    def hold(self, connection: "Connection", held: dict["Connection", None], most: int) -> None:
        """Hold one more; above the limit close the oldest that waits, or this one if all are busy."""
        held[connection] = None
        if len(held) > most:
            next(one for one in held if one is connection or not one.is_busy).abort()

    def forget(self, connection: "Connection") -> None:
        """Hold a connection that has ended no longer."""
        self.held.pop(connection, None)
        self.heads.pop(connection, None)

    async def serve(self, listener: socket.socket, drain_seconds: int = 0) -> None:
        """Serve until SIGTERM, and ``drain_seconds`` longer; then let requests that are under way end.

        The process ends after ``GRACE`` seconds even if a thread still waits for the database: nothing unfinished was
        acknowledged. Behind a load balancer that polls ``/readyz``, the node first says that it is not ready, and
        serves on until that was noticed.
        """
        loop, stop = asyncio.get_running_loop(), asyncio.Event()

        def drain() -> None:
            # Further SIGTERMs do not shorten it.
            if not self.gate.is_draining:
                self.gate.is_draining = True
                loop.call_later(drain_seconds, stop.set)

        loop.set_exception_handler(log_failure)
        with suppress(NotImplementedError):  # on Windows
            loop.add_signal_handler(signal.SIGTERM, drain)
        server = await loop.create_server(lambda: Connection(self), sock=listener, backlog=BACKLOG)
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 1)
            for connection in [*self.held]:
                connection.wait_no_longer()
        last = Timer(GRACE, os._exit, [0])
        last.daemon = True
        last.start()
        server.close()
        self.end()
        while self.held:
            await asyncio.sleep(0.05)

    def end(self) -> None:
        """Refuse bodies that are not whole, also later ones, and close each connection once its request is answered."""
        self.has_ended = True
        for connection in [*self.held]:
            connection.end()


class Connection(asyncio.Protocol):
    """A client's connection, which answers one request after another."""

    def __init__(self, connections: Connections) -> None:
        self._all, self._gate = connections, connections.gate
        # Made for a request that was not taken at once, and left with it.
        self._http: h11.Connection | None = None
        self._taken = b""
        self._more: asyncio.Future[None] | None = None
        self._at_end = self._has_left = False
        self._is_full = self._is_held_back = False
        self._seconds = self._unread = 0

    @property
    def is_busy(self) -> bool:
        """True while a request is under way."""
        return self._taken != b"" or (self._http is not None and self._http.their_state is not h11.IDLE)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a head."""
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        # Who has left at once has no address any more.
        self._client = (transport.get_extra_info("peername") or [""])[0]
        self._server = (transport.get_extra_info("sockname") or ("", 0))[:2]
        self._all.hold(self, self._all.held, CONNECTIONS)

    def connection_lost(self, _error: Exception | None) -> None:
        """Give up a body that is not whole."""
        self._has_left = True
        self._all.forget(self)
        self.eof_received()

    def eof_received(self) -> bool:
        """Note that nothing more comes; keep the connection open if a request is under way."""
        self._at_end = True
        if self._more is not None and not self._more.done():
            self._more.set_result(None)
        return self.is_busy

    def pause_writing(self) -> None:
        """Begin no further request before the client has read."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Go on to the request that was held back."""
        self._is_full = False
        if self._is_held_back:
            self._next()

    def data_received(self, data: bytes) -> None:
        """Take a report at once, or read what came."""
        if self._has_left:
            return
        if self._http is None and not self._taken:
            usual = _USUAL(data, 0, HEAD_BYTES)
            if usual is not None and usual[2] and usual[3] and usual[5] and len(data) == usual.end() + int(usual[2]):
                forwarded = (usual[4] or b"").decode()
                if self._gate.take(usual[1].decode(), data[usual.end() :], self._client, forwarded, self):
                    self._taken = data
                    return
            data = data.lstrip(b"\r\n")  # which old clients send after a body (RFC 9112, 2.2)
        if data:
            self._read(data)

    def _read(self, data: bytes, refused: Exception | None = None) -> None:
        """Read what came; ``refused`` is why the request that it is was not stored."""
        if self._http is None:
            self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        self._http.receive_data(data)
        if self._more is not None and not self._more.done():
            self._more.set_result(None)
        elif self.is_busy:
            if len(self._http.trailing_data[0]) > AHEAD_BYTES:
                self._transport.pause_reading()
        elif (request := self._read_head(self._http)) is None:
            pass
        else:
            self._task = asyncio.get_running_loop().create_task(self._answer(request, refused))

    async def _answer(self, request: HttpRequest, refused: Exception | None) -> None:
        try:
            await self._gate.answer(request, self, refused)
        except Exception as error:
            # Such as a reply that is no HTTP. Nothing of it was sent.
            describe(error, "a connection")
            self._http = h11.Connection(h11.SERVER)
            self.reply(500, [], b"")

    def _read_head(self, http: h11.Connection) -> HttpRequest | None:
        """Return the head once it is whole; refuse one that is none, which ends the connection."""
        status = 400
        try:
            read = http.next_event()
            if read is h11.NEED_DATA:
                self._all.hold(self, self._all.heads, HEADS)
                return None
            self._all.heads.pop(self, None)
            if isinstance(read, h11.Request) and read.http_version in {b"1.0", b"1.1"}:
                target = _TARGET(read.target)
                if sum(map(len, (read.target, *chain(*read.headers)))) > HEAD_BYTES:
                    status = 431
                elif target is not None:
                    return HttpRequest(read, target, self._server, self._client)
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint
        self.reply(status, [("Connection", "close")], b"")
        return None

    def tell(self, reply: bytes | Exception | None) -> None:
        """Answer a report that was taken."""
        taken, self._taken = self._taken, b""
        if self._has_left:
            return
        if isinstance(reply, bytes):
            self._transport.write(b"%b%d\r\n\r\n%b" % (self._all.receipt_head(), len(reply), reply))
            self._next()
        else:
            self._read(taken + self._ahead(), reply)

    def _ahead(self) -> bytes:
        """Return what came ahead of its turn, and leave the request that was read before it."""
        http, self._http = self._http, None
        return b"" if http is None else http.trailing_data[0]

    async def read(self, seconds: float) -> bytes:
        """Return the body.

        Raises Refusal: ``malformed`` if it ends early, ``timeout`` if it is not complete in time, ``busy`` if the
        process ends.
        """
        http, body = cast("h11.Connection", self._http), bytearray()
        if http.they_are_waiting_for_100_continue and not self._at_end:
            self._transport.write(http.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
        try:
            async with asyncio.timeout(seconds):
                while not isinstance(part := http.next_event(), h11.EndOfMessage):
                    if isinstance(part, h11.Data):
                        body += part.data
                    elif self._at_end or self._all.has_ended:
                        # Still reply: the client may be reading.
                        raise Refusal("malformed" if self._at_end else "busy")
                    else:
                        self._more = asyncio.get_running_loop().create_future()
                        self._transport.resume_reading()
                        await self._more
        except TimeoutError:
            raise Refusal("timeout") from None
        return bytes(body)

    def reply(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Send the reply, and go on to the next request or end."""
        if self._has_left:
            return
        http = cast("h11.Connection", self._http)
        with suppress(h11.RemoteProtocolError):
            if http.their_state is h11.SEND_BODY:
                http.next_event()  # the end, if there is no body
        fields = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
        names = {name for name, _ in fields}
        if b"content-length" not in names and status not in {204, 304}:
            fields.append((b"content-length", b"%d" % len(body)))
        is_unread = http.their_state in {h11.SEND_BODY, h11.ERROR, h11.IDLE}
        if (self._is_last(http.trailing_data[0]) or is_unread) and b"connection" not in names:
            fields.append((b"connection", b"close"))
        fields.append((b"date", formatdate(usegmt=True).encode()))
        head = h11.Response(status_code=status, headers=fields, reason=HTTPStatus(status).phrase)
        events = (head, h11.Data(data=body), h11.EndOfMessage())
        # Joined, a file would be in memory twice. All of them first: nothing is sent of a reply that is no HTTP.
        self._transport.writelines([*chain(*(http.send_with_data_passthrough(event) or () for event in events))])
        if http.our_state is h11.DONE:
            self._next()
        else:
            self._leave()

    def wait_no_longer(self) -> None:
        """Close the connection if it has waited too long for a head, or to be read; called once a second."""
        if not self.is_busy or self._is_held_back:
            unread, self._unread = self._unread, self._transport.get_write_buffer_size()
            self._seconds = 1 + (self._seconds if self._unread == unread else 0)
            if self._seconds > (UNREAD_SECONDS if self._unread else HEAD_SECONDS):
                self.abort()

    def abort(self) -> None:
        """Close the connection now, whatever was not read."""
        self._all.forget(self)
        self._transport.abort()

    def end(self) -> None:
        """Close the connection unless a request is under way, and wait for no more of its body."""
        if not self.is_busy:
            self._transport.close()
        elif self._more is not None and not self._more.done():
            self._more.set_exception(Refusal("busy"))

    def _next(self) -> None:
        self._seconds, self._is_held_back = 0, self._is_full
        if self._is_full:
            self._transport.pause_reading()
            return
        ahead = self._ahead()
        if self._is_last(ahead):
            self._leave()
        else:
            if len(ahead) <= AHEAD_BYTES:
                self._transport.resume_reading()
            if ahead:
                self.data_received(ahead)

    def _is_last(self, ahead: bytes) -> bool:
        """Return True if no request can follow."""
        return self._all.has_ended or (self._at_end and not ahead)

    def _leave(self) -> None:
        """End the connection; what still comes is not read as a request."""
        # A system that closes with bytes unread tells the client of an error, which may then not read the reply.
        self._http, self._has_left, self._seconds = None, True, HEAD_SECONDS - 2
        self._transport.resume_reading()
        if self._at_end or self._all.has_ended:
            self._transport.close()
        elif not self._transport.is_closing():
            with suppress(OSError):  # asyncio's own loop may not know yet that the client is gone
                self._transport.write_eof()


def log_failure(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what no caller sees, without its words, which may be a request's; a network that fails is none."""
    error = context.get("exception")
    if error is not None and not isinstance(error, OSError):
        describe(error, "the event loop")
