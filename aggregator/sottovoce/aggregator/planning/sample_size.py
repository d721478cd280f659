"""Plan the sample size for the share or mean of a question, and compare the combinations of public answers with it.

Variance    Var = v / n for n reports, v the variance of one report's score: sampling plus noise.
Half-width  n = (z / h)^2 v: the usual normal formula, z for the confidence. It guarantees nothing about the interval
            shown, which has a continuity correction and an estimated v (coin flip, p = .1, h = .03: 3,586 reports, and
            the target is met with probability .12 only). With an assurance g above 1/2, n is a number of reports for
            which the shown interval has at most half-width h with probability g, and n - 1 is not.
Difference  n per group = (z_conf + z_power)^2 (v_1 + v_2) / (p_1 - p_2)^2: unpooled variances.
Fieldwork   v becomes weighting (v + (clustering - 1) people): weights inflate both parts of the variance, clusters only
            that between people, because noise is independent. An assured n grows by the same ratio.
            Invitations = n / (response rate * share asked).
Protection  A share s of respondents answers "no" regardless of the truth. If the device randomizes, the expected
            estimate falls to p (1 - s). If respondents toss a coin, they report "no": ((1 - s) l - b) / (a - b).
Margin      z sqrt(v / n) + blur, v the largest variance over all true shares or means: 6.2 points for the coin flip and
            1,000 people. It needs no expected share, and holds for every true one.
Uniqueness  Before data collection only the declared options of public questions can be counted, as combinations that
            people of each arm can give by its conditions; ``curator reidentify`` counts real tables. With fewer than
            ``LEAST_IN_CELL`` people per combination on average, many respondents will be unique.
Sources     Warner 1965; Kish 1965 (design effects); Boeije and Lensvelt-Mulders 2002 (self-protective no).

Of a given number of reports, the power, one-sample tests, and the smallest odds ratio that they find:

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.mixtures.mixture import design_of, model_of, odds_of
from sottovoce.aggregator.analysis.one_sample_test import two_sided
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.estimators.fixed_population import binomial
from sottovoce.aggregator.estimators.intervals import halved
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.planning.block_choice import MARGINS, pair_channel, pair_share, power_reports
from sottovoce.aggregator.planning.question_channels import Measure, ShareChannel, measure_of
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_item import UNRELATED_UNKNOWN
from sottovoce.shared.spec import Item, Question, Survey
from sottovoce.shared.visibility import is_shown

PROTECTIVE = (0.0, 0.05, 0.1, 0.2)
"""Shares of self-protective respondents in the scenarios of every plan for a share."""

LARGEST = 10**15
"""Largest number of reports in a plan; a channel that needs more is nearly uninformative."""

LARGEST_ASSURED = 10**8
"""Largest number of reports in a plan with an assurance, which needs a search over numbers of reports."""

_TOO_MANY_ASSURED = "a plan with an assurance goes up to 10^8 reports, and this channel would need more"

USUAL = 0.5
"""Assurance value that selects the usual formula."""

MOST_GATED = 4096
"""Combinations of answers up to which conditions on them count."""

AskedQuestion = tuple[Question | None, Item | None]
"""A question and its item; None where a draft is not complete."""

LEAST_IN_CELL = 5
"""Smallest average number of people per combination; equal to the minimum of a cohort that is shown alone."""

USUAL_PEOPLE = 500
"""Assumed number of respondents if none is given."""


@dataclass(frozen=True)
class ThinCells:
    """Public questions with too many combinations of answers.

    Attributes:
        cells: number of combinations.
        people: expected number of respondents.
        widest: index of the question with the most options, where coarser options help most.
    """

    cells: int
    people: int
    widest: int


def thin_cells(asked: Sequence[AskedQuestion], arms: Iterable[str], people: int | None) -> ThinCells | None:
    """Return the combinations of public answers if there are too many for the expected ``people``; None otherwise.

    Questions are None if incomplete, ``people`` if unknown; ``arms`` are names.
    """
    public = [(question, item) for question, item in asked if question and question.mechanism is None]
    in_arms = [[one for one in public if one[1] is None or one[1].is_in(arm)] for arm in arms] or [public]
    cells, expected = sum(map(_combinations, in_arms)), USUAL_PEOPLE if people is None else people
    # A single public question, and no known number of respondents, are no basis for a warning.
    if not public or cells * LEAST_IN_CELL <= expected or (len(public) == 1 and people is None):
        return None
    return ThinCells(cells, expected, asked.index(max(public, key=lambda one: one[0].domain.size)))


def _combinations(asked: Sequence[tuple[Question, Item | None]]) -> int:
    """Return the number of combinations of the answers to public questions of one arm; a hidden one has one answer."""
    read = {condition.question for _, item in asked if item for condition in item.conditions}
    sizes, cells = {question.name: question.domain.size for question, _ in asked}, 0
    gates = [name for name in sizes if name in read]
    gates = gates if math.prod(map(sizes.__getitem__, gates)) <= MOST_GATED else []
    for values in product(*(range(sizes[name]) for name in gates)):
        given, count = dict(zip(gates, values, strict=True)), 1
        for question, item in asked:
            if not gates or item is None or is_shown(item.visible_if, item.any_of, given):
                count *= 1 if question.name in gates else question.domain.size
            elif given.pop(question.name, 0):
                count = 0
        cells += count
    return cells


@dataclass(frozen=True)
class Goal:
    """Target of a plan: a half-width, or a difference between two groups.

    Attributes:
        expected: expected share or mean; in the first group for a difference.
        half_width: target half-width of the interval, in the estimand's unit; or None.
        other: expected share or mean in the second group; or None. Exactly one of ``half_width`` and ``other`` is set.
        confidence: confidence level of the interval, or 1 minus the two-sided level of the test.
        assurance: probability that the half-width meets the target; 1/2 selects the usual formula.
    """

    expected: float
    half_width: float | None = None
    other: float | None = None
    confidence: float = 0.95
    power: float = 0.8
    assurance: float = USUAL

    def __post_init__(self) -> None:
        if (self.half_width is None) == (self.other is None):
            raise EstimateError("a plan is for a half-width or for a difference, and not for both")
        if not (0 < self.confidence < 1 and 0.5 <= self.power < 1 and USUAL <= self.assurance < 1):
            raise EstimateError("confidence must lie in (0, 1), power and assurance in [1/2, 1)")
        if self.other is not None and self.assurance != USUAL:
            raise EstimateError("an assurance is for a half-width; for a difference there is the power")
        if self.other is not None and self.other == self.expected:
            raise EstimateError("the two groups must differ")

    def check(self, measure: Measure) -> None:
        """Check that the target is possible for this estimand; raise EstimateError, naming the value that is not."""
        low, high = measure.low, measure.high
        for value in self.groups:
            measure.checked_variance(value)
        if self.half_width is not None and not measure.blur < self.half_width < high - low:
            why = "; values of one bin cannot be told apart" if measure.blur else ""
            raise EstimateError(f"the half-width must lie between {measure.blur:.15g} and {high - low:.15g}{why}")

    @property
    def groups(self) -> tuple[float, ...]:
        """Expected share or mean in each group."""
        return (self.expected,) if self.other is None else (self.expected, self.other)


@dataclass(frozen=True)
class Fieldwork:
    """Assumptions about the fieldwork.

    Attributes:
        response_rate: share of the invited who report, in (0, 1].
        clustering: design effect of clustered samples, >= 1; applies to the variance between people, not to noise.
        weighting: design effect of unequal weights, 1 + their squared coefficient of variation, >= 1.
        asked: (m, q): each respondent answers m questions, drawn from q.
        own_coin: respondents run the procedure themselves, so self-protective respondents bypass it.
    """

    response_rate: float = 1.0
    clustering: float = 1.0
    weighting: float = 1.0
    asked: tuple[int, int] = (1, 1)
    own_coin: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.response_rate <= 1:
            raise EstimateError("the response rate must lie in (0, 1]")
        if not (1 <= self.clustering < math.inf and 1 <= self.weighting < math.inf):
            raise EstimateError("design effects must be at least 1")
        if not 1 <= self.asked[0] <= self.asked[1]:
            raise EstimateError("'ask' needs 1 <= m <= q")


@dataclass(frozen=True)
class Protection:
    """Bias of a share by self-protective respondents, who always answer no.

    Attributes:
        share: share of self-protective respondents.
        expected: expected value of the estimate; may be negative if respondents toss a coin themselves.
        bias: ``expected`` minus the true share.
    """

    share: float
    expected: float
    bias: float


@dataclass(frozen=True)
class SampleSize:
    """Result of ``plan``: the numbers needed in each group.

    Attributes:
        groups: 1, or 2 for a difference.
        reports: reports on this question needed in each group.
        invitations: people to invite for each group.
        direct: reports that a direct question would need in each group.
        ratio: ``reports`` over ``direct``, both before rounding; None if a direct question needs none.
        std_error: standard error of the share or mean with ``reports`` reports; of the difference for two groups.
        protection: effect of 0, 5, 10 and 20 % self-protective respondents on the (first) share; empty for a mean.
    """

    goal: Goal
    fieldwork: Fieldwork
    measure: Measure
    groups: int
    reports: int
    invitations: int
    direct: int
    ratio: float | None
    std_error: float
    protection: tuple[Protection, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as a JSON-serializable dict."""
        figures = asdict(self)
        goal, fieldwork, measure = (figures.pop(name) for name in ("goal", "fieldwork", "measure"))
        goal, share = {self.measure.noun: goal.pop("expected"), **goal}, isinstance(self.measure, ShareChannel)
        return {"goal": goal, "fieldwork": fieldwork, **({"channel": measure} if share else {}), **figures}


