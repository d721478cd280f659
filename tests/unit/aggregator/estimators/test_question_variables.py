"""An ordered choice as a number: its points, and scores that are right on average."""

import numpy as np
import pytest
from sottovoce.aggregator.estimators.question_variables import as_number, bare, num, points_of, scale_mean
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question

from tests.documents import names, one_of, survey as document
from tests.unit.aggregator.analysis.samples import variable


def test_points_are_the_numbers_in_the_names_or_the_places() -> None:
    """0 to 10 stays 0 to 10; words are 1, 2, 3."""
    assert points_of(["r0", "r5", "r10"]) == (0.0, 5.0, 10.0)
    assert points_of(["never", "once", "often"]) == (1.0, 2.0, 3.0)
    assert points_of(["a1", "b7", "a2"]) == (1.0, 2.0, 3.0)
    assert (bare(num("a.b")), bare("a.b")) == ("a.b", "a.b")


def test_scores_of_a_randomized_scale_are_right_on_average() -> None:
    """Of the number and of its square, by the exact channel."""
    scale = as_number(variable(one_of(5, {"name": "kary_rr", "odds": "3"})))
    for truth, level in enumerate(scale.levels):
        chances = np.where(np.arange(5) == truth, 3 / 7, 1 / 7)
        for power, scores in ((1, scale.scores), (2, scale.square_scores)):
            assert chances @ scores(np.arange(5)) == pytest.approx(level**power)


def rating(**treatment: object) -> Question:
    """Of 0 to 10."""
    asked = {"type": "rating", "name": "risk", "label": {"en": "Risk?"}, "choices": names(11, "r"), **treatment}
    return parse_survey(document(asked)).questions[0]


def test_mean_of_a_rating_is_that_of_its_points_through_the_channel() -> None:
    """Of public counts the plain mean and its normal limits; of counts as k-ary chances make them, the true one."""
    counts = {place: 10 * (place + 1) for place in range(11)}
    values = np.repeat(np.arange(11), [*counts.values()])

    public = scale_mean(rating(public=True), counts, 0.95)

    assert public is not None
    assert public["estimate"] == pytest.approx(values.mean())
    half = 1.959964 * values.std(ddof=1) / len(values) ** 0.5
    assert (public["low"], public["high"]) == pytest.approx((values.mean() - half, values.mean() + half))
    own = 5 / 15
    made = {place: round(15000 * (count * own + (660 - count) * (1 - own) / 10)) for place, count in counts.items()}
    randomized = scale_mean(rating(mechanism={"name": "kary_rr", "odds": "5"}), made, 0.95)
    assert randomized is not None
    assert randomized["estimate"] == pytest.approx(values.mean(), abs=1e-6)


def test_mean_that_a_tally_does_not_show_is_none() -> None:
    """Of bit masks, of few reports, and where randomization hides who answered."""
    counts = {place: 50 for place in range(11)}
    mask = {"name": "subset_selection", "odds": "3", "size": 2}
    assert scale_mean(rating(mechanism=mask), counts, 0.95) is None
    assert scale_mean(rating(public=True), {0: 29}, 0.95) is None
    hidden = rating(mechanism={"name": "kary_rr", "odds": "5"}, absent_category=True)
    assert scale_mean(hidden, counts, 0.95) is None
    declined = rating(public=True, absent_category=True)
    assert scale_mean(declined, {**counts, 11: 400}, 0.95) == scale_mean(rating(public=True), counts, 0.95)
