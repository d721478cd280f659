"""Find the variance of discrete Gaussian noise for (epsilon, delta)-differential privacy.

One number      With sensitivity D the exact delta of the discrete distribution is its hockey-stick divergence,
                delta(epsilon) = sum over x of max(P(x) - e^epsilon P(x - D), 0). The likelihood ratio is monotone, so
                it is the largest F(m) - e^epsilon F(m - D), which grows with D: smaller shifts reveal less.
Several         The worst direction of a vector is not known, so a bound for all directions is used: the noise is
                rho-zCDP with rho = D^2 / (2 s), and delta <= e^((a - 1)(a rho - epsilon)) / (a - 1) (1 - 1/a)^a for any
                a > 1. It makes sigma about seven per cent larger. One number with very wide noise uses it too.
Variance        s = D^2 k / 1024 for the smallest integer k found; the delta of the s in use is computed, not assumed.
Not used        The classic sigma = sqrt(2 ln(1.25/delta)) D / epsilon: it is proved for epsilon < 1 only, and at
                epsilon 12 and delta 1e-6 it is five times too small.
Sources         Canonne, Kamath and Steinke 2020 (discrete Gaussian, conversion); Balle and Wang 2018 (exact curve);
                Bun and Steinke 2016; Dwork and Roth 2014, appendix A (classic sigma).
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

_PARTS = 1024
_SUMMED = 100_000
"""Largest sigma for which delta is summed exactly."""


def discrete_delta(variance: Fraction, shift: int, epsilon: float) -> float:
    """Return the exact delta of discrete Gaussian noise on one number.

    Args:
        variance: s of P(x) ~ e^(-x^2 / (2 s)).
        shift: sensitivity of the number, an integer number of steps above 0.
    """
    s = float(variance)
    # P(x) > e^epsilon P(x - shift) up to this x; terms further down than 40 sigma are below 10^-300.
    last = math.ceil(shift / 2 - epsilon * s / shift)
    x = np.arange(last - math.ceil(40 * math.sqrt(s)) - 1, last + 1, dtype=np.float64)
    loss = (shift * shift - 2 * x * shift) / (2 * s)
    terms = np.exp(-x * x / (2 * s)) * -np.expm1(np.minimum(epsilon - loss, 0.0))
    reach = math.ceil(12 * math.sqrt(s)) + 12
    return float(terms.sum() / np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * s)).sum())


def concentrated_delta(rho: float, epsilon: float) -> float:
    """Return a delta that every rho-zCDP mechanism satisfies at this epsilon; at most 1."""
    orders = 1 + np.exp(np.linspace(-9, 12, 4001))
    log = (orders - 1) * (orders * rho - epsilon) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    return min(1.0, math.exp(min(float(log.min()), 0.0)))


def gaussian_variance(epsilon: Fraction, delta: Fraction, square: int, numbers: int) -> tuple[Fraction, float]:
    """Return the smallest variance found for which the noise is (epsilon, delta)-private, and its computed delta.

    Args:
        epsilon, delta: above 0, delta below 1; else ValueError.
        square: the squared L2 sensitivity, in steps.
        numbers: how many numbers get noise.
    """
    if epsilon <= 0 or not 0 < delta < 1:
        raise ValueError("Gaussian noise needs epsilon above 0 and delta between 0 and 1")
    bound = _of(square, lambda k: concentrated_delta(_PARTS / (2 * k), float(epsilon)), delta)
    shift = math.isqrt(square)
    # One number changes by an integer number of steps, so by floor(sqrt(square)) at most.
    if numbers > 1 or bound[0] > _SUMMED**2:
        return bound
    return _of(square, lambda k: discrete_delta(Fraction(square * k, _PARTS), shift, float(epsilon)), delta)


def _of(square: int, delta_of: Callable[[int], float], delta: Fraction) -> tuple[Fraction, float]:
    low, high = 0, 1
    while delta_of(high) > delta:
        low, high = high, 2 * high
    while high - low > 1 and high - low > high // 4096:
        middle = (low + high) // 2
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return Fraction(square * high, _PARTS), delta_of(high)
