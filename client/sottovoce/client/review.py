"""
The step before sending: what could be sent, shown for a person who does not exist.

It is given no answers, so it cannot show one; and the report really drawn is not drawn yet. Seeing one's own "no"
become "yes" beforehand makes people go back and try again.
"""

from collections.abc import Collection

from sottovoce.client.draws import Draws
from sottovoce.client.respondent import randomize
from sottovoce.client.value_words import answered_in_words, reported_in_words
from sottovoce.shared.answers import Value
from sottovoce.shared.rational import MAX_DENOMINATOR
from sottovoce.shared.spec import Question, Survey


def example(survey: Survey, draws: Draws, asked: Collection[int] | None = None) -> list[tuple[str, str]]:
    """
    For each question with an index in ``asked``, None for all: an invented answer and what could be sent for it.

    Args:
        survey: the survey.
        draws: the source of randomness, also of the invented answers.
        asked: indices of questions.
    """
    invented = tuple(
        _invent(question, draws) if asked is None or index in asked else None
        for index, question in enumerate(survey.questions)
    )
    values = randomize(survey, invented, draws).values
    rows = zip(survey.questions, invented, values, strict=True)
    return [
        (answered_in_words(survey, question, answer), reported_in_words(survey, question, value))
        for question, answer, value in rows
        if answer is not None
    ]


def _invent(question: Question, draws: Draws) -> Value:
    bound = min(question.domain.size, MAX_DENOMINATOR)
    if question.kind.truth == "numbers":
        return tuple(draws.below(bound) for _ in question.options)
    if question.kind.truth != "options":
        return draws.below(bound)
    # Two draws, often of different options, where as many may be chosen.
    drawn = [draws.below(bound), draws.below(bound)][: question.domain.max_choices]
    return sum(1 << option for option in set(drawn))
