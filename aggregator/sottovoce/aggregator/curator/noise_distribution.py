"""Add noise to integers, in steps, and bound the errors that follow from its distributions.

Drawn       All noise is drawn before it is added: the random bytes used depend on no data.
Laplace     P(x) = (1 - a) / (1 + a) a^|x|, a = e^(-rate), rate = epsilon / sensitivity; Pr[|x| >= t] = 2 a^t / (1 + a).
Gaussian    P(x) ~ e^(-x^2 / (2 s)), s the variance parameter (the true variance is never larger).
Error       The smallest integer t with Pr[largest of k errors >= t] = 1 - (1 - Pr[|x| >= t])^k <= beta.
Theorems    Laplace (Dwork and Roth, 3.8), true for discrete noise as
            Pr[largest error > ceil(ln(k/beta) / rate)] <= beta. The form for continuous noise, with >= and without the
            ceiling, is false here (4 cells, rate 1/2: .0542).
            Gaussian: Pr[largest error >= sqrt(2 s ln(2 k/beta))] <= beta, since the noise is sub-Gaussian.
Sources     Dwork and Roth 2014; Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.shared.exact_noise import ExactNoise

BETA = Fraction(1, 20)
"""Probability that an error exceeds the stated bound."""

_SUMMED = 200_000
"""Largest sigma for which Gaussian tails are summed; beyond it sum and integral agree to ten digits."""


def add_laplace(values: Sequence[int], rate: Fraction, draws: ExactNoise) -> list[int]:
    """Add independent discrete Laplace noise to each integer; ``rate`` is epsilon over the L1 sensitivity in steps."""
    return [value + draws.discrete_laplace(rate.numerator, rate.denominator) for value in values]


def add_gaussian(values: Sequence[int], variance: Fraction, draws: ExactNoise) -> list[int]:
    """Add independent discrete Gaussian noise to each integer; ``variance`` is s of P(x) ~ e^(-x^2 / (2 s))."""
    return [value + draws.discrete_gaussian(variance.numerator, variance.denominator) for value in values]


def laplace_tail(rate: Fraction, t: int) -> float:
    """Return Pr[|x| >= t] for discrete Laplace noise."""
    return 1.0 if t <= 0 else 2 * math.exp(-float(rate * t)) / (1 + math.exp(-rate))


def largest_of(tail: float, cells: int) -> float:
    """Return the probability that at least one of ``cells`` independent errors is in a tail of this probability."""
    return 1.0 if tail >= 1 else -math.expm1(cells * math.log1p(-tail))


def laplace_error(rate: Fraction, cells: int) -> dict[str, Any]:
    """Return the error bound of ``cells`` answers with discrete Laplace noise, in grid units."""
    bound = math.log(cells / BETA) / float(rate)
    t = smallest(lambda t: largest_of(laplace_tail(rate, t), cells), math.ceil(bound) + 1)
    name = "Laplace accuracy: Pr[largest error > ceil(figure)] <= 1/20"
    return {"t": t, "beta": str(BETA), "theorem": {"name": name, "figure": bound}}


def gaussian_error(variance: Fraction, cells: int) -> dict[str, Any]:
    """Return the error bound of ``cells`` answers with discrete Gaussian noise, in grid units."""
    bound = math.sqrt(2 * variance * math.log(2 * cells / BETA))
    tail = _gaussian_tail(variance, math.ceil(bound) + 1)
    t = smallest(lambda t: largest_of(tail(t), cells), math.ceil(bound) + 1)
    name = "sub-Gaussian tail: Pr[largest error >= figure] <= 1/20"
    return {"t": t, "beta": str(BETA), "theorem": {"name": name, "figure": bound}}


def _gaussian_tail(variance: Fraction, reach: int) -> Callable[[int], float]:
    sigma = math.sqrt(variance)
    if sigma > _SUMMED:
        return lambda t: math.erfc((t - 1) / sigma / math.sqrt(2))  # t - 1 errs on the safe side
    last = reach + math.ceil(12 * sigma) + 12
    weights = np.exp(-(np.arange(last + 1, dtype=np.float64) ** 2) / (2 * float(variance)))
    tails = 2 * np.cumsum(weights[::-1])[::-1] / (2 * weights[1:].sum() + weights[0])
    return lambda t: 1.0 if t <= 0 else float(tails[t])


def smallest(probability: Callable[[int], float], enough: int) -> int:
    """Return the smallest t at which a decreasing probability is at most beta; ``enough`` is known to be such a t."""
    return 1 + bisect_left(range(1, enough), True, key=lambda t: probability(t) <= BETA)
