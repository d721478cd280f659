"""Pooled estimates from several strata: revisions, waves, cohorts.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sottovoce.aggregator.estimators import estimate, square_wave
from sottovoce.aggregator.estimators.by_hand.uncertain_share import of_strata
from sottovoce.aggregator.estimators.intervals import clip, edge, normal_quantile
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms import Mechanism

StratumTally = tuple[Mechanism | None, Mapping[int, int]]
"""Pair of a mechanism (None for a public answer) and the tally of its reports."""

METHOD = "pooled"
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
        method=METHOD,
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
    centre, z, correction = clip(raw), normal_quantile(confidence), _half_report(parts)

    def inside(p: float) -> bool:
        return abs(centre - p) <= z * math.sqrt(_variance(parts, p)) + correction

    # sqrt(V) is concave, so ``inside`` holds on one interval around the centre, and bisection finds its ends.
    return edge(inside, centre, 0.0), edge(inside, centre, 1.0)


def _variance(parts: Sequence[_Part], p: float) -> float:
    return math.fsum(part.u**2 * part.variance(p) for part in parts)


def _half_report(parts: Sequence[_Part]) -> float:
    """Return half of the largest change of the pooled share by one report (continuity correction)."""
    return max(part.u / (part.n * (part.a - part.b)) for part in parts) / 2


def _root_sum(terms: Iterable[float]) -> float:
    return math.sqrt(math.fsum(terms))
