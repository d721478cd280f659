"""Shares corrected for careless people; the maths is in ``anchors``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sottovoce.aggregator.estimators.answered_shares import (
    METHOD,
    AnsweredStratum,
    ratio_limits,
    share_of,
    stratum_parts,
    stratum_shares,
)
from sottovoce.aggregator.estimators.careless.anchors import Careless
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.pooling import StratumTally, merge
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.shared.answers import Domain, Value, random_answers


@dataclass(frozen=True)
class _Corrected:
    """A category to be corrected.

    Attributes:
        parts: strata of its reports.
        chances: probability of the category, and of no answer, if a person answers at random.
        together: share of the reports that carry an anchor, too.
    """

    parts: Sequence[AnsweredStratum]
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
    strata: Sequence[StratumTally],
    domain: Domain,
    absent: Value | None,
    careless: Careless,
    rule: IntervalRule = DEFAULT_RULE,
    together: float = 1.0,
    chance: float | None = None,
) -> tuple[Estimate, ...]:
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
    found = [stratum_shares(*stratum, domain, rule) for stratum in merge(strata)]
    some = [(variable, shares) for variable, shares in found if shares[-1].n]
    if not some:
        return ()
    chances = [float(each) for each in random_answers(domain, absent)] if chance is None else [1 - chance, chance]
    none = chances[-1] if domain.absent else 0.0
    # Of a yes/no question, the share of no is one minus the share of yes.
    first = len(domain.options) - len(some[-1][1])
    answers = list(domain.places.values())[first:]
    of_each = (
        _Corrected(stratum_parts(some, place, rule.waves), (chances[place], none), careless, together)
        for place in answers
    )
    return tuple(
        _estimate(found, share_of(*some[-1], place), rule, len(some[-1][1]))
        for place, found in zip(answers, of_each, strict=True)
    )


def _estimate(found: _Corrected, like: Estimate, rule: IntervalRule, options: int) -> Estimate:
    part, whole = found.part, found.whole
    raw = part / whole if whole > 0 else None
    shown = None if raw is None else min(max(raw, 0.0), 1.0)
    single, joint = (
        ratio_limits(part, whole, found.variance, found.step, normal_quantile(confidence))
        for confidence in (rule.confidence, rule.joint_confidence(options))
    )
    return replace(
        like,
        a=None,
        b=None,
        raw=raw,
        clipped=shown,
        std_error=None if shown is None else math.sqrt(found.variance(shown)) / whole,
        low=single[0],
        high=single[1],
        method=METHOD,
        confidence=rule.confidence,
        n=sum(each.n for each in found.parts),
        count=None,
        std_error_fixed=None,
        simultaneous_low=joint[0],
        simultaneous_high=joint[1],
        poisoning=0.0 if shown is None else _poisoning(found, like, shown, whole),
        band_low=None,
        band_high=None,
    )


def _poisoning(found: _Corrected, like: Estimate, shown: float, whole: float) -> float:
    """Return the largest shift by 1 % fake reports, which may answer the anchors too."""
    g = abs(found.chances[0] - shown * (1 - found.chances[1]))
    return min((like.poisoning * (1 + shown) + g * found.careless.fakes) / whole, 1.0)
