"""Run a client under audit in a process of its own, and record what one run leaves to be seen from outside.

Serve the surveys of an audit's runs in an aggregator that signs with the test keys and keeps nothing.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from sottovoce.audit.run import laid_out
from sottovoce.client.revisions import FORMAT
from sottovoce.shared import canonical
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.report import parse_report, receipt
from sottovoce.shared.spec import Survey

from tests.conformance.listener import Disk, Listener, MockReply, WireRequest, read_disk
from tests.conformance.signing_keys import redeemed

REPLY_TIMEOUT_SECONDS = 30
_FOLDER = Path(__file__).parent
PYTHON = (sys.executable, str(_FOLDER / "client_program.py"))
_INHERITED_VARIABLES = (
    "PATH",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "SYSTEMROOT",
    "LANG",
    "LC_ALL",
    "PYTHONDONTWRITEBYTECODE",
)
_PASSWORDS = "machine 127.0.0.1 login known password again\n"
_FOLDERS = ("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

TOKEN = "0" * 16
API = "/api/v1/surveys/"


BUSY = MockReply(503, b"{}")
REFUSED = MockReply(401, b'{"code":"token_invalid"}')
CUT = None
"""Stands for a reply: the connection is cut."""

NOT_FOUND = MockReply(404, b"{}")


@dataclass
class MockAggregator:
    """An aggregator that takes every report after its ``failures``, in order; of surveys the newest revision first."""

    surveys: Mapping[str, Sequence[Survey]]
    failures: list[MockReply | None] = field(default_factory=list)
    files: Mapping[str, MockReply] = field(default_factory=dict)

    def answer(self, request: WireRequest) -> MockReply | None:
        """Return the reply to a request; None to cut the connection."""
        if request.address in self.files and request.method == "GET":
            return self.files[request.address]
        name, _, what = request.address.removeprefix(API).partition("/")
        revisions = self.surveys.get(name) if request.address.startswith(API) else None
        if revisions is None:
            return NOT_FOUND
        if request.method == "GET":
            return _published(revisions, what)
        return self._posted(revisions[0], what, request.body)

    def _posted(self, survey: Survey, what: str, body: bytes) -> MockReply | None:
        try:
            if what == "reports":
                return self.failures.pop(0) if self.failures else _json(receipt(parse_report(body), body))
            if what == "redeem":
                return MockReply(200, redeemed(survey, body))
            if what == "withdraw":
                fields = {"survey": survey.name, "report_id": json.loads(body)["report_id"]}
                return _json({"format": "sottovoce-withdrawal/1", **fields})
        except (SurveyError, ValueError, KeyError, TypeError):
            return MockReply(400, b"{}")
        if what == "token" and body == token_body():
            return MockReply(200, b'{"format":"sottovoce-token/1","good":true}')
        return NOT_FOUND


def token_body() -> bytes:
    """Build the only body that a client may send to check its token."""
    return b'{"token_sha256":"%s"}' % sha256(TOKEN.encode()).hexdigest().encode()


def _published(revisions: Sequence[Survey], what: str) -> MockReply:
    newest = revisions[0]
    if what == "":
        return MockReply(200, newest.canonical)
    if what == "revisions":
        return _json({"format": FORMAT, "survey": newest.name, "revisions": [each.document for each in revisions]})
    if what == "status":
        # Open, whatever the calendar says: an audit answers beforehand, too.
        standings = [_standing(each, place > 0) for place, each in enumerate(revisions)]
        return _json({"format": "sottovoce-status/1", "survey": newest.name, "closed_on": None, "revisions": standings})
    return NOT_FOUND


def _standing(survey: Survey, retired: bool) -> dict[str, object]:
    waves = ["open"] * len(survey.waves)
    return {"digest": survey.digest, "revision": survey.revision, "retired": retired, "waves": waves}


def _json(document: object) -> MockReply:
    return MockReply(200, canonical.dump(document))


class ClientStopped(Exception):
    """The process of a client does not reply."""


@dataclass(frozen=True)
class Visit:
    """A visit of one person with one link; see ``client_program``.

    Attributes:
        tape: random bytes, as hexadecimal digits.
        before: what is answered first, in vain; None for nothing.
        allowance: most epsilon for a question and in total; None for any.
        present: time on the clock, in seconds since 1970; None for a fixed ordinary moment.
        end: "", "look", "withdraw" or "forget".
    """

    link: str
    tape: str
    answers: Mapping[str, Any]
    before: Mapping[str, Any] | None = None
    allowance: tuple[float | None, float | None] | None = None
    present: int | None = None
    end: str = ""


@dataclass(frozen=True)
class RunObservation:
    """Everything that one run leaves for an observer.

    Attributes:
        messages: for each visit what the library returned or raised to the program that used it.
        used: for each visit how many random bytes were read.
        spent: for each visit what the ledger says is spent.
        status: how the process ended; 0 if as it should.
        printed: on standard output and standard error.
        disk: files in the end.
    """

    requests: tuple[WireRequest, ...]
    messages: tuple[tuple[str, ...], ...]
    used: tuple[int, ...]
    spent: tuple[float, ...]
    status: int
    printed: bytes
    disk: Disk


def link_to(origin: str, survey: Survey, wave: int = 0, digest: str | None = None) -> str:
    """Return a person's link at the listener's origin; ``digest`` is another one than the survey's, "" for none."""
    shown = survey.digest[:32] if digest is None else digest
    parts = [f"d={shown}" if shown else "", f"t={TOKEN}" if survey.asks_for_invitation else "", f"w={wave}"]
    return f"{origin}/s/{survey.name}#{'&'.join(filter(None, parts))}"


