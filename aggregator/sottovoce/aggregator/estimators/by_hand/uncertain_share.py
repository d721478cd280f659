"""Uncertainty of an innocuous share in estimates: designs in which a fact of the person's own hides the answer.

The share p of the fact has the standard error s, independent of the reports. By the delta method it adds
d^2 = s^2 (d pi / d p)^2 to the variance of the estimated share pi; ``InnocuousRR.slope`` has the derivative. Limits
move to pi - sqrt((pi - low)^2 + (z d)^2) and pi + sqrt((high - pi)^2 + (z d)^2): the square-and-add method of Zou and
Donner (2008), which keeps the skewness of the interval from counts. Revisions with one fact share its error, so that
pooling does not make it smaller.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist

from sottovoce.aggregator.estimators.support import Estimate, IntervalRule
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR, channel
from sottovoce.shared.spec import Question

Shift = Mapping[str, int]
"""Number of standard errors by which the innocuous share of a question is moved, by name of the question."""


def uncertain(mechanism: object) -> bool:
    """Say whether the channel has an innocuous share that is not known exactly."""
    return isinstance(mechanism, InnocuousRR) and bool(mechanism.std_error)


def moved(question: Question, shift: Shift) -> Question:
    """Return a question with its innocuous share moved."""
    made, errors = question.mechanism, shift.get(question.name, 0)
    if not isinstance(made, InnocuousRR) or not errors:
        return question
    share = made.share + errors * made.std_error
    a, b = channel(made.procedure, share, made.truth)
    return replace(question, mechanism=replace(made, a=a, b=b, share=share))


def widen(mechanism: Mechanism | None, estimates: Sequence[Estimate], rule: IntervalRule) -> Sequence[Estimate]:
    """Return estimates of yes, from counts, with the uncertainty of the innocuous share, if the channel has an inexact
    one.

    ``mechanism`` is the channel of the newest stratum.
    """
    if not isinstance(mechanism, InnocuousRR) or not uncertain(mechanism):
        return estimates
    return [_widen_one(mechanism, estimate, rule) for estimate in estimates]


def _widen_one(mechanism: InnocuousRR, estimate: Estimate, rule: IntervalRule) -> Estimate:
    if estimate.clipped is None:
        return estimate
    point = estimate.clipped
    error = float(mechanism.std_error) * abs(mechanism.slope(point))

    def limits(low: float | None, high: float | None, confidence: float) -> tuple[float, float]:
        if low is None or high is None:
            raise AssertionError("an estimate has both limits or none")
        wide = NormalDist().inv_cdf((1 + confidence) / 2) * error
        return max(0.0, point - math.hypot(point - low, wide)), min(1.0, point + math.hypot(high - point, wide))

    def with_share(std_error: float | None) -> float | None:
        return None if std_error is None else math.hypot(std_error, error)

    low, high = limits(estimate.low, estimate.high, rule.confidence)
    joint = limits(estimate.simultaneous_low, estimate.simultaneous_high, rule.joint_confidence(2))
    has_band = estimate.band_low is not None
    band = limits(estimate.band_low, estimate.band_high, rule.confidence) if has_band else (None, None)
    return replace(
        estimate,
        low=low,
        high=high,
        std_error=with_share(estimate.std_error),
        std_error_fixed=with_share(estimate.std_error_fixed),
        simultaneous_low=joint[0],
        simultaneous_high=joint[1],
        band_low=band[0],
        band_high=band[1],
    )
