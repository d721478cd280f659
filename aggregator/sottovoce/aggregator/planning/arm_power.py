"""Compute the power to compare two questions of different arms, such as one asked directly and one with protection.

People     n people in all, of whom the share w_i by the arms' weights is asked question i: the difference has variance
           (v_1 / w_1 + v_2 / w_2) / n, with v_i of one report's score, sampling and noise.
Power      Phi(|p_1 - p_2| / sqrt(variance) - z).
"""

import math
from statistics import NormalDist

from sottovoce.aggregator.planning.given_sample import GivenSample
from sottovoce.aggregator.planning.question_channels import measure_of
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey


def arms_apart(
    survey: Survey,
    questions: tuple[Question, Question],
    values: tuple[float, float],
    levels: tuple[float, float],
    n: int | None,
) -> GivenSample:
    """Plan the number of people, in all arms together, who tell two questions of different arms apart.

    ``values`` are the expected share or mean of each, ``levels`` confidence and power, ``n`` a number of people or
    None. Raises EstimateError if the values are equal or out of range, or an arm asks both.
    """
    places = [*map(survey.questions.index, questions)]
    if not survey.arms or share_asked(survey, *places):
        raise EstimateError("--with and --against are for two questions that no arm of the survey has both of")
    difference = abs(values[0] - values[1])
    if not difference:
        raise EstimateError("the two values must differ")
    variance = 0.0
    for question, place, value in zip(questions, places, values, strict=True):
        measure = measure_of(question)
        if not measure.low <= value <= measure.high:
            raise EstimateError(f"the {measure.noun} must lie in [{measure.low:.15g}, {measure.high:.15g}]")
        variance += measure.variance(value) / float(share_asked(survey, place))
    z, of_power = NormalDist().inv_cdf((1 + levels[0]) / 2), NormalDist().inv_cdf(levels[1])
    power = None if n is None else NormalDist().cdf(difference / math.sqrt(variance / n) - z)
    (one, other), (first, second) = values, questions
    effect = f"{one:.4g} of {first.name} against {other:.4g} of {second.name}, in all arms together,"
    return GivenSample(effect, math.ceil(variance * ((z + of_power) / difference) ** 2), n, power)
