"""Audit and whole runs judge each client of the gallery rightly: three in every run, the others nightly."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.chromium import find
from tests.mutation.edits import ROOT
from tests.mutation.run import PACKAGES
from tests.planted.gallery import CLIENTS, FAILED, NOT_SEEN, SURVEYS, PlantedClient

SECONDS = 600

ALWAYS = {
    "reports the fourth of five reasons as it is",
    "calls the true values by another name in the browser",
    "tells the page that asks what was answered",
}
"""One that whole runs find, one that the audit of a single question finds, and an honest one."""

EACH_CLIENT = [
    pytest.param(each, id=each.name, marks=[] if each.name in ALWAYS else [pytest.mark.slow]) for each in CLIENTS
]


def test_some_clients_are_audited_in_every_run() -> None:
    """Each name above is one of the gallery's, and each that no audit sees has a reason."""
    assert {client.name for client in CLIENTS} >= ALWAYS
    assert all(bool(client.reason) == (client.verdict == NOT_SEEN) for client in CLIENTS)


def test_each_client_differs_from_todays_sources() -> None:
    """An edit finds its place once, after those before it: what changed since would else be told by the long runs."""
    lost = []
    for client in CLIENTS:
        texts = {edit.file: (ROOT / edit.file).read_text(encoding="utf-8") for edit in client.edits}
        for edit in client.edits:
            lost += [client.name] if texts[edit.file].count(edit.code) != 1 else []
            texts[edit.file] = texts[edit.file].replace(edit.code, edit.planted)

    assert lost == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, to plant clients in, with what was compiled of them: a planted file has another time, so it is not
    taken for the honest one's bytecode, and of its own none is written.
    """
    folder = tmp_path_factory.mktemp("gallery")
    for room in PACKAGES:
        shutil.copytree(ROOT / room, folder / room)
    return folder


@pytest.fixture
def installation(copy: Path, client: PlantedClient) -> Iterator[Path]:
    files = {copy / edit.file for edit in client.edits}
    honest = {file: file.read_text(encoding="utf-8") for file in files}
    for edit in client.edits:
        file = copy / edit.file
        file.write_text(file.read_text(encoding="utf-8").replace(edit.code, edit.planted), encoding="utf-8")
    yield copy
    for file, text in honest.items():
        file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("client", EACH_CLIENT)
def test_client_is_judged(installation: Path, tmp_path: Path, client: PlantedClient) -> None:
    path = tmp_path / "survey.json"
    path.write_bytes(parse_survey(SURVEYS[client.survey]).canonical)
    audited = audit_alone(installation, path, client) if client.alone else audit(installation, path)
    failed = failures(audited)
    assert audited.returncode == bool(failed)
    if not client.alone:
        failed |= failures(run_whole(installation, path, client))
    assert bool(failed) == (client.verdict == FAILED), failed
    assert client.seen_by in {"", *failed}, failed


def failures(ended: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Messages of the checks that failed, by subject."""
    assert ended.stdout, ended.stderr
    checks = json.loads(ended.stdout)["checks"]
    return {check["subject"]: check["message"] for check in checks if check["outcome"] == FAILED}


def audit(installation: Path, path: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = ["-m", "sottovoce.cli", "audit", "--json", "--quick", *words, str(path)]
    return run(installation, path.parent, *command, **more)


def audit_alone(installation: Path, path: Path, client: PlantedClient) -> subprocess.CompletedProcess[str]:
    """Audit the first question of a survey as one for pages of other systems."""
    path.write_text(json.dumps(SURVEYS[client.survey]["questions"][0]), encoding="utf-8")
    return audit(installation, path, "--question", **browser())


def run_whole(installation: Path, path: Path, client: PlantedClient) -> subprocess.CompletedProcess[str]:
    """Run the clients whole, or fill in the form that such an installation serves."""
    words = ["--visits"] if client.served else []
    return run(installation, path.parent, "-m", "tests.conformance", str(path), *words, **browser())


def browser() -> dict[str, str]:
    """Return the environment in which an audit finds the tests' browser."""
    executable, environment = find()
    return {"CHROMIUM": executable, "LD_LIBRARY_PATH": environment.get("LD_LIBRARY_PATH", "")}


def run(installation: Path, home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Python on the packages of an installation, with an empty home."""
    environment = {
        **os.environ,
        **more,
        "PYTHONPATH": os.pathsep.join([*(str(installation / room) for room in PACKAGES), str(ROOT)]),
        # Compiled modules are told apart by seconds and size, which two planted clients may have alike.
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        "TMPDIR": str(home),
        "SOTTOVOCE_LEDGER": str(home / "ledger"),
    }
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
