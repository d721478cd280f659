"""What the terminal says before the first question."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sottovoce.client.terminal.explanation import explain
from sottovoce.client.words import translate
from sottovoce.shared.allowance import DEFAULT_ALLOWANCE

from tests.surveys import survey
from tests.unit.client.issuer import blind_survey


@pytest.mark.parametrize(("given", "told"), [({"trial": True}, 1), ({}, 0)])
def test_terminal_says_what_is_a_try_out(capsys: pytest.CaptureFixture[str], given: dict[str, Any], told: int) -> None:
    """Below the title; of the real survey nothing is said."""
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
