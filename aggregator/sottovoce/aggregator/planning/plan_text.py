"""A plan in words, and the numbers of a survey's own question that a plan is made from."""

from sottovoce.aggregator.planning.lint import describe_mechanism
from sottovoce.aggregator.planning.sample_size import Channel, CurvePoint, Plan
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey


def question_named(survey: Survey, name: str | None) -> Question:
    """
    The question to plan for.

    Raises:
        SpecError: there is none of this name.
    """
    questions = {question.name: question for question in survey.questions}
    if name not in questions:
        raise SpecError(f"--question must be one of: {', '.join(questions)}")
    return questions[name]


def channel_of(question: Question) -> Channel:
    """
    The channel of one option of a question, as the planner sees it.

    Raises:
        SpecError: the question is public, or its mechanism has no support probabilities.
    """
    support = getattr(question.mechanism, "support", None)
    if support is None:
        raise SpecError("this question is public, or estimates no shares; it cannot be planned here")
    return Channel(*map(float, support))


def drawn_from(question: Question | None) -> int:
    """Of how many options or coordinates a report speaks of one, drawn at random."""
    mechanism = None if question is None else question.mechanism
    if isinstance(mechanism, SampledOption):
        return mechanism.options
    return mechanism.coordinates if isinstance(mechanism, SampledCoordinate) else 1


def needed_in_words(made: Plan, epsilon: float, question: Question | None) -> list[str]:
    """
    How many reports and invitations, and how many an open question would need.

    Args:
        made: the plan.
        epsilon: of one report.
        question: whose channel it is, where a survey names it.
    """
    per_group = " in each group" if made.groups > 1 else ""
    mechanism = question and question.mechanism
    how = f", {describe_mechanism(mechanism)}" if mechanism else ""
    lines = [f"{made.reports:,} reports{per_group}, epsilon {show_epsilon(epsilon)}{how}"]
    if made.invitations != made.reports:
        lines.append(f"{made.invitations:,} people to invite{per_group}")
    ratio = "" if made.ratio is None else f", {made.ratio:.1f} times fewer"
    return [*lines, f"{made.direct:,} if the question were asked openly{ratio}"]


def point_in_words(point: CurvePoint) -> tuple[str, str, str]:
    """A row of the table over epsilon: epsilon, reports, times those of a direct question."""
    return f"{point.epsilon:.2f}", f"{point.reports:,}", "" if point.ratio is None else f"{point.ratio:.1f}"


def protection_in_words(made: Plan) -> list[str]:
    """What would be estimated if some people said no whatever is true."""
    return [
        f"If {row.share:.0%} protect themselves by answering no, {row.expected:.1%} will be estimated "
        f"where {made.goal.prevalence:.1%} are true."
        for row in made.protection[1:]
    ]
