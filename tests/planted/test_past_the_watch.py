"""Clients that go past files, requests and prints: other ways to begin and to wait, and what goes before or after."""

import _thread
import ctypes
import hashlib
import os
import select
import socket
import tempfile
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.util import spawnv_passfds
from pathlib import Path
from typing import Any

import pytest
from sottovoce.audit.agreed_requests import is_agreed
from sottovoce.audit.check import FAILED
from sottovoce.audit.passed_by import is_elsewhere, settings_kept, was_given
from sottovoce.audit.watched_device import ORIGIN, REQUEST, WAITING, Event
from sottovoce.client import file_ledger, respondent
from sottovoce.client.respondent import Respondent
from sottovoce.shared.errors import AnswerError
from sottovoce.shared.spec import Survey

from tests.planted.test_whole_runs import ONE, Change, answered, found, said
from tests.surveys import survey

NEVER = "something is asked of the system that nobody needs to answer"
LATER = "something is left to be done later"
READ, WRITTEN = os.pipe()


def connect(_answers: Mapping[str, Any]) -> None:
    """Open a connection, and tell something over it."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", 9), 0.1) as beside:
        beside.send(b"x")


def begin(_answers: Mapping[str, Any]) -> None:
    """Begin another program, by what lies under the module for that."""
    pid = spawnv_passfds(b"/bin/true", [b"true"], [])
    if pid:
        os.waitpid(pid, 0)


def call(_answers: Mapping[str, Any]) -> None:
    """Call a function of the system's own library."""
    with suppress(PermissionError):
        ctypes.pythonapi.getpid()


def write(_answers: Mapping[str, Any]) -> None:
    """Write to what was open before."""
    with open(WRITTEN, "wb", buffering=0, closefd=False) as given:
        given.write(b"x")


def read(answers: Mapping[str, Any]) -> None:
    """Read a file that is not there."""
    with suppress(OSError):
        Path(f"/net/{said(answers)}").read_bytes()


def look(answers: Mapping[str, Any]) -> None:
    """Look into a folder that is not there."""
    with suppress(OSError):
        list(Path(f"/net/{said(answers)}").iterdir())


def write_over(answers: Mapping[str, Any]) -> None:
    """Write an answer into a file, and the same over it at once."""
    path = Path(tempfile.gettempdir()) / "sottovoce-planted"
    for text in (str(said(answers)), ""):
        path.write_text(text, encoding="utf-8")


def cut(answers: Mapping[str, Any]) -> None:
    """The same, with a file that is cut off."""
    path = Path(tempfile.gettempdir()) / "sottovoce-planted"
    path.write_text(str(said(answers)), encoding="utf-8")
    os.truncate(path, 0)


def ending(patch: pytest.MonkeyPatch) -> None:
    """The program ends with a code that is the answer."""
    honest = Respondent.answer

    def answer(me: Respondent, answers: Mapping[str, Any]) -> Any:
        honest(me, answers)
        raise SystemExit(int(said(answers)))

    patch.setattr(Respondent, "answer", answer)


