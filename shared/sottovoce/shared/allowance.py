"""Check a survey against the limits on epsilon of one device, and say when epsilon is high."""

from typing import NamedTuple

from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey


class Allowance(NamedTuple):
    """The epsilon that a person allows: for one question, and for one whole report."""

    question: float = 3.0
    total: float = 8.0


DEFAULT_ALLOWANCE = Allowance()
"""Limits that every device begins with, the terminal's and the browser's; its twin is in ``survey/allowance.js``."""

NEARLY_SURE = 4.39
"""
Total epsilon (four coin flips: 4 ln 3) at which a prior of 10 % can become a posterior of 90 %.

From there on, the receipt no longer says that a report proves nothing.
"""


def check_allowance(survey: Survey, allowance: Allowance) -> None:
    """Raise BudgetExhausted if one question, or the whole report, costs more than is allowed."""
    # Written so that a limit that is not a number refuses everything.
    for question in survey.questions:
        if not question.epsilon <= allowance.question:
            raise BudgetExhausted(
                f"question '{question.name}' costs epsilon {show_epsilon(question.epsilon)}, "
                f"more than the {allowance.question:g} that you allow for one question"
            )
    if not survey.epsilon <= allowance.total:
        raise BudgetExhausted(
            f"the survey costs epsilon {show_epsilon(survey.epsilon)}, "
            f"more than the {allowance.total:g} that you allow in total"
        )
