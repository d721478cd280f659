"""Find estimand and channel of a question: with its own mechanism, with other epsilons, with the default mechanism.

Of the mean of a number:

Variance    V(m) of ``ScoredChannel``: the largest variance of a report's score over all populations with mean m; the
            shown interval uses it too.
Half-width  Half of high - low of ``mean_interval``, as shown, with its correction for the gaps between scores; for the
            square wave also with the width that one bin cannot resolve. The mean of n scores is taken as normal about m
            with variance V(m) / n. As a function of the mean of scores the half-width rises and then falls, because
            sqrt(V) is concave. The means with too large a half-width are therefore one interval.

Of the share of one option:

Variance    l (1 - l) / (a - b)^2 per report, l = b + (a - b) p: noise of the channel plus sampling of people,
            noise = (p a (1 - a) + (1 - p) b (1 - b)) / (a - b)^2, people = p (1 - p). (The noise alone, common in the
            literature, treats the population as fixed: 3,202 reports where 4,269 are needed, coin flip, p = .5.)
Half-width  Half of high - low of the score interval with continuity correction, clipped into [0, 1], as shown. Its
            distribution is enumerated over the count of supporting reports, Bin(n, l), within _FAR standard deviations.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators import VARIABLES
from sottovoce.aggregator.estimators.intervals import halved, score_cc
from sottovoce.aggregator.estimators.means import ScoredChannel, grid_of, mean_interval
from sottovoce.aggregator.estimators.public import LISTED
from sottovoce.aggregator.estimators.variable import NumberVariable
from sottovoce.shared.answers import Domain
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError, SpecError, did_you_mean
from sottovoce.shared.mechanisms import MAX_EPSILON, MIN_EPSILON, Mechanism, for_epsilon
from sottovoce.shared.spec import Question, Survey

_NARROWED = 30  # golden-section steps of the search for the largest half-width; each leaves .618 of the range
_HALVED = 30
_FAR = 8
_MORE = 40  # extra counts on either side, because binomial tails with small means are longer than normal ones


class Measure(ABC):
    """Share of people, or mean of a number, with the channel of its reports.

    Attributes:
        noun: name of the estimand in messages.
        low, high: its smallest and largest possible value.
        blur: widening of the shown limits that does not shrink with the number of reports.
    """

    noun: ClassVar[str]
    low: float
    high: float
    blur: float = 0.0

    @abstractmethod
    def variance(self, expected: float) -> float:
        """Return the variance of one report's score (sampling plus noise) if ``expected`` is the true value."""

    @abstractmethod
    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """Return the probability that the shown interval has at most this half-width, in the estimand's unit.

        ``reports`` is at least 1; ``confidence`` is in (0, 1).
        """

    @property
    @abstractmethod
    def openly(self) -> "Measure":
        """Same estimand, asked as a public question."""

    def checked_variance(self, expected: float) -> float:
        """Return ``variance``; raise EstimateError if such a value is impossible."""
        if not self.low <= expected <= self.high:
            raise EstimateError(f"the {self.noun} must lie in [{self.low:.15g}, {self.high:.15g}]")
        return self.variance(expected)

    def spread(self, expected: float) -> float:
        """Return the largest variance of true values within [low, high] with this mean."""
        return (expected - self.low) * (self.high - expected)


@dataclass(frozen=True)
class ShareChannel(Measure):
    """Channel of an option: ``a`` is P(support | true), in (0, 1], ``b`` P(support | not true), in [0, a)."""

    noun: ClassVar[str] = "prevalence"
    low = 0.0
    high = 1.0

    a: float
    b: float

    def __post_init__(self) -> None:
        if not 0 <= self.b < self.a <= 1:
            raise EstimateError("a channel needs 0 <= b < a <= 1")

    def reported(self, p: float) -> float:
        """Return the expected share of reports that support the option: l = b + (a - b) p."""
        return self.b + (self.a - self.b) * p

    def noise(self, p: float) -> float:
        """Return the variance that the channel adds to one report's score."""
        return (p * self.a * (1 - self.a) + (1 - p) * self.b * (1 - self.b)) / (self.a - self.b) ** 2

    def variance(self, expected: float) -> float:
        """Return the variance of one report's score: noise plus sampling."""
        # As a sum of two terms it is exactly 0 if both are; l (1 - l) / (a - b)^2 could suffer from rounding.
        return self.noise(expected) + self.spread(expected)

    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """Return the probability that the shown interval is narrow enough, by enumeration of counts."""
        counts, weights = binomial_window(reports, self.reported(expected))
        low, high = score_cc(counts, reports, self.a, self.b, confidence)
        return float(weights[(high - low) / 2 <= half_width].sum())

    @property
    def openly(self) -> "ShareChannel":
        """Channel of the direct question, without noise."""
        return DIRECT


