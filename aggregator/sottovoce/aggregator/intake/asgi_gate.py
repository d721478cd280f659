"""Serve requests on the event loop: an RSGI application in front of Flask.

The gate reads each body, within limits of size and time, before it assigns a thread: slow senders, or an attacker with
a hundred connections, cannot occupy the threads. Reports go straight to admission: a single one is checked on the event
loop, which is faster than a thread, unless that needs a database read; a batch is checked in a thread. The reports of
one turn of the event loop go to the group commit as one job. No thread waits while the disk syncs. Flask handles all
other requests in a thread; it sees complete requests only, and never the sender's address.
"""

import asyncio
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from io import BytesIO
from time import perf_counter
from typing import Any, Protocol, TypeVar, cast

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
from sottovoce.aggregator.intake.admission import Admission, QuickReport
from sottovoce.aggregator.intake.group_commit import CommitGroup, Submitted, completed_job
from sottovoce.aggregator.intake.request_limits import (
    FOR_RESEARCHERS,
    GATE,
    MAX_BODY,
    PASSED,
    UPLOAD_PATH,
    VISITOR_UPLOAD,
    RateLimits,
    Traffic,
    check_head,
)
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Outcome, Storage
from sottovoce.shared.errors import ReportRejected, StorageError

GRACE = 3.0
"""Seconds for requests in progress; shorter than the time after which supervisors send SIGKILL."""

OutcomeFuture = asyncio.Future[Outcome | None]
"""What becomes of a report; None if it has to be tried by itself."""


class GroupWait:
    """Calls of one event loop that wait for groups, with one wake-up of the loop per group."""

    def __init__(self) -> None:
        self._calls: dict[CommitGroup, list[Callable[[], object]]] = {}

    async def stored(self, group: CommitGroup) -> None:
        """Return once the group is stored or has failed, without blocking a thread."""
        if not group.stored.done():
            event = asyncio.Event()
            self.call(group, event.set)
            await event.wait()

    def call(self, group: CommitGroup, what: Callable[[], object]) -> None:
        """Call this in the loop once the group is stored or has failed; it must not raise."""
        calls = self._calls.get(group)
        if calls is not None:
            calls.append(what)
            return
        self._calls[group] = [what]
        loop = asyncio.get_running_loop()
        # call_soon_threadsafe costs a system call, so wake the loop once a group, not once a report.
        group.stored.add_done_callback(lambda _: loop.call_soon_threadsafe(self._wake, group))

    def _wake(self, group: CommitGroup) -> None:
        for call in self._calls.pop(group):
            call()


class TurnJobs:
    """Reports of the present turn of an event loop; each waits for the rest of its turn only."""

    def __init__(self, admission: Admission, wait: GroupWait) -> None:
        self._admission = admission
        self._wait = wait
        self._reports: list[QuickReport] = []
        self._replies: list[OutcomeFuture] = []

    def add(self, report: QuickReport) -> OutcomeFuture:
        """Add a report; the future raises StorageError if the transaction fails."""
        loop = asyncio.get_running_loop()
        reply: OutcomeFuture = loop.create_future()
        self._reports.append(report)
        self._replies.append(reply)
        if len(self._reports) == 1:
            loop.call_soon(self._send)
        return reply

    def _send(self) -> None:
        reports, replies = self._reports, self._replies
        self._reports, self._replies = [], []
        try:
            submitted = self._admission.submit_quick(reports)
        except Exception as error:
            submitted = completed_job(error)
        self._wait.call(submitted.group, partial(_tell, submitted, replies))


def _tell(submitted: Submitted, replies: list[OutcomeFuture]) -> None:
    waiting = [reply for reply in replies if not reply.done()]
    try:
        outcomes = submitted.result()
    except StorageError as error:
        for reply in waiting:
            reply.set_exception(error)
    except Exception:
        # An error that one report causes must not fail the others: each is tried by itself, and gets its own.
        for reply in waiting:
            reply.set_result(None)
    else:
        for reply, outcome in zip(replies, outcomes, strict=True):
            if not reply.done():
                reply.set_result(outcome)


