"""Careless answers: the share of people who answer at random, from anchors; ``corrected_shares`` corrects for them.

Model       A share lambda of the people choose evenly among the k options shown, declining included, anew at each
            question. An anchor is a yes/no question with a known share pi of yes. With q a careless person's
            probability of yes (1/k, or 2/k where no answer counts as yes) and d = q - pi, p = pi + lambda d.
Lambda      lambda_a = (p_a - pi_a) / d_a of each anchor a, unclipped. Careless people are the same at all anchors, so
            Cov(lambda_a, lambda_b) = s = lambda (1 - lambda) / n, and lambda = sum w_a lambda_a with w_a in proportion
            to 1 / (v_a - s), v_a = Var(p_a) / d_a^2: least squares with this covariance. sum (lambda_a - lambda)^2 /
            (v_a - s) is chi-square with one degree of freedom less than there are anchors, if they agree.
Shares      c_j = (p_j - lambda q_j) / (1 - lambda); among those who answered (p_j - lambda q_j) / (1 - p_absent -
            lambda (1 - q_absent)).
Limits      By test inversion: for the hypothesis t, T = mean of h - lambda g with h = z_j - t (1 - z_absent), g = q_j -
            t (1 - q_absent) has mean 0, and Var(T) = Var(h) + g^2 (Var(lambda) - 2 s): the joint table of question and
            anchor has E[h z_a] = lambda g q_a, because careful people have E[h] = 0 whatever they say to the anchor.
            Where 0 < pi < 1, their answers to question and anchor must be independent for that.
            Var(h) is taken at the hypothesis, as in ``answered_shares``, so that few reports do not shorten limits.
Same people W waves of the same people: every variance is multiplied by W, which (sum of W terms)^2 <= W times the sum
            of squares never exceeds.
Sources     Atsusaka and Stevenson 2023 (crosswise model: pi = 0, q = 1/2, the anchor under the same protection);
            Fieller 1954 (inversion of a ratio).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from sottovoce.aggregator.estimators import answered_shares
from sottovoce.aggregator.estimators.answered_shares import StratumTally
from sottovoce.aggregator.estimators.intervals import normal_quantile, upper_tail
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.shared.answers import Domain, Value, random_answers
from sottovoce.shared.spec import Question

YES = 1
"""Index of yes among the options of an anchor."""


@dataclass(frozen=True)
class AnchorShare:
    """Reports of one anchor.

    Attributes:
        known: pi, the true share of yes.
        chance: q, a careless person's probability of yes.
        raw: estimated share of yes, unclipped.
        n: reports.
        parts: strata (revisions) of these reports.
        fakes: largest shift of ``raw`` by 1 % fake reports.
    """

    name: str
    known: float
    chance: float
    raw: float
    n: int
    parts: tuple[answered_shares.AnsweredStratum, ...]
    fakes: float = 0.0

    @property
    def careless(self) -> float:
        """Estimated share of careless people, unclipped."""
        return (self.raw - self.known) / self.slope

    @property
    def slope(self) -> float:
        """Change of the share of yes when all people become careless."""
        return self.chance - self.known

    def variance(self, careless: float) -> float:
        """Return the variance of the estimated share of careless people where its true value is ``careless``."""
        yes = self.known + careless * self.slope
        found = math.fsum(each.u**2 * each.waves * (_second_moment(each, yes) - yes**2) / each.n for each in self.parts)
        return max(found, 0.0) / self.slope**2


def _second_moment(part: answered_shares.AnsweredStratum, yes: float) -> float:
    own = part.moments.own
    return yes * own[0] + (1 - yes) * own[1]


def anchor_share(
    question: Question, known: Fraction, strata: Sequence[StratumTally], waves: int = 1, chance: float | None = None
) -> AnchorShare | None:
    """Return the reports of an anchor, a yes/no question of which the true share of yes is ``known``; None if there are
    none.

    ``strata`` are (mechanism, tally) of each revision that asked it; ``waves`` is the number of waves of the same
    people; ``chance`` a careless person's probability of yes, None for even answers.
    """
    some = list(answered_shares.counted_strata(strata, question.domain, DEFAULT_RULE))
    if not some:
        return None
    parts = answered_shares.stratum_parts(some, YES, waves)
    return AnchorShare(
        name=question.name,
        known=float(known),
        chance=float(random_answers(question.domain, question.absent)[YES]) if chance is None else chance,
        raw=math.fsum(each.u * each.raw for each in parts),
        n=sum(each.n for each in parts),
        parts=tuple(parts),
        fakes=max(answered_shares.share_of(*each, YES).poisoning for each in some),
    )


@dataclass(frozen=True)
class Careless:
    """Estimated share of careless people, from at least one anchor; ``confidence`` is the limits' nominal coverage."""

    anchors: tuple[AnchorShare, ...]
    confidence: float = DEFAULT_RULE.confidence

    @cached_property
    def raw(self) -> float:
        """Estimated share of careless people, unclipped."""
        return math.fsum(w * each.careless for w, each in zip(self.weights, self.anchors, strict=True))

    @cached_property
    def clipped(self) -> float:
        """Estimated share within [0, 1]."""
        return min(max(self.raw, 0.0), 1.0)

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """Weight of each anchor, in the inverse of its own variance."""
        own = self._own_variances
        return tuple(1 / each / math.fsum(1 / one for one in own) for each in own)

    @cached_property
    def _own_variances(self) -> list[float]:
        mean = math.fsum(each.careless for each in self.anchors) / len(self.anchors)
        # At 0, anchors with a known share of 0 would have no variance, and the others no weight.
        at = min(max(mean, 1 / (self.n + 1)), 1 - 1 / (self.n + 1))
        return [max(each.variance(at) - self.shared(at), 1e-12) for each in self.anchors]

    def shared(self, careless: float) -> float:
        """Return the covariance of two anchors' estimates where the true value is ``careless``."""
        return careless * (1 - careless) * self._waves / self.n

    @property
    def n(self) -> int:
        """Number of reports of the anchor with most of them."""
        return max(each.n for each in self.anchors)

    @property
    def _waves(self) -> int:
        return max(part.waves for each in self.anchors for part in each.parts)

    def variance(self, careless: float) -> float:
        """Return the variance of the estimate where the true value is ``careless``."""
        weights, shared = self.weights, self.shared(careless)
        own = (w**2 * (each.variance(careless) - shared) for w, each in zip(weights, self.anchors, strict=True))
        return max(math.fsum(own) + shared, 0.0)

    @property
    def std_error(self) -> float:
        """Standard error of the estimate."""
        return math.sqrt(self.variance(self.clipped))

    @cached_property
    def limits(self) -> answered_shares.Limits:
        """Limits of the share, by test inversion."""
        step = max(
            w * part.u / (part.n * part.gap * abs(each.slope))
            for w, each in zip(self.weights, self.anchors, strict=True)
            for part in each.parts
        )
        return answered_shares.ratio_limits(self.raw, 1.0, self.variance, step / 2, normal_quantile(self.confidence))

    @property
    def agreement(self) -> float | None:
        """P value of the test that the anchors agree; None for a single one."""
        if len(self.anchors) == 1:
            return None
        apart = (
            (each.careless - self.raw) ** 2 / own for each, own in zip(self.anchors, self._own_variances, strict=True)
        )
        return upper_tail(math.fsum(apart), len(self.anchors) - 1)

    @property
    def fakes(self) -> float:
        """Largest shift of the estimate by 1 % fake reports."""
        return math.fsum(w * each.fakes / abs(each.slope) for w, each in zip(self.weights, self.anchors, strict=True))


