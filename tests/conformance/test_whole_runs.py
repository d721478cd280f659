"""Whole runs of both clients as programs: honest ones look alike, whatever is answered and whatever happens."""

import shutil
import sys
from pathlib import Path

import pytest
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.client.page import opened
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests import documents
from tests.absences import absences, by_hand
from tests.conformance.client_process import PYTHON, javascript_client, python_client
from tests.conformance.listener import Listener
from tests.conformance.refusals import check_refusals
from tests.conformance.run_plan import plan_runs
from tests.conformance.signing_keys import MODULI, with_test_keys
from tests.conformance.wire_runs import check_runs
from tests.surveys import months, survey
from tests.vectors.arms import drawn_arms, three_arms, two_arms

KEYS = [spell_modulus(each) for each in MODULI[:2]]
SURVEYS = {
    "ask": survey(ask=1),
    "token and waves": survey(access="token", waves=months(2)),
    "signed": with_test_keys(survey(access={"blind": KEYS}, waves=months(2), privacy={"send_within_hours": 1})),
    "arms": parse_survey(two_arms()),
    "arms and waves": parse_survey({**two_arms(), "waves": months(2)}),
    "arms anew": parse_survey(three_arms()),
    "arms and sets": parse_survey({**drawn_arms(), "waves": months(2)}),
    "absences": absences(),
    "own coin": parse_survey(documents.survey(*by_hand(), privacy={"procedure": "own_coin"})),
}

LIGHT = {"ask", "signed"}
"""Run always; the others before a release."""
NAMES = [pytest.param(name, marks=[] if name in LIGHT else [pytest.mark.slow]) for name in SURVEYS]


def found(asked: Survey, *command: str) -> list[Check]:
    """What quick runs of the Python client find; ``command`` instead of its own program."""
    with Listener() as listener, python_client(listener, command or PYTHON) as client:
        return [
            *check_runs("python", asked, plan_runs(asked, quick=True), client, lambda _share: None),
            *check_refusals("python", asked, client),
        ]


@pytest.mark.parametrize("name", NAMES)
def test_runs_of_the_python_client_look_alike(name: str) -> None:
    """Through retries, corrections, waves, tokens and signatures."""
    assert {(check.outcome, check.message) for check in found(SURVEYS[name])} == {(PASSED, "")}


@pytest.mark.parametrize("name", NAMES)
def test_runs_of_the_browsers_client_look_alike(name: str) -> None:
    node = shutil.which("node")
    assert node is not None
    asked = SURVEYS[name]
    with Listener() as listener, javascript_client(listener, node, opened()) as client:
        checks = [
            *check_runs("javascript", asked, plan_runs(asked, quick=True), client, lambda _share: None),
            *check_refusals("javascript", asked, client),
        ]
    assert {(check.outcome, check.message) for check in checks} == {(PASSED, "")}


@pytest.mark.parametrize("text", ["", "raise SystemExit(3)"])
def test_program_that_does_not_answer_has_failed(tmp_path: Path, text: str) -> None:
    program = tmp_path / "client.py"
    program.write_text(text, encoding="utf-8")
    checks = found(SURVEYS["ask"], sys.executable, str(program))

    assert {check.outcome for check in checks if check.subject == "whole runs"} == {FAILED}
