"""
The distributions of the noise, and the error that follows from them.

Laplace     P(x) = (1 - a) / (1 + a) a^|x|, a = e^(-rate), rate = epsilon / sensitivity; Pr[|x| >= t] = 2 a^t / (1 + a).
Gaussian    P(x) ~ e^(-x^2 / (2 s)), s the variance of the formula (its true variance is never larger).
Error       The smallest integer t with Pr[largest of k errors >= t] = 1 - (1 - Pr[|x| >= t])^k <= beta.
Theorems    Laplace (Dwork and Roth, 3.8), true for discrete noise as
            Pr[largest error > ceil(ln(k/beta) / rate)] <= beta; with >= and without the ceiling, as it is told of
            continuous noise, it is false (4 cells, rate 1/2: .0542).
            Gaussian: Pr[largest error >= sqrt(2 s ln(2 k/beta))] <= beta, since the noise is sub-Gaussian.
Sources     Dwork and Roth 2014; Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

BETA = Fraction(1, 20)
"""How often an error may be larger than the one that is told."""

_SUMMED = 200_000
"""Up to so wide a Gaussian is summed integer by integer; beyond that a sum and an integral agree to ten digits."""


def laplace_tail(rate: Fraction, t: int) -> float:
    """Pr[|x| >= t] of discrete Laplace noise."""
    return 1.0 if t <= 0 else 2 * math.exp(-float(rate * t)) / (1 + math.exp(-rate))


def largest_of(tail: float, cells: int) -> float:
    """The probability that one of so many independent errors at least is that large, from one's probability."""
    return 1.0 if tail >= 1 else -math.expm1(cells * math.log1p(-tail))


def laplace_error(rate: Fraction, cells: int) -> dict[str, Any]:
    """The error of so many answers with discrete Laplace noise, for a release; in grid units."""
    bound = math.log(cells / BETA) / float(rate)
    t = _smallest(lambda t: largest_of(laplace_tail(rate, t), cells), math.ceil(bound) + 1)
    name = "Laplace accuracy: Pr[largest error > ceil(figure)] <= 1/20"
    return {"t": t, "beta": str(BETA), "theorem": {"name": name, "figure": bound}}


def gaussian_error(variance: Fraction, cells: int) -> dict[str, Any]:
    """The error of so many answers with discrete Gaussian noise, for a release; in grid units."""
    bound = math.sqrt(2 * variance * math.log(2 * cells / BETA))
    tail = _gaussian_tail(variance, math.ceil(bound) + 1)
    t = _smallest(lambda t: largest_of(tail(t), cells), math.ceil(bound) + 1)
    name = "sub-Gaussian tail: Pr[largest error >= figure] <= 1/20"
    return {"t": t, "beta": str(BETA), "theorem": {"name": name, "figure": bound}}


def _gaussian_tail(variance: Fraction, reach: int) -> Callable[[int], float]:
    sigma = math.sqrt(variance)
    if sigma > _SUMMED:
        return lambda t: math.erfc((t - 1) / sigma / math.sqrt(2))  # one step to the safe side
    last = reach + math.ceil(12 * sigma) + 12
    weights = np.exp(-(np.arange(last + 1, dtype=np.float64) ** 2) / (2 * float(variance)))
    whole = 2 * weights[1:].sum() + weights[0]
    tails = 2 * np.cumsum(weights[::-1])[::-1] / whole
    return lambda t: 1.0 if t <= 0 else float(tails[t])


def _smallest(probability: Callable[[int], float], enough: int) -> int:
    """The smallest t at which a falling probability is at most beta; ``enough`` is one at which it is."""
    low, high = 0, enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if probability(middle) <= BETA else (middle, high)
    return high
