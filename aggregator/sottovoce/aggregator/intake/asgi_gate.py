"""Answer requests on the event loop, in front of Flask.

The gate reads each body, within limits of size and time, before it assigns a thread: slow senders, or an attacker with
a hundred connections, cannot occupy the threads. Reports go straight to admission: a single one is checked on the event
loop, which is faster than a thread, unless that needs a database read; a batch is checked in a thread. Reports whose
bytes are known are taken without a task, and those of one turn of the event loop go to the group commit as one job. No
thread waits while the disk syncs. Flask handles all other requests in a thread; it sees complete requests only, and
never the sender's address.
"""

import asyncio
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from time import perf_counter
from typing import Any, TypeVar

from sottovoce.aggregator.accounts.audit_log import RefusedLogins
from sottovoce.aggregator.accounts.authentication import authenticate_key, has_session
from sottovoce.aggregator.clock import Clock, day_of
from sottovoce.aggregator.health import Readiness
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.headers import (
    ANY_ORIGIN,
    EXPECTED,
    add_headers,
    bearer_token,
    blind_signature,
    is_for_respondents,
    security_headers,
)
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.intake import request_limits
from sottovoce.aggregator.intake.admission import Admission, Pending, QuickReport
from sottovoce.aggregator.intake.group_commit import Submitted, completed_job
from sottovoce.aggregator.intake.http_connection import REQUEST_BYTES, Connection, HttpReply, HttpRequest
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.shared.errors import ReportRejected, StorageError

WSGI = Callable[..., Iterable[bytes]]
_ADDRESSES = frozenset({"x-forwarded-for", "x-real-ip", "forwarded"})


def run_wsgi(app: WSGI, head: HttpRequest, body: bytes) -> HttpReply:
    """Run a WSGI application in the calling thread and return its complete reply."""
    started: list[tuple[str, list[tuple[str, str]]]] = []
    chunks = app(make_environ(head, body), lambda status, headers, _info=None: started.append((status, headers)))
    try:
        # A list holds one file, of which only as much is in memory as the system has room for.
        content = chunks[0] if isinstance(chunks, list) else b"".join(chunks)
    finally:
        getattr(chunks, "close", lambda: None)()
    status, headers = started[-1]
    return int(status.split(" ", 1)[0]), headers, content


def make_environ(head: HttpRequest, body: bytes) -> dict[str, Any]:
    """Return the WSGI environment of a request (PEP 3333) without the sender's address, for privacy."""
    environ: dict[str, Any] = {
        "REQUEST_METHOD": head.method,
        "SCRIPT_NAME": "",
        # PEP 3333: native strings hold the bytes of the path, decoded as Latin-1.
        "PATH_INFO": head.path.encode().decode("latin-1"),
        "QUERY_STRING": head.query_string,
        "SERVER_NAME": head.server[0],
        "SERVER_PORT": str(head.server[1]),
        "SERVER_PROTOCOL": head.protocol,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        request_limits.PASSED: True,
    }
    for name, value in head.headers:
        # Drop names with an underscore: in the environment they look like the name with a hyphen (header spoofing).
        if name not in _ADDRESSES and "_" not in name:
            key = "HTTP_" + name.upper().replace("-", "_")
            environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_CONTENT_LENGTH", None)
    return environ


T = TypeVar("T")

UPLOADS_AT_ONCE, UPLOAD_SECONDS = 2, 300
"""Uploads of data files that a node reads at once, and seconds within which each must arrive."""

_FROM_MEMORY = re.compile(
    r"OPTIONS .*|(GET|HEAD) (/|/readyz|/openapi.json|/problems/.*|/s/.*|/q/.*|/assets/.*|/dashboard/login"
    r"|/api/v1/surveys/[^/]+(/revisions|/status)?)"
).fullmatch
"""Requests that need no database, and are answered while it is unavailable."""

_HEALTH = {"/healthz": "machine.healthz", "/readyz": "machine.readyz"}

