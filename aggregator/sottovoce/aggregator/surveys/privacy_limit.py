"""Check a survey's epsilon against the limits of respondents' devices.

Each device refuses a survey above its limits for one question or for a whole report. So the server refuses such a
survey before anyone is invited. Stored surveys are not checked again.
"""

import math
from collections.abc import Iterator

from sottovoce.shared.accounting import DEFAULT_ALLOWANCE, report_epsilon
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey

NAMED = 3
"""Number of questions with the largest epsilon that a message lists."""


def check_affordable(survey: Survey) -> None:
    """Refuse a survey whose epsilon is above the default limits of devices.

    Raises SpecError with the questions above the limit, or those with the largest epsilon, and remedies.
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
    most, told = DEFAULT_ALLOWANCE.question, set[str]()
    for pointer, item in zip(_pointers(survey), survey.items, strict=True):
        # The rows of a matrix share one mechanism, as do the questions of a block, so one problem is enough for them.
        for question in item.questions[:1]:
            place, name = pointer.partition("/items/")[0], f"block {item.block}" if item.block else question.name
            if question.epsilon > most and place not in told:
                told.add(place)
                yield Problem(
                    place,
                    f"{name} costs epsilon {show_epsilon(question.epsilon)}, and devices allow {most:g} for "
                    f'one question; what would do: a mechanism with more noise, such as {{epsilon: "{most:g}"}}',
                )


def _pointers(survey: Survey) -> list[str]:
    """Return the JSON pointer of each item, also within a block."""
    entries = [(f"/questions/{number}", entry) for number, entry in enumerate(survey.document["questions"])]
    within = [[f"{place}/items/{index}" for index, _ in enumerate(entry.get("items", ()))] for place, entry in entries]
    return [place for (entry, _), inner in zip(entries, within, strict=True) for place in inner or [entry]]


def dearest(survey: Survey) -> str:
    """Return the names of the questions with the largest epsilon, each with its epsilon."""
    private = sorted((survey.questions[index] for index in survey.private), key=lambda q: q.epsilon, reverse=True)
    return ", ".join(f"{question.name} ({show_epsilon(question.epsilon)})" for question in private[:NAMED])


def remedies(survey: Survey, limit: float) -> list[str]:
    """Return changes that lower a report's total epsilon to ``limit``, the mildest first."""
    private = survey.unit_epsilons
    ways = []
    drawn = min(survey.ask or len(private), len(private))
    asked = most_asked(private, drawn, limit) if _may_draw(survey) else 0
    if asked:
        cost = show_epsilon(report_epsilon(private, asked))
        ways.append(f"ask: {asked}, so that each person is asked {asked} of the {len(private)} private ones ({cost})")
    # Rounded down, so that the sum over questions stays within the limit.
    per_question = math.floor(100 * limit / drawn) / 100
    ways.append(f'more noise: mechanism {{epsilon: "{per_question:g}"}} for each')
    if len(private) > 1:
        ways.append("fewer private questions")
    return ways


def most_asked(epsilons: list[float], below: int, limit: float) -> int:
    """Return the most private questions, less than ``below``, that each person can be asked within a limit.

    The limit is on a report's total epsilon; 0 if even one question can exceed it.
    """
    return max((ask for ask in range(1, below) if report_epsilon(epsilons, ask) <= limit), default=0)


def _may_draw(survey: Survey) -> bool:
    """Return True if ``ask`` is allowed: no block draws, and no condition depends on a private question."""
    if any(block.mechanism.ask for block in survey.blocks):
        return False
    private = {survey.questions[index].name for index in survey.private}
    referenced = {condition.question for item in survey.items for condition in item.conditions}
    return not (survey.own_coin or survey.memoized or referenced & private)
