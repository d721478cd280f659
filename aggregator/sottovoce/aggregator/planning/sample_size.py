"""
How many respondents a question needs.

Variance    n reports give Var = v / n, v = l (1 - l) / (a - b)^2, l = b + (a - b) p: the channel's noise and the
            sampling of people together. v = noise + people, people = p (1 - p),
            noise = (p a (1 - a) + (1 - p) b (1 - b)) / (a - b)^2. (The noise alone, common in the literature, takes
            the population as given: 3,202 where 4,269 are needed, for the coin flip at p = .5.)
Half-width  n = (z / h)^2 v: normal interval, z for the confidence. With an assurance g above 1/2 the half-width is to
            come out at most h with probability g, though v is itself estimated: v at the upper g limit of l.
Difference  n per group = (z_conf + z_power)^2 (v_1 + v_2) / (p_1 - p_2)^2: unpooled variances.
Fieldwork   v becomes weighting (noise + clustering * people): weights stretch everything, clusters only what people
            have in common; their coins they do not share. Invitations = n / (response rate * share asked).
Protection  A share s of people answer "no" whatever the truth. On the device the channel still runs: the estimand falls
            to p (1 - s). With coins of their own they report "no" itself: ((1 - s) l - b) / (a - b).
Sources     Warner 1965; Kish 1965 (design effects); Boeije and Lensvelt-Mulders 2002 (self-protective no).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

from sottovoce.shared.errors import EstimateError

PROTECTIVE = (0.0, 0.05, 0.1, 0.2)
"""Shares of self-protective no-sayers that a plan always shows."""

LARGEST = 10**15
"""A plan that needs more reports than this is refused: the channel says next to nothing."""


@dataclass(frozen=True)
class Channel:
    """
    One option of a question as the planner sees it.

    Attributes:
        a: P(support | true), in (0, 1].
        b: P(support | not true), in [0, a).
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        if not 0 <= self.b < self.a <= 1:
            raise EstimateError("a channel needs 0 <= b < a <= 1")

    @property
    def epsilon(self) -> float:
        """Of a yes/no question with this channel: ln max(a/b, (1-b)/(1-a)); infinite for a direct question."""
        if self.b == 0 or self.a == 1:
            return math.inf
        return math.log(max(self.a / self.b, (1 - self.b) / (1 - self.a)))

    def reported(self, p: float) -> float:
        """Share of reports that support the option: l = b + (a - b) p."""
        return self.b + (self.a - self.b) * p

    def noise(self, p: float) -> float:
        """Variance that the channel adds to one report's score."""
        return (p * self.a * (1 - self.a) + (1 - p) * self.b * (1 - self.b)) / (self.a - self.b) ** 2


DIRECT = Channel(1.0, 0.0)
"""The question asked openly, for comparison."""


def symmetric(epsilon: float) -> Channel:
    """The best yes/no channel at this epsilon: a = E / (E + 1), b = 1 - a."""
    return kary(epsilon, 2)


def kary(epsilon: float, options: int) -> Channel:
    """k-ary randomized response: a = E / (E + k - 1), b = 1 / (E + k - 1), E = exp(epsilon)."""
    if not (0 < epsilon < 700 and options >= 2):
        raise EstimateError("epsilon must be above 0 and below 700, and options at least 2")
    others = math.exp(-epsilon)  # 1 / E, so that a large epsilon does not overflow
    whole = 1 + others * (options - 1)
    return Channel(1 / whole, others / whole)


