"""What the terminal says before the first question."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sottovoce.client.terminal.explanation import explain, group_sentences, protection_title
from sottovoce.client.terminal.receipt import show_receipt
from sottovoce.client.words import translate
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.report import Report, dump_report

from tests.surveys import survey
from tests.unit.client.issuer import blind_survey


@pytest.mark.parametrize(("given", "told"), [({"trial": True}, 1), ({}, 0)])
def test_terminal_says_what_is_a_try_out(capsys: pytest.CaptureFixture[str], given: dict[str, Any], told: int) -> None:
    asked = survey(**given)
    explain(
        SimpleNamespace(survey=asked, asked=asked.questions, arm="", spent=0.0, cost=1.0, wave=0), DEFAULT_ALLOWANCE
    )  # type: ignore[arg-type]
    said = capsys.readouterr().err

    assert said.count("Test run: not the real survey.") == told
    assert said.startswith("Exams")


@pytest.mark.parametrize(("minutes", "hours", "told"), [(60, 24, False), (4, 24, True), (-1, 24, True), (60, 0, True)])
def test_no_wait_is_promised_where_nothing_waits(
    capsys: pytest.CaptureFixture[str], minutes: int, hours: int, told: bool
) -> None:
    """In the last five minutes, and where this device's clock is past them, a report goes at once."""
    closes = datetime.now(UTC) + timedelta(minutes=minutes)
    more = {"privacy": {"send_within_hours": hours}} if hours else {}
    asked = blind_survey(closes=closes.strftime("%Y-%m-%dT%H:%M:%SZ"), **more)
    me = SimpleNamespace(survey=asked, asked=asked.questions, arm="", spent=0.0, cost=1.0, wave=0)
    explain(me, DEFAULT_ALLOWANCE)  # type: ignore[arg-type]
    said = capsys.readouterr().err

    assert (translate("seen_blind_now") in said, translate("explain_later", hours="24") in said) == (told, not told)


BOOLEAN = {"type": "boolean", "label": {"en": "Cheated?"}}
COIN = {"mechanism": {"name": "coin_flip"}}
ARMS = [{"name": "direct", "weight": 1}, {"name": "protected", "weight": 3}]


def in_arms() -> Any:
    """A survey that asks a quarter of the people directly, and everybody one public question."""
    questions = [
        {**BOOLEAN, "name": "year", "public": True},
        {**BOOLEAN, "name": "direct_one", "public": True, "arm": "direct"},
        {**BOOLEAN, **COIN, "name": "one", "arm": "protected"},
        {**BOOLEAN, **COIN, "name": "two", "arm": "protected"},
    ]
    return survey(questions=questions, arms=ARMS)


def test_groups_say_what_each_sends_before_begin() -> None:
    asked = in_arms()
    lines = group_sentences(asked)

    assert "Openly, 25 of 100 people: all answers are sent unchanged." in lines
    assert any("With protection, 75 of 100 people: 2 of 3 answers protected" in line for line in lines)
    assert protection_title(asked) == "When you begin, chance decides how you are asked:"
    assert group_sentences(survey()) == []
    assert protection_title(survey()) == "Randomized: 2 of your 3 answers."


@pytest.mark.parametrize(
    ("values", "told", "untold"),
    [
        ([1, 1, None, None, 0], "Nothing is changed by chance.", "epsilon"),
        ([1, None, 1, 0, 1], "The private answers cost epsilon 2.20 together", "Nothing is changed"),
    ],
)
def test_receipt_names_the_cost_of_its_own_arm_and_the_end_of_withdrawal(
    capsys: pytest.CaptureFixture[str], values: list[int | None], told: str, untold: str
) -> None:
    asked = in_arms()
    body = dump_report(Report(asked.name, asked.digest, 0, "b" * 32, tuple(values)), asked).decode()
    show_receipt(asked, {"body": body, "sha256": "", "report_id": "", "digest": ""}, as_json=False)
    said = capsys.readouterr().err

    assert told in said
    assert untold not in said
    assert "You can withdraw" in said
    assert "Your answers have arrived." in said
