"""Options of ``plan`` for two questions that are asked in different arms."""

from typing import NamedTuple

from sottovoce.aggregator.planning.arm_power import arms_apart
from sottovoce.aggregator.planning.given_sample import GivenSample
from sottovoce.aggregator.planning.question_channels import expected_of, question_named, read_value
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey


class ArmTest(NamedTuple):
    """Expected share of one question, the value of the other as typed, if any, and the confidence level."""

    prevalence: float | None
    against: str | None
    confidence: float


def plan_arms(
    file: Survey | None, names: tuple[str | None, str], test: ArmTest, power: float, count: int | None
) -> GivenSample:
    """Plan how many people tell two questions of different arms apart.

    Args:
        file: the survey; None if none is named.
        names: of the questions.
        test: what is expected.
        power: wanted power.
        count: number of people; None for the number that the power needs.

    Raises:
        SpecError: no survey or question of this name, or a value that is none.
        EstimateError: an arm asks both, or the values are equal or out of range.
    """
    if file is None:
        raise SpecError("--with is a question of a SURVEY, which is not named")
    first, second = question_named(file, names[0]), question_named(file, names[1])
    expected = expected_of(first, test.prevalence, None), read_value(second, test.against or "", "--against")
    return arms_apart(file, (first, second), expected, (test.confidence, power), count)
