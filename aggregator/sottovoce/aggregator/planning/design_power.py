"""Compute the power to tell the share of yes in a design of two arms from a known share.

Variance    Of n people, the share w_g is asked question g and says yes with chance m_g + s_g' (pi, second), where the
            second share counts yes to the unrelated question, or people who always say no: the first diagonal element
            of (sum_g w_g s_g s_g' / (yes (1 - yes)))^-1, over n.
Power       Phi(|pi - known| / sqrt(variance) - z). It is larger where the second share is so near 0 that limits use it.
"""

import math
from statistics import NormalDist

import numpy as np
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.mixtures.fielded import design_of, model_of, odds_of
from sottovoce.aggregator.planning.given_sample import GivenSample
from sottovoce.shared.arms.analysis_plan import UNRELATED_UNKNOWN
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey


def design_power(
    survey: Survey, questions: tuple[Question, Question], shares: tuple[float, float], known: float,
    levels: tuple[float, float], n: int | None,
) -> GivenSample:  # fmt: skip
    """Plan the number of people, in both arms, who tell the share of yes from ``known``.

    Args:
        questions: both of the design.
        shares: expected share of yes, and the second share.
        levels: confidence and power.
        n: number of people; None for the number that the power needs.

    Raises EstimateError if the questions are in no design together, or a share is impossible.
    """
    planned = design_of(survey, questions[0].name)
    if questions[1].name not in (planned.question, planned.against) or questions[0] is questions[1]:
        raise EstimateError("--with and --known are for the two questions of a design of the survey's analysis_plan")
    is_unrelated = planned.design == UNRELATED_UNKNOWN
    if min(shares) < 0 or max(*shares, 0.0 if is_unrelated else sum(shares)) >= 1 or known == shares[0]:
        raise EstimateError("shares must lie from 0 to below 1, together in cheater detection, and not equal --known")
    base, *changed = (0, 2, 1) if is_unrelated else (1, 0, 2)
    information = np.zeros((2, 2))
    for question in questions:
        mean = np.array(DESIGNS[model_of(planned.design)].mean(odds_of(question, planned.design)))
        slopes = mean[changed] - mean[base]
        yes = float(mean[base] + slopes @ shares)
        asked = float(share_asked(survey, survey.questions.index(question)))
        information += asked * np.outer(slopes, slopes) / (yes * (1 - yes))
    variance, difference = float(np.linalg.inv(information)[0, 0]), abs(shares[0] - known)
    z, of_power = NormalDist().inv_cdf((1 + levels[0]) / 2), NormalDist().inv_cdf(levels[1])
    power = None if n is None else NormalDist().cdf(difference / math.sqrt(variance / n) - z)
    effect = f"{shares[0]:.4g} against {known:.4g} in {planned.design}, in both arms together,"
    return GivenSample(effect, math.ceil(variance * ((z + of_power) / difference) ** 2), n, power)
