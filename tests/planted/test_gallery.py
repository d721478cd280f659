"""The clients of the gallery can be planted, are enough of each kind, and the audit judges each of them rightly."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sottovoce.audit.promises import NOT_SEEN as SENTENCE
from sottovoce.client.page import PageFile
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.chromium import find
from tests.browser.test_audit import serving
from tests.mutation.edits import ROOT
from tests.mutation.run import PACKAGES, SKIPPED
from tests.planted.gallery import (
    CLASSES,
    CLIENTS,
    FAILED,
    HONEST,
    NOT_SEEN,
    PASSED,
    PROMISES,
    SEEN_BY,
    SURVEYS,
    UNSEEN,
    PlantedClient,
    room_of,
)
from tests.planted.gallery_page import PAGE, page

LANGUAGES = ("python", "javascript")
SECONDS = 1800

SAMPLING = ["--n", "500", "--alpha", "0.001"]
"""So few reports are enough to fail nobody and to pass; what is dishonest is found in the parts that enumerate."""

VISITS = ["--visits", "2"]

SERVED_FILES = """
import json
from sottovoce.client.page import assemble
print(json.dumps({name: [asset.body.decode(), *asset[1:]] for name, asset in assemble().items()}))
"""

each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)


@each_client
def test_client_can_still_be_planted(client: PlantedClient) -> None:
    """The code of each edit stands in its file just once; where the code has changed, the gallery is to be repaired."""
    for edit in client.edits:
        count = (ROOT / edit.file).read_text(encoding="utf-8").count(edit.code)
        assert count == 1, f"{edit.file} has this {count} times: {edit.code}"
        assert edit.planted != edit.code


def test_no_two_clients_are_one() -> None:
    """Each has a name and a change of its own."""
    assert len({client.name for client in CLIENTS}) == len(CLIENTS)
    assert len({client.edits for client in CLIENTS}) == len(CLIENTS)


@each_client
def test_client_says_what_it_is_for(client: PlantedClient) -> None:
    """An honest one breaks no promise and passes; whoever is not seen has a reason; the survey is there."""
    assert client.survey in SURVEYS
    assert client.language in LANGUAGES
    assert bool(client.reason) == (client.verdict == NOT_SEEN)
    assert (client.unseen in UNSEEN) == (client.verdict == NOT_SEEN)
    assert client.seen_by in {"", *SEEN_BY}
    assert not client.seen_by or client.verdict == FAILED
    if client.kind == HONEST:
        assert (client.verdict, client.promise) == (PASSED, "")
    else:
        assert client.verdict in {FAILED, NOT_SEEN}
        assert client.kind in CLASSES
        assert client.promise in PROMISES


def test_gallery_is_large_enough() -> None:
    """Two or more that must be found for each class in each language, and for each promise; some for what none sees."""
    found = [client for client in CLIENTS if client.verdict == FAILED]
    kinds = Counter((client.language, client.kind) for client in found)
    promises = Counter(client.promise for client in found)
    verdicts = Counter(client.verdict for client in CLIENTS)

    assert [kind for language in LANGUAGES for kind in CLASSES if kinds[language, kind] < 2] == []
    assert [promise for promise in PROMISES if promises[promise] < 2] == []
    assert verdicts[FAILED] >= 44
    assert verdicts[NOT_SEEN] >= 4
    assert verdicts[PASSED] >= 6


def test_report_names_every_class_that_is_not_seen() -> None:
    """And the gallery has an example of each."""
    assert [words for words in UNSEEN if words not in SENTENCE] == []
    assert {client.unseen for client in CLIENTS} - {""} == {*UNSEEN}


def test_page_is_what_the_gallery_makes() -> None:
    """Written anew by ``python -m tests.planted.gallery_page``; each client stands there once, with its verdict."""
    text = PAGE.read_text(encoding="utf-8")

    assert text == page()
    assert [client.name for client in CLIENTS if text.count(f"| {client.name} |") != 1] == []


@pytest.mark.parametrize("name", SURVEYS)
def test_survey_can_be_asked(name: str) -> None:
    """Each survey of the gallery is one, within what a person allows by default."""
    asked = parse_survey(SURVEYS[name])

    assert asked.name == name
    assert asked.epsilon < 8


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, to plant clients in."""
    folder = tmp_path_factory.mktemp("gallery")
    for room in PACKAGES:
        shutil.copytree(ROOT / room, folder / room, ignore=SKIPPED)
    return folder


