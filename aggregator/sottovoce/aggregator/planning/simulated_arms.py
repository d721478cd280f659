"""Draw random arms of respondents who are planned for or simulated, by the survey's weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, Values, ask_batch
from sottovoce.shared.arms.arms import is_arm
from sottovoce.shared.spec import Question, Survey


def arm_shares(survey: Survey, question: Question) -> tuple[float, ...]:
    """Return the expected share of each arm if the question reports the arm; empty for any other question."""
    if not is_arm(survey, question):
        return ()
    whole = sum(arm.weight for arm in survey.arms)
    return tuple(arm.weight / whole for arm in survey.arms)


def asked_in_simulation(survey: Survey, truths: Sequence[Values], draws: BatchDraws) -> list[Any]:
    """Return who is asked each question: those of its arms and, under ``ask``, of their sets.

    With arms, the last array of ``truths`` has the arms. A selection is a mask of shape (count,), or a slice of all.
    """
    if not survey.arms:
        return ask_batch(survey, len(truths[0]), draws)
    arms = truths[-1]
    masks = np.zeros((len(survey.questions), len(arms)), dtype=bool)
    for arm, places in enumerate(survey.places_by_arm):
        people = np.flatnonzero(arms == arm)
        asked = ask_batch(survey, len(people), draws, arm)
        for index in places:
            masks[index, people[asked[index]]] = True
    return [slice(None) if mask.all() else mask for mask in masks]
