"""
What stands in front of Flask, on the event loop.

A body is read here, within a limit of size and of time, before a thread is given to the request: a hundred
respondents with slow lines, or one attacker with a hundred, hold no thread. Flask then sees whole requests only, and
never the address that they came from. It runs in a thread, but for a report that can be checked from memory: that is
done here and now, and nothing in it may wait for the database.
"""

import asyncio
import logging
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from typing import Any

from asgiref.wsgi import WsgiToAsgiInstance
from sottovoce.aggregator.collect.admission import Pending, WouldRead
from sottovoce.aggregator.collect.rate_limit import Rates
from sottovoce.aggregator.collect.routes import DECLINE, LATER
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.web import problems
from sottovoce.aggregator.web.auth import researcher_of
from sottovoce.aggregator.web.headers import security_headers
from sottovoce.shared.errors import ReportRejected, StorageError

MAX_BODY = 64 * 1024
FOR_RESEARCHERS = {"/tokens/revoke": 512 * 1024, "/publish": 4 * 1024 * 1024}
LARGER = {"/reports/batch": 512 * 1024, **FOR_RESEARCHERS}
"""Limits of a body in bytes: of all routes but those that end so."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_log = logging.getLogger("sottovoce")

Reply = tuple[int, list[tuple[bytes, bytes]], bytes]
Passed = tuple[Reply, Pending | None]
"""A reply, and the reports that it is blank for until they are stored."""

_REPORTS = re.compile(r"/api/v1/surveys/[^/]+/reports").fullmatch
_JSON = {"application/json", "application/json;charset=utf-8", "application/json; charset=utf-8"}


class Refusal(Exception):
    """The request is not passed on; ``code`` is a problem's."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Gate:
    """
    An ASGI application around a WSGI one.

    Args:
        app: the WSGI application.
        settings: threads, seconds for a body, requests under way at once.
        storage: knows the researchers.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], settings: Settings, storage: Storage) -> None:
        self._app = app
        self._settings = settings
        self._storage = storage
        self._pool = ThreadPoolExecutor(settings.threads, thread_name_prefix="flask")
        self._under_way = 0
        self._ready: deque[asyncio.Future[None]] = deque()
        self._waking = False
        self._rates = Rates(settings.rate_limit, settings.proxy_hops)
        self._headers = [(name.encode(), value.encode()) for name, value in security_headers(settings.secure)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._under_way += 1
        try:
            status, headers, body = await self._reply(scope, receive)
        except Disconnected:
            return
        finally:
            self._under_way -= 1
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _reply(self, scope: Scope, receive: Receive) -> Reply:
        try:
            if self._under_way > self._settings.max_requests:
                raise Refusal("busy")
            if scope["method"] != "OPTIONS" and not self._may_send(scope):
                raise Refusal("too_many")
            body = b"" if scope["method"] in {"GET", "HEAD", "OPTIONS"} else await self._body(scope, receive)
            reply, pending = await self._pass_on(scope, body)
            return reply if pending is None else await self._filled(reply, pending)
        except Refusal as refusal:
            return self._refuse(refusal.code)

    def _may_send(self, scope: Scope) -> bool:
        """The only use of the address; it goes no further."""
        forwarded = next((value for name, value in scope["headers"] if name == b"x-forwarded-for"), b"")
        return self._rates.allow((scope.get("client") or [None])[0], forwarded.decode("latin-1"))

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        declared = check_head(scope)
        if declared > MAX_BODY and scope["path"].endswith(tuple(FOR_RESEARCHERS)):
            await self._check_researcher(scope)
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                body = await _read(receive, declared)
        except TimeoutError:
            raise Refusal("timeout") from None
        if len(body) != declared:
            raise Refusal("malformed")
        return body

    async def _check_researcher(self, scope: Scope) -> None:
        """Let on who may send much; the application asks again, but by then the body would be here."""
        authorization = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        asked = asyncio.get_running_loop().run_in_executor(
            self._pool, researcher_of, self._storage, authorization.decode("latin-1")
        )
        try:
            if await asked is None:
                raise Refusal("unauthorized")
        except StorageError as error:
            _log.error("storage: %s", error)
            raise Refusal("storage") from None

    async def _filled(self, reply: Reply, pending: Pending) -> Reply:
        """The reply once the reports in it are durable; until then no thread waits, so that large groups gather."""
        try:
            await self._stored(pending.future)
            body = pending.reply()
        except ReportRejected as rejection:
            return self._refuse(rejection.code, str(rejection), close=False)
        except StorageError as error:
            _log.error("storage: %s", error)
            return self._refuse("storage", close=False)
        status, headers, _ = reply
        kept = [header for header in headers if header[0] != b"content-length"]
        return status, [*kept, (b"content-length", str(len(body)).encode())], body

    async def _pass_on(self, scope: Scope, body: bytes) -> Passed:
        """What the application replies: to a report at once, if it can from memory, and else by a thread."""
        if scope["method"] == "POST" and _REPORTS(scope["path"]):
            # To hand it to a thread and back would cost more than to check it.
            with suppress(WouldRead):
                return self._flask(scope, body, at_once=True)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._flask, scope, body)

    def _stored(self, future: Future[Any]) -> asyncio.Future[None]:
        """Done when reports are stored, or could not be."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def wake(_: object) -> None:
            self._ready.append(ready)
            # A whole group is stored at once, and one wake-up is enough for all who wait for it.
            if not self._waking:
                self._waking = True
                loop.call_soon_threadsafe(self._wake)

        future.add_done_callback(wake)
        return ready

    def _wake(self) -> None:
        # This first: who is ready from now on is either found below or calls again.
        self._waking = False
        while self._ready:
            ready = self._ready.popleft()
            if not ready.done():
                ready.set_result(None)

    def _flask(self, scope: Scope, body: bytes, at_once: bool = False) -> Passed:
        """
        Run the WSGI application in this thread, and collect its reply.

        Raises:
            WouldRead: the reply was to come at once, and the database would have to be asked; nothing was done.
        """
        later: list[Pending] = []
        declined: list[bool] = []
        started: list[tuple[str, list[tuple[str, str]]]] = []
        bridge = WsgiToAsgiInstance(self._app)  # type: ignore[no-untyped-call]
        bridge.scope = {**scope, "client": None}
        try:
            environ = bridge.build_environ(bridge.scope, BytesIO(body))  # type: ignore[no-untyped-call]
        except ValueError:
            return self._refuse("malformed"), None
        environ[LATER] = later.append
        if at_once:
            environ[DECLINE] = declined.append
        chunks = self._app(environ, lambda status, headers, _info=None: started.append((status, headers)))
        try:
            content = b"".join(chunks)
        finally:
            getattr(chunks, "close", lambda: None)()
        if declined:
            raise WouldRead
        status, headers = started[-1]
        encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        return (int(status.split(" ", 1)[0]), encoded, content), next(iter(later), None)

    def _refuse(self, code: str, detail: str = "", close: bool = True) -> Reply:
        body = problems.document(code, detail)
        headers = [
            (b"content-type", problems.CONTENT_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"www-authenticate", b"Bearer") if code == "unauthorized" else (b"access-control-allow-origin", b"*"),
            *self._headers,
        ]
        if close:
            # The rest of the body is not read, so the connection cannot be used again.
            headers.append((b"connection", b"close"))
        if problems.STATUS[code] in problems.COME_BACK:
            headers.append((b"retry-after", problems.RETRY_AFTER.encode()))
        return problems.STATUS[code], headers, body


class Disconnected(Exception):
    """The other side went away before the request was whole."""


def check_head(scope: Scope) -> int:
    """
    The declared length of a request with a body.

    Raises:
        Refusal: no plain JSON, no length, or too large.
    """
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name in {b"content-length", b"content-type", b"authorization"}:
            raise Refusal("malformed")
        headers[name] = value
    path: str = scope["path"]
    declared = headers.get(b"content-length")
    if declared is None:
        raise Refusal("length_required")
    if not declared.isdigit() or len(declared) > 12:
        raise Refusal("malformed")
    json = headers.get(b"content-type", b"").decode("latin-1").lower() in _JSON
    if b"content-encoding" in headers or (path.startswith("/api/") and int(declared) and not json):
        raise Refusal("unsupported_type")
    if int(declared) > next((limit for end, limit in LARGER.items() if path.endswith(end)), MAX_BODY):
        raise Refusal("too_large")
    return int(declared)


async def _read(receive: Receive, most: int) -> bytes:
    """The body, read no further than one chunk past ``most``."""
    body = bytearray()
    while len(body) <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body)
