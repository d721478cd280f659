"""The audit of one question, or of a block: honest clients pass, broken promises do not, the rest is refused."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED
from sottovoce.audit.histories import check_histories, histories_of
from sottovoce.audit.run import Order, audit, audit_question
from sottovoce.client import randomizers
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import randomize_joint_rr as honest
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.single_question import SingleQuestion, parse_question
from sottovoce.shared.spec import Survey

from tests import commands
from tests.commands import refused
from tests.documents import names, survey
from tests.surveys import every_type
from tests.unit.shared.test_schema import validator
from tests.vectors.blocks import COIN, asks, block

run = partial(commands.run, "audit")


def single_questions() -> list[SingleQuestion]:
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


Randomize = Callable[[JointRR, Sequence[int], Draws], Sequence[int]]


def blocks() -> Survey:
    """A block with a condition inside and one on a question outside, and a coin."""
    hidden = asks("b", "select_one", choices=names(3), absent_category=True, visible_if={"a": "yes"})
    outside = asks("c", when_absent="no", visible_if={"coin": "yes"})
    return parse_survey(survey(asks("coin", mechanism=COIN), block("three", "9", 1, asks("a"), hidden, outside)))


def separate(joint: JointRR, values: Sequence[int], draws: Draws) -> Sequence[int]:
    """Each question with its own channel: right one by one, and wrong together."""
    members = [JointMember(joint, position, "three") for position in range(len(values))]
    return tuple(draws.pick(member.weights(value)) for member, value in zip(members, values, strict=True))


def leaking(joint: JointRR, values: Sequence[int], draws: Draws) -> Sequence[int]:
    first, _, *rest = honest(joint, values, draws)
    return (first, values[1], *rest)


def swapping(joint: JointRR, values: Sequence[int], draws: Draws) -> Sequence[int]:
    """A report that reads more where the first answer is yes."""
    reported = honest(joint, values, draws)
    return honest(joint, values, draws) if values[0] else reported


@pytest.mark.parametrize("planted", [separate, leaking, swapping])
def test_planted_client_is_flagged(planted: Randomize, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the exact law of what it reports for all combinations of the answers."""
    histories, lacking = histories_of(blocks())
    assert ([history.subject for history in histories], lacking) == (["three together"], [])
    assert [check.outcome for check in check_histories(histories)] == [PASSED]
    monkeypatch.setattr(randomizers, "randomize_joint_rr", planted)
    assert [check.outcome for check in check_histories(histories)] == [FAILED]


def test_audit_of_a_survey_with_a_block_passes() -> None:
    """Both clients: integers, the law of the block, what is refused, and whole runs."""
    checks = audit(Order(blocks(), quick=True), lambda _name, _total: lambda _share: None)
    assert [check for check in checks if check.outcome == FAILED] == []
    assert {check.part for check in checks if check.subject == "three together"} == {"python", "javascript"}
