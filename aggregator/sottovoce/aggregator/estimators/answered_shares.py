"""Shares among the people who answered: P(j) / (1 - P(absent)), with limits by test inversion.

Reports     A report's score for the hypothesis t is h = z_j - t (1 - z_absent), E[h] = P(j) - t (1 - P(absent)).
Limits      { t : |num - t den| <= q sqrt(V(t)) + gap/(2n) }, q the normal quantile, den = max(1 - P(absent), 0), num
            the share of j clipped into [0, den], gap = 1/(a - b); by bisection outwards from num/den. V is the variance
            of h at the hypothesised value, from the channel and not from the sample, so it holds with few reports too:
            V(t) = sum_x P(x) E[h^2 | x] / n with P(j) = t W, P(absent) = 1 - W and the rest (1 - t) W, W = den.
Moments     With z = (support - b)/(a - b), alpha = (1 - 2b)/(a - b) and c = b (1 - b)/(a - b)^2, E[z_j^2 | x] is c,
            plus alpha if x is j; E[z_j z_absent | x] follows from P(a report supports both | x).
Whole       A set that is empty, in two parts or all of [0, 1] is given as [0, 1]: the reports do not limit the share.
Strata      h is the mean over strata with weights n (a - b)^2, known before any report; V is the sum of u^2 V.
Same people W waves of the same people: V grows by (W - 1) W_answered t (1 - t) / n, as in ``intervals``.
Source      Fieller 1954 (inversion of a ratio); Newcombe 1998 (continuity correction).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sottovoce.aggregator.estimators import VARIABLES, estimate, public
from sottovoce.aggregator.estimators.intervals import clip, edge, normal_quantile
from sottovoce.aggregator.estimators.pooling import StratumTally, merge
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.answers import Domain

METHOD = "inversion"
_SCANNED = 50
_NEAR = 1e-9

Limits = tuple[float, float]
Triple = tuple[float, float, float]
"""Figures for a true category: the one in question, another answer, no answer."""


class ScoreMoments(NamedTuple):
    """Second moments of scores given the truth.

    Attributes:
        own: E[z^2 | x], z the score of the category.
        crossed: E[z r | x], r = 1 - z_absent.
        answered: E[r^2 | x].
    """

    own: Triple
    crossed: Triple
    answered: Triple

    def ratio(self, t: float) -> Triple:
        """Return E[(z - t r)^2 | x]."""
        one, other, none = (
            z - 2 * t * zr + t * t * r for z, zr, r in zip(self.own, self.crossed, self.answered, strict=True)
        )
        return one, other, none


def score_moments(variable: Variable, category: int) -> ScoreMoments:
    """Return the moments of the score of a category; r is 1 for a variable that everybody answered."""
    a, b = variable.channels[category]
    alpha, c = (1 - 2 * b) / (a - b), b * (1 - b) / (a - b) ** 2
    own = (alpha + c, c, c)
    if not variable.absent:
        return ScoreMoments(own, (1.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    within, without = variable.both
    inside, outside = (within - a * b) / (a - b) ** 2, (without - b * b) / (a - b) ** 2
    return ScoreMoments(own, (1 - inside, -outside, -inside), (1 + c, 1 + c, alpha + c - 1))


def ratio_limits(part: float, whole: float, variance: Callable[[float], float], step: float, z: float) -> Limits:
    """Return limits of a share part/whole by test inversion.

    Args:
        part, whole: unclipped estimates.
        variance: variance of part - t whole for the hypothesis t.
        step: continuity correction.
        z: normal quantile of the confidence level.
    """
    den = max(whole, 0.0)
    num = min(max(part, 0.0), den)

    def inside(t: float) -> bool:
        return abs(num - t * den) <= z * math.sqrt(max(variance(t), 0.0)) + step

    point = num / den if den else 0.5
    if not inside(point):
        return 0.0, 1.0
    low, high = (edge(inside, point, end) for end in (0.0, 1.0))
    # The set can come back beyond a gap; one part of it alone would not cover.
    scanned = (step / _SCANNED for step in range(_SCANNED + 1))
    parts = any(inside(t) != (low <= t <= high) for t in scanned if min(abs(t - low), abs(t - high)) > _NEAR)
    return (0.0, 1.0) if parts else (low, high)


class AnsweredStratum(NamedTuple):
    """A stratum: weight u, number of reports, moments of the category, its a - b, raw shares of it and of absent."""

    u: float
    n: int
    moments: ScoreMoments
    gap: float
    raw: float
    absent: float
    waves: int

    def variance(self, t: float, answered: float) -> float:
        """Return the variance of the stratum's mean of h, if a share ``answered`` of the people answered."""
        shares = t * answered, (1 - t) * answered, 1 - answered
        once = sum(share * square for share, square in zip(shares, self.moments.ratio(t), strict=True))
        return (once + (self.waves - 1) * answered * t * (1 - t)) / self.n