@dataclass(frozen=True)
class Goal:
    """
    What the estimate is for: a half-width, or a difference between two groups.

    Attributes:
        prevalence: expected share, in [0, 1]; that of the first group for a difference.
        half_width: wanted half-width of the interval, in shares; or None.
        other: expected share in the second group; or None. Exactly one of the two is given.
        confidence: of the interval, or 1 - two-sided size of the test.
        power: probability of finding the difference.
        assurance: probability that the half-width comes out at most as wanted; 1/2 is the usual formula.
    """

    prevalence: float
    half_width: float | None = None
    other: float | None = None
    confidence: float = 0.95
    power: float = 0.8
    assurance: float = 0.5

    def __post_init__(self) -> None:
        if (self.half_width is None) == (self.other is None):
            raise EstimateError("a plan is for a half-width or for a difference, and not for both")
        if not (0 <= self.prevalence <= 1 and (self.half_width is None or 0 < self.half_width < 1)):
            raise EstimateError("prevalence must lie in [0, 1], and the half-width between 0 and 1")
        if self.other is not None and not (0 <= self.other <= 1 and self.other != self.prevalence):
            raise EstimateError("the second group's prevalence must lie in [0, 1] and differ from the first's")
        if not (0 < self.confidence < 1 and 0.5 <= self.power < 1 and 0.5 <= self.assurance < 1):
            raise EstimateError("confidence must lie in (0, 1), power and assurance in [1/2, 1)")


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
class Plan:
    """
    The answer of ``plan``; one group's numbers, of which a difference needs two.

    Attributes:
        goal: what was asked for.
        fieldwork: what was assumed.
        channel: the option's channel.
        groups: 1, or 2 for a difference.
        reports: reports on this question needed in each group.
        invitations: people to invite for each group.
        direct: reports that a direct question would need in each group.
        ratio: ``reports`` without rounding over ``direct`` without rounding; None if a direct question needs none.
        std_error: of the share with that many reports; of the difference for two groups.
        protection: the effect of 0, 5, 10 and 20 % self-protective no-sayers on the (first) share.
    """

    goal: Goal
    fieldwork: Fieldwork
    channel: Channel
    groups: int
    reports: int
    invitations: int
    direct: int
    ratio: float | None
    std_error: float
    protection: tuple[Protection, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, tuples and dicts, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class CurvePoint:
    """
    One point of a planning curve.

    Attributes:
        epsilon: of one report.
        channel: the channel at that epsilon.
        reports: reports needed in each group.
        ratio: to the direct question's; None if that needs none.
    """

    epsilon: float
    channel: Channel
    reports: int
    ratio: float | None


def plan(channel: Channel, goal: Goal, fieldwork: Fieldwork = Fieldwork()) -> Plan:
    """
    Respondents needed for a goal.

    Args:
        channel: a and b of the option in question; ``symmetric`` and ``kary`` make them from epsilon.
        goal: half-width, or difference with power.
        fieldwork: response, design effects, ``ask``.

    Raises:
        EstimateError: an impossible argument (at its construction), or more than 10^15 reports needed.
    """
    needed, open_needed = _needed(channel, goal, fieldwork), _needed(DIRECT, goal, fieldwork)
    reports = _whole(needed)
    asked, questions = fieldwork.asked
    shares = [goal.prevalence] if goal.other is None else [goal.prevalence, goal.other]
    return Plan(
        goal=goal,
        fieldwork=fieldwork,
        channel=channel,
        groups=len(shares),
        reports=reports,
        invitations=_whole(reports * questions / asked / fieldwork.response_rate),
        direct=_whole(open_needed),
        ratio=needed / open_needed if open_needed else None,
        std_error=math.sqrt(sum(_variance(channel, p, fieldwork) for p in shares) / reports),
        protection=tuple(_protection(channel, goal.prevalence, s, fieldwork.own_coin) for s in PROTECTIVE),
    )


def curve(
    epsilons: Iterable[float],
    goal: Goal,
    fieldwork: Fieldwork = Fieldwork(),
    options: int = 2,
) -> tuple[CurvePoint, ...]:
    """
    Reports needed over epsilon, for the best yes/no channel or for k-ary randomized response.

    Args:
        epsilons: of one report, each above 0.
        goal: as for ``plan``.
        fieldwork: as for ``plan``.
        options: k; 2 for yes/no.

    Raises:
        EstimateError: an epsilon that is not above 0, or a plan out of reach.
    """
    points = []
    for epsilon in epsilons:
        made = plan(kary(epsilon, options), goal, fieldwork)
        points.append(CurvePoint(epsilon, made.channel, made.reports, made.ratio))
    return tuple(points)


def table(
    channel: Channel,
    prevalences: Sequence[float],
    half_width: float,
    fieldwork: Fieldwork = Fieldwork(),
) -> tuple[Plan, ...]:
    """
    Plans for the same half-width at several prevalences.

    Args:
        channel: of the question.
        prevalences: true shares to plan for.
        half_width: of the interval, as a share.
        fieldwork: how many of those who are invited answer as wished.
    """
    return tuple(plan(channel, Goal(p, half_width=half_width), fieldwork) for p in prevalences)


def _needed(channel: Channel, goal: Goal, fieldwork: Fieldwork) -> float:
    z = NormalDist().inv_cdf((1 + goal.confidence) / 2)
    if goal.other is not None:
        reach = (z + NormalDist().inv_cdf(goal.power)) / (goal.prevalence - goal.other)
        both = _variance(channel, goal.prevalence, fieldwork) + _variance(channel, goal.other, fieldwork)
        return reach**2 * both
    reach = z / (goal.half_width or math.nan)
    needed = reach**2 * _variance(channel, goal.prevalence, fieldwork)
    return needed if goal.assurance == 0.5 else _assured(channel, goal, fieldwork, reach)


def _assured(channel: Channel, goal: Goal, fieldwork: Fieldwork, reach: float) -> float:
    """Smallest n at which even the upper limit of the estimated variance gives the half-width."""
    z = NormalDist().inv_cdf(goal.assurance)

    def enough(n: float) -> bool:
        drift = z * math.sqrt(_variance(channel, goal.prevalence, fieldwork) / n)
        toward = 0.5 if channel.a + channel.b == 1 else (0.5 - channel.b) / (channel.a - channel.b)
        step = min(drift, abs(toward - goal.prevalence))
        p = goal.prevalence + math.copysign(step, toward - goal.prevalence)
        return n >= reach**2 * _variance(channel, p, fieldwork)

    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, high * 2
        if high > LARGEST:
            return high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _variance(channel: Channel, p: float, fieldwork: Fieldwork) -> float:
    """Of one report's score, with design effects; without them l (1 - l) / (a - b)^2."""
    return fieldwork.weighting * (channel.noise(p) + fieldwork.clustering * p * (1 - p))


def _protection(channel: Channel, p: float, share: float, own_coin: bool) -> Protection:
    if own_coin:
        expected = ((1 - share) * channel.reported(p) - channel.b) / (channel.a - channel.b)
    else:
        expected = p * (1 - share)
    return Protection(share, expected, expected - p)


def _whole(needed: float) -> int:
    """Rounded up; at least one."""
    if not needed <= LARGEST:
        raise EstimateError("this channel would need more than 10^15 reports")
    # A whisker below the next whole number, since 1024.0000000000001 is rounding and not a respondent.
    return max(math.ceil(needed * (1 - 1e-12)), 1)
