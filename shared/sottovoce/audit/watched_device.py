"""
One run of the Python client, watched: everything that could leave the device or stay on it, in its order.

The client is the one that people use, with its own ledger of files, transport and draws. What is replaced lies below
it: the system's source of random bytes, which gives a tape; the last step of HTTP, which gives an aggregator's replies;
the folder that it may write to. Python's audit events tell of everything else: files that are opened for writing,
renamed or removed anywhere, sockets, other programs, waits. Times are not measured, only their order.
"""

import contextlib
import io
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import requests
from sottovoce.audit.instead import all_instead, environment
from sottovoce.audit.passed_by import READING, is_elsewhere, is_outside, settings_kept, was_given
from sottovoce.audit.small_files import look_at, read_small
from sottovoce.audit.system_source import system_source
from sottovoce.audit.test_keys import redeemed
from sottovoce.audit.untold import ASKING, NEVER, TOLD, descriptors_to, told
from sottovoce.audit.watched_wire import no_network
from sottovoce.shared.report import parse_report, receipt
from sottovoce.shared.spec import Survey

ORIGIN = "https://audit.invalid"
TOKEN = "0" * 16
MOST_BYTES = 1 << 20
"""Random bytes beyond the tape: who reads more reads for ever."""

READ, REQUEST, FILES, SYSTEM, WAIT, PRINTED, CHARGED, END = (
    "random bytes", "request", "files", "system", "wait", "printed", "charged", "end",
)  # fmt: skip
"""Kinds of events, with ``LATER`` and ``NEVER``."""

REFUSALS = ((), (503, 403), (), (503,))
"""What the aggregator says first, turn by turn: that it is busy; and that it takes no report, which is sent again."""

WAITING, SENT, FORGOTTEN = "while the report waits", "after sending", "after forgetting"
"""The stages of a run, of which each event has one."""

_FILES_CHANGE = frozenset({"os.rename", "os.link", "os.remove", "os.truncate"})
_NEVER = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.kill", "os.startfile",
    "webbrowser.", "ctypes.", "signal.", "resource.", "_thread.",
)  # fmt: skip
_WATCHED = (
    *_NEVER, "os.", "shutil.", "syslog.", "sqlite3.", "dbm.", "time.sleep", "urllib.", "http.", "smtplib.", "ftplib.",
    "fcntl.ioctl",
)  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Event(NamedTuple):
    """
    One thing that happened.

    Attributes:
        kind: as above.
        stage: when.
        what: everything about it, to be compared and never told.
    """

    kind: str
    stage: str
    what: tuple[Any, ...]


Observation = tuple[Event, ...]

Answer = Callable[[Path], None]
"""Answers the survey with the ledger in a folder, and sends the report."""


