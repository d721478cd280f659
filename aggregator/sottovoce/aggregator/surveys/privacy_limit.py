"""
Whether devices will ask a survey at all.

Every device has limits, for one question and for a whole report. A survey above them is refused by each respondent's
device, so it is refused here, before anybody is invited; stored surveys are read as ever.
"""

import math
from collections.abc import Iterator

from sottovoce.shared.accounting import report_epsilon
from sottovoce.shared.allowance import DEFAULT_ALLOWANCE
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey

NAMED = 3
"""So many of the dearest questions are named."""


def check_affordable(survey: Survey) -> None:
    """
    Refuse a survey that every device refuses.

    Raises:
        SpecError: names the questions that cost too much, or the dearest, and what would do.
    """
    problems = [*_dear_questions(survey)]
    if survey.epsilon > DEFAULT_ALLOWANCE.total:
        problems.append(
            Problem(
                "/questions",
                f"a whole report costs epsilon {show_epsilon(survey.epsilon)}, and devices allow "
                f"{DEFAULT_ALLOWANCE.total:g}; the dearest questions are {dearest(survey)}; what would do: "
                f"{'; or '.join(remedies(survey, DEFAULT_ALLOWANCE.total))}",
            )
        )
    if problems:
        raise SpecError(problems)


def _dear_questions(survey: Survey) -> Iterator[Problem]:
    most = DEFAULT_ALLOWANCE.question
    for index, item in enumerate(survey.items):
        # The rows of a matrix share one mechanism.
        for question in item.questions[:1]:
            if question.epsilon > most:
                yield Problem(
                    f"/questions/{index}",
                    f"{question.name} costs epsilon {show_epsilon(question.epsilon)}, and devices allow {most:g} for "
                    f'one question; what would do: a mechanism with more noise, such as {{epsilon: "{most:g}"}}',
                )


def dearest(survey: Survey) -> str:
    """The questions that cost most, each with its epsilon."""
    private = sorted((survey.questions[index] for index in survey.private), key=lambda q: q.epsilon, reverse=True)
    return ", ".join(f"{question.name} ({show_epsilon(question.epsilon)})" for question in private[:NAMED])


def remedies(survey: Survey, limit: float) -> list[str]:
    """What brings a whole report of this survey down to ``limit``, the mildest first."""
    private = [survey.questions[index].epsilon for index in survey.private]
    found = []
    asked = most_asked(private, survey.ask or len(private), limit) if _may_draw(survey) else 0
    if asked:
        cost = show_epsilon(report_epsilon(private, asked))
        found.append(f"ask: {asked}, so that each person is asked {asked} of the {len(private)} private ones ({cost})")
    # Rounded down, so that together they stay within the limit.
    each = math.floor(100 * limit / (survey.ask or len(private))) / 100
    found.append(f'more noise: mechanism {{epsilon: "{each:g}"}} for each')
    if len(private) > 1:
        found.append("fewer private questions")
    return found


def most_asked(epsilons: list[float], below: int, limit: float) -> int:
    """
    How many of the questions each person can be asked.

    Args:
        epsilons: of the private questions.
        below: fewer than so many.
        limit: that a report may cost.

    Returns:
        0 if even one is too dear.
    """
    return max((ask for ask in range(1, below) if report_epsilon(epsilons, ask) <= limit), default=0)


def _may_draw(survey: Survey) -> bool:
    """Whether the device may draw which questions it asks: nothing may hang on a question that it leaves out."""
    private = {survey.questions[index].name for index in survey.private}
    named = {condition.question for item in survey.items for condition in item.conditions}
    return not (survey.own_coin or survey.memoized or named & private)