@dataclass(frozen=True)
class CurvePoint:
    """Point of a planning curve; ``own`` marks the plan's own.

    Attributes:
        reports: reports needed in each group; None if the goal is out of reach.
        ratio: ratio to the reports of a direct question; None if that needs none.
    """

    epsilon: float
    reports: int | None
    ratio: float | None
    own: bool = False


def plan(measure: Measure, goal: Goal, fieldwork: Fieldwork = Fieldwork()) -> SampleSize:
    """Compute the number of respondents needed for a goal.

    Raises EstimateError if an argument is impossible, or the plan needs too many reports.
    """
    goal.check(measure)
    needed, open_needed = _people_needed(measure, goal, fieldwork), _people_needed(measure.openly, goal, fieldwork)
    reports = _round_up(needed)
    asked, questions = fieldwork.asked
    return SampleSize(
        goal=goal,
        fieldwork=fieldwork,
        measure=measure,
        groups=len(goal.groups),
        reports=reports,
        invitations=_round_up(reports * questions / asked / fieldwork.response_rate),
        direct=_round_up(open_needed),
        ratio=needed / open_needed if open_needed else None,
        std_error=math.sqrt(sum(_variance(measure, value, fieldwork) for value in goal.groups) / reports),
        protection=_protection(measure, goal.expected, fieldwork.own_coin),
    )


