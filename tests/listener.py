"""A real server on a real socket that keeps every byte it is sent, and behaves as badly as it is told."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from sottovoce.shared import canonical
from sottovoce.shared.report import parse_report, receipt
from sottovoce.shared.spec import Survey


@dataclass(frozen=True)
class Captured:
    """One request as it arrived; ``waited`` are seconds since its connection was last answered, or opened."""

    head: bytes
    body: bytes
    waited: float
    connection: int

    @property
    def path(self) -> str:
        return self.head.split(b" HTTP/")[0].decode()


Answer = Callable[[Captured], bytes | None]
"""The bytes that answer a request; None cuts the connection. What is too short for its length is cut too."""


def http(status: str, body: bytes = b"", *headers: str, length: int | None = None) -> bytes:
    """A reply; another length than the body's makes it a half one."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def honest(survey: Survey, *older: Survey, state: str = "open", good: bool = True, **status: Any) -> Answer:
    """What an aggregator answers, with ``older`` revisions newest first; ``good`` says whether a token can be spent."""
    revisions = [survey, *older]
    told = json.dumps(status_of(revisions, state) | status).encode()
    published = {"format": "sottovoce-revisions/1", "survey": survey.name}
    listed = canonical.dump(published | {"revisions": [each.document for each in revisions]})
    replies = {"status": told, "revisions": listed}

    def answer(request: Captured) -> bytes:
        if request.path.startswith("GET"):
            body = replies.get(request.path.rpartition("/")[2], survey.canonical)
            return http("200 OK", body, "Content-Type: application/json")
        if request.path.endswith("/token"):
            if not good:
                return http("401 Unauthorized", b'{"code":"token_invalid"}')
            return http("200 OK", b'{"format":"sottovoce-token/1","good":true}')
        if request.path.endswith("/withdraw"):
            report_id = json.loads(request.body)["report_id"]
            known = {"format": "sottovoce-withdrawal/1", "survey": survey.name, "report_id": report_id}
            return http("200 OK", json.dumps(known).encode())
        return http("200 OK", json.dumps(receipt(parse_report(request.body), request.body)).encode())

    return answer


def status_of(revisions: Sequence[Survey], state: str) -> dict[str, Any]:
    listed = [
        {"digest": each.digest, "revision": each.revision, "retired": False, "waves": [state] * len(each.waves)}
        for each in revisions
    ]
    return {"format": "sottovoce-status/1", "survey": revisions[0].name, "closed_on": None, "revisions": listed}


def cut(_request: Captured) -> None:
    """No reply at all."""


class Held:
    """No reply until it is let go, and then none."""

    def __init__(self) -> None:
        self._let_go = threading.Event()

    def __call__(self, _request: Captured) -> None:
        self._let_go.wait(30)

    def let_go(self) -> None:
        self._let_go.set()


def always(reply: bytes) -> Answer:
    return lambda _request: reply


class Listener:
    """The server; ``captured`` is in the order of arrival."""

    def __init__(self, answer: Answer, first: Sequence[Answer] = ()) -> None:
        """``first`` answers the first POSTs but those that ask about a token, ``answer`` all else."""
        self.captured: list[Captured] = []
        self._answer, self._first = answer, list(first)
        self._arrived = threading.Condition()
        self._connections = 0
        self._open: set[socket.socket] = set()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def bodies(self) -> list[bytes]:
        return [request.body for request in self.captured if request.path.endswith("/reports")]

    def wait(self, posts: int) -> None:
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.bodies) >= posts, timeout=30)

    def behave(self) -> None:
        self._first.clear()

    def close(self) -> None:
        self._socket.close()
        for connection in list(self._open):
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections += 1
            self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection, self._connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with closing(connection), connection.makefile("rb") as stream:
            answered = time.perf_counter()
            for head, body in _requests(stream):
                request = Captured(head, body, time.perf_counter() - answered, number)
                posted = request.path.startswith("POST") and not request.path.endswith("/token")
                answer = self._first.pop(0) if posted and self._first else self._answer
                with self._arrived:
                    self.captured.append(request)
                    self._arrived.notify_all()
                reply = answer(request)
                if reply is None:
                    break
                try:
                    connection.sendall(reply)
                except OSError:
                    break
                if _is_half(reply):
                    break
                answered = time.perf_counter()
        self._open.discard(connection)


def _requests(stream) -> Iterator[tuple[bytes, bytes]]:  # type: ignore[no-untyped-def]
    while True:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            try:
                line = stream.readline(65536)
            except (OSError, ValueError):
                return
            if not line:
                return
            head += line
        length = _length(head, missing=0)
        body = stream.read(length)
        if len(body) < length:
            return
        yield head, body


def _is_half(reply: bytes) -> bool:
    head, _, body = reply.partition(b"\r\n\r\n")
    return len(body) < _length(head, missing=2**31)


def _length(head: bytes, missing: int) -> int:
    lines = (line.lower().partition(b":") for line in head.split(b"\r\n"))
    return next((int(value) for name, _, value in lines if name == b"content-length"), missing)


@contextmanager
def listening(answer: Answer, first: Sequence[Answer] = ()) -> Iterator[Listener]:
    listener = Listener(answer, first)
    try:
        yield listener
    finally:
        listener.close()