class ClientProcess:
    """The process of one client and the listener, which is its aggregator and its proxy for everybody else."""

    def __init__(self, listener: Listener, orders: IO[str], replies: IO[str], folder: Path) -> None:
        self.listener = listener
        self._orders = orders
        self._replies = replies
        self._home = folder / "home"
        self._printed = folder / "printed"
        self._length = 0

    def run(self, site: MockAggregator, visits: Sequence[Visit]) -> RunObservation:
        """Perform the visits in order on a new device; raises ClientStopped if the process does not reply."""
        # The same name each time, since names can be seen.
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir(0o700)
        with self.listener.recording(site.answer, self._home) as requests:
            job = {"home": str(self._home), "origin": self.listener.origin, "visits": [asdict(each) for each in visits]}
            outcome = self._ask(json.dumps(job))
            found = outcome["visits"]
            with self._printed.open("rb") as printed:
                printed.seek(self._length)
                text = printed.read()
            self._length += len(text)
            return RunObservation(
                tuple(requests),
                tuple(tuple(each["messages"]) for each in found),
                tuple(each["used"] for each in found),
                tuple(each["spent"] for each in found),
                outcome["status"],
                text,
                read_disk(self._home),
            )

    def _ask(self, order: str) -> dict[str, Any]:
        try:
            self._orders.write(f"{order}\n")
            self._orders.flush()
            if not select.select([self._replies], [], [], REPLY_TIMEOUT_SECONDS)[0]:
                raise ClientStopped
            reply = json.loads(self._replies.readline())
        except (OSError, ValueError):
            raise ClientStopped from None
        if not isinstance(reply, dict):
            raise ClientStopped
        return reply


@contextmanager
def python_client(listener: Listener, command: Sequence[str] = PYTHON) -> Iterator[ClientProcess]:
    """Start the Python client; ``command`` runs another program than its own in tests of the audit."""
    with _client(listener, command, None) as client:
        yield client


@contextmanager
def javascript_client(listener: Listener, node: str, scripts: Mapping[str, str]) -> Iterator[ClientProcess]:
    """Start the browser's client under node; ``scripts`` are from ``page.opened()``."""
    with laid_out(node, scripts, "javascript_client.mjs") as command:
        for part in _FOLDER.glob("*.mjs"):
            shutil.copy(part, Path(command[-1]).parent)
        with _client(listener, command, json.dumps({"scripts": list(scripts)})) as client:
            yield client


@contextmanager
def _client(listener: Listener, command: Sequence[str], first: str | None) -> Iterator[ClientProcess]:
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as name:
        folder = Path(name)
        receiving, sending = os.pipe()
        with (
            (folder / "printed").open("wb") as printed,
            os.fdopen(receiving, encoding="utf-8") as replies,
            subprocess.Popen(
                [*command, str(sending)],
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=printed,
                cwd=folder,
                env=_environment(folder, listener.origin),
                pass_fds=[sending],
                text=True,
                encoding="utf-8",
            ) as process,
        ):
            os.close(sending)
            assert process.stdin is not None
            try:
                if first is not None:
                    process.stdin.write(f"{first}\n")
                yield ClientProcess(listener, process.stdin, replies, folder)
            finally:
                process.kill()
                # What one that has ended did not read is lost with it.
                with suppress(BrokenPipeError):
                    process.stdin.close()


def _environment(folder: Path, proxy: str) -> dict[str, str]:
    """Return the environment of a device of its own, whose requests to anybody all go to the listener."""
    passwords = folder / "netrc"
    # No request may take with it what the device knows of whom it goes to.
    passwords.write_text(_PASSWORDS, encoding="utf-8")
    home = str(folder / "home")
    return {
        **{name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ},
        **dict.fromkeys(_FOLDERS, home),
        **dict.fromkeys(_PROXIES, proxy),
        "NETRC": str(passwords),
        "SOTTOVOCE_LEDGER": f"{home}/ledger",
    }


def _fast_folder() -> str | None:
    """Return a folder in memory, if there is one: the client waits for the disk at every step."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a new folder is made in it
