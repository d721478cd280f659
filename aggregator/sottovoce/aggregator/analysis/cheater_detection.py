"""
The share of yes and of self-protective no, from two randomly assigned channels run by hand.

Maths       If a share s says no whatever the coin told them, yes is reported with l_d = (1 - s)(b_d + (a_d - b_d) p) by
            design d. From two designs (1 - s) and (1 - s) p solve two linear equations; they have one solution if
            b_d / (a_d - b_d) differs. One strong and one weak channel are wanted: with the coin and (.9, .1) the
            standard deviation of p is .032 where the coin and Warner's have .077.
Limits      Of p by inversion of Q = l_1 f_2 - l_2 f_1, f_d = b_d + (a_d - b_d) p; of s by the delta method.
Cannot      An untrue answer given before the coin is tossed can be estimated from nothing.
Source      Clark and Desharnais 1998; Cruyff, Boeckenholt, van der Heijden and Frank 2016.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.score_intervals import clip, edge
from sottovoce.shared.errors import EstimateError


class Design(NamedTuple):
    """
    One channel and its reports.

    Attributes:
        a: P(report yes | yes).
        b: P(report yes | no).
        yes: reports of yes.
        n: all reports, at least 2.
    """

    a: float
    b: float
    yes: float
    n: int


class Protected(NamedTuple):
    """The share of yes, and of those who say no whatever their coin told them."""

    share: Result
    protective: Result


def self_protective(designs: Sequence[Design], z: float) -> Protected:
    """
    Both shares from two designs.

    Args:
        designs: two, to which respondents were assigned at random.
        z: the normal quantile of the confidence.

    Raises:
        EstimateError: the designs cannot tell the two shares apart, or one has fewer than two reports.
    """
    one, other = designs
    if min(one.n, other.n) < 2:
        raise EstimateError("each of the two designs needs at least two reports")
    gap1, gap2 = one.a - one.b, other.a - other.b
    determinant = one.b * gap2 - other.b * gap1
    if abs(determinant) < 1e-9:
        raise EstimateError("the two designs cannot be told apart: their odds of b to a - b are the same")
    share1, share2 = (each.yes / each.n for each in designs)
    honest = (share1 * gap2 - share2 * gap1) / determinant
    truly = (one.b * share2 - other.b * share1) / determinant
    raw = truly / honest if honest > 0 else None
    variances = tuple(s * (1 - s) / (each.n - 1) for s, each in zip((share1, share2), designs, strict=True))
    of_honest = (gap2 / determinant, -gap1 / determinant)
    of_truly = (-other.b / determinant, one.b / determinant)
    slopes = None if raw is None else tuple((t - raw * h) / honest for t, h in zip(of_truly, of_honest, strict=True))
    low, high = _limits((share1, share2), designs, variances, raw, z)
    n = one.n + other.n
    share = Result(
        None if raw is None else clip(raw),
        raw,
        None if slopes is None else _error(slopes, variances),
        "delta",
        low,
        high,
        "inversion",
        n,
        n,
    )
    error = _error(of_honest, variances)
    lying = 1 - honest
    limits = clip(lying - z * error), clip(lying + z * error)
    return Protected(share, Result(clip(lying), lying, error, "delta", *limits, "delta", n, n))


def _limits(
    shares: tuple[float, float],
    designs: Sequence[Design],
    variances: Sequence[float],
    raw: float | None,
    z: float,
) -> tuple[float, float]:
    def inside(p: float) -> bool:
        first, second = (each.b + (each.a - each.b) * p for each in designs)
        spread = second**2 * variances[0] + first**2 * variances[1]
        return (shares[0] * second - shares[1] * first) ** 2 <= z**2 * spread

    point = 0.5 if raw is None else clip(raw)
    return edge(inside, point, 0.0), edge(inside, point, 1.0)


def _error(slopes: Sequence[float], variances: Sequence[float]) -> float:
    return math.sqrt(sum(slope**2 * variance for slope, variance in zip(slopes, variances, strict=True)))