class Exchange(Protocol):
    """RSGI protocol object: receives the body and sends the reply."""

    async def __call__(self) -> bytes:
        """Return the body, read up to its declared length."""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Send status, headers in order, and the complete body."""


class BodyReader:
    """Reader of bodies that all have the same number of seconds, so that they fall due in the order of their begin.

    One timer is for all: one each is as dear as a report's check.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._has_ended = False
        self._due: dict[asyncio.Task[Any], float] = {}
        self._expired: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.Handle | None = None

    async def read(self, exchange: Exchange, declared: int) -> bytes:
        """Return a body of the declared length, which is what the server reads at most.

        Raises Refusal: ``malformed`` if it ends early, ``timeout`` if it is not complete in time, ``busy`` after
        ``end``.
        """
        loop = asyncio.get_running_loop()
        task = cast("asyncio.Task[Any]", asyncio.current_task(loop))
        self._due[task] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_soon(self._sweep, loop)
        try:
            body = await exchange()
        except RuntimeError:
            # RSGI raises it if the connection ends before the body is complete. Still reply: the client may be reading.
            body = b""
        except asyncio.CancelledError:
            # A second request to cancel came from elsewhere and goes on (as in asyncio.timeout).
            if task in self._expired and task.cancelling() == 1:
                raise Refusal("busy" if self._has_ended else "timeout") from None
            raise
        finally:
            self._due.pop(task, None)
            if task in self._expired:
                self._expired.remove(task)
                task.uncancel()
        if len(body) != declared:
            raise Refusal("malformed")
        return body

    def end(self) -> None:
        """Give up all bodies that are being read, and from now on each new one."""
        self._seconds, self._has_ended = 0.0, True
        self._due = dict.fromkeys(self._due, 0.0)
        if self._timer is not None:
            self._timer.cancel()
            self._sweep(asyncio.get_running_loop())

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        while self._due:
            task, due = next(iter(self._due.items()))
            if due > now:
                self._timer = loop.call_at(due, self._sweep, loop)
                return
            del self._due[task]
            self._expired.add(task)
            task.cancel()
        self._timer = None


class Headers(Protocol):
    """Headers of an RSGI request, with names in lower case."""

    def items(self) -> list[tuple[str, str]]:
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
GateReply = tuple[int, list[tuple[str, str]], bytes]
"""Triple of status, headers and body."""

_ADDRESSES = frozenset({"x-forwarded-for", "x-real-ip", "forwarded"})


def run_wsgi(app: WSGI, scope: Scope, body: bytes) -> GateReply:
    """Run a WSGI application in the calling thread and return its complete reply."""
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


class Ending:
    """Graceful shutdown of one serving process on SIGTERM.

    The server (granian) waits for every open request, however slow its sender, until a supervisor kills the process.
    So bodies that are incomplete are refused, complete requests are answered, and the process ends after ``GRACE``
    seconds even if a thread still waits for the database: nothing unfinished was acknowledged. Behind a load balancer
    that polls ``/readyz``, the process first reports that it is not ready, and serves on until that was noticed.

    Args:
        drain_seconds: time to keep serving after SIGTERM.

    Attributes:
        told: SIGTERM was received; the process keeps serving.
        begun: the process refuses new bodies and is about to end.
    """

    def __init__(self, drain_seconds: int = 0) -> None:
        self.is_draining = False
        self.has_begun = False
        self._drain_seconds = drain_seconds
        self._readers: list[BodyReader] = []

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Handle SIGTERM in the place of the server, which still ends on SIGINT."""
        with suppress(NotImplementedError):  # on Windows
            loop.add_signal_handler(signal.SIGTERM, self._drain, loop)
            # uvloop records a signal that arrives before the loop's first iteration, but handles it only when another
            # signal wakes it up. So send one.
            loop.add_signal_handler(signal.SIGUSR1, loop.remove_signal_handler, signal.SIGUSR1)
            loop.call_soon(signal.raise_signal, signal.SIGUSR1)

    def add(self, reader: BodyReader) -> BodyReader:
        """Register a reader of bodies, which refuses them once the process is about to end; return it."""
        self._readers.append(reader)
        return reader

    def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep serving for ``drain_seconds``, then begin; further SIGTERMs do not shorten it."""
        if not self.is_draining:
            self.is_draining = True
            loop.call_later(self._drain_seconds, self.begin)

    def begin(self) -> None:
        """Give up all incomplete bodies and stop the server; the process ends after ``GRACE`` in any case."""
        if self.has_begun:
            return
        self.has_begun = True
        last = threading.Timer(GRACE, os._exit, [0])
        last.daemon = True
        last.start()
        for reader in self._readers:
            reader.end()
        signal.raise_signal(signal.SIGINT)