def curve(
    measures: Iterable[tuple[float, Measure]], made: SampleSize, own: float | None = None
) -> tuple[CurvePoint, ...]:
    """Compute the reports that other channels, each with its epsilon, need for a plan's goal; sorted by epsilon.

    ``own`` is the plan's epsilon, to include it as a point; None leaves it out.
    """
    open_needed = _people_needed(made.measure.openly, made.goal, made.fieldwork)
    points = [] if own is None else [CurvePoint(own, made.reports, made.ratio, own=True)]
    for epsilon, measure in measures:
        try:
            made.goal.check(measure)
            needed = _people_needed(measure, made.goal, made.fieldwork)
            points.append(CurvePoint(epsilon, _round_up(needed), needed / open_needed if open_needed else None))
        except EstimateError:
            points.append(CurvePoint(epsilon, None, None))
    return tuple(sorted(points, key=lambda point: point.epsilon))


def _people_needed(measure: Measure, goal: Goal, fieldwork: Fieldwork) -> float:
    z = NormalDist().inv_cdf((1 + goal.confidence) / 2)
    variances = [_variance(measure, value, fieldwork) for value in goal.groups]
    if goal.other is not None:
        reach = (z + NormalDist().inv_cdf(goal.power)) / (goal.expected - goal.other)
        return reach**2 * sum(variances)
    reach = z / ((goal.half_width or math.nan) - measure.blur)
    if goal.assurance == USUAL:
        return reach**2 * variances[0]
    # The exact search has no design effects, so its result is scaled by them.
    plain = measure.variance(goal.expected)
    stretch = variances[0] / plain if plain else fieldwork.weighting
    chance = partial(measure.chance, goal.expected, goal.half_width or math.nan, confidence=goal.confidence)
    return stretch * first_enough(lambda n: chance(reports=n) >= goal.assurance, math.ceil(reach**2 * plain))


