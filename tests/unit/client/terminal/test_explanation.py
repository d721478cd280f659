"""What the terminal says before the first question."""

from types import SimpleNamespace
from typing import Any

import pytest
from sottovoce.client.terminal.explanation import explain
from sottovoce.shared.allowance import DEFAULT_ALLOWANCE

from tests.surveys import survey


@pytest.mark.parametrize(("given", "told"), [({"trial": True}, 1), ({}, 0)])
def test_terminal_says_what_is_a_try_out(capsys: pytest.CaptureFixture[str], given: dict[str, Any], told: int) -> None:
    """Below the title; of the real survey nothing is said."""
    asked = survey(**given)
    explain(SimpleNamespace(survey=asked, asked=asked.questions, spent=0.0, cost=1.0), DEFAULT_ALLOWANCE)  # type: ignore[arg-type]
    said = capsys.readouterr().err

    assert said.count("Try-out: not the real survey.") == told
    assert said.startswith("Exams")
