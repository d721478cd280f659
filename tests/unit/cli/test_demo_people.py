"""The demonstration's people answer at once, and stop when it does."""

import time
from typing import Any

import pytest
from sottovoce.demo import respondents
from sottovoce.demo.data import demo_survey


def test_nobody_goes_on_answering_once_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, or one who fails: the thousands who are left are not waited for."""
    answered: list[Any] = []

    class Person:
        def __init__(self, *_: object) -> None:
            pass

        def answer(self, answers: dict[str, str]) -> None:
            if answers["cheated"] == "fails":
                raise KeyboardInterrupt
            time.sleep(0.001)
            answered.append(answers)

    monkeypatch.setattr(respondents, "Respondent", Person)
    people = [{"cheated": "fails"}, *({"cheated": "yes"} for _ in range(10_000))]
    with pytest.raises(KeyboardInterrupt):
        respondents.send_all("http://nowhere.invalid", demo_survey(), people)
    assert len(answered) < 5_000
