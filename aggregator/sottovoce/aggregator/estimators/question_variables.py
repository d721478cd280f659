"""The variables of a survey's questions: by what names analysts ask for them, and which pairs there are."""

from dataclasses import replace

from sottovoce.aggregator.estimators import VARIABLES, public
from sottovoce.aggregator.estimators.variable import SAME_REPORT, Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence
from sottovoce.shared.spec import Question


def variables_of(question: Question) -> list[Variable]:
    """What the reports of a question speak of: the question itself, or each of its options or coordinates."""
    mechanism = question.mechanism
    if mechanism is None:
        made = public.variables(question.domain)
    else:
        made = VARIABLES[mechanism.name](mechanism, question.domain)
    return [replace(variable, question=question.name) for variable in made]


def check_pair(one: Variable, other: Variable) -> None:
    """
    Refuse two variables that no report tells of together.

    Raises:
        EstimateError: they are the same one, or two options or coordinates of which each report draws one.
    """
    if one.full_name == other.full_name:
        raise EstimateError(
            Sentence(
                "'{variable}' is asked for twice; a joint result needs two different variables", variable=one.full_name
            )
        )
    if one.question == other.question and one.drawn:
        raise EstimateError(
            Sentence(
                "'{variable}' and '{other}': {reason}",
                variable=one.full_name,
                other=other.full_name,
                reason=SAME_REPORT,
            )
        )


def check_explains(variable: Variable) -> None:
    """
    Refuse a number that can only be explained, as a predictor or in a correlation.

    Raises:
        EstimateError: its reports tell its mean but not its spread.
    """
    if variable.only_outcome:
        raise EstimateError(
            Sentence(
                "'{variable}' {reason}; it can be the outcome, but not a predictor",
                variable=variable.full_name,
                reason=variable.only_outcome,
            )
        )
