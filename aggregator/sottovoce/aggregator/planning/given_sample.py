"""Compute the power of a number of reports, one-sample tests, and the smallest odds ratio that the reports find.

Two groups  power = Phi(|p_1 - p_2| / sqrt((v_1 + v_2) / n) - z), n reports in each group.
One sample  Test of a known value p_0: n = ((z sqrt(v_0) + z_power sqrt(v_1)) / (p_1 - p_0))^2, v_0 at the known value
            and v_1 at the expected one. A share has the power of its exact test, which goes up and down with n: the
            nearest n that has the power, where n - 1 does not. Beyond ``MOST_EXACT`` reports the formula is as good.
Odds ratio  Between two questions, as in ``pair_plan``; the smallest one is found by bisection.
Source      Cohen 1988; Fleiss, Levin and Paik 2003 (one-sample proportions).

Of two questions of different arms, such as one asked directly and one with protection:

People     n people in all, of whom the share w_i by the arms' weights is asked question i: the difference has variance
           (v_1 / w_1 + v_2 / w_2) / n, with v_i of one report's score, sampling and noise.
Power      Phi(|p_1 - p_2| / sqrt(variance) - z).

Of a share of yes in a design of two arms against a known share:

Variance    Of n people, the share w_g is asked question g and says yes with chance m_g + s_g' (pi, second), where the
            second share counts yes to the unrelated question, or people who always say no: the first diagonal element
            of (sum_g w_g s_g s_g' / (yes (1 - yes)))^-1, over n.
Power       Phi(|pi - known| / sqrt(variance) - z). It is larger where the second share is so near 0 that limits use it.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.mixtures.mixture import design_of, model_of, odds_of
from sottovoce.aggregator.analysis.one_sample_test import two_sided
from sottovoce.aggregator.estimators.fixed_population import binomial
from sottovoce.aggregator.estimators.intervals import halved
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.planning.block_choice import MARGINS, pair_channel, pair_share, power_reports
from sottovoce.aggregator.planning.question_channels import Measure, ShareChannel, measure_of
from sottovoce.aggregator.planning.sample_size import first_enough
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_item import UNRELATED_UNKNOWN
from sottovoce.shared.spec import Question, Survey

LARGEST_RATIO = 1e6
MOST_EXACT = 100_000


@dataclass(frozen=True)
class GivenSample:
    """Plan of a test.

    Attributes:
        effect: effect in words.
        reports: reports needed to find it with the wanted power; in each group where there are two.
        n: given number of reports; None if none is given.
        power: probability that so many find the effect; None likewise.
        smallest: smallest odds ratio that so many find with the wanted power; None without odds, or if none is.
    """

    effect: str
    reports: int
    n: int | None = None
    power: float | None = None
    smallest: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as a JSON-serializable dict, without what was not asked for."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def in_words(self, power: float) -> list[str]:
        """Return the plan as sentences."""
        lines = [f"{self.reports:,} reports find {self.effect} with power {power:.0%}"]
        if self.power is not None:
            lines.append(f"{self.n:,} reports find it with power {self.power:.0%}")
        if self.smallest is not None:
            lines.append(f"the smallest odds ratio that they find with power {power:.0%} is {self.smallest:.2f}")
        return lines


def two_groups(
    measure: Measure, values: tuple[float, float], levels: tuple[float, float], n: int | None
) -> GivenSample:
    """Plan a comparison of two groups by their expected values; ``n`` is reports in each group, or None.

    ``levels`` are confidence and power. Raises EstimateError if a value is out of range, or they are equal.
    """
    variance, difference = sum(measure.checked_variance(value) for value in values), abs(values[0] - values[1])
    if not difference:
        raise EstimateError("the two groups must differ")
    effect = f"{values[0]:.4g} against {values[1]:.4g} in two groups, so many in each,"
    return _of_difference(effect, variance, difference, levels, n)


def _of_difference(
    effect: str, variance: float, difference: float, levels: tuple[float, float], n: int | None
) -> GivenSample:
    """Plan the test of a difference, or of a distance from a known value; ``variance`` belongs to one report."""
    z, of_power = _quantiles(levels)
    power = None if n is None else NormalDist().cdf(difference / math.sqrt(variance / n) - z)
    return GivenSample(effect, math.ceil(variance * ((z + of_power) / difference) ** 2), n, power)


def one_sample(
    measure: Measure, known: float, expected: float, levels: tuple[float, float], n: int | None
) -> GivenSample:
    """Plan a test of an expected value against a known one, of the hypothesis; arguments as for ``two_groups``.

    Raises EstimateError if a value is out of range, or they are equal.
    """
    null, true = (math.sqrt(measure.checked_variance(value)) for value in (known, expected))
    if known == expected:
        raise EstimateError("the expected value must differ from the known one")
    z, of_power = _quantiles(levels)
    if measure.noun == "prevalence" and known in {0, 1}:
        z = NormalDist().inv_cdf(levels[0])
    reports = math.ceil(((z * null + of_power * true) / (expected - known)) ** 2)

    def power(count: int) -> float:
        # Of a share the exact test's, on one side of 0 and of 1.
        if isinstance(measure, ShareChannel) and count <= MOST_EXACT:
            chances, share = (binomial(count, measure.reported(each)) for each in (known, expected))
            # The more reports of the other answer, the less likely is a known share of 0 or 1.
            side = -1 if known == 0 else 1
            tails = two_sided(chances) if 0 < known < 1 else np.cumsum(chances[::side])[::side]
            return float(share[tails <= 1 - levels[0]].sum())
        return NormalDist().cdf((abs(expected - known) * math.sqrt(count) - z * null) / true)

    if isinstance(measure, ShareChannel) and reports <= MOST_EXACT:
        reports = first_enough(lambda count: power(count) >= levels[1], reports)
    found = None if n is None else power(n)
    return GivenSample(f"{expected:.4g} against the known {known:.4g}", reports, n, found)


def odds_ratio_of_two(
    survey: Survey,
    questions: tuple[Question, Question],
    odds_ratio: float,
    power: float,
    n: int | None,
    shares: tuple[float, float] = MARGINS,
) -> GivenSample:
    """Plan the search for an odds ratio between two questions, at the 5 % level.

    The first question's categories are groups, the second is the outcome; ``n`` is the survey's number of reports, or
    None; ``shares`` are the expected ones of the last category of each, among all. Raises EstimateError if the odds
    ratio is not above 0 or is 1, a share not between 0 and 1, a question is a number, or no report carries both.
    """
    if not 0 < odds_ratio < LARGEST_RATIO or odds_ratio == 1:
        raise EstimateError("an odds ratio is above 0 and not 1")
    if not all(0 < share < 1 for share in shares):
        raise EstimateError("the shares of two questions with an odds ratio lie between 0 and 1")
    share = pair_share(survey, *questions)
    first, second = (variables_of(question)[0] for question in questions)
    if not share or not (first.categories and second.categories):
        raise EstimateError("an odds ratio is between two questions with categories that one report can carry")
    channels = pair_channel(first, second)

    def needed(ratio: float, target: float = power) -> float:
        return power_reports(channels, shares[0], _apart(*shares, ratio), target) / share

    named = (f"{question.name} ({each:.4g})" for question, each in zip(questions, shares, strict=True))
    effect = f"an odds ratio of {odds_ratio:.4g} between {' and '.join(named)}"
    if n is None:
        return GivenSample(effect, math.ceil(needed(odds_ratio)))
    reach = math.sqrt(n / needed(odds_ratio)) * sum(_quantiles((0.95, power)))
    found = NormalDist().cdf(reach - NormalDist().inv_cdf(0.975))
    return GivenSample(effect, math.ceil(needed(odds_ratio)), n, found, _smallest(needed, n))


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
        variance += measure_of(question).checked_variance(value) / float(share_asked(survey, place))
    (one, other), (first, second) = values, questions
    effect = f"{one:.4g} of {first.name} against {other:.4g} of {second.name}, in all arms together,"
    return _of_difference(effect, variance, difference, levels, n)


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
    effect = f"{shares[0]:.4g} against {known:.4g} in {planned.design}, in both arms together,"
    return _of_difference(effect, variance, difference, levels, n)


def _apart(group: float, outcome: float, ratio: float) -> tuple[float, float]:
    """Return the shares of an outcome outside and inside a group, from the shares of both and their odds ratio."""
    # The root in (0, 1) of (1 - group)(ratio - 1) x^2 + b x - outcome = 0, in the form that does not cancel.
    b = 1 - group + group * ratio - outcome * (ratio - 1)
    outside = 2 * outcome / (b + math.sqrt(b**2 + 4 * (1 - group) * (ratio - 1) * outcome))
    return outside, ratio * outside / (1 + (ratio - 1) * outside)


def _smallest(needed: Callable[[float], float], n: int) -> float | None:
    """Return the smallest odds ratio above 1 that n reports find; None if they find none."""
    if needed(LARGEST_RATIO) > n:
        return None
    return math.exp(halved(lambda log_ratio: needed(math.exp(log_ratio)) > n, 0.0, math.log(LARGEST_RATIO))[1])


def _quantiles(levels: tuple[float, float]) -> tuple[float, float]:
    return NormalDist().inv_cdf((1 + levels[0]) / 2), NormalDist().inv_cdf(levels[1])