_FAILURES = {problems.STATUS[code]: code for code in ("internal", "storage")}


class Gate:
    """Application around a WSGI application, whose admission, clock and metrics it uses.

    ``settings`` has threads, timeout of a body, limits of bytes in flight and of requests that wait for a thread;
    ``storage`` has the accounts, to authenticate researchers.
    """

    def __init__(self, app: Any, settings: Settings, storage: Storage) -> None:  # noqa: ANN401 - Flask's, see above
        self._app = app
        self._admission: Admission = app.extensions["admission"]
        self._settings = settings
        self._storage = storage
        self._clock: Clock = app.extensions["clock"]
        self._refused_logins: RefusedLogins = app.extensions["refused_logins"]
        self._pool = ThreadPoolExecutor(settings.threads, thread_name_prefix="flask")
        self._traffic: request_limits.Traffic = app.extensions["traffic"]
        self._readiness: Readiness = app.extensions["readiness"]
        self._bytes = 0
        self._uploads = 0
        self._waiting = 0
        self.is_draining = False
        self._limits = request_limits.RateLimits(settings)
        self._turn: list[tuple[QuickReport, Connection]] = []
        self._standing = security_headers(settings.secure)
        self.receipt_headers = add_headers(
            [("Content-Type", "application/json"), *self._limits.headers("POST /", 200), *ANY_ORIGIN], self._standing
        )

    def start(self) -> None:
        """Begin to probe whether the database works."""
        self._readiness.watch()

    async def answer(self, head: HttpRequest, connection: Connection, refused: Exception | None = None) -> None:
        """Answer one request, errors included; ``refused`` is why a report that was taken was not stored."""
        began = perf_counter()
        route = _gate_endpoint(head)
        self._bytes += REQUEST_BYTES
        try:
            status, headers, body = await self._reply(head, connection, refused)
        except Exception as error:
            # Also an unexpected error gets a problem document.
            status, headers, body = self._refuse(head, error)
        finally:
            self._bytes -= head.held
            self._uploads -= head.uploads
        if route is not None:
            self._traffic.note(route, status, perf_counter() - began)
        # A HEAD reply must have no body (RFC 9110, 9.3.2); Flask drops its own, this drops the gate's.
        connection.reply(status, headers, b"" if head.method == "HEAD" else body)

    def take(self, name: str, body: bytes, client: str, forwarded: str, sender: Connection) -> bool:
        """Take a report by comparing its bytes; return False, without effect, for any that has to go the usual way.

        ``forwarded`` is the value of the one X-Forwarded-For line; ``sender`` gets its reply in the event loop.
        """
        held = self._bytes + REQUEST_BYTES + len(body)
        if self._readiness.is_red or held > 1024 * self._settings.max_body_kib:
            return False
        quick = self._admission.read_quick(name, body) if len(body) <= request_limits.MAX_BODY else None
        if quick is None:
            return False
        try:
            self._limits.check_sender("POST ", client, forwarded)
        except Refusal:
            return False
        self._bytes = held
        if not self._turn:
            asyncio.get_running_loop().call_soon(self._submit, perf_counter())
        self._turn.append((quick, sender))
        return True

    def _submit(self, began: float) -> None:
        """Submit the reports of this turn of the loop as one job."""
        turn, self._turn = self._turn, []
        try:
            submitted = self._admission.submit_quick([report for report, _ in turn])
        except Exception as error:
            submitted = completed_job(error)
        _when_stored(submitted, partial(self._tell, submitted, turn, began))

    def _tell(self, submitted: Submitted, turn: list[tuple[QuickReport, Connection]], began: float) -> None:
        reports = [report for report, _ in turn]
        self._bytes -= sum([REQUEST_BYTES + len(report.body) for report in reports])
        replies: Sequence[bytes | Exception | None]
        try:
            replies = self._admission.replies_quick(reports, submitted.result())
        except StorageError as error:
            replies = [error] * len(turn)
        except Exception:
            # An error that one report causes must not fail the others: each is tried by itself, and gets its own.
            replies = [None] * len(turn)
        stored = sum([isinstance(reply, bytes) for reply in replies])
        self._traffic.note("collect.report", 200, perf_counter() - began, stored)
        for (_, sender), reply in zip(turn, replies, strict=True):
            sender.tell(reply)

    async def _reply(self, head: HttpRequest, connection: Connection, refused: Exception | None) -> HttpReply:
        if refused is not None:
            await connection.read(self._settings.body_seconds)
            raise refused
        if head.path in _HEALTH and head.method == "GET":
            return await self._health(head)
        self._limits.check_sender(f"{head.method} {head.path}", head.client, head.values("x-forwarded-for"))
        declared = request_limits.check_head(head.method, head.path, head.headers)
        if declared > request_limits.MAX_BODY and await self._check_large(head, declared):
            head.uploads = 1
        seconds = self._count(head, declared)
        body = await connection.read(seconds) if declared else b""
        if head.intake is None:
            return await self._reply_by_flask(head, body)
        self._check_ready()
        content = await (self._batch if head.intake[2] else self._report)(head.intake[1], body, head)
        return 200, [*self.receipt_headers, ("Content-Length", str(len(content)))], content

    def _count(self, head: HttpRequest, declared: int) -> float:
        """Count a body, which may be empty, and return its seconds; raise Refusal, ``busy``, if too much is held."""
        self._uploads += head.uploads
        if head.uploads:
            # Uploads do not count among the bytes in flight, so that a large file never keeps reports out.
            return UPLOAD_SECONDS
        if self._bytes + declared > 1024 * self._settings.max_body_kib:
            raise Refusal("busy")
        self._bytes += declared
        head.held += declared
        return self._settings.body_seconds

    async def _reply_by_flask(self, head: HttpRequest, body: bytes) -> HttpReply:
        """Return Flask's reply; refuse if too many requests wait for a thread, or the database is unavailable."""
        if self._waiting >= self._settings.max_requests:
            raise Refusal("busy")
        self._waiting += 1
        try:
            reply = await self._in_thread(self._run, head, body)
        finally:
            self._waiting -= 1
        self._limits.note(f"{head.method} {head.path}", reply[0], head.client, head.values("x-forwarded-for"))
        return reply

    async def _health(self, head: HttpRequest) -> HttpReply:
        """Answer ``/healthz`` and ``/readyz`` without the thread pool, so that they work under full load."""
        if head.path == "/healthz":
            return self._plain("ok\n")
        if self.is_draining:
            raise Refusal("busy", "this node is about to end")
        try:
            if self._readiness.is_known:
                self._readiness.check()
            else:
                # In no thread of the pool, since all of them may wait for the database.
                await asyncio.to_thread(self._readiness.check)
        except StorageError as error:
            raise Refusal("storage", str(error)) from None
        return self._plain("ready\n")

    def _plain(self, words: str) -> HttpReply:
        headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(words)))]
        return 200, add_headers(headers, self._standing), words.encode()

    def _run(self, head: HttpRequest, body: bytes) -> HttpReply:
        if not _FROM_MEMORY(f"{head.method} {head.path}"):
            self._check_ready()
        reply = run_wsgi(self._app, head, body)
        code = _FAILURES.get(reply[0])
        if code is not None:
            self._admission.rejected[code] += 1
        if code == "storage":
            self._readiness.doubt()
        return reply

    async def _with_database(self, function: Callable[..., T], *arguments: object) -> T:
        def when_its_turn_comes() -> T:
            # Check again: the database may have failed while this waited for a thread.
            self._check_ready()
            return function(*arguments)

        return await self._in_thread(when_its_turn_comes)

    def _check_ready(self) -> None:
        """Refuse at once if the database is known to be unavailable, rather than wait for its timeout."""
        if self._readiness.is_red:
            raise Refusal("storage")

    async def _report(self, name: str, body: bytes, head: HttpRequest) -> bytes:
        sent_with = head.values("authorization")
        submission = self._admission.read(name, body, bearer_token(sent_with), blind_signature(sent_with))
        pending = self._admission.begin_from_memory(submission)
        if pending is None:
            pending = await self._with_database(self._admission.begin_with_database, submission)
        return await _reply_of(pending)

    async def _batch(self, name: str, body: bytes, _head: HttpRequest) -> bytes:
        return await _reply_of(await self._with_database(self._admission.begin_batch, name, body))

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _check_large(self, head: HttpRequest, declared: int) -> bool:
        """Check who sends a body above the usual limit, before it is read; return True for a data file."""
        if head.path.endswith(tuple(request_limits.FOR_RESEARCHERS)):
            await self._check_researcher(head)
        if head.method != "POST" or head.path != request_limits.UPLOAD_PATH:
            return False
        has_account = await self._check_session(head, declared)
        # One place is always left to people with an account.
        if self._uploads >= (UPLOADS_AT_ONCE if has_account else UPLOADS_AT_ONCE - 1):
            raise Refusal("busy")
        return True

    async def _check_session(self, head: HttpRequest, declared: int) -> bool:
        """Refuse a large upload before it is read, unless visitors may send it; return True if it has a session."""
        # Flask authenticates again after it is read.
        cookies = "; ".join(value for name, value in head.headers if name == "cookie")
        moment = int(self._clock().timestamp())
        found: bool = await self._with_database(has_session, self._storage, cookies, self._settings.secure, moment)
        if not found and not (self._settings.public_analysis == 1 and declared <= request_limits.VISITOR_UPLOAD):
            raise Refusal("unauthorized", "sign in, and send the file again")
        return found

    async def _check_researcher(self, head: HttpRequest) -> None:
        """Authenticate a researcher before reading a large body; Flask authenticates again after it is read."""
        today = day_of(self._clock())
        if await self._with_database(authenticate_key, self._storage, head.values("authorization"), today) is None:
            if head.values("authorization"):
                self._refused_logins.count(int(self._clock().timestamp()))
            raise Refusal("unauthorized", EXPECTED)

    def _refuse(self, head: HttpRequest, error: Exception) -> HttpReply:
        if isinstance(error, StorageError):
            self._readiness.doubt()
        code, detail = problems.describe(error, "the gate")
        if not isinstance(error, ReportRejected):  # which admission has counted
            self._admission.rejected[code] += 1
        home = problems.STAFF if head.path.startswith(problems.STAFF) else ""
        status, fields, body = problems.reply(code, head.values, detail, home=home)
        if _gate_endpoint(head) is None:
            self._traffic.note(request_limits.GATE, status, 0.0)
        fields.append(("Content-Length", str(len(body))))
        fields += self._limits.headers(f"{head.method} {head.path}", status)
        fields += ANY_ORIGIN if is_for_respondents(f"{head.method} {head.path}") else []
        return status, add_headers(fields, self._standing), body


def _gate_endpoint(head: HttpRequest) -> str | None:
    """Return the endpoint of a request that the gate answers itself; None for those that Flask answers and counts."""
    if head.intake is not None:
        return "collect.batch" if head.intake[2] else "collect.report"
    return _HEALTH.get(head.path) if head.method == "GET" else None


def _when_stored(submitted: Submitted, call: Callable[[], object]) -> None:
    """Call this in the loop once the reports are stored or have failed."""
    loop = asyncio.get_running_loop()
    submitted.group.stored.add_done_callback(lambda _: loop.call_soon_threadsafe(call))


async def _reply_of(pending: Pending) -> bytes:
    """Return the reply once the reports are stored, without blocking a thread; raise as ``Pending.reply`` does."""
    event = asyncio.Event()
    _when_stored(pending.submitted, event.set)
    await event.wait()
    return pending.reply()
