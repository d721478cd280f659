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
Uniqueness  Before data collection only the declared options of public questions can be counted, as combinations;
            ``curator reidentify`` counts real tables. With fewer than ``LEAST_IN_CELL`` people per combination on
            average, many respondents will be unique.
Sources     Warner 1965; Kish 1965 (design effects); Boeije and Lensvelt-Mulders 2002 (self-protective no).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any

from sottovoce.aggregator.planning.question_channels import Measure, ShareChannel
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question

PROTECTIVE = (0.0, 0.05, 0.1, 0.2)
"""Shares of self-protective respondents in the scenarios of every plan for a share."""

LARGEST = 10**15
"""Largest number of reports in a plan; a channel that needs more is nearly uninformative."""

LARGEST_ASSURED = 10**8
"""Largest number of reports in a plan with an assurance, which needs a search over numbers of reports."""

_TOO_MANY_ASSURED = "a plan with an assurance goes up to 10^8 reports, and this channel would need more"

USUAL = 0.5
"""Assurance value that selects the usual formula."""

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


def thin_cells(questions: Sequence[Question | None], people: int | None) -> ThinCells | None:
    """Return the combinations of public answers if there are too many for the expected ``people``; None otherwise.

    Questions are None if incomplete, ``people`` if unknown.
    """
    sizes = [1 if each is None or each.mechanism is not None else each.domain.size for each in questions]
    cells, expected = math.prod(sizes), USUAL_PEOPLE if people is None else people
    # A single public question, and no known number of respondents, are no basis for a warning.
    if cells <= 1 or cells * LEAST_IN_CELL <= expected or (cells == max(sizes) and people is None):
        return None
    return ThinCells(cells, expected, sizes.index(max(sizes)))


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
