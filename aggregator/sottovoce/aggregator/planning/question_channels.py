"""Find estimand and channel of a question: with its own mechanism, with other epsilons, with the default mechanism."""

from collections.abc import Iterable
from fractions import Fraction

from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.number_channel import SCORED, number_channel, public_number
from sottovoce.aggregator.planning.share_channel import DIRECT, ShareChannel
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.file_errors import did_you_mean
from sottovoce.shared.mechanisms import MAX_EPSILON, MIN_EPSILON, Mechanism, for_epsilon
from sottovoce.shared.mechanisms.joint_rr import JointMember
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.spec import Question, Survey


def question_named(survey: Survey, name: str | None) -> Question:
    """Return the question to plan for; raise SpecError if there is none of this name."""
    questions = {question.name: question for question in survey.questions}
    if name not in questions:
        similar = did_you_mean(name or "", questions)
        raise SpecError(f"--question must be one of: {', '.join(questions)}.{similar}")
    return questions[name]


def is_number(question: Question) -> bool:
    """Return True if the question estimates a mean instead of shares."""
    return question.domain.grid is not None


def expected_of(question: Question | None, prevalence: float | None, mean: str | None) -> float:
    """Return the expected value of a plan: a share, or a mean in the number's own unit (a date in days of its grid).

    ``mean`` is as typed; no question means a share. Raises SpecError if the question estimates the other kind, or the
    value is impossible.
    """
    if question is not None and is_number(question):
        if mean is None or prevalence is not None:
            raise SpecError(f"'{question.name}' asks for a number: plan its mean with --mean, not a --prevalence")
        return read_value(question, mean, "--mean")
    if mean is not None:
        named = "a plan without a survey" if question is None else f"'{question.name}'"
        raise SpecError(f"{named} estimates shares: plan one with --prevalence, not a --mean")
    if prevalence is None:
        raise SpecError("--prevalence is needed, or --mean for a question that asks for a number")
    return prevalence


def read_value(question: Question | None, text: str, option: str) -> float:
    """Read a share, or a value of a number in its own unit. The range of a share is checked later, by the plan.

    No question means a share; ``option`` is the command line's, for messages. Raises SpecError if the text is no number
    or date, or out of the question's range.
    """
    grid = None if question is None else question.domain.grid
    try:
        value = float(text) if grid is None else float(grid.read(text))
    except ValueError:
        raise SpecError(f"{option} must be a {'share' if grid is None else grid.noun}") from None
    if grid is not None and not grid.low <= value <= grid.high:
        raise SpecError(f"{option} must lie between {grid.text(0)} and {grid.text(grid.steps)}")
    return value


def measure_of(question: Question) -> Measure:
    """Return a question's estimand with its own channel; a public question has no noise."""
    if question.mechanism is None:
        return public_number(question.domain) if is_number(question) else DIRECT
    return mechanism_measure(question.mechanism, question.domain)


def best_share(epsilon: float, options: int) -> Measure:
    """Return the share of one of ``options`` options with the default mechanism for an epsilon; two mean yes and no.

    Raises EstimateError if epsilon is out of range.
    """
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise EstimateError("epsilon must lie between 0.01 and 10")
    domain = Domain(tuple(map(str, range(options))))
    return mechanism_measure(for_epsilon(Fraction(epsilon), domain, "yes_no" if options == 2 else "option"), domain)


def over_epsilon(question: Question, epsilons: Iterable[float]) -> list[tuple[float, Measure]]:
    """Return (epsilon, measure) of the question's own mechanism for each epsilon that the mechanism supports."""
    mechanism, found = question.mechanism, []
    # A question of a block has no channel of its own for another epsilon.
    if mechanism is None or isinstance(mechanism, JointMember):
        return []
    for epsilon in epsilons:
        try:
            scaled = mechanism.for_epsilon(Fraction(epsilon), question.domain)
        except ValueError:
            continue
        found.append((epsilon, mechanism_measure(scaled, question.domain)))
    return found


def drawn_from(question: Question) -> int:
    """Return the number of options or coordinates of which a report carries one at random; 1 if it carries all."""
    mechanism = question.mechanism
    if isinstance(mechanism, SampledOption):
        return mechanism.options
    return mechanism.coordinates if isinstance(mechanism, SampledCoordinate) else 1


def mechanism_measure(mechanism: Mechanism, domain: Domain) -> Measure:
    """Return the share or mean that reports of a mechanism estimate, for this domain of true values."""
    if mechanism.name in SCORED:
        return number_channel(mechanism, domain)
    # Every other mechanism has a support (a, b); a completeness test ensures it.
    a, b = mechanism.support  # type: ignore[attr-defined]
    return ShareChannel(float(a), float(b))
