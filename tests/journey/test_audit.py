"""``audit`` as an auditor runs it, on what is right, on what is wrong, and on what is no survey."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sottovoce.cli.main import main
from sottovoce.client.randomizers import RANDOMIZERS

from tests.blocks import block, in_block
from tests.journey.test_own_survey import invoke, sottovoce
from tests.listener import Held, always, cut, http, listening
from tests.planted.test_code import biased
from tests.surveys import document, survey
from tests.unit.shared.test_schema import validator

COIN = survey(questions=document()["questions"][:1])


IMPOSSIBLE = {
    "missing.yaml": 'missing.yaml" was not found',
    "broken.yaml": "this is not valid YAML",
    "dear.yaml": "epsilon must lie between 0.01 and 10",
    "public.json": "every question of this survey is public",
    "survey.yaml --client http://example.org/s/exam": "the link must begin with https",
    "survey.yaml --client nonsense": "the link must look like https://host/s/survey#d=digest",
    "survey.yaml --client http://127.0.0.1:9/s/exam": "the aggregator cannot be reached",
}
"""What ``audit`` refuses, by its words, and what it says then."""


@pytest.fixture
def coin(tmp_path: Path) -> Path:
    path = tmp_path / "survey.json"
    path.write_bytes(COIN.canonical)
    return path


def here(*words: str) -> Result:
    """The command within this process, so that faults can be planted."""
    return CliRunner().invoke(main, ["audit", *words])


def test_audit_of_the_sample_passes(tmp_path: Path) -> None:
    invoke(tmp_path, "new")
    run = sottovoce(tmp_path, "audit", "survey.yaml", "--quick")

    assert (run.returncode, run.stderr) == (0, "")
    paragraphs = run.stdout.split("\n\n")
    assert (
        paragraphs[1]
        == paragraphs[-1].strip()
        == ("PASSED: nothing that was tried contradicts what the survey claims.")
    )
    for words in ("all 2 x 2 weights", "1.0986, claimed 1.0986"):
        assert words in run.stdout


@pytest.mark.slow
def test_whole_audit_passes(coin: Path) -> None:
    assert here(str(coin)).exit_code == 0


def test_audit_as_json(coin: Path) -> None:
    run = here(str(coin), "--quick", "--json")
    report = json.loads(run.stdout)

    assert run.exit_code == 0
    validator("audit").validate(report)
    assert (report["digest"], report["verdict"]) == (COIN.digest, "passed")
    claims = {check["claim"] for check in report["checks"] if check["subject"] == "cheated"}
    assert claims == {COIN.epsilon}


def test_survey_of_one_block_is_audited(tmp_path: Path) -> None:
    """No question of it is randomized by itself; what is drawn together and which of it is asked are followed."""
    path = tmp_path / "block.json"
    path.write_bytes(survey(questions=[block(*map(in_block, "abc")) | {"ask": 2}]).canonical)
    report = json.loads(here(str(path), "--quick", "--json").stdout)
    assert report["verdict"] == "passed"
    assert {"intimate together", "questions asked"} <= {check["subject"] for check in report["checks"]}


def test_audit_of_a_planted_client_fails(coin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RANDOMIZERS, "binary_rr", biased)
    run = here(str(coin), "--quick")
    report = here(str(coin), "--quick", "--json")

    assert run.exit_code == report.exit_code == 1
    assert "FAILED: the software, or the survey, does not keep what is claimed." in run.stdout
    assert "FAILED     cheated" in run.stdout
    assert "another distribution than the survey's is drawn from" in run.stdout
    assert json.loads(report.stdout)["verdict"] == "failed"


def test_audit_refuses_the_impossible_in_words(tmp_path: Path) -> None:
    invoke(tmp_path, "new")
    sample = (tmp_path / "survey.yaml").read_text(encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("questions: [", encoding="utf-8")
    (tmp_path / "dear.yaml").write_text(sample.replace("{name: coin_flip}", '{epsilon: "11"}'), encoding="utf-8")
    public = survey(questions=document()["questions"][2:])
    (tmp_path / "public.json").write_bytes(public.canonical)
    for words, message in IMPOSSIBLE.items():
        file, *more = words.split()
        run = here(str(tmp_path / file), *more)

        assert run.exit_code == 1, words
        assert message in run.stderr
        assert run.stdout == ""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (always(http("200 OK", b"nonsense")), "not"),
        (always(http("200 OK", b"{}")), "missing"),
        (always(http("500 Oh", b"")), "the aggregator refused with status 500"),
        (always(http("302 Found", b"", "Location: https://example.org/")), "the aggregator refused with status 302"),
        (always(http("200 OK", b"{", length=100)), "the aggregator cannot be reached, or its reply cannot be read"),
        (cut, "the aggregator cannot be reached"),
        (Held(), "the aggregator did not answer within 0.5 s"),
    ],
    ids=["nonsense", "empty", "broken", "redirect", "half", "cut", "never"],
)
def test_aggregator_that_answers_nonsense_or_never(
    coin: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, message: str
) -> None:
    monkeypatch.setattr("sottovoce.audit.served.served_page.SECONDS", 0.5)
    with listening(answer) as server:
        run = here(str(coin), "--client", f"{server.url}/s/exam")

    assert run.exit_code == 1
    assert message in run.stderr
    assert run.stdout == ""


def test_another_survey_is_told_before_anything_else(coin: Path) -> None:
    """The aggregator's is not the file's."""
    other = survey(questions=document()["questions"][:2])
    with listening(always(http("200 OK", other.canonical))) as server:
        run = here(str(coin), "--client", f"{server.url}/s/exam")

    assert run.exit_code == 1
    assert "the aggregator serves another survey than the file's" in run.stdout
    assert "passed" not in run.stdout
    assert "FAILED: " in run.stdout


def test_comparing_what_is_served_needs_no_browser(coin: Path) -> None:
    """Where the extra is not installed, an aggregator is asked all the same."""
    without = "import sys; sys.modules['playwright'] = None; from sottovoce.cli.main import main; main()"
    words = ["audit", str(coin), "--client", "http://127.0.0.1:9/s/exam"]
    command = [sys.executable, "-c", without, *words]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (run.returncode, run.stdout) == (1, "")
    assert "the aggregator cannot be reached" in run.stderr