def telling_later(name: str) -> Change:
    """Whoever asks for something after an answer is told of it."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        known: list[bool] = []
        answered(lambda answers: known.append(said(answers)))(patch)
        honest = getattr(Respondent, name)

        def ask(me: Respondent) -> Any:
            print("x" * known[-1])
            return honest.fget(me) if isinstance(honest, property) else honest(me)

        patch.setattr(Respondent, name, property(ask) if isinstance(honest, property) else ask)

    return plant


def keeping_tries(patch: pytest.MonkeyPatch) -> None:
    """What was no answer is told with the next one."""
    honest, before = respondent.encode, list[bool]()

    def encode(asked: Survey, answers: Mapping[str, Any], places: Any = None) -> Any:
        try:
            values = honest(asked, answers, places)
        except AnswerError:
            before.append(said(answers))
            raise
        print("x" * (before.pop() if before else 0))
        return values

    patch.setattr(respondent, "encode", encode)


def keeping_digests(patch: pytest.MonkeyPatch) -> None:
    """Of what is forgotten a digest is left."""
    honest = file_ledger.FileLedger._change

    def change(ledger: file_ledger.FileLedger, name: str, **changes: Any) -> None:
        body = ledger.read(name).entry.body.encode()
        honest(ledger, name, **changes, **({"digest": hashlib.sha256(body).hexdigest()} if "ended" in changes else {}))

    patch.setattr(file_ledger.FileLedger, "_change", change)


DEPENDS = "depends on"


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (answered(connect), NEVER),
        (answered(begin), NEVER),
        (answered(call), NEVER),
        (answered(write), NEVER),
        (answered(lambda _: select.select([], [], [], 0.001)), NEVER),
        (answered(lambda _: threading.Event().wait(0.001)), NEVER),
        (answered(lambda _: os.umask(0o027)), NEVER),
        (answered(lambda _: os._exit(3)), NEVER),
        (answered(lambda _: weakref.finalize(Respondent, print)), LATER),
        (answered(lambda _: _thread.start_new_thread(print, ())), LATER),
        (answered(lambda answers: Path(f"/net/{said(answers)}").exists()), DEPENDS),
        (answered(read), DEPENDS),
        (answered(look), DEPENDS),
        (answered(write_over), "what the device keeps while the report waits depends on"),
        (answered(cut), "what the device keeps while the report waits depends on"),
        (ending, "is charged with something else"),
        (telling_later("standing"), "what is printed or logged depends on"),
        (telling_later("refused"), "what is printed or logged depends on"),
        (keeping_tries, DEPENDS),
    ],
    ids=[
        "connection", "program", "library", "given open", "select", "condition", "rights", "end", "finalizer", "thread",
        "stat", "read", "folder", "written over", "cut off", "code", "standing", "property", "tries",
    ],
)  # fmt: skip
def test_way_past_the_watch_is_found(monkeypatch: pytest.MonkeyPatch, plant: Change, words: str) -> None:
    """Also where the same is done whatever is answered, and nothing of it could be compared."""
    plant(monkeypatch)
    check = found(ONE, quick=True)[0]

    (Path(tempfile.gettempdir()) / "sottovoce-planted").unlink(missing_ok=True)
    assert check.outcome == FAILED
    assert words in check.message


def test_digest_of_what_was_forgotten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same for all who report the same, and tells those apart who do not."""
    keeping_digests(monkeypatch)
    assert found(ONE)[0].message == "what is left after forgetting hangs on what was reported"


def test_settings_are_as_they_were() -> None:
    """Whoever changes them changes nothing for the next run, which shows the change again."""
    before = os.umask(0o077)
    os.umask(before)
    with settings_kept() as changed:
        os.umask(before ^ 0o005)
    with settings_kept() as unchanged:
        pass

    assert (changed, unchanged) == ([True], [])
    assert os.umask(before) == before


def test_folder_and_program_are_not_elsewhere(tmp_path: Path) -> None:
    """Everything else is, also what begins alike."""
    home = str(tmp_path)
    within = [home, f"{home}/ledger", str(tmp_path.parent), "/", os.__file__, 7]

    assert [each for each in within if is_elsewhere(each, home)] == []
    assert is_elsewhere(f"{home}-too", home)
    assert is_elsewhere(b"/net/somebody", home)


def test_only_files_of_the_folder_were_not_given(tmp_path: Path) -> None:
    """A pipe was, and what is not open at all."""
    with (tmp_path / "one").open("wb") as own:
        assert not was_given(own.fileno(), str(tmp_path))
        assert was_given(own.fileno(), str(tmp_path / "other"))
    assert was_given(WRITTEN, str(tmp_path))
    assert was_given(9999, str(tmp_path))


def test_agreed_question_about_a_token_names_its_hash_alone() -> None:
    """As does the one about the survey's standing, which says nothing."""
    asked = survey(access="token")
    plain = {"User-Agent": "sottovoce", "Accept-Encoding": "gzip", "Accept": "application/json"}
    headers = tuple({**plain, "Content-Type": "application/json", "Connection": "keep-alive"}.items())
    how = (0, (10, 30), True, None, None)
    digest = hashlib.sha256(b"0" * 16).hexdigest()

    def agreed(body: bytes, of: Survey = asked) -> bool:
        address = f"{ORIGIN}/api/v1/surveys/{of.name}/token"
        return is_agreed(of, Event(REQUEST, WAITING, ("POST", address, headers, body, how)), "0" * 32)

    assert agreed(b'{"token_sha256":"%s"}' % digest.encode())
    assert not agreed(b'{"token_sha256":"%s","more":1}' % digest.encode())
    assert not agreed(b'{"token_sha256":"%s"}' % digest.encode(), survey())
