"""What invented respondents are not shown: the true values of many at once, as the device would encode them."""

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.planning.vectorized_randomizers import Values
from sottovoce.shared.spec import Question, Survey
from sottovoce.shared.visibility import Condition

Mask = NDArray[np.bool_]


def hide(survey: Survey, truths: list[Values]) -> list[Values]:
    """The truths, with the question's fixed value wherever a question is hidden; the twin of ``Survey.encode``."""
    hidden = list(truths)
    given: dict[str, tuple[Values, Mask]] = {}
    index = 0
    for item in survey.items:
        held = {condition: _holds(condition, *given[condition.question]) for condition in item.conditions}
        shown = np.ones(len(truths[0]), dtype=bool)
        for condition in item.visible_if:
            shown &= held[condition]
        if item.any_of:
            shown &= np.any([held[condition] for condition in item.any_of], axis=0)
        for question in item.questions:
            hidden[index] = _without(question, hidden[index], shown)
            answered = shown & (hidden[index] != question.absent) if question.domain.absent else shown
            given[question.name] = hidden[index], answered
            index += 1
    return hidden


def _without(question: Question, truth: Values, shown: Mask) -> Values:
    if question.absent is None or shown.all():
        return truth
    return np.where(shown[:, None] if truth.ndim == 2 else shown, truth, np.array(question.absent))


def _holds(condition: Condition, values: Values, answered: Mask) -> Mask:
    return answered & _meets(condition, values)


def _meets(condition: Condition, values: Values) -> Mask:
    if condition.span is not None:
        return (values >= condition.span[0]) & (values <= condition.span[1])
    if not condition.mask:
        return np.isin(values, condition.options)
    wanted = sum(1 << option for option in condition.options)
    meets: Mask = (values & wanted) != 0
    return meets
