"""People needed to tell direct from protected answers, verified by simulation with the estimator that is used then."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.planning.given_sample import arms_apart
from sottovoce.aggregator.planning.simulated_survey import SetShares, invent_as_set, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import survey
from tests.vectors.arms import COIN, arms, asks

USUAL = (0.95, 0.8)


def study(*weights: int) -> Survey:
    """Asked directly, or with a coin, and one question for all."""
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