class Watch:
    """
    Notes events; one at a time watches a process.

    Args:
        survey: whose aggregator answers.
        tape: the random bytes, after which there are zeros.
        refusals: what the aggregator says to the first requests, before it takes one.
        home: the folder that is looked at.
    """

    def __init__(self, survey: Survey, tape: bytes, refusals: Iterable[int], home: Path) -> None:
        self.events: list[Event] = []
        self.stage = WAITING
        self.taken = 0
        self._survey = survey
        self._tape = tape
        self._refusals = list(refusals)
        self._inside = str(home)
        self._looking = False
        self._elsewhere: dict[str, None] = {}
        self._found: tuple[tuple[str, int, bytes], ...] = ()

    def note(self, kind: str, *what: Any) -> None:  # noqa: ANN401 - whatever is compared
        """Add an event."""
        self.events.append(Event(kind, self.stage, what))

    def note_files(self) -> None:
        """Add the bytes of all files, if they are others than when they were last looked at."""
        self._looking = True
        found = (*_files(self._inside), *_contents(self._elsewhere))
        self._looking = False
        before, self._found = self._found, found
        if found != before:
            self.note(FILES, *found)

    def read(self, count: int) -> bytes:
        """In the place of the system's source."""
        self.note(READ, count)
        data = self._tape[self.taken : self.taken + count]
        self.taken += count
        if self.taken > len(self._tape) + MOST_BYTES:
            raise OverflowError("it reads random bytes without end")
        return data + bytes(count - len(data))

    def sleep(self, seconds: float) -> None:
        """In the place of a wait."""
        self.note(WAIT, seconds)

    def send(self, request: requests.PreparedRequest, how: tuple[Any, ...]) -> tuple[int, bytes]:
        """In the place of the network: what leaves the device, and the aggregator's reply."""
        self.note_files()
        body = request.body.encode() if isinstance(request.body, str) else request.body
        self.note(REQUEST, request.method, request.url, tuple(request.headers.items()), body, how)
        # A redemption comes before the draws, and a wait before its second try would draw among them.
        if self._refusals and not str(request.url).endswith("/redeem"):
            return self._refusals.pop(0), b"{}"
        return self._reply(str(request.url), body)

    def done(self, how: str, name: str, given: tuple[Any, ...]) -> None:
        """
        Something of which the interpreter has no audit event.

        Args:
            how: one of ``LATER``, ``NEVER`` and ``TOLD``.
            name: what was called.
            given: with what.
        """
        if how != TOLD:
            self.note(how, name, *(each for each in given if isinstance(each, (str, bytes, int, float))))
        elif name not in ASKING or (not self._looking and is_elsewhere(given[0], self._inside)):
            self.note(SYSTEM, name, *map(repr, given))

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event of the interpreter."""
        if self._looking or not _is_watched(event):
            return
        flags = (arguments[2] or 0) if event == "open" else 0
        if event in READING or (event == "open" and not flags & _WRITES):
            if is_elsewhere(arguments[0], self._inside):
                self.note(SYSTEM, event, str(arguments[0]))
            return
        if event == "open" and isinstance(arguments[0], int):
            self._written_to(arguments[0])
            return
        # Nothing is written over before it was looked at.
        if event in _FILES_CHANGE or (event == "open" and not flags & os.O_EXCL):
            self.note_files()
        if event == "open" or event in _FILES_CHANGE:
            self._elsewhere.update(
                dict.fromkeys(os.fsdecode(each) for each in arguments[:2] if is_outside(each, self._inside))
            )
        is_needed = not event.startswith(_NEVER)
        self.note(SYSTEM if is_needed else NEVER, event, tuple(map(str, arguments)))
        if not is_needed:
            raise PermissionError("nothing leaves a device that is audited")

    def _written_to(self, descriptor: int) -> None:
        self._looking = True
        if was_given(descriptor, self._inside):
            self.note(NEVER, "open", "what was open before")
        self._looking = False

    def _reply(self, url: str, body: bytes | None) -> tuple[int, bytes]:
        """As an honest aggregator that shows no revisions and no status."""
        path = url.partition(f"/api/v1/surveys/{self._survey.name}")[2]
        try:
            if path == "/redeem":
                return 200, redeemed(self._survey, body or b"")
            if path == "/reports":
                return 200, json.dumps(receipt(parse_report(body or b""), body or b"")).encode()
            if path == "/withdraw":
                told = {"format": "sottovoce-withdrawal/1", "survey": self._survey.name}
                return 200, json.dumps({**told, **json.loads(body or b"")}).encode()
        except Exception:  # whatever was sent, it is noted
            return 400, b"{}"
        return (200, self._survey.canonical) if not path else (404, b"{}")


def _files(folder: str) -> Iterator[tuple[str, int, bytes]]:
    """(name, rights, bytes) of every file below a folder, in order."""
    for entry in sorted(os.scandir(folder), key=attrgetter("name")):
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        elif not entry.is_symlink():
            yield entry.path, *look_at(entry.path)
        else:
            yield entry.path, entry.stat(follow_symlinks=False).st_mode, read_small(entry.path)


@cache
def _is_watched(event: str) -> bool:
    return event.startswith(("open", *_WATCHED))


def _contents(paths: Iterable[str]) -> Iterator[tuple[str, int, bytes]]:
    """The same of files anywhere, as far as they are files."""
    for path in paths:
        if Path(path).is_file():
            yield path, Path(path).stat().st_mode, Path(path).read_bytes()


_watching: list[Watch] = []
_hooked: list[bool] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching:
        _watching[-1].heard(event, arguments)


class _Logged(logging.Handler):
    """Notes what is logged, at whatever level."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.NOTSET)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        self._watch.note(PRINTED, record.name, record.levelno, record.getMessage())


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Everything that happens meanwhile is noted, and nothing of it leaves the process."""
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    root, level, logged = logging.getLogger(), logging.getLogger().level, _Logged(watch)
    with tempfile.TemporaryFile() as descriptors, contextlib.ExitStack() as stack:
        stack.enter_context(descriptors_to(descriptors.fileno()))
        spoken = [
            stack.enter_context(each(io.StringIO()))
            for each in (contextlib.redirect_stdout, contextlib.redirect_stderr)
        ]
        stack.enter_context(system_source(watch.read))
        numbered = (f"{number:08}" for number in range(10**8))
        changes = [(time, "sleep", watch.sleep), (tempfile, "_name_sequence", numbered)]
        stack.enter_context(all_instead(changes))
        stack.enter_context(no_network(watch.send, partial(watch.note, SYSTEM, "connections are closed")))
        stack.enter_context(told(watch.done))
        root.addHandler(logged)
        root.setLevel(logging.NOTSET)
        _watching.append(watch)
        try:
            yield
        finally:
            _watching.pop()
            root.removeHandler(logged)
            root.setLevel(level)
        said = (*(each.getvalue() for each in spoken), os.pread(descriptors.fileno(), 1 << 20, 0))
    if any(said):
        watch.note(PRINTED, *said)


def observe(watch: Watch, home: Path, answer: Answer, finish: Answer) -> Observation:
    """
    What happens while a survey is answered, and while its report is ended.

    Args:
        watch: notes it.
        home: an empty folder.
        answer: answers and sends.
        finish: withdraws or forgets.
    """
    with environment({"HOME": str(home), "SOTTOVOCE_LEDGER": str(home / "ledger")}), watched(watch):
        for stage, step in ((SENT, answer), (FORGOTTEN, finish)):
            try:
                with settings_kept() as changed:
                    step(home / "ledger")
            except (Exception, SystemExit) as error:  # whatever it is, it is how the step ends
                watch.note(END, *told_of(error))
            if changed:
                watch.note(NEVER, "other settings")
            watch.stage = stage
            watch.note_files()
    return tuple(watch.events)


def told_of(error: BaseException) -> tuple[str, ...]:
    """What a person is told when a step ends with an error."""
    return type(error).__name__, str(error), *getattr(error, "__notes__", ())


def is_for_reports(request: Event) -> bool:
    """Whether a request brings a report."""
    return str(request.what[1]).endswith("/reports")
