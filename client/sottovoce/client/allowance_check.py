"""Refuses surveys that cost more epsilon than a person allows."""

from sottovoce.shared.allowance import Allowance
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey


def check_allowance(survey: Survey, allowance: Allowance) -> None:
    """
    Refuse a survey that costs more than is allowed.

    Raises:
        BudgetExhausted: one question does, or the whole report.
    """
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
