"""
What stands in front of Flask, on the event loop.

A body is read here, within a limit of size and of time, before a thread is given to the request: a hundred
respondents with slow lines, or one attacker with a hundred, hold no thread. Reports go from here straight to admission:
a single one is decoded and checked on the loop, which takes less time than to hand it to a thread, unless the database
has to be read for it; a batch goes to a thread. Nobody holds a thread while the disk is synced. Everything else is
Flask's, in a thread; it sees whole requests only, and never the address that they came from.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any, Protocol, TypeVar

from sottovoce.aggregator.accounts.audit_log import RefusedLogins
from sottovoce.aggregator.accounts.authentication import let_in_by
from sottovoce.aggregator.clock import Clock, day_of
from sottovoce.aggregator.health import Readiness
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.authorization_header import EXPECTED, bearer_token, blind_signature
from sottovoce.aggregator.http.headers import ANY_ORIGIN, add_headers, is_for_respondents, security_headers
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.request_metrics import GATE, Traffic
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.intake.group_commit import CommitGroup
from sottovoce.aggregator.intake.request_limits import FOR_RESEARCHERS, MAX_BODY, Limits, check_head
from sottovoce.aggregator.intake.shutdown import Ending
from sottovoce.aggregator.intake.wsgi_bridge import Reply, Scope, host_and_port, run_wsgi
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.shared.errors import ReportRejected, StorageError


class GroupWait:
    """For one event loop."""

    def __init__(self) -> None:
        self._events: dict[CommitGroup, asyncio.Event] = {}

    async def stored(self, group: CommitGroup) -> None:
        """Return as soon as the group is stored, or has failed; no thread is held meanwhile."""
        if group.stored.done():
            return
        event = self._events.get(group)
        if event is None:
            event = self._events[group] = asyncio.Event()
            loop = asyncio.get_running_loop()
            # To wake the loop is a system call: one for each group, not for each report.
            group.stored.add_done_callback(lambda _: loop.call_soon_threadsafe(self._wake, group))
        await event.wait()

    def _wake(self, group: CommitGroup) -> None:
        self._events.pop(group).set()


T = TypeVar("T")

_ALIVE = (200, [("Content-Type", "text/plain"), ("Content-Length", "3")], b"ok\n")
_READY = (200, [("Content-Type", "text/plain"), ("Content-Length", "6")], b"ready\n")

_FROM_MEMORY = re.compile(
    r"OPTIONS .*|(GET|HEAD) (/|/readyz|/openapi.json|/problems/.*|/s/.*|/assets/.*|/dashboard/login"
    r"|/api/v1/surveys/[^/]+(/revisions|/status)?)"
).fullmatch
"""What is answered while the database does not: there is no need of it."""

_HEALTH = {"/healthz": "machine.healthz", "/readyz": "machine.readyz"}

_FAILURES = {problems.STATUS[code]: code for code in ("internal", "storage")}

_INTAKE = re.compile(r"/api/v1/surveys/([^/]+)/reports(/batch)?").fullmatch


class Application(Protocol):
    """The Flask application, as far as it is known here."""

    extensions: dict[str, Any]

    def __call__(self, *environ_and_start: Any) -> Iterable[bytes]:  # noqa: ANN401 - WSGI's own signature
        """Reply to a request."""


class Exchange(Protocol):
    """The two ways of a connection for one request, as RSGI has them."""

    async def __call__(self) -> bytes:
        """The body, as long as it was declared."""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """
        Answer.

        Args:
            status: of HTTP.
            headers: in their order.
            body: whole.
        """


class Gate:
    """
    An RSGI application around a WSGI one.

    Args:
        app: the WSGI application; its admission is shared.
        settings: threads, seconds for a body, requests under way at once.
        storage: knows who is let in.
    """

    def __init__(self, app: Application, settings: Settings, storage: Storage) -> None:
        self._app = app
        self._admission: Admission = app.extensions["admission"]
        self._settings = settings
        self._storage = storage
        self._clock: Clock = app.extensions["clock"]
        self._refused_logins: RefusedLogins = app.extensions["refused_logins"]
        self._pool = ThreadPoolExecutor(settings.threads, thread_name_prefix="flask")
        self._traffic: Traffic = app.extensions["traffic"]
        self._readiness: Readiness = app.extensions["readiness"]
        # Not of the pool: its threads may all wait for the database.
        self._probe = ThreadPoolExecutor(1, thread_name_prefix="probe")
        self._under_way = 0
        self._ending = Ending(settings.drain_seconds)
        self._limits = Limits(settings)
        self._wait = GroupWait()
        self._standing = security_headers(settings.secure)
        self._receipt_headers = add_headers(
            [("Content-Type", "application/json"), *self._limits.headers("POST /", 200), *ANY_ORIGIN], self._standing
        )

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called by the server before it serves."""
        self._ending.listen(loop)
        self._readiness.watch()

    async def __rsgi__(self, scope: Scope, exchange: Exchange) -> None:
        """Answer one request."""
        self._under_way += 1
        began = perf_counter()
        try:
            status, headers, body = await self._reply(scope, exchange)
        except Exception as error:
            # Whatever it is, and wherever it was overlooked, it is answered like everything else.
            status, headers, body = self._refuse(scope, error)
        finally:
            self._under_way -= 1
        route = _answered_here(scope)
        if route is not None:
            self._traffic.note(route, status, perf_counter() - began)
        # Of what is asked for its head only, Flask's replies have no body, and refusals here have none either.
        exchange.response_bytes(status, headers, b"" if scope.method == "HEAD" else body)

    async def _reply(self, scope: Scope, exchange: Exchange) -> Reply:
        if scope.method == "GET" and scope.path in _HEALTH:
            status, headers, content = await self._health(scope)
            return status, add_headers(headers, self._standing), content
        try:
            body = await self._body(scope, exchange)
        except (Refusal, StorageError) as refusal:
            status, headers, body = self._refuse(scope, refusal)
            # The rest of the body is not read, so the connection cannot be used again.
            return status, [*headers, ("Connection", "close")], body
        intake = _INTAKE(scope.path) if scope.method == "POST" else None
        if intake is None:
            try:
                reply = await self._in_thread(self._run, scope, body)
            except Refusal as refusal:
                return self._refuse(scope, refusal)
            peer, _ = host_and_port(scope.client)
            self._limits.note(f"{scope.method} {scope.path}", reply[0], peer, scope.headers.items())
            return reply
        try:
            self._check_ready()
            content = await (self._batch if intake[2] else self._report)(intake[1], body, scope)
        except Exception as error:
            return self._refuse(scope, error)
        return 200, [*self._receipt_headers, ("Content-Length", str(len(content)))], content

    async def _health(self, scope: Scope) -> Reply:
        """Whether this process is alive, and whether it can work on the database, whatever all others wait for."""
        if scope.path == "/healthz":
            return _ALIVE
        if self._ending.told:
            return self._refuse(scope, Refusal("busy", "this node is about to end"))
        try:
            if self._readiness.is_known:
                self._readiness.check()
            else:
                await asyncio.get_running_loop().run_in_executor(self._probe, self._readiness.check)
        except StorageError as error:
            return self._refuse(scope, Refusal("storage", str(error)))
        return _READY

    def _run(self, scope: Scope, body: bytes) -> Reply:
        """Flask's reply."""
        from_memory = _FROM_MEMORY(f"{scope.method} {scope.path}")
        if not from_memory:
            self._check_ready()
        reply = run_wsgi(self._app, scope, body)
        self._note_failure(reply[0])
        return reply

    def _note_failure(self, status: int) -> None:
        """Of Flask's replies only those count that say that something is wrong here."""
        code = _FAILURES.get(status)
        if code is not None:
            self._admission.rejected[code] += 1
        if code == "storage":
            self._readiness.doubt()

    async def _with_database(self, function: Callable[..., T], *arguments: object) -> T:
        def when_its_turn_comes() -> T:
            # The database may have failed while this waited for a thread.
            self._check_ready()
            return function(*arguments)

        return await self._in_thread(when_its_turn_comes)

    def _check_ready(self) -> None:
        """Fail at once, not after the patience of whoever asks the database."""
        if self._readiness.is_red:
            raise Refusal("storage")

    async def _report(self, name: str, body: bytes, scope: Scope) -> bytes:
        """The receipt of one report, durable."""
        sent_with = _authorization(scope)
        submission = self._admission.read(name, body, bearer_token(sent_with), blind_signature(sent_with))
        pending = self._admission.begin_from_memory(submission)
        if pending is None:
            pending = await self._with_database(self._admission.begin_with_database, submission)
        await self._wait.stored(pending.submitted.group)
        return pending.reply()

    async def _batch(self, name: str, body: bytes, _scope: Scope) -> bytes:
        """The receipts of a batch, durable."""
        pending = await self._with_database(self._admission.begin_batch, name, body)
        await self._wait.stored(pending.submitted.group)
        return pending.reply()

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _body(self, scope: Scope, exchange: Exchange) -> bytes:
        """
        The body, whole, once it is known that it may come.

        Raises:
            Refusal: for its head, its length or its slowness.
        """
        if self._under_way > self._settings.max_requests:
            raise Refusal("busy")
        headers = scope.headers.items()
        self._limits.check_sender(f"{scope.method} {scope.path}", host_and_port(scope.client)[0], headers)
        declared = check_head(scope.method, scope.path, headers)
        if declared == 0:
            return b""
        if declared > MAX_BODY and scope.path.endswith(tuple(FOR_RESEARCHERS)):
            await self._check_researcher(scope)
        body = await self._read(exchange)
        if len(body) != declared:
            raise Refusal("malformed")
        return body

    async def _read(self, exchange: Exchange) -> bytes:
        """As much as comes in time; until the process ends, at most."""
        limit = asyncio.timeout(self._settings.body_seconds)
        try:
            async with limit:
                self._ending.add(limit)
                # The server reads no further than declared: a length and chunks together are refused by now.
                return await exchange()
        except TimeoutError:
            raise Refusal("busy" if self._ending.begun else "timeout") from None
        except RuntimeError:
            # RSGI's word for a connection that ended before the body was whole: perhaps the other side still reads.
            return b""
        finally:
            self._ending.remove(limit)

    async def _check_researcher(self, scope: Scope) -> None:
        """Let on who may send much; the application asks again, but by then the body would be here."""
        today = day_of(self._clock())
        if await self._with_database(let_in_by, self._storage, _authorization(scope), today) is None:
            if _authorization(scope):
                self._refused_logins.count(int(self._clock().timestamp()))
            raise Refusal("unauthorized", EXPECTED)

    def _refuse(self, scope: Scope, error: Exception) -> Reply:
        if isinstance(error, StorageError):
            self._readiness.doubt()
        code, detail = problems.describe(error, "the gate")
        if not isinstance(error, ReportRejected):  # which admission has counted
            self._admission.rejected[code] += 1
        status, given, body = problems.reply(code, partial(_header, scope), detail)
        if _answered_here(scope) is None:
            self._traffic.note(GATE, status, 0.0)
        given.append(("Content-Length", str(len(body))))
        given += self._limits.headers(f"{scope.method} {scope.path}", status)
        given += ANY_ORIGIN if is_for_respondents(scope.method, scope.path) else []
        return status, add_headers(given, self._standing), body


def _answered_here(scope: Scope) -> str | None:
    """The name of the route that the gate answers without Flask; None for all others, which Flask counts."""
    if scope.method == "POST":
        intake = _INTAKE(scope.path)
        return intake and ("collect.batch" if intake[2] else "collect.report")
    return _HEALTH.get(scope.path) if scope.method == "GET" else None


def _authorization(scope: Scope) -> str:
    return _header(scope, "authorization")


def _header(scope: Scope, wanted: str) -> str:
    return ",".join(value for name, value in scope.headers.items() if name == wanted)
