"""What ``lint`` and the planner say of arms, simulated arms, and what a correction may not change."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sottovoce.aggregator.planning.lint import arm_suggestions, arm_warnings, describe, describe_arms, oldest_release
from sottovoce.aggregator.planning.simulated_survey import invent, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import Document, survey
from tests.vectors.arms import COIN, arms, asks, drawn_arms, three_arms, two_arms


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


@pytest.mark.parametrize("document", [three_arms(), drawn_arms()])
def test_simulated_devices_report_as_devices_do(document: Document) -> None:
    """Each simulated report has just the values of its arm and set; the arms and questions have their shares."""
    asked = parse_survey(document)
    truths = next(invent(asked, 5000, 3))
    numbers = reports_of(asked, truths, BatchDraws(np.random.default_rng(3).bytes)).numbers
    missing = np.iinfo(numbers.dtype).max
    rows = [tuple(None if value == missing else value for value in row) for row in numbers[:300].tolist()]

    assert all(asked.asks_for(row) for row in rows)
    assert np.bincount(numbers[:, -1].astype(int)) / 5000 == pytest.approx([1 / 7, 4 / 7, 2 / 7], abs=0.03)
    for one, other in combinations(range(len(asked.questions)), 2):
        both = (numbers[:, one] != missing) & (numbers[:, other] != missing)
        assert both.mean() == pytest.approx(float(share_asked(asked, one, other)), abs=0.03)


def test_share_asked_is_that_of_the_arms_and_sets() -> None:
    """By hand: arm 2 of 7, 1 of 7 and 4 of 7; in the last 2 of 4 units, of which a block is one."""
    third, drawn = parse_survey(three_arms()), parse_survey(drawn_arms())
    assert (share_asked(third, 0, 6), share_asked(third, 0, 1)) == (Fraction(2, 7), 0)
    assert share_asked(drawn, 2) == Fraction(4, 7) / 2 + Fraction(2, 7)
    assert (share_asked(drawn, 3, 4), share_asked(drawn, 4, 5)) == (Fraction(2, 7), Fraction(4, 7) / 6)
    assert (share_asked(drawn, 3, 4, 5, 6), share_asked(drawn, 0, 7), share_asked(drawn, 1, 2)) == (0, 1, 0)
    assert drawn.epsilon == pytest.approx(math.log(9) + math.log(3))
    assert "of arm protected is asked 2 of the 4 private questions" in "\n".join(describe(drawn))