T = TypeVar("T")

REQUEST_BYTES = 8 * 1024
"""Memory of a request besides its body, which counts towards the limit of bodies in flight."""

UPLOADS_AT_ONCE, UPLOAD_SECONDS = 2, 300
"""Uploads of data files that a node reads at once, and seconds within which each must arrive."""

_FROM_MEMORY = re.compile(
    r"OPTIONS .*|(GET|HEAD) (/|/readyz|/openapi.json|/problems/.*|/s/.*|/q/.*|/assets/.*|/dashboard/login"
    r"|/api/v1/surveys/[^/]+(/revisions|/status)?)"
).fullmatch
"""Requests that need no database, and are answered while it is unavailable."""

_HEALTH = {"/healthz": "machine.healthz", "/readyz": "machine.readyz"}

_FAILURES = {problems.STATUS[code]: code for code in ("internal", "storage")}

_INTAKE = re.compile(r"/api/v1/surveys/([^/]+)/reports(/batch)?").fullmatch


class Application(Protocol):
    """Part of the Flask application that the gate uses."""

    extensions: dict[str, Any]

    def __call__(self, *environ_and_start: Any) -> Iterable[bytes]:  # noqa: ANN401 - WSGI's own signature
        """Reply to a WSGI request."""


class Head:
    """Parts of a scope, read once, since the server makes a new text at each look.

    Attributes:
        fields: headers by name, the last of each, to ask fast for those that few requests have.
        intake: match of the path's survey, and of the end of a batch's path; None if no report is sent.
        held: bytes in flight that are counted for this request.
        uploads: 1 if a data file is counted for this request, else 0.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope, self.method, self.path = scope, scope.method, scope.path
        self.headers = scope.headers.items()
        self.fields = dict(self.headers)
        self.intake = _INTAKE(self.path) if self.method == "POST" else None
        self.held, self.uploads = REQUEST_BYTES, 0


class Gate:
    """RSGI application around a WSGI application, whose admission, clock and metrics it uses.

    ``settings`` has threads, timeout of a body, limits of bytes in flight and of requests that wait for a thread;
    ``storage`` has the accounts, to authenticate researchers.
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
        # A thread of its own for readiness checks, since all threads of the pool may wait for the database.
        self._probe = ThreadPoolExecutor(1, thread_name_prefix="probe")
        self._bytes = 0
        self._uploads = 0
        self._waiting = 0
        self._ending = Ending(settings.drain_seconds)
        self._bodies = self._ending.add(BodyReader(settings.body_seconds))
        self._large_bodies = self._ending.add(BodyReader(UPLOAD_SECONDS))
        self._limits = RateLimits(settings)
        self._wait = GroupWait()
        self._turns = TurnJobs(self._admission, self._wait)
        self._standing = security_headers(settings.secure)
        self._receipt_headers = add_headers(
            [("Content-Type", "application/json"), *self._limits.headers("POST /", 200), *ANY_ORIGIN], self._standing
        )

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start signal handling and readiness checks; the server calls it before it serves."""
        self._ending.listen(loop)
        self._readiness.watch()

    async def __rsgi__(self, scope: Scope, exchange: Exchange) -> None:
        """Answer one request, errors included."""
        began = perf_counter()
        head = Head(scope)
        route = _gate_endpoint(head)
        self._bytes += REQUEST_BYTES
        try:
            asked_for_health = route is not None and head.intake is None
            status, headers, body = await (self._health(head) if asked_for_health else self._reply(head, exchange))
        except Exception as error:
            # The last resort: an unexpected error still gets a problem document.
            status, headers, body = self._refuse(head, error)
        finally:
            self._bytes -= head.held
            self._uploads -= head.uploads
        if route is not None:
            self._traffic.note(route, status, perf_counter() - began)
        # A HEAD reply must have no body (RFC 9110, 9.3.2); Flask drops its own, this drops the gate's.
        exchange.response_bytes(status, headers, b"" if head.method == "HEAD" else body)

    async def _reply(self, head: Head, exchange: Exchange) -> GateReply:
        try:
            declared = self._check(head)
            if declared > MAX_BODY and await self._check_large(head, declared):
                head.uploads = 1
            reader = self._count(head, declared)
            body = await reader.read(exchange, declared) if declared else b""
        except (Refusal, StorageError) as refusal:
            status, headers, content = self._refuse(head, refusal)
            # The unread rest of the body would be taken for the next request, so close the connection.
            return status, [*headers, ("Connection", "close")], content
        if head.intake is None:
            return await self._reply_by_flask(head, body)
        name, is_batch = head.intake.groups()
        try:
            self._check_ready()
            quick = None if is_batch or "authorization" in head.fields else self._admission.read_quick(name, body)
            if quick is not None and (outcome := await self._turns.add(quick)) is not None:
                content = self._admission.reply_quick(quick, outcome)
            else:
                content = await (self._batch if is_batch else self._report)(name, body, head)
        except Exception as error:
            return self._refuse(head, error)
        return 200, [*self._receipt_headers, ("Content-Length", str(len(content)))], content

    def _check(self, head: Head) -> int:
        """Check the sender and the headers; return the body's length."""
        peer, _ = host_and_port(head.scope.client)
        self._limits.check_sender(f"{head.method} {head.path}", peer, _header(head, "x-forwarded-for"))
        return check_head(head.method, head.path, head.headers)

    def _count(self, head: Head, declared: int) -> BodyReader:
        """Count a body, which may be empty, and return its reader; raise Refusal, ``busy``, if too much is held."""
        self._uploads += head.uploads
        if head.uploads:
            # Uploads do not count among the bytes in flight, so that a large file never keeps reports out.
            return self._large_bodies
        if self._bytes + declared > 1024 * self._settings.max_body_kib:
            raise Refusal("busy")
        self._bytes += declared
        head.held += declared
        return self._bodies

    async def _reply_by_flask(self, head: Head, body: bytes) -> GateReply:
        try:
            reply = await self._ask_flask(head, body)
        except Refusal as refusal:
            return self._refuse(head, refusal)
        peer, _ = host_and_port(head.scope.client)
        self._limits.note(f"{head.method} {head.path}", reply[0], peer, _header(head, "x-forwarded-for"))
        return reply

    async def _health(self, head: Head) -> GateReply:
        """Answer ``/healthz`` and ``/readyz`` without the thread pool, so that they work under full load."""
        if head.path == "/healthz":
            return self._plain("ok\n")
        if self._ending.is_draining:
            return self._refuse(head, Refusal("busy", "this node is about to end"))
        try:
            if self._readiness.is_known:
                self._readiness.check()
            else:
                await asyncio.get_running_loop().run_in_executor(self._probe, self._readiness.check)
        except StorageError as error:
            return self._refuse(head, Refusal("storage", str(error)))
        return self._plain("ready\n")

    def _plain(self, words: str) -> GateReply:
        headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(words)))]
        return 200, add_headers(headers, self._standing), words.encode()

    async def _ask_flask(self, head: Head, body: bytes) -> GateReply:
        """Return Flask's reply; refuse if too many requests wait for a thread, or the database is unavailable."""
        if self._waiting >= self._settings.max_requests:
            raise Refusal("busy")
        self._waiting += 1
        try:
            return await self._in_thread(self._run, head, body)
        finally:
            self._waiting -= 1

    def _run(self, head: Head, body: bytes) -> GateReply:
        if not _FROM_MEMORY(f"{head.method} {head.path}"):
            self._check_ready()
        reply = run_wsgi(self._app, head.scope, body)
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

    async def _report(self, name: str, body: bytes, head: Head) -> bytes:
        sent_with = _authorization(head)
        submission = self._admission.read(name, body, bearer_token(sent_with), blind_signature(sent_with))
        pending = self._admission.begin_from_memory(submission)
        if pending is None:
            pending = await self._with_database(self._admission.begin_with_database, submission)
        await self._wait.stored(pending.submitted.group)
        return pending.reply()

    async def _batch(self, name: str, body: bytes, _head: Head) -> bytes:
        pending = await self._with_database(self._admission.begin_batch, name, body)
        await self._wait.stored(pending.submitted.group)
        return pending.reply()

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _check_large(self, head: Head, declared: int) -> bool:
        """Check who sends a body above the usual limit, before it is read; return True for a data file."""
        if head.path.endswith(tuple(FOR_RESEARCHERS)):
            await self._check_researcher(head)
        if head.method != "POST" or head.path != UPLOAD_PATH:
            return False
        has_account = await self._check_session(head, declared)
        # One place is always left to people with an account.
        if self._uploads >= (UPLOADS_AT_ONCE if has_account else UPLOADS_AT_ONCE - 1):
            raise Refusal("busy")
        return True

    async def _check_session(self, head: Head, declared: int) -> bool:
        """Refuse a large upload before it is read, unless visitors may send it; return True if it has a session."""
        # Flask authenticates again after it is read.
        cookies = "; ".join(value for name, value in head.headers if name == "cookie")
        moment = int(self._clock().timestamp())
        found: bool = await self._with_database(has_session, self._storage, cookies, self._settings.secure, moment)
        if not found and not (self._settings.public_analysis == 1 and declared <= VISITOR_UPLOAD):
            raise Refusal("unauthorized", "sign in, and send the file again")
        return found

    async def _check_researcher(self, head: Head) -> None:
        """Authenticate a researcher before reading a large body; Flask authenticates again after it is read."""
        today = day_of(self._clock())
        if await self._with_database(authenticate_key, self._storage, _authorization(head), today) is None:
            if _authorization(head):
                self._refused_logins.count(int(self._clock().timestamp()))
            raise Refusal("unauthorized", EXPECTED)

    def _refuse(self, head: Head, error: Exception) -> GateReply:
        if isinstance(error, StorageError):
            self._readiness.doubt()
        code, detail = problems.describe(error, "the gate")
        if not isinstance(error, ReportRejected):  # which admission has counted
            self._admission.rejected[code] += 1
        home = problems.STAFF if head.path.startswith(problems.STAFF) else ""
        status, fields, body = problems.reply(code, partial(_header, head), detail, home=home)
        if _gate_endpoint(head) is None:
            self._traffic.note(GATE, status, 0.0)
        fields.append(("Content-Length", str(len(body))))
        fields += self._limits.headers(f"{head.method} {head.path}", status)
        fields += ANY_ORIGIN if is_for_respondents(f"{head.method} {head.path}") else []
        return status, add_headers(fields, self._standing), body


def _gate_endpoint(head: Head) -> str | None:
    """Return the endpoint of a request that the gate answers itself; None for those that Flask answers and counts."""
    if head.intake is not None:
        return "collect.batch" if head.intake[2] else "collect.report"
    return _HEALTH.get(head.path) if head.method == "GET" else None


def _authorization(head: Head) -> str:
    return _header(head, "authorization")


def _header(head: Head, wanted: str) -> str:
    return ",".join([value for name, value in head.headers if name == wanted]) if wanted in head.fields else ""