def first_enough(enough: Callable[[int], bool], start: int) -> int:
    """Find a number n with enough(n) and not enough(n - 1), from ``start`` by growing steps and bisection."""
    # The chance is not monotone in n, so the result is the smallest sufficient number near ``start``, not overall.
    if start > LARGEST_ASSURED:
        raise EstimateError(_TOO_MANY_ASSURED)
    short, high, step = 0, max(start, 1), 1 + start // 64
    if enough(high):
        while high - step > 0 and enough(high - step):
            high, step = high - step, step * 2
        short = max(high - step, 0)
    else:
        while not enough(high):
            if high == LARGEST_ASSURED:
                raise EstimateError(_TOO_MANY_ASSURED)
            short, high, step = high, min(high + step, LARGEST_ASSURED), step * 2
    while high - short > 1:
        middle = (short + high) // 2
        short, high = (short, middle) if enough(middle) else (middle, high)
    return high


def _variance(measure: Measure, value: float, fieldwork: Fieldwork) -> float:
    """Return the variance of one report's score, with design effects."""
    return fieldwork.weighting * (measure.variance(value) + (fieldwork.clustering - 1) * measure.spread(value))


def _protection(measure: Measure, p: float, own_coin: bool) -> tuple[Protection, ...]:
    if not isinstance(measure, ShareChannel):
        return ()
    rows = []
    for share in PROTECTIVE:
        by_hand = ((1 - share) * measure.reported(p) - measure.b) / (measure.a - measure.b)
        expected = by_hand if own_coin else p * (1 - share)
        rows.append(Protection(share, expected, expected - p))
    return tuple(rows)


def _round_up(needed: float) -> int:
    """Round up to a whole number of at least one."""
    if not needed <= LARGEST:
        raise EstimateError("this channel would need more than 10^15 reports")
    # The factor keeps floating point error from adding a respondent, for example at 1024.0000000000001.
    return max(math.ceil(needed * (1 - 1e-12)), 1)


_Z = NormalDist().inv_cdf(0.975)
_TRIED = 200
"""Grid steps of the search over shares or means: enough, because variances are smooth and flat at their maximum."""


# A page asks for the same few channels many times, and each search evaluates 201 shares or means.
@lru_cache(maxsize=1024)
def widest_variance(measure: Measure) -> float:
    """Return the largest variance of one report's score over all shares or means."""
    step = (measure.high - measure.low) / _TRIED
    return max(measure.variance(measure.low + step * place) for place in range(_TRIED + 1))


def widest_margin(measure: Measure, reports: float) -> float:
    """Return the widest half-width of a 95 % interval, in the estimand's unit; at most the whole range.

    ``reports``, more than 0, carry it.
    """
    return min(_Z * math.sqrt(widest_variance(measure) / reports) + measure.blur, measure.high - measure.low)


def reports_for(measure: Measure, half_width: float) -> int | None:
    """Return the reports that keep every margin within ``half_width``; None if impossible, or above ``LARGEST``."""
    if half_width <= measure.blur:
        return None
    reports = (_Z / (half_width - measure.blur)) ** 2 * widest_variance(measure)
    # The factor keeps a whole number that rounding made slightly larger from being rounded up.
    return math.ceil(reports * (1 - 1e-12)) if reports <= LARGEST else None


LARGEST_RATIO = 1e6
MOST_EXACT = 100_000
LEAST = 1e-3
"""Second share of a design, so that some people are expected to say yes."""


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
    return GivenSample(f"{expected:.4g} against the known {known:.4g}", reports, n, None if n is None else power(n))


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

    def information(*at: float) -> Array:
        found = np.zeros((2, 2))
        for question in questions:
            mean = np.array(DESIGNS[model_of(planned.design)].mean(odds_of(question, planned.design)))
            slopes = mean[changed] - mean[base]
            yes = float(mean[base] + slopes @ at)
            asked = float(share_asked(survey, survey.questions.index(question)))
            found += asked * np.outer(slopes, slopes) / (yes * (1 - yes))
        return found

    expected = information(*shares)
    # The second share that goes best with the known one.
    second = shares[1] - expected[0, 1] / expected[1, 1] * (known - shares[0])
    hypothesis = information(known, min(max(second, LEAST), 1.0 - LEAST if is_unrelated else 1 - known))
    null, true = (math.sqrt(np.linalg.inv(each)[0, 0]) for each in (hypothesis, expected))
    (z, of_power), difference = _quantiles(levels), abs(shares[0] - known)
    needed = math.ceil(((z * null + of_power * true) / difference) ** 2)
    power = None if n is None else NormalDist().cdf((difference * math.sqrt(n) - z * null) / true)
    apart = f"{shares[0]:.4g} against {known:.4g}, with a second share of {shares[1]:.4g}"
    return GivenSample(f"{apart}, in {planned.design}, in both arms together,", needed, n, power)


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
