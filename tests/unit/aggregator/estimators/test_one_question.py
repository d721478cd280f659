"""One question of a block is estimated by its own channel."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.estimators import estimate
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question

from tests.documents import names, survey

BLOCK = {
    "block": "intimate",
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
    "items": [
        {"type": "boolean", "name": "a", "label": {"en": "A"}},
        {"type": "rating", "name": "b", "label": {"en": "B"}, "choices": names(3)},
    ],
}
YES_NO, RATING = parse_survey(survey(BLOCK)).questions


def test_shares_by_the_channel_of_the_question_alone() -> None:
    """Of six combinations with weights 9 and 1 the yes/no answer is kept by 11 of 14, the other by 10 and 2 each."""
    (yes,) = estimate(YES_NO.mechanism, {0: 600, 1: 400}, YES_NO.domain)
    a, b = Fraction(11, 14), Fraction(3, 14)
    assert (yes.option, yes.raw) == ("yes", pytest.approx(float((Fraction(2, 5) - b) / (a - b))))
    shares = estimate(RATING.mechanism, {0: 500, 1: 300, 2: 200}, RATING.domain)
    assert [each.raw for each in shares] == pytest.approx(
        [float((x - Fraction(1, 7)) * Fraction(7, 4)) for x in (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))]
    )


@pytest.mark.parametrize("question", [YES_NO, RATING])
def test_scores_are_unbiased_and_likelihoods_are_the_channel(question: Question) -> None:
    """For every true category."""
    (variable,) = variables_of(question)
    assert question.mechanism is not None
    reported = np.arange(question.largest + 1)
    channel = np.array([[float(question.mechanism.probability(y, x)) for y in reported] for x in reported])
    assert channel @ variable.scores(reported) == pytest.approx(np.eye(len(reported)))
    rows = variable.likelihood(reported)
    assert rows / rows[:, :1] == pytest.approx(channel.T / channel.T[:, :1])