@dataclass(frozen=True)
class _Corrected:
    """A category to be corrected.

    Attributes:
        parts: strata of its reports.
        chances: probability of the category, and of no answer, if a person answers at random.
        together: share of the reports that carry an anchor, too.
    """

    parts: Sequence[answered_shares.AnsweredStratum]
    chances: tuple[float, float]
    careless: Careless
    together: float

    @property
    def part(self) -> float:
        return math.fsum(each.u * each.raw for each in self.parts) - self.careless.raw * self.chances[0]

    @property
    def whole(self) -> float:
        return self._answered - self.careless.raw * (1 - self.chances[1])

    @property
    def _answered(self) -> float:
        return math.fsum(each.u * (1 - each.absent) for each in self.parts)

    @property
    def _answering(self) -> float:
        """Share of careful people who answer."""
        careful = 1 - self.careless.raw
        return min(max(self.whole / careful, 0.0), 1.0) if careful > 0 else 1.0

    def variance(self, t: float) -> float:
        """Return the variance of T for the hypothesis t."""
        careless, (chance, none) = self.careless.clipped, self.chances
        answering, g = self._answering, chance - t * (1 - none)
        careful = t * answering, (1 - t) * answering, 1 - answering
        at_random = chance, 1 - chance - none, none
        shares = [(1 - careless) * one + careless * other for one, other in zip(careful, at_random, strict=True)]
        found = 0.0
        for each in self.parts:
            squares = math.fsum(share * square for share, square in zip(shares, each.moments.ratio(t), strict=True))
            found += each.u**2 * each.waves * (squares - (careless * g) ** 2) / each.n
        n = max(self.careless.n, sum(each.n for each in self.parts))
        both = self.careless.shared(careless) * self.together * self.careless.n / n
        return max(found + g**2 * (self.careless.variance(careless) - 2 * both), 0.0)

    @property
    def step(self) -> float:
        return max(each.u / (each.n * each.gap) for each in self.parts) / 2