def answered_shares(
    strata: Sequence[StratumTally], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> tuple[Estimate, ...]:
    """Estimate the share of each answer among the people who answered; the result is empty if there are no reports.

    Args:
        strata: (mechanism, tally) of each revision, wave or cohort that asked the question.
        domain: true values of the question, the last of which stands for no answer.
        rule: options of the intervals; their method is always ``METHOD``.
    """
    some = list(counted_strata(strata, domain, rule))
    if not some:
        return ()
    return tuple(_answered(some, place, rule) for place in range(len(domain.places)))


def counted_strata(
    strata: Sequence[StratumTally], domain: Domain, rule: IntervalRule
) -> Iterator[tuple[Variable, Sequence[Estimate]]]:
    """Yield the variable of each stratum with reports of a question with categories, and its shares of all people."""
    for mechanism, tally in merge(strata):
        if mechanism is None:
            [variable], shares = public.variables(domain), public.estimate(tally, domain, rule)
        else:
            [variable] = VARIABLES[mechanism.name](mechanism, domain)
            shares = estimate(mechanism, tally, domain, rule)
        if shares[-1].n:
            yield replace(variable, absent=domain.absent), shares


def _answered(some: Sequence[tuple[Variable, Sequence[Estimate]]], place: int, rule: IntervalRule) -> Estimate:
    parts = stratum_parts(some, place, rule.waves)
    part, whole = (
        math.fsum(each.u * share for each, share in zip(parts, shares, strict=True))
        for shares in ([each.raw for each in parts], [1 - each.absent for each in parts])
    )
    step = max(each.u / (each.n * each.gap) for each in parts) / 2

    def variance(t: float) -> float:
        return math.fsum(each.u**2 * each.variance(t, clip(whole)) for each in parts)

    n, others = sum(each.n for each in parts), len(some[0][1]) - 1
    made = ratio_estimate(some[-1][1][place], n, (part, whole), variance, step, rule, others)
    shown, (band_low, band_high) = made.clipped, _band(some, place)
    return replace(
        made,
        implausible=any(shares[place].implausible for _, shares in some),
        poisoning=0.0 if shown is None else min(_poisoning(parts, shown, rule.fakes) / whole, 1.0),
        band_low=band_low,
        band_high=band_high,
    )


def ratio_estimate(
    like: Estimate, n: int, ratio: tuple[float, float], variance: Callable[[float], float], step: float,
    rule: IntervalRule, options: int,
) -> Estimate:  # fmt: skip
    """Return the estimate of a ratio, part and whole, from ``n`` reports, with limits by inversion and no band.

    Args:
        like: estimate of the same option among all people, for what stays as it is.
        variance: of the score for a hypothesis.
        step: half of the gap between neighbouring scores.
        options: number of options whose joint limits hold together.
    """
    part, whole = ratio
    single, joint = (
        ratio_limits(part, whole, variance, step, normal_quantile(confidence))
        for confidence in (rule.confidence, rule.joint_confidence(options))
    )
    raw = part / whole if whole > 0 else None
    shown = None if raw is None else clip(raw)
    return replace(
        like,
        a=None,
        b=None,
        raw=raw,
        clipped=shown,
        std_error=None if shown is None else math.sqrt(max(variance(shown), 0.0)) / whole,
        low=single[0],
        high=single[1],
        method=METHOD,
        confidence=rule.confidence,
        n=n,
        count=None,
        std_error_fixed=None,
        simultaneous_low=joint[0],
        simultaneous_high=joint[1],
        band_low=None,
        band_high=None,
    )


def stratum_parts(some: Sequence[tuple[Variable, Sequence[Estimate]]], place: int, waves: int) -> list[AnsweredStratum]:
    """Return the strata of one category, with their weights in the mean.

    Args:
        some: variable and shares of each stratum that has reports.
        place: the category.
        waves: number of waves of the same people.
    """
    gaps = [a - b for variable, _ in some for a, b in [variable.channels[place]]]
    own = [share_of(*each, place) for each in some]
    precision = [share.n * gap**2 for gap, share in zip(gaps, own, strict=True)]
    return [
        AnsweredStratum(
            weight / math.fsum(precision),
            share.n,
            score_moments(variable, place),
            gap,
            share.raw or 0.0,
            (shares[-1].raw or 0.0) if variable.absent else 0.0,
            waves,
        )
        for weight, share, gap, (variable, shares) in zip(precision, own, gaps, some, strict=True)
    ]


def share_of(variable: Variable, shares: Sequence[Estimate], place: int) -> Estimate:
    """Return the share of the category at ``place``; ``shares`` of a yes/no question may be the share of yes alone."""
    return shares[place - len(variable.categories) + len(shares)]


def _poisoning(parts: Sequence[AnsweredStratum], t: float, fakes: float) -> float:
    """Return the largest shift of part - t whole by fake reports, each a report of the category or of no answer."""
    reports = sum(each.n for each in parts)
    return max(fakes * each.u * reports / each.n * (1 + t) / each.gap for each in parts)


def _band(some: Sequence[tuple[Variable, Sequence[Estimate]]], place: int) -> tuple[float | None, float | None]:
    """Return limits that hold at every look: the bands of all options hold jointly, so those of a ratio follow."""
    own, absent = some[-1][1][place], some[-1][1][-1]
    if len(some) > 1 or own.band_low is None or absent.band_low is None:
        return None, None
    least, most = 1 - (absent.band_high or 0.0), 1 - absent.band_low
    low = own.band_low / most if most else 0.0
    return min(low, 1.0), min((own.band_high or 0.0) / least, 1.0) if least else 1.0
