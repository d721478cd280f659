"""
How many respondents a question needs, for a share or for a mean.

Variance    n reports give Var = v / n; v is the measure's, people and noise together.
Half-width  n = (z / h)^2 v: the usual formula, normal interval, z for the confidence; it promises nothing about the
            interval that is shown, which has a continuity correction and an estimated v (coin flip, p = .1, h = .03:
            3,586, and .12 that it comes out as wanted). With an assurance g above 1/2 the interval shown has at most
            half-width h with probability g for n reports, and not for n - 1.
Difference  n per group = (z_conf + z_power)^2 (v_1 + v_2) / (p_1 - p_2)^2: unpooled variances.
Fieldwork   v becomes weighting (v + (clustering - 1) people): weights stretch everything, clusters only what people
            have in common; their coins they do not share. An assured n is stretched by the ratio of the two.
            Invitations = n / (response rate * share asked).
Protection  A share s of people answer "no" whatever the truth. On the device the channel still runs: the estimand falls
            to p (1 - s). With coins of their own they report "no" itself: ((1 - s) l - b) / (a - b).
Sources     Warner 1965; Kish 1965 (design effects); Boeije and Lensvelt-Mulders 2002 (self-protective no).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.share_channel import ShareChannel
from sottovoce.shared.errors import EstimateError

PROTECTIVE = (0.0, 0.05, 0.1, 0.2)
"""Shares of self-protective no-sayers that a plan of a share always shows."""

LARGEST = 10**15
"""A plan that needs more reports than this is refused: the channel says next to nothing."""

LARGEST_ASSURED = 10**8
"""The same for a plan with an assurance, whose reports are tried one number after another."""

_TOO_MANY_ASSURED = "a plan with an assurance goes up to 10^8 reports, and this channel would need more"

USUAL = 0.5
"""The assurance that stands for the usual formula."""


@dataclass(frozen=True)
class Goal:
    """
    What the estimate is for: a half-width, or a difference between two groups.

    Attributes:
        expected: share or mean; that of the first group for a difference.
        half_width: wanted half-width of the interval, in the measure's unit; or None.
        other: expected share or mean in the second group; or None. Exactly one of the two is given.
        confidence: of the interval, or 1 - two-sided size of the test.
        power: probability of finding the difference.
        assurance: probability that the half-width comes out at most as wanted; 1/2 is the usual formula.
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
        """
        Refuse what this measure cannot be.

        Raises:
            EstimateError: says what is out of range.
        """
        low, high = measure.low, measure.high
        if not all(low <= value <= high for value in self.groups):
            raise EstimateError(f"the {measure.noun} must lie in [{low:.15g}, {high:.15g}]")
        if self.half_width is not None and not measure.blur < self.half_width < high - low:
            why = "; values of one bin cannot be told apart" if measure.blur else ""
            raise EstimateError(f"the half-width must lie between {measure.blur:.15g} and {high - low:.15g}{why}")

    @property
    def groups(self) -> tuple[float, ...]:
        """What is expected in each."""
        return (self.expected,) if self.other is None else (self.expected, self.other)


@dataclass(frozen=True)
class Fieldwork:
    """
    What happens between invitation and report.

    Attributes:
        response_rate: share of the invited who report, in (0, 1].
        clustering: variance factor of clustered samples on the people's own share, >= 1; the noise is not shared.
        weighting: variance factor of unequal weights, 1 + their squared coefficient of variation, >= 1.
        asked: m of q: each respondent answers m questions, drawn from q.
        own_coin: respondents run the procedure themselves, so that no-sayers bypass it.
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
    """
    What self-protective no-sayers do to the result.

    Attributes:
        share: share of people who protect themselves.
        expected: what the estimate then aims at; with own coins possibly below 0.
        bias: ``expected`` minus the true share.
    """

    share: float
    expected: float
    bias: float


@dataclass(frozen=True)
class SampleSize:
    """
    The answer of ``plan``; one group's numbers, of which a difference needs two.

    Attributes:
        goal: what was asked for.
        fieldwork: what was assumed.
        measure: share or mean, with its channel.
        groups: 1, or 2 for a difference.
        reports: reports on this question needed in each group.
        invitations: people to invite for each group.
        direct: reports that a direct question would need in each group.
        ratio: ``reports`` without rounding over ``direct`` without rounding; None if a direct question needs none.
        std_error: of the share or mean with that many reports; of the difference for two groups.
        protection: the effect of 0, 5, 10 and 20 % self-protective no-sayers on the (first) share; none for a mean.
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
        """Plain numbers, tuples and dicts, ready for JSON."""
        goal = asdict(self.goal)
        share = {"channel": asdict(self.measure)} if isinstance(self.measure, ShareChannel) else {}
        return {
            "goal": {self.measure.noun: goal.pop("expected"), **goal},
            "fieldwork": asdict(self.fieldwork),
            **share,
            "groups": self.groups,
            "reports": self.reports,
            "invitations": self.invitations,
            "direct": self.direct,
            "ratio": self.ratio,
            "std_error": self.std_error,
            "protection": [asdict(row) for row in self.protection],
        }