def corrected_shares(
    strata: Sequence[StratumTally], domain: Domain, absent: Value | None, careless: Careless,
    rule: IntervalRule = DEFAULT_RULE, together: float = 1.0, chance: float | None = None,
) -> tuple[Estimate, ...]:  # fmt: skip
    """Estimate the share of each answer, corrected for careless people; among those who answered where some did not.

    The result is empty if there are no reports.

    Args:
        strata: (mechanism, tally) of each revision that asked the question.
        domain: its true values: categories, of which each report supports one or some.
        absent: true value of no answer; None if an answer is required.
        careless: estimated share of careless people.
        rule: options of the intervals; their method is always "inversion".
        together: share of the question's reports that carry the anchors, too.
        chance: a careless person's probability of yes, of a yes/no question; None for even answers.
    """
    some = list(answered_shares.counted_strata(strata, domain, rule))
    if not some:
        return ()
    chances = [float(each) for each in random_answers(domain, absent)] if chance is None else [1 - chance, chance]
    none = chances[-1] if domain.absent else 0.0
    # Of a yes/no question, the share of no is one minus the share of yes.
    answers = list(domain.places.values())[len(domain.options) - len(some[-1][1]) :]
    of_each = (
        _Corrected(answered_shares.stratum_parts(some, place, rule.waves), (chances[place], none), careless, together)
        for place in answers
    )
    return tuple(
        _estimate(found, answered_shares.share_of(*some[-1], place), rule, len(some[-1][1]))
        for place, found in zip(answers, of_each, strict=True)
    )


def _estimate(found: _Corrected, like: Estimate, rule: IntervalRule, options: int) -> Estimate:
    n, ratio = sum(each.n for each in found.parts), (found.part, found.whole)
    made = answered_shares.ratio_estimate(like, n, ratio, found.variance, found.step, rule, options)
    shown = made.clipped
    return replace(made, poisoning=0.0 if shown is None else _poisoning(found, like, shown, found.whole))


def _poisoning(found: _Corrected, like: Estimate, shown: float, whole: float) -> float:
    """Return the largest shift by 1 % fake reports, which may answer the anchors too."""
    g = abs(found.chances[0] - shown * (1 - found.chances[1]))
    return min((like.poisoning * (1 + shown) + g * found.careless.fakes) / whole, 1.0)
