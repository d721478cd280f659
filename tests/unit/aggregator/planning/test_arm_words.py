import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.planning.lint import arm_suggestions, arm_warnings, describe, describe_arms, oldest_release
from sottovoce.aggregator.planning.sample_size import arms_apart
from sottovoce.aggregator.planning.simulated_survey import SetShares, invent, invent_as_set, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

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


USUAL = (0.95, 0.8)


def study(*weights: int) -> Survey:
    return parse_survey(
        survey(
            asks("direct", "direct", public=True),
            asks("cheated", "protected", mechanism=COIN),
            asks("copied", mechanism=COIN),
            arms=arms(*weights),
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "values"), [((1, 1), (0.35, 0.2)), ((1, 2), (0.5, 0.4))])
def test_planned_people_find_the_difference_with_the_wanted_power(
    weights: tuple[int, int], values: tuple[float, float]
) -> None:
    """In 400 studies of so many people, limits of the difference leave out 0 in about 80 of 100."""
    asked = study(*weights)
    protected, direct = values
    planned = arms_apart(asked, (asked.questions[1], asked.questions[0]), values, USUAL, None).reports
    wanted = [SetShares((1 - share, share)) for share in (direct, protected, 0.3)]
    dice, found, runs = np.random.default_rng(3), 0, 400
    for seed in range(runs):
        truths = invent_as_set(asked, planned, seed, [*wanted, SetShares((0.5, 0.5))])
        columns = reports_of(asked, truths, BatchDraws(dice.bytes)).columns
        (apart,) = compare_across_arms(columns, ("cheated", "direct")).differences
        found += apart.low is not None and apart.low > 0
    assert found / runs == pytest.approx(USUAL[1], abs=0.06)


def test_people_follow_from_the_variances_of_both_arms() -> None:
    """(1.96 + .84)^2 times the variances over the arms' shares, .16 openly and .9775 by a coin, over .15^2."""
    asked = study(1, 1)
    planned = arms_apart(asked, (asked.questions[1], asked.questions[0]), (0.35, 0.2), USUAL, None)
    assert planned.reports == pytest.approx((1.959964 + 0.841621) ** 2 * (0.16 + 0.9775) * 2 / 0.15**2, abs=1)


def test_more_protected_people_are_worth_more_than_direct_ones() -> None:
    """Noise is in one arm alone, so a third of the people asked directly is better than a half."""
    even, uneven = study(1, 1), study(1, 2)
    needed = [
        arms_apart(each, (each.questions[1], each.questions[0]), (0.35, 0.2), USUAL, None) for each in (even, uneven)
    ]

    assert needed[1].reports < needed[0].reports
    so_many = arms_apart(even, (even.questions[1], even.questions[0]), (0.35, 0.2), USUAL, needed[0].reports)
    assert so_many.power == pytest.approx(0.8, abs=0.005)


def test_questions_of_one_arm_and_equal_values_are_refused() -> None:
    """Their people are the same; and no number of people finds nothing."""
    asked = study(1, 1)
    direct, protected, common, _ = asked.questions
    with pytest.raises(EstimateError, match="no arm of the survey has both"):
        arms_apart(asked, (common, direct), (0.3, 0.2), USUAL, None)
    with pytest.raises(EstimateError, match="must differ"):
        arms_apart(asked, (protected, direct), (0.2, 0.2), USUAL, None)
