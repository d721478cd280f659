"""Variables of a survey's questions for joint analyses, and checks of how they may be combined."""

from dataclasses import replace

from sottovoce.aggregator.estimators import VARIABLES, public
from sottovoce.aggregator.estimators.blocks.joint_channel import check_identified
from sottovoce.aggregator.estimators.variable import SAME_REPORT, Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question


def variables_of(question: Question) -> list[Variable]:
    """Return the variables of a question: one, or one for each option or coordinate."""
    mechanism, domain = question.mechanism, question.domain
    variables = public.variables(domain) if mechanism is None else VARIABLES[mechanism.name](mechanism, domain)
    return [replace(variable, question=question.name, absent=domain.absent) for variable in variables]


def check_pair(one: Variable, other: Variable) -> None:
    """Check that two variables are ever observed together.

    Raises EstimateError if they are the same, two options or coordinates of which each report draws only one, or two of
    a block whose reports do not tell their table.
    """
    if one.full_name == other.full_name:
        raise EstimateError(
            "'{variable}' is asked for twice; a joint result needs two different variables", variable=one.full_name
        )
    if one.question == other.question and one.drawn:
        raise EstimateError(
            "'{variable}' and '{other}': {reason}", variable=one.full_name, other=other.full_name, reason=SAME_REPORT
        )
    check_identified((one, other))


def check_explains(variable: Variable) -> None:
    """Check that a number can be a predictor or in a correlation, and not an outcome only.

    Raises EstimateError if its reports identify its mean but not its variance.
    """
    if variable.only_outcome:
        raise EstimateError(
            "'{variable}' {reason}; it can be the outcome, but not a predictor",
            variable=variable.full_name,
            reason=variable.only_outcome,
        )