@dataclass(frozen=True)
class CurvePoint:
    """
    One point of a planning curve.

    Attributes:
        epsilon: of one report.
        reports: reports needed in each group; None where they are out of reach.
        ratio: to the direct question's; None if that needs none.
        own: the point that the plan itself is for.
    """

    epsilon: float
    reports: int | None
    ratio: float | None
    own: bool = False


def plan(measure: Measure, goal: Goal, fieldwork: Fieldwork = Fieldwork()) -> SampleSize:
    """
    Respondents needed for a goal.

    Args:
        measure: share or mean, with the channel of its reports.
        goal: half-width, or difference with power.
        fieldwork: response, design effects, ``ask``.

    Raises:
        EstimateError: an impossible argument, or more reports needed than anybody can collect.
    """
    goal.check(measure)
    needed, open_needed = _needed(measure, goal, fieldwork), _needed(measure.openly, goal, fieldwork)
    reports = _whole(needed)
    asked, questions = fieldwork.asked
    return SampleSize(
        goal=goal,
        fieldwork=fieldwork,
        measure=measure,
        groups=len(goal.groups),
        reports=reports,
        invitations=_whole(reports * questions / asked / fieldwork.response_rate),
        direct=_whole(open_needed),
        ratio=needed / open_needed if open_needed else None,
        std_error=math.sqrt(sum(_variance(measure, value, fieldwork) for value in goal.groups) / reports),
        protection=_protection(measure, goal.expected, fieldwork.own_coin),
    )


def curve(
    measures: Iterable[tuple[float, Measure]], made: SampleSize, own: float | None = None
) -> tuple[CurvePoint, ...]:
    """
    Reports needed for the goal of a plan by other channels.

    Args:
        measures: each with the epsilon of one report.
        made: the plan; its goal and fieldwork hold for all.
        own: the plan's own epsilon, which is a point of the curve; None for none.

    Returns:
        The points in the order of their epsilons.
    """
    open_needed = _needed(made.measure.openly, made.goal, made.fieldwork)
    points = [] if own is None else [CurvePoint(own, made.reports, made.ratio, own=True)]
    for epsilon, measure in measures:
        try:
            made.goal.check(measure)
            needed = _needed(measure, made.goal, made.fieldwork)
            points.append(CurvePoint(epsilon, _whole(needed), needed / open_needed if open_needed else None))
        except EstimateError:
            points.append(CurvePoint(epsilon, None, None))
    return tuple(sorted(points, key=lambda point: point.epsilon))


def _needed(measure: Measure, goal: Goal, fieldwork: Fieldwork) -> float:
    z = NormalDist().inv_cdf((1 + goal.confidence) / 2)
    variances = [_variance(measure, value, fieldwork) for value in goal.groups]
    if goal.other is not None:
        reach = (z + NormalDist().inv_cdf(goal.power)) / (goal.expected - goal.other)
        return reach**2 * sum(variances)
    half_width = goal.half_width or math.nan
    reach = z / (half_width - measure.blur)
    if goal.assurance == USUAL:
        return reach**2 * variances[0]
    plain = measure.variance(goal.expected)
    stretch = variances[0] / plain if plain else fieldwork.weighting
    enough = partial(_is_assured, measure, goal)
    return stretch * _first_enough(enough, math.ceil(reach**2 * plain))


def _is_assured(measure: Measure, goal: Goal, reports: int) -> bool:
    return measure.chance(goal.expected, goal.half_width or math.nan, reports, goal.confidence) >= goal.assurance


def _first_enough(enough: Callable[[int], bool], start: int) -> int:
    """A number that is enough while the one below it is not, sought from ``start`` by growing steps and bisection."""
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
    """Of one report's score, with design effects."""
    clustered = (fieldwork.clustering - 1) * measure.spread(value)
    return fieldwork.weighting * (measure.variance(value) + clustered)


def _protection(measure: Measure, p: float, own_coin: bool) -> tuple[Protection, ...]:
    if not isinstance(measure, ShareChannel):
        return ()
    rows = []
    for share in PROTECTIVE:
        by_hand = ((1 - share) * measure.reported(p) - measure.b) / (measure.a - measure.b)
        expected = by_hand if own_coin else p * (1 - share)
        rows.append(Protection(share, expected, expected - p))
    return tuple(rows)


def _whole(needed: float) -> int:
    """Rounded up; at least one."""
    if not needed <= LARGEST:
        raise EstimateError("this channel would need more than 10^15 reports")
    # A whisker below the next whole number, since 1024.0000000000001 is rounding and not a respondent.
    return max(math.ceil(needed * (1 - 1e-12)), 1)
