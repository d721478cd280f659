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
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sottovoce.aggregator.estimators.answered_shares import (
    AnsweredStratum,
    Limits,
    ratio_limits,
    share_of,
    stratum_parts,
    stratum_shares,
)
from sottovoce.aggregator.estimators.distributions.chi_square import upper_tail
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.pooling import StratumTally, merge
from sottovoce.aggregator.estimators.support import DEFAULT_RULE
from sottovoce.shared.answers import random_answers
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
    parts: tuple[AnsweredStratum, ...]
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


def _second_moment(part: AnsweredStratum, yes: float) -> float:
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
    found = [stratum_shares(*stratum, question.domain, DEFAULT_RULE) for stratum in merge(strata)]
    some = [(variable, shares) for variable, shares in found if shares[-1].n]
    if not some:
        return None
    parts = stratum_parts(some, YES, waves)
    return AnchorShare(
        name=question.name,
        known=float(known),
        chance=float(random_answers(question.domain, question.absent)[YES]) if chance is None else chance,
        raw=math.fsum(each.u * each.raw for each in parts),
        n=sum(each.n for each in parts),
        parts=tuple(parts),
        fakes=max(share_of(*each, YES).poisoning for each in some),
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
    def limits(self) -> Limits:
        """Limits of the share, by test inversion."""
        step = max(
            w * part.u / (part.n * part.gap * abs(each.slope))
            for w, each in zip(self.weights, self.anchors, strict=True)
            for part in each.parts
        )
        return ratio_limits(self.raw, 1.0, self.variance, step / 2, normal_quantile(self.confidence))

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
