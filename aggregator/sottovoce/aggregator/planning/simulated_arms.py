"""Random arms of respondents who are planned for or simulated, by the survey's weights."""

from collections.abc import Sequence
from typing import Any

from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, Values, ask_batch
from sottovoce.shared.arms.arms import is_arm, share_asked
from sottovoce.shared.spec import Question, Survey


def arm_shares(survey: Survey, question: Question) -> tuple[float, ...]:
    """Return the expected share of each arm if the question reports the arm; empty for any other question."""
    if not is_arm(survey, question):
        return ()
    whole = sum(arm.weight for arm in survey.arms)
    return tuple(arm.weight / whole for arm in survey.arms)


def share_of_arms(survey: Survey, *questions: Question) -> float:
    """
    Return the expected share of respondents whose arm asks all of these questions; 1 without arms.

    Args:
        survey: the survey.
        questions: some of its questions.
    """
    return float(share_asked(survey, *map(survey.questions.index, questions)))


def asked_in_simulation(survey: Survey, truths: Sequence[Values], draws: BatchDraws) -> list[Any]:
    """
    Return which simulated respondents are asked each question: by their arm, or by draws under ``ask``.

    Args:
        survey: the survey.
        truths: true values, an array for each question; with arms, the last one has the arms.
        draws: source of randomness of all devices.

    Returns:
        A selection of respondents for each question: a mask of shape (count,), or a slice of all.
    """
    if not survey.arms:
        return ask_batch(survey, len(truths[0]), draws)
    arms = truths[-1]
    selected: list[Any] = []
    for index in range(len(survey.questions)):
        asking = [arm for arm, places in enumerate(survey.places_by_arm) if index in places]
        everybody = len(asking) == len(survey.arms)
        selected.append(slice(None) if everybody else (arms[:, None] == asking).any(axis=1))
    return selected