@pytest.fixture
def installation(copy: Path, client: PlantedClient) -> Iterator[Path]:
    """The copy with one client in it."""
    files = {copy / edit.file for edit in client.edits}
    honest = {file: file.read_text(encoding="utf-8") for file in files}
    for edit in client.edits:
        file = copy / edit.file
        text = file.read_text(encoding="utf-8")
        assert text.count(edit.code) == 1, "an edit before this one has changed what it changes"
        file.write_text(text.replace(edit.code, edit.planted), encoding="utf-8")
    yield copy
    for file, text in honest.items():
        file.write_text(text, encoding="utf-8")


@pytest.mark.slow
@each_client
def test_audit_judges_the_client(installation: Path, tmp_path: Path, client: PlantedClient) -> None:
    """The command, run from sources with that client in them: its verdict, how it ends, and the part that sees it."""
    path = tmp_path / "survey.json"
    path.write_bytes(parse_survey(SURVEYS[client.survey]).canonical)
    ended = audit_served(installation, path, client) if client.served else audited(installation, path, client)
    assert ended.stdout, ended.stderr
    report = json.loads(ended.stdout)

    assert report["verdict"] == (FAILED if client.verdict == FAILED else PASSED), found(report)
    assert ended.returncode == (client.verdict == FAILED)
    assert client.seen_by in {"", *rooms(report)}


def audited(installation: Path, path: Path, client: PlantedClient) -> subprocess.CompletedProcess[str]:
    """The audit of a survey file; whom its quick form fails the whole one fails, since it does all of that and more."""
    if client.verdict == FAILED:
        ended = audit(installation, path, "--quick")
        if ended.stdout and json.loads(ended.stdout)["verdict"] == FAILED:
            return ended
    return audit(installation, path)


def audit(installation: Path, path: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The audit of a survey file."""
    command = ["-m", "sottovoce.cli", "audit", str(path), "--json", *SAMPLING]
    return run(installation, path.parent, *command, *words, **more)


def audit_served(installation: Path, path: Path, client: PlantedClient) -> subprocess.CompletedProcess[str]:
    """The same with the form that such an installation serves."""
    files = json.loads(run(installation, path.parent, "-c", SERVED_FILES).stdout)
    assets = {name: PageFile(body.encode(), *more) for name, (body, *more) in files.items()}
    executable, environment = find()
    browser = {"CHROMIUM": executable, "LD_LIBRARY_PATH": environment.get("LD_LIBRARY_PATH", "")}
    with serving(parse_survey(SURVEYS[client.survey]), assets=assets) as link:
        address = f"{link.origin}/s/{link.survey}#d={link.digest}"
        return audit(installation, path, "--client", address, *VISITS, **browser)


def run(installation: Path, home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Python on the packages of an installation, with an empty home."""
    environment = {
        **os.environ,
        **more,
        "PYTHONPATH": os.pathsep.join(str(installation / room) for room in PACKAGES),
        # Compiled modules are told apart by time and size, which a planted client may leave as they are.
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        "TMPDIR": str(home),
        "SOTTOVOCE_LEDGER": str(home / "ledger"),
        # What was found of the lives in one language holds while the other one's client is changed.
        "XDG_CACHE_HOME": str(installation / "kept"),
    }
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def rooms(report: dict[str, Any]) -> set[str]:
    """Where an audit has found something."""
    return {room_of(check["part"], check["subject"]) for check in report["checks"] if check["outcome"] == FAILED}


def found(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What an audit has to say of what did not pass."""
    return [
        (check["part"], check["subject"], check["message"]) for check in report["checks"] if check["outcome"] != PASSED
    ]
