"""Estimates from several strata, pooled, and shares among the people who answered.

The share of option j among those who answered is P(j) / (1 - P(absent)), with limits by test inversion:

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

Strata are revisions, waves and cohorts:

Equal channels      Counts add, before anything else: ``merge``.
Different channels  All strata estimate one share p, so they are weighted by inverse variance:
                    p^ = sum u_i p_i, u_i proportional to 1 / v_i(p), v_i(p) = l_i (1 - l_i) / (n_i (a_i - b_i)^2),
                    l_i = b_i + (a_i - b_i) p. All v_i are computed at one p (the pooled share, in two passes, moved off
                    0 and 1), not at each stratum's own estimate: a stratum without supporting reports would get
                    variance 0 and all the weight. Weights by n are worse: coin flip with n = 300 and Warner with
                    n = 700 at p = .2 have variance .00179 by n, .00153 by inverse variance.
                    Interval: { p : |p^ - p| <= z sqrt(sum u_i^2 v_i(p)) + c }, p^ clipped first; c is half a report of
                    the stratum whose report moves p^ most, c = max u_i / (2 n_i (a_i - b_i)).
Means               1 / v_i with v_i the variance that the channel adds (``std_error_fixed`` squared), which is never 0;
                    normal interval from the larger of the two standard errors. Approximate.
Sources             Cochran 1977, chapters 5 and 5A; Warner 1965 (the variance of each stratum).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sottovoce.aggregator.estimators import VARIABLES, estimate, public, square_wave
from sottovoce.aggregator.estimators.by_hand.uncertain_share import of_strata
from sottovoce.aggregator.estimators.intervals import clip, edge, normal_quantile
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms import Mechanism

StratumTally = tuple[Mechanism | None, Mapping[int, int]]
"""Pair of a mechanism (None for a public answer) and the tally of its reports."""

POOLED = "pooled"
BOOTSTRAP = square_wave.METHOD
_PASSES = 2


class _Part(NamedTuple):
    """Share of one stratum, with its weight u in the pooled share."""

    u: float
    n: int
    a: float
    b: float
    raw: float
    waves: int = 1

    def variance(self, p: float) -> float:
        """Return an upper bound of the variance of the stratum's share at p.

        With W waves of the same people, in whichever strata, the pooled variance grows by at most
        (W - 1) sum u^2 p (1 - p) / n, since (sum of W terms)^2 <= W times the sum of squares.
        """
        reported = self.b + (self.a - self.b) * p
        once = reported * (1 - reported) / (self.a - self.b) ** 2
        return (once + (self.waves - 1) * p * (1 - p)) / self.n

    def noise(self, p: float) -> float:
        return (p * self.a * (1 - self.a) + (1 - p) * self.b * (1 - self.b)) / (self.n * (self.a - self.b) ** 2)


def estimate_strata(
    strata: Iterable[StratumTally], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> Sequence[Estimate]:
    """Estimate one question from all its strata.

    Args:
        strata: (mechanism, tally) of each revision, wave or cohort that asked the question.
        domain: true values of the question, the same in all strata.
        rule: method of the intervals; if different channels are pooled, the method is "pooled", without a band.

    Raises:
        EstimateError: no stratum, impossible counts, or mechanisms that estimate different things.
    """
    groups = [(mechanism, tally) for mechanism, tally in merge(strata) if mechanism is not None]
    return of_strata(lambda moved, by: _estimate_groups(moved, domain, by), groups, rule)


def _estimate_groups(
    groups: Sequence[tuple[Mechanism, Mapping[int, int]]], domain: Domain, rule: IntervalRule
) -> Sequence[Estimate]:
    parts = [estimate(mechanism, tally, domain, rule) for mechanism, tally in groups]
    if not parts:
        raise EstimateError("there is no stratum to estimate from")
    if len(parts) == 1 or any(estimate.method == BOOTSTRAP for estimates in parts for estimate in estimates):
        # Maximum likelihood histograms from different channels cannot be pooled by variance: return the newest alone.
        return parts[-1]
    return pool(parts, rule)


def merge(strata: Iterable[StratumTally]) -> list[StratumTally]:
    """Add the counts of strata with equal mechanisms; in order of first appearance."""
    groups: list[tuple[Mechanism | None, dict[int, int]]] = []
    for mechanism, tally in strata:
        total = next((sums for known, sums in groups if known == mechanism), None)
        if total is None:
            groups.append((mechanism, dict(tally)))
        else:
            for value, count in tally.items():
                total[value] = total.get(value, 0) + count
    return list(groups)


def pool(strata: Sequence[Sequence[Estimate]], rule: IntervalRule = DEFAULT_RULE) -> list[Estimate]:
    """Pool estimates of the same shares (or means) through different channels, option by option.

    A stratum that alone has reports keeps its own estimate. Raises EstimateError if there is no stratum, or the options
    differ.

    Args:
        strata: estimates of each stratum, with the same options in the same order.
        rule: only its confidence and waves are used.
    """
    if not strata or len({tuple(e.option for e in estimates) for estimates in strata}) != 1:
        raise EstimateError("strata to pool must have the same options")
    columns = list(zip(*strata, strict=True))
    return [_pool_option(column, rule, len(columns)) for column in columns]


def _pool_option(column: Sequence[Estimate], rule: IntervalRule, options: int) -> Estimate:
    some = [estimate for estimate in column if estimate.n]
    if len(some) < 2:
        return some[0] if some else column[0]
    if any(estimate.a is None for estimate in some):
        return _pool_means(some, rule, options)
    parts = [_part(estimate, rule.waves) for estimate in some]
    reports = sum(part.n for part in parts)
    p = 0.5
    for _ in range(1 + _PASSES):
        parts = _inverse_variance(parts, p)
        raw = math.fsum(part.u * part.raw for part in parts)
        p = (reports * clip(raw) + 0.5) / (reports + 1)  # off 0 and 1, where channels with b = 0 have variance 0
    errors = math.sqrt(_variance(parts, p)), _root_sum(part.u**2 * part.noise(p) for part in parts)
    single = _pooled_interval(parts, raw, rule.confidence)
    joint = _pooled_interval(parts, raw, rule.joint_confidence(options))
    used = [(estimate, part.u) for estimate, part in zip(some, parts, strict=True)]
    return _pooled_estimate(used, raw, errors, (single, joint), rule)


def _pool_means(some: Sequence[Estimate], rule: IntervalRule, means: int) -> Estimate:
    noise = [estimate.std_error_fixed or 0.0 for estimate in some]
    if min(noise) <= 0:
        raise EstimateError("means without noise cannot be weighted by their variance")
    precision = [1 / error**2 for error in noise]
    used = [(estimate, share / math.fsum(precision)) for estimate, share in zip(some, precision, strict=True)]
    raw = math.fsum(u * (estimate.raw or 0.0) for estimate, u in used)
    own = [estimate.std_error or fixed for estimate, fixed in zip(some, noise, strict=True)]
    error = _root_sum((u * sd) ** 2 for (_, u), sd in zip(used, own, strict=True))
    larger = _root_sum((u * max(sd, fixed)) ** 2 for (_, u), sd, fixed in zip(used, own, noise, strict=True))
    least, most = some[0].lowest, some[0].highest
    centre = min(max(raw, least), most)
    halves = [normal_quantile(c) * larger for c in (rule.confidence, rule.joint_confidence(means))]
    single, joint = ((max(centre - half, least), min(centre + half, most)) for half in halves)
    return _pooled_estimate(used, raw, (error, math.sqrt(1 / math.fsum(precision))), (single, joint), rule)


def _pooled_estimate(
    used: Sequence[tuple[Estimate, float]],
    raw: float,
    errors: tuple[float, float],
    limits: tuple[tuple[float, float], tuple[float, float]],
    rule: IntervalRule,
) -> Estimate:
    """Return the pooled estimate from its parts (estimate, u), (i.i.d., fixed) errors and (single, joint) limits."""
    reports = sum(estimate.n for estimate, _ in used)
    first = used[0][0]
    return replace(
        first,
        a=None,
        b=None,
        raw=raw,
        clipped=min(max(raw, first.lowest), first.highest),
        std_error=errors[0],
        low=limits[0][0],
        high=limits[0][1],
        method=POOLED,
        confidence=rule.confidence,
        n=reports,
        count=None,
        std_error_fixed=errors[1],
        simultaneous_low=limits[1][0],
        simultaneous_high=limits[1][1],
        implausible=any(estimate.implausible for estimate, _ in used),
        # Worst case: all fake reports go to the stratum where they move the pooled estimate most.
        poisoning=max(estimate.poisoning * u * reports / estimate.n for estimate, u in used),
        band_low=None,
        band_high=None,
    )


def _part(estimate: Estimate, waves: int = 1) -> _Part:
    if estimate.a is None or estimate.b is None or estimate.raw is None:
        raise EstimateError("only shares with a channel of their own can be combined")
    return _Part(0.0, estimate.n, estimate.a, estimate.b, estimate.raw, waves)


def _inverse_variance(parts: Sequence[_Part], p: float) -> list[_Part]:
    precision = [1 / part.variance(p) for part in parts]
    total = math.fsum(precision)
    return [part._replace(u=share / total) for part, share in zip(parts, precision, strict=True)]


def _pooled_interval(parts: Sequence[_Part], raw: float, confidence: float) -> tuple[float, float]:
    centre, z = clip(raw), normal_quantile(confidence)
    # Half of the largest change of the pooled share by one report (continuity correction).
    correction = max(part.u / (part.n * (part.a - part.b)) for part in parts) / 2

    def inside(p: float) -> bool:
        return abs(centre - p) <= z * math.sqrt(_variance(parts, p)) + correction

    # sqrt(V) is concave, so ``inside`` holds on one interval around the centre, and bisection finds its ends.
    return edge(inside, centre, 0.0), edge(inside, centre, 1.0)


def _variance(parts: Sequence[_Part], p: float) -> float:
    return math.fsum(part.u**2 * part.variance(p) for part in parts)


def _root_sum(terms: Iterable[float]) -> float:
    return math.sqrt(math.fsum(terms))


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
