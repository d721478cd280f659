"""Uncertainty of an innocuous share in estimates: designs in which a fact of the person's own hides the answer.

Parameter   The share of the fact is p + s u: p and its standard error s from the survey file, u standard normal and
            independent of the reports. u is one parameter for each fact, shared by all groups, rows, arms, strata,
            revisions and questions that use it, so that pooling does not make its part smaller.
Limits      Profile over u: a value lies within the limits at the normal quantile z if for some u it lies within those
            that take the share p + s u as exact, at sqrt(z^2 - u^2). With u = z sin t the ends of these limits vary
            like a sine, so a few turns t and a parabola through the outermost three find it to a thousandth.
            Where no u changes a value, such as a difference of 0, limits exclude it exactly where those without the
            error do: p values of independence stay as they are.
Errors      Delta method: s times the derivative of the whole figure, by a small change of u; squares are added.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from sottovoce.aggregator.estimators.support import Estimate, IntervalRule
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR, channel
from sottovoce.shared.spec import Question

Figure = TypeVar("Figure")
Made = TypeVar("Made", bound=Mechanism | None)

_TURNS = tuple(math.radians(degrees) for degrees in (-84, -56, -28, 28, 56, 84))
_FINEST, _FINEST_TRUTH = 10**5, 10**4
_LEAST = Fraction(1, 1000)
"""Smallest distance of a moved share from 0, 1 and, in the crosswise model, 1/2, where reports tell nothing."""


def fact_of(question: Question) -> str:
    """Return the name of the fact with an inexact share that hides the answers to a question; "" for none."""
    made = question.mechanism
    return (made.fact or question.name) if isinstance(made, InnocuousRR) and made.std_error else ""


def moved(mechanism: Made, u: float) -> Made:
    """Return a channel with its innocuous share ``u`` standard errors away."""
    if not isinstance(mechanism, InnocuousRR) or not mechanism.std_error:
        return mechanism
    low, high = Fraction(0), Fraction(1)
    if mechanism.is_crosswise:
        low, high = (low, high / 2) if mechanism.share < high / 2 else (high / 2, high)
    share = min(max(mechanism.share + Fraction(u) * mechanism.std_error, low + _LEAST), high - _LEAST)
    share = share.limit_denominator(_FINEST)
    a, b = channel(mechanism.procedure, share, mechanism.truth.limit_denominator(_FINEST_TRUTH))
    return replace(mechanism, a=a, b=b, share=share)


def turns(confidence: float) -> Iterator[tuple[float, float]]:
    """Yield u and the confidence of the limits there, in the order that ``with_share`` takes figures."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    for turn in _TURNS:
        yield z * math.sin(turn), 2 * NormalDist().cdf(z * math.cos(turn)) - 1


def with_share(found: Figure, around: Sequence[Figure], confidence: float) -> Figure:
    """Return a figure with the uncertainty of a share in its limits ``low`` and ``high`` and its standard errors.

    Args:
        found: with the share as exact; a dataclass.
        around: the same at each of the ``turns``.
        confidence: of the limits of ``found``.
    """
    ordered = (*around[:3], found, *around[3:])
    changed: dict[str, Any] = {
        name: outermost([getattr(each, name) for each in ordered], 1 if name.endswith("high") else -1)
        for name in vars(found)
        if name.endswith(("low", "high"))
    }
    slope = slope_of([getattr(each, "raw", getattr(each, "estimate", None)) for each in around], confidence)
    for name in ("std_error", "std_error_fixed"):
        error = getattr(found, name, None)
        changed |= {} if error is None else {name: None if slope is None else math.hypot(error, slope)}
    return replace(found, **changed)  # type: ignore[type-var]


def slope_of(points: Sequence[float | None], confidence: float) -> float | None:
    """Return the derivative by u of figures at the turns; None without all of them."""
    known = [each for each in points if each is not None]
    u = [step for step, _ in turns(confidence)]
    return float(np.polyfit(u, known, len(u) - 1)[-2]) if len(known) == len(u) else None


def outermost(limits: Sequence[float | None], side: int) -> float | None:
    """Return the outermost of the limits over all turns, by a parabola through three; None if one is unbounded."""
    if None in limits:
        return None
    out = [side * (each or 0.0) for each in limits]
    at = max(range(len(out)), key=out.__getitem__)
    top = out[at]
    before, after = out[max(at - 1, 0)], out[min(at + 1, len(out) - 1)]
    if max(before, after) < top and math.isfinite(before + top + after):
        far = top + (before - after) ** 2 / (8 * (2 * top - before - after))
        # The ends of a range, and no difference, are values that no share changes.
        top = next((end for end in (-1.0, 0.0, 1.0) if top <= end < far), far)
    return side * top


def of_strata(
    estimate: Callable[[Sequence[tuple[Made, Mapping[int, int]]], IntervalRule], Sequence[Estimate]],
    strata: Sequence[tuple[Made, Mapping[int, int]]],
    rule: IntervalRule,
) -> Sequence[Estimate]:
    """Estimate a question from its strata, with the uncertainty of the innocuous share that their channels have."""
    found = estimate(strata, rule)
    if all(moved(mechanism, 1) == mechanism for mechanism, _ in strata):
        return found
    around = [
        estimate([(moved(made, u), tally) for made, tally in strata], replace(rule, confidence=level))
        for u, level in turns(rule.confidence)
    ]
    return [
        replace(with_share(own, others, rule.confidence), implausible=all(each.implausible for each in (own, *others)))
        for own, *others in zip(found, *around, strict=True)
    ]
