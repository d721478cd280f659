"""The audit of one question: its core for every mechanism, and what is refused or not done."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from sottovoce.audit.check import NOT_DONE, PASSED
from sottovoce.audit.run import audit_question
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.single_question import SingleQuestion, parse_question

from tests import commands
from tests.commands import refused
from tests.surveys import every_type
from tests.unit.shared.test_schema import validator

run = partial(commands.run, "audit")


def single_questions() -> list[SingleQuestion]:
    """Return every kind of question that can be asked alone."""
    found = []
    for document in every_type():
        try:
            found.append(parse_question(document))
        except SpecError:
            continue
    return found


SINGLE = {asked.mechanism.name: asked for asked in single_questions()}


@pytest.fixture(autouse=True)
def _without_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Visits are made in ``tests/browser``."""
    monkeypatch.setenv("CHROMIUM", "/no/such/program")


@pytest.mark.external
@pytest.mark.parametrize("mechanism", SINGLE)
def test_core_draws_from_the_channel(mechanism: str) -> None:
    """Of every mechanism that a single question can have; without a browser the verdict is no pass."""
    document = audit_question(SINGLE[mechanism], None, True, lambda _share: None)
    outcomes = {check["part"]: check["outcome"] for check in document["checks"]}
    assert outcomes == {"integers": PASSED, "core": PASSED, "frame": NOT_DONE}
    assert document["verdict"] == "incomplete"
    assert list(validator("audit").iter_errors(document)) == []


def test_all_mechanisms_of_single_questions_are_there() -> None:
    """But the one for several waves."""
    assert set(SINGLE) == set(MECHANISMS) - {"memoized_rr"}


@pytest.mark.external
def test_report_names_question_core_and_frame(tmp_path: Path) -> None:
    """As text, for people; exit code 1, since the frame was not visited."""
    path = tmp_path / "ever.json"
    path.write_text(json.dumps(SINGLE["binary_rr"].document))
    ended = refused(run("--question", path, "--quick"))
    for words in ("Audit of", "The core of the question", "Visits to the window", "NOT DONE", "INCOMPLETE"):
        assert words in ended.output


@pytest.mark.external
def test_missing_browser_driver_is_named_without_a_package_index(tmp_path: Path) -> None:
    """A name that is not on an index today could be registered by others tomorrow."""
    path = tmp_path / "ever.json"
    path.write_text(json.dumps(SINGLE["binary_rr"].document))
    without = "import sys; sys.modules['playwright'] = None; from sottovoce.cli.main import main; main()"
    command = [sys.executable, "-c", without, "audit", "--question", str(path), "--quick"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    words = " ".join(ended.stdout.split())
    assert 'visits need a Chromium and pip install ".[audit]" in a checkout' in words
    assert not re.search(r"install \W*sottovoce", words)


def test_what_cannot_be_audited_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ever.json"
    path.write_text(json.dumps({**SINGLE["binary_rr"].document, "typ": 1}))
    assert "/typ" in run("--question", path).output
    assert "leave out SURVEY" in run("exam.yaml", "--question", path).output
    path.write_text(json.dumps(SINGLE["binary_rr"].document))
    assert "--client is the question's address" in run("--question", path, "--client", "q.example.org").output
    assert "leave out --question" in run("--curator", "--question", path).output
    assert "was not found" in run("--question", tmp_path / "none.yaml").output
