"""Uncertainty of an innocuous share in estimates: designs in which a fact of the person's own hides the answer.

Parameter   The share of the fact is p + s u: p and its standard error s from the survey file, u standard normal and
            independent of the reports. u is one parameter for each fact, shared by all groups, rows, arms, strata,
            revisions and questions that use it, so that pooling does not make its part smaller.
Limits      Profile over u: a value lies within the limits at the normal quantile z if for some u it lies within those
            that take the share p + s u as exact, at sqrt(z^2 - u^2). With u = z sin t the ends of these limits vary
            like a sine, skewed where u enters as a curve. Seven turns t are taken, then one at a time where a curve
            through the nearest five and one through three tell the outermost end differently, until none does.
            Where no u changes a value, such as a difference of 0, limits exclude it exactly where those without the
            error do: p values of independence stay as they are.
Errors      Delta method: s times the derivative of the whole figure, by a small change of u; squares are added.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from sottovoce.aggregator.estimators.intervals import Array
from sottovoce.aggregator.estimators.support import Estimate, IntervalRule
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR, channel

Figure = TypeVar("Figure")
Found = TypeVar("Found")
Made = TypeVar("Made", bound=Mechanism | None)

_TURNS = tuple(math.radians(degrees) for degrees in (0, -84, -42, -5, 5, 42, 84))
_MOST, _APART = 24, math.radians(0.5)
_NEAREST, _UNSEEN, _WITHIN = 5, 4, 2e-4
_FINEST, _FINEST_TRUTH = 10**5, 10**4
_LEAST = Fraction(1, 1000)
"""Smallest distance of a moved share from 0, 1 and, in the crosswise model, 1/2, where reports tell nothing."""


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


class Turns:
    """Turns of one share, the exact one first, for limits of this confidence; where one more would tell most.

    ``z`` is the normal quantile of the confidence.
    """

    def __init__(self, confidence: float) -> None:
        self.z, self._confidence = NormalDist().inv_cdf((1 + confidence) / 2), confidence
        self._taken = list(_TURNS)
        self._doubt, self._next = 1.0, 0.0

    @property
    def u(self) -> list[float]:
        """Standard errors of the share at each turn."""
        return [self.z * math.sin(turn) for turn in self._taken]

    def over(self, figure: Callable[[float, float], Figure], join: Callable[[list[Figure]], Found]) -> Found:
        """Return the figures of all turns as one, of as many turns as tell the outermost limits.

        Args:
            figure: the figure at u, with limits of this confidence.
            join: makes one of the figures at all turns, by this object.
        """
        figures: list[Figure] = []
        while True:
            for turn, u in zip(self._taken[len(figures) :], self.u[len(figures) :], strict=True):
                level = 2 * NormalDist().cdf(self.z * math.cos(turn)) - 1 if turn else self._confidence
                figures.append(figure(u, level))
            self._doubt = 1.0
            joined = join(figures)
            if self._doubt == 1 or len(figures) == _MOST:
                return joined
            self._taken.append(self._next)

    def slope(self, points: Sequence[float | None]) -> float | None:
        """Return the derivative by u of figures at the turns; None without all of them."""
        if None in points[1 : len(_TURNS)]:
            return None
        # Not by the farthest turns, where a coefficient may be on its way out of all bounds.
        near = slice(2, len(_TURNS) - 1)
        return float(np.polyfit(self.u[near], np.array(points, float)[near], 3)[-2])

    def outermost(
        self, limits: Sequence[float | None], side: int, ends: Sequence[float] = (-1.0, 0.0, 1.0)
    ) -> float | None:
        """Return the outermost of limits at all turns and between them; None if one is unbounded.

        ``ends`` are values that no share changes: the ends of a range, and no difference.
        """
        if None in limits:
            return None
        at, out = np.array(self._taken), side * np.array(limits, float)
        # Where the first turns tell it, it does not depend on turns that another limit needs.
        far, turn, doubt = _farthest(at[: len(_TURNS)], out[: len(_TURNS)])
        if doubt > 1:
            far, turn, doubt = _farthest(at, out)
        if doubt > self._doubt and np.abs(at - turn).min() > _APART:
            self._doubt, self._next = doubt, turn
        top = float(out.max())
        return side * next((end for end in ends if top <= end < far), far)

    def with_share(self, figures: Sequence[Figure]) -> Figure:
        """Return a figure, a dataclass, with the uncertainty of a share in its limits and its standard errors."""
        found = figures[0]
        changed: dict[str, Any] = {
            name: self.outermost([getattr(each, name) for each in figures], 1 if name.endswith("high") else -1)
            for name in vars(found)
            if name.endswith(("low", "high"))
        }
        slope = self.slope([getattr(each, "raw", getattr(each, "estimate", None)) for each in figures])
        for name in ("std_error", "std_error_fixed"):
            error = getattr(found, name, None)
            changed |= {} if error is None else {name: None if slope is None else math.hypot(error, slope)}
        return replace(found, **changed)  # type: ignore[type-var]


def _farthest(at: Array, out: Array) -> tuple[float, float, float]:
    """Return the largest value over all turns, its turn, and how many times more than allowed two curves differ."""
    order = np.argsort(at)
    at, out = at[order], out[order]
    place = int(out.argmax())
    top, close = float(out[place]), np.arange(place - 1, place + 2)
    if not 0 < place < len(out) - 1 or max(out[place - 1], out[place + 1]) >= top or not np.isfinite(out[close]).all():
        return top, float(at[place]), 0.0
    known = np.flatnonzero(np.isfinite(out))
    nearest = known[np.argsort(np.abs(at[known] - at[place]), kind="stable")[:_NEAREST]]
    (far, turn), (other, coarse) = (
        _peak(at[some] - at[place], out[some], at[close] - at[place]) for some in (nearest, close)
    )
    doubt = (abs(far - other) + (far - top) / _UNSEEN) / (_WITHIN * max(1.0, abs(top)))
    # A curve through a top that is known already may have missed another, so the farther of the two is looked at.
    return far, float(at[place]) + max(turn, coarse, key=abs), doubt


def _peak(at: Array, out: Array, within: Array) -> tuple[float, float]:
    """Return the largest value of the curve through these points around 0, and its place."""
    curve = np.polyfit(at, out, len(at) - 1)
    roots = np.roots(np.polyder(curve))
    places = np.append(roots[np.isreal(roots)].real, 0.0)
    places = places[(places >= within[0]) & (places <= within[-1])]
    values = np.polyval(curve, places)
    return float(values.max()), float(places[values.argmax()])


def of_strata(
    estimate: Callable[[Sequence[tuple[Made, Mapping[int, int]]], IntervalRule], Sequence[Estimate]],
    strata: Sequence[tuple[Made, Mapping[int, int]]],
    rule: IntervalRule,
) -> Sequence[Estimate]:
    """Estimate a question from its strata, with the uncertainty of the innocuous share that their channels have."""
    if all(moved(mechanism, 1) == mechanism for mechanism, _ in strata):
        return estimate(strata, rule)
    return over_share(lambda u, by: estimate([(moved(made, u), tally) for made, tally in strata], by), rule)


def over_share(estimate: Callable[[float, IntervalRule], Sequence[Estimate]], rule: IntervalRule) -> Sequence[Estimate]:
    """Estimate a question with the uncertainty of its innocuous share, by its estimates at u standard errors."""
    turns = Turns(rule.confidence)

    def joined(around: list[Sequence[Estimate]]) -> Sequence[Estimate]:
        return [
            replace(turns.with_share(own), implausible=all(each.implausible for each in own))
            for own in zip(*around, strict=True)
        ]

    return turns.over(lambda u, level: estimate(u, replace(rule, confidence=level)), joined)
