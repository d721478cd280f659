"""What ``lint`` and the planner say of arms, simulated arms, and what a correction may not change."""

import numpy as np
import pytest
from sottovoce.aggregator.planning.arm_words import arm_suggestions, arm_warnings, describe_arms
from sottovoce.aggregator.planning.lint import oldest_release
from sottovoce.aggregator.planning.simulated_arms import share_of_arms
from sottovoce.aggregator.planning.simulated_reports import reports_of
from sottovoce.aggregator.planning.simulated_survey import invent
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import survey
from tests.vectors.arms import COIN, arms, asks, three_arms, two_arms


def test_lint_names_the_arms_and_an_arm_without_anything_of_its_own() -> None:
    """An experiment as in papers needs no warning; a survey of one release earlier cannot have arms."""
    asked = parse_survey(survey(asks("all", public=True), asks("own", "direct", mechanism=COIN), arms=arms(1, 3)))

    assert "direct 25%, protected 75%" in describe_arms(asked)[0]
    assert arm_warnings(parse_survey(two_arms())) == []
    assert arm_warnings(asked) == [
        "/arms/1: no question or note is asked in arm protected and not in all; is it a control?"
    ]
    assert oldest_release(asked) == ("0.4.0", ["arms"])


@pytest.mark.parametrize(
    ("label", "differs"), [("Cheated?", False), ("Cheated? A coin is tossed.", False), ("Ever?", True)]
)
def test_other_words_than_a_sentence_about_protection_are_noted(label: str, differs: bool) -> None:
    """The difference between arms would be one of wording."""
    one = {**asks("one", "direct", public=True), "label": {"en": "Cheated?"}}
    other = {**asks("other", "protected", mechanism=COIN), "label": {"en": label}}

    assert bool(arm_suggestions(parse_survey(survey(one, other, arms=arms(1, 1))))) == differs


def test_simulated_devices_report_as_devices_do() -> None:
    """Each simulated report has just the values of its arm, and the arms have their weights' shares."""
    asked = parse_survey(three_arms())
    truths = next(invent(asked, 5000, 3))
    numbers = reports_of(asked, truths, BatchDraws(np.random.default_rng(3).bytes)).numbers
    missing = np.iinfo(numbers.dtype).max
    rows = [tuple(None if value == missing else value for value in row) for row in numbers[:300].tolist()]

    assert all(asked.asks_for(row) for row in rows)
    assert np.bincount(numbers[:, -1].astype(int)) / 5000 == pytest.approx([1 / 7, 4 / 7, 2 / 7], abs=0.03)
    income, more = asked.questions[0], asked.questions[5]
    assert share_of_arms(asked, income, more) == pytest.approx(2 / 7)
    assert share_of_arms(asked, income, asked.questions[1]) == 0