DIRECT = ShareChannel(1.0, 0.0)
"""Channel of a direct question, for comparison."""


def binomial_window(n: int, share: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the counts of Bin(n, share) and their probabilities, without tails of about 1e-14 together."""
    if share in {0.0, 1.0}:
        return np.array([round(n * share)]), np.ones(1)
    reach = _FAR * math.sqrt(n * share * (1 - share)) + _MORE
    first, last = max(math.floor(n * share - reach), 0), min(math.ceil(n * share + reach), n)
    counts = np.arange(first, last + 1)
    # P(x + 1) / P(x) = (n - x) / (x + 1) share / (1 - share), summed as logarithms from the first count on.
    ratios = np.log((n - counts[:-1]) / (counts[:-1] + 1)) + math.log(share / (1 - share))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    weights = np.exp(logs - logs.max())
    return counts, weights / weights.sum()


@dataclass(frozen=True)
class NumberChannel(Measure):
    """Channel of the mean of a number, with its scores.

    Attributes:
        scored: levels, scores and moments, in the number's own unit.
        low, high: smallest and largest value; the levels of a square wave are inside this range.
        step: distance between neighbouring values.
        blur: largest distance of a value from the level that represents it.
    """

    noun: ClassVar[str] = "mean"

    scored: ScoredChannel
    low: float
    high: float
    step: float
    blur: float = 0.0

    def variance(self, expected: float) -> float:
        """Return the largest variance of one score over all populations with this mean."""
        return self.scored.variance(self._level(expected))

    def chance(self, expected: float, half_width: float, reports: int, confidence: float) -> float:
        """Return the probability that the shown interval is narrow enough, for normal means of scores."""

        def excess(raw: float) -> float:
            low, high = self.shown(raw, reports, confidence)
            return (high - low) / 2 - half_width

        def too_wide(raw: float) -> bool:
            return excess(raw) > 0

        centre = self._level(expected)
        error = math.sqrt(self.variance(expected) / reports)
        if error == 0:
            return float(not too_wide(centre))
        left, right = (self._level(centre + side * _FAR * error) for side in (-1, 1))
        # The means with too large a half-width form one interval; the rest of the normal distribution is the chance.
        within = _too_large(excess, left, right)
        if within is None:
            return 1.0
        distribution = NormalDist(centre, error)
        below = 0.0 if too_wide(left) else distribution.cdf(halved(too_wide, within, left, _HALVED)[1])
        above = 0.0 if too_wide(right) else 1 - distribution.cdf(halved(too_wide, within, right, _HALVED)[1])
        return below + above

    def shown(self, raw: float, reports: int, confidence: float) -> tuple[float, float]:
        """Return the limits that results show for a mean of scores; ``reports`` and ``confidence`` as for ``chance``.

        Of a square wave or public number they are the widest, since limits use the sample's variance.
        """
        low, high = mean_interval(raw, reports, self.scored, confidence)
        return max(low - self.blur, self.low), min(high + self.blur, self.high)

    @property
    def openly(self) -> "NumberChannel":
        """Channel of the same values without noise."""
        return _asked_openly(self.low, self.high, self.step)

    def _level(self, value: float) -> float:
        return min(max(value, self.scored.levels[0]), self.scored.levels[-1])


def public_number(domain: Domain) -> NumberChannel:
    """Return the channel of a number that is asked as a public question."""
    grid = grid_of(domain)
    return _asked_openly(float(grid.low), float(grid.high), float(grid.step))


def _asked_openly(low: float, high: float, step: float) -> NumberChannel:
    """Return a channel in which every value is its own score, with two end levels, as in ``estimators.public``."""
    # Beyond so many values the correction for gaps between scores is negligible.
    scores = tuple(np.linspace(low, high, min(round((high - low) / step) + 1, LISTED)).tolist())
    return NumberChannel(ScoredChannel((low, high), scores, (low**2, high**2)), low, high, step)


def _too_large(excess: Callable[[float], float], left: float, right: float) -> float | None:
    """Find a point with positive excess of a unimodal function by golden-section search; None if there is none."""
    share = (math.sqrt(5) - 1) / 2
    first, second = right - share * (right - left), left + share * (right - left)
    at_first, at_second = excess(first), excess(second)
    for _ in range(_NARROWED):
        if max(at_first, at_second) > 0:
            return first if at_first > at_second else second
        if at_first > at_second:
            right, second, at_second = second, first, at_first
            first = right - share * (right - left)
            at_first = excess(first)
        else:
            left, first, at_first = first, second, at_second
            second = left + share * (right - left)
            at_second = excess(second)
    return None


def question_named(survey: Survey, name: str | None) -> Question:
    """Return the question to plan for; raise SpecError if there is none of this name."""
    questions = {question.name: question for question in survey.questions}
    if name not in questions:
        similar = did_you_mean(name or "", questions)
        raise SpecError(f"--question must be one of: {', '.join(questions)}.{similar}")
    return questions[name]


def expected_of(question: Question | None, prevalence: float | None, mean: str | None) -> float:
    """Return the expected value of a plan: a share, or a mean in the number's own unit (a date in days of its grid).

    ``mean`` is as typed; no question means a share. Raises SpecError if the question estimates the other kind, or the
    value is impossible.
    """
    if question is not None and question.domain.grid is not None:
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
        return public_number(question.domain) if question.domain.grid is not None else DIRECT
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
    # A question of a block has no channel of its own for another epsilon, and a person's own fact none at all.
    if mechanism is None or question.member or question.by_fact:
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
    return question.mechanism.drawn_from if question.mechanism else 1


def mechanism_measure(mechanism: Mechanism, domain: Domain) -> Measure:
    """Return the share or mean that reports of a mechanism estimate, for this domain of true values."""
    variable = VARIABLES[mechanism.name](mechanism, domain)[0]
    if isinstance(variable, NumberVariable):
        grid = grid_of(domain)
        return NumberChannel(variable.scored, float(grid.low), float(grid.high), float(grid.step), variable.blur)
    # The last category: yes, of a yes/no question or of an option.
    return ShareChannel(*variable.channels[-1])


EPSILONS = (0.5, math.log(2), 1.0, math.log(3), 1.5, 2.0, 3.0)
"""Epsilons of the points of the curve."""

SAME = 0.005
"""Distance in epsilon within which a point of the curve is left out in favour of the plan's own."""


@dataclass(frozen=True)
class ChosenChannel:
    """Channel of a plan: a question's, or of ``options`` options with the default mechanism for ``epsilon``."""

    question: Question | None
    epsilon: float
    options: int

    @property
    def measure(self) -> Measure:
        """Estimand of the plan, with this channel."""
        return best_share(self.epsilon, self.options) if self.question is None else measure_of(self.question)

    @property
    def spent(self) -> float | None:
        """Epsilon of the channel; None for a public question."""
        if self.question is None:
            return self.epsilon
        return None if self.question.mechanism is None else self.question.epsilon

    @property
    def others(self) -> list[tuple[float, Measure]]:
        """Estimand with the channels for other epsilons, as (epsilon, measure)."""
        epsilons = [epsilon for epsilon in EPSILONS if self.spent is None or abs(epsilon - self.spent) > SAME]
        if self.question is not None:
            return over_epsilon(self.question, epsilons)
        return [(epsilon, best_share(epsilon, self.options)) for epsilon in epsilons]


def asked_times(file: Survey | None, asked: Question | None, ask: tuple[int, int] | None) -> tuple[int, int]:
    """Return (M, Q): M of Q reports carry this question, or a given option or coordinate of it; ``ask`` overrides."""
    share = Fraction(1) if file is None or asked is None else share_asked(file, file.questions.index(asked))
    m, q = ask or (share.numerator, share.denominator)
    return m, q * (1 if asked is None else drawn_from(asked))
