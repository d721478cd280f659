"""Surveys that every device would refuse are refused before anybody is invited."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sottovoce.aggregator.surveys.privacy_limit import check_affordable, remedies
from sottovoce.cli.serve import serve
from sottovoce.cli.survey.publish import publish
from sottovoce.cli.survey_file import lint
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.spec import Survey

from tests.blocks import block, in_block
from tests.surveys import document, survey

COIN = document()["questions"][0]


def coins(count: int, **more: Any) -> Survey:
    """So many coin flips, 1.10 each."""
    return survey(questions=[{**COIN, "name": f"coin{number}"} for number in range(count)], **more)


DEAR = coins(9)
"""9.89 in total, where devices allow 8."""


def refusal(asked: Survey) -> str:
    with pytest.raises(SpecError) as caught:
        check_affordable(asked)
    return str(caught.value)


def test_total_above_the_allowance_is_refused_with_what_would_do() -> None:
    """The dearest questions by name, and remedies that are ones."""
    told = refusal(DEAR)

    assert told.startswith("/questions: a whole report costs epsilon 9.89, and devices allow 8; ")
    assert "coin0 (1.10), coin1 (1.10), coin2 (1.10)" in told
    assert "ask: 7, so that each person is asked 7 of the 9 private ones (7.70)" in told
    assert 'more noise: mechanism {epsilon: "0.88"} for each' in told
    # Eight of nine still cost too much.
    assert "ask: 7," in refusal(coins(9, ask=8))


def test_what_is_proposed_and_what_costs_less_than_the_allowance_passes() -> None:
    """The set that is asked, the noise that is named, and seven coins, 7.70; these are the limits on devices, too."""
    check_affordable(coins(9, ask=7))
    weaker = [{**COIN, "name": f"coin{number}", "mechanism": {"epsilon": "0.88"}} for number in range(9)]
    check_affordable(survey(questions=weaker))
    check_affordable(coins(7))
    assert (DEFAULT_ALLOWANCE.question, DEFAULT_ALLOWANCE.total) == (3, 8)


def test_dear_question_is_refused_by_its_place() -> None:
    """A second question at 3.18, where devices allow 3 for one."""
    dear = {**COIN, "name": "dear", "mechanism": {"name": "warner", "truth": "24/25"}}
    told = refusal(survey(questions=[COIN, dear]))

    assert told.startswith("/questions/1: dear costs epsilon 3.18, and devices allow 3 for one question; ")
    assert '{epsilon: "3"}' in told


@pytest.mark.parametrize("hanging", [True, False])
def test_ask_is_proposed_only_where_nothing_hangs_on_a_question(hanging: bool) -> None:
    """A set drawn by the device may leave out a question on which another one depends."""
    questions = [{**COIN, "name": f"coin{number}", "when_absent": "no"} for number in range(9)]
    if hanging:
        questions[8]["visible_if"] = {"coin0": "yes"}

    assert remedies(survey(questions=questions), 8.0)[0].startswith("ask: ") is not hanging


def test_ask_is_not_proposed_beside_a_block_that_draws() -> None:
    """A survey has one of the two."""
    drawn = block(*map(in_block, "abc")) | {"ask": 2}

    assert remedies(survey(questions=[drawn, COIN]), 2.5)[0].startswith("more noise: ")


def test_stored_survey_is_read_as_ever() -> None:
    """What was published before stays readable, whatever it costs."""
    assert load_survey(DEAR.canonical).digest == parse_survey(DEAR.document).digest == DEAR.digest


@pytest.mark.parametrize("verb", [lint, publish, serve], ids=["lint", "publish", "serve"])
def test_every_verb_that_leads_to_respondents_refuses(verb: Any, tmp_path: Path) -> None:
    """In the same words, and with nothing published."""
    path = tmp_path / "survey.json"
    path.write_bytes(dump(DEAR.document))
    data = [] if verb is lint else ["--data", str(tmp_path / "data")]
    result = CliRunner().invoke(verb, [str(path), *data])

    assert isinstance(result.exception, SpecError)
    assert "devices allow 8" in str(result.exception)
    assert not (tmp_path / "data").exists()
