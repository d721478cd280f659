"""
Quantiles of the beta distribution, vectorised, from numpy alone.

Maths       I_t(p, q) = w / p * K(t; p, q), w = t^p (1-t)^q / B(p, q), K a continued fraction evaluated by Lentz's
            method; beyond t = (p+1)/(p+q+2), where it converges slowly, I_t(p, q) = 1 - I_(1-t)(q, p).
            w is written with deviances and Stirling errors, since lgamma(1e6) alone has lost nine digits.
Root        Newton's method for ln I as a function of u = ln t. With q >= 1 the density of ln T is log-concave, so
            ln I is concave and increasing in u: after one step every iterate lies left of the root and moves right.
            No bracket is needed, and none can be wrong.
Large       From p, q >= 5,000 on the fraction needs hundreds of terms; there the normal approximation of Peizer and
            Pratt is used, whose error in t is below 1e-9 (2e-11 from 10,000 on), a millionth of any interval's width.
Source      Peizer and Pratt 1968; Abramowitz and Stegun 26.5.8; Lentz 1976; Loader 2000 (the saddle-point form of w).
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LARGE = 5000
"""Where both parameters reach this, the deviate is exact enough."""

_DEVIATE_STEPS = 10
_FRACTION_STEPS = 20_000
_NEWTON_STEPS = 60
_LEAST = -700.0  # ln t; smaller quantiles are 0 to every purpose
_SHIFT = 10  # Stirling's series is used from here on: its error is then below 1e-16


def beta_quantile(tail: float, p: ArrayLike, q: ArrayLike) -> Array:
    """
    The t with P(Beta(p, q) <= t) = tail, elementwise.

    Args:
        tail: probability to the left, in (0, 1/2].
        p: first parameter, > 0; broadcasts against ``q``.
        q: second parameter, >= 1.

    Returns:
        Quantiles in [0, 1); absolute error below 1e-12, and below 1e-9 where both parameters reach ``LARGE``.

    Raises:
        ValueError: a parameter is outside those ranges.
    """
    first, second = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(q, dtype=float))
    if not (0 < tail <= 0.5 and np.all(first > 0) and np.all(second >= 1)):
        raise ValueError("a beta quantile needs 0 < tail <= 1/2, p > 0 and q >= 1")
    large = np.minimum(first, second) >= LARGE
    if not large.any():
        return _newton(tail, first, second)
    quantile = np.empty_like(first)
    quantile[large] = _peizer_pratt(tail, first[large], second[large])
    quantile[~large] = _newton(tail, first[~large], second[~large])
    return quantile


def _newton(tail: float, first: Array, second: Array) -> Array:
    """The quantile from the continued fraction."""
    log_peak = _log_peak(first, second)
    u = _start(tail, first, second, log_peak)
    for _ in range(_NEWTON_STEPS):
        log_mass, log_slope = _log_mass(u, first, second, log_peak)
        newton = u + (math.log(tail) - log_mass) / np.exp(log_slope - log_mass)
        before, u = u, np.clip(newton, _LEAST, u / 2)  # u / 2 keeps t below 1
        if np.all(np.abs(u - before) <= 1e-10 * np.maximum(1.0, np.abs(u))):  # quadratic: the next step is 1e-20
            break
    quantile: Array = np.exp(u)
    return quantile


def _peizer_pratt(tail: float, p: Array, q: Array) -> Array:
    """The quantile from Peizer and Pratt's normal deviate of I_t(p, q) = P(X >= p), X ~ Bin(p + q - 1, t)."""
    n, x, wanted = p + q - 1, p - 1, -NormalDist().inv_cdf(tail)
    t: Array = np.clip(x / n - wanted * np.sqrt(x * q / n) / n, 1e-9, 1 - 1e-9)
    for _ in range(_DEVIATE_STEPS):
        rest = 1 - t
        offset = x + 2 / 3 - (n + 1 / 3) * t
        offset = offset + 0.02 * (rest / (x + 1) - t / (n - x) + (rest - 0.5) / (n + 1))
        spread = rest * _skewness((x + 0.5) / (n * t)) + t * _skewness((n - x - 0.5) / (n * rest))
        deviate = offset * np.sqrt((1 + spread) / ((n + 1 / 6) * t * rest))
        # The deviate falls by nearly sqrt(n / (t (1 - t))) for each unit of t, the more nearly the larger n.
        t = np.clip(t + (deviate - wanted) * np.sqrt(t * rest / n), t / 2, (1 + t) / 2)
    return t


def _skewness(x: Array) -> Array:
    """(1 - x^2 + 2 x ln x) / (1 - x)^2; its series near 1, where the two differences cancel."""
    d = 1 - x
    near = np.abs(d) < 0.01
    series = d * (1 / 3 + d * (1 / 6 + d * (1 / 10 + d * (1 / 15 + d / 21))))
    apart = np.where(near, 2.0, x)
    skewness: Array = np.where(near, series, (1 - apart * apart + 2 * apart * np.log(apart)) / (1 - apart) ** 2)
    return skewness


def _start(tail: float, p: Array, q: Array, log_peak: Array) -> Array:
    """Where Newton starts in ln t: left of the root, or at the corrected score limit where that is nearer."""
    # I_t <= t^p / (p B), since (1-t)^(q-1) <= 1: the root of the right side lies left of ours.
    log_beta = p * np.log(p / (p + q)) + q * np.log(q / (p + q)) - log_peak
    bound = (math.log(tail) + np.log(p) + log_beta) / p
    z, n, x = NormalDist().inv_cdf(tail), p + q - 1, np.maximum(p - 0.5, 0.0)
    score = (x + z * z / 2 + z * np.sqrt(x * np.maximum(n - x, 0.0) / n + z * z / 4)) / (n + z * z)
    start: Array = np.clip(np.maximum(bound, np.log(np.maximum(score, 1e-300))), _LEAST, -1e-15)
    return start


def _log_mass(u: Array, p: Array, q: Array, log_peak: Array) -> tuple[Array, Array]:
    """The logarithm of I_t(p, q), and ln of its derivative with respect to u = ln t."""
    t, rest = np.exp(u), -np.expm1(u)
    log_w = log_peak - _deviance(p, (p + q) * t) - _deviance(q, (p + q) * rest)
    far = t > (p + 1) / (p + q + 2)
    near_p, near_q = np.where(far, q, p), np.where(far, p, q)
    log_part = log_w - np.log(near_p) + np.log(_fraction(np.where(far, rest, t), near_p, near_q))
    part = np.exp(np.minimum(log_part, -1e-16))
    return np.where(far, np.log1p(-np.where(far, part, 0.0)), log_part), log_w - np.log(rest)


def _fraction(t: Array, p: Array, q: Array) -> Array:
    """The continued fraction K(t; p, q), >= 1."""
    d = 1 / (1 - (p + q) * t / (p + 1))
    c, value = np.ones_like(d), d
    for m in range(1, _FRACTION_STEPS):
        # Three steps between two looks: the look costs as much as a step.
        even = m * (q - m) * t / ((p + 2 * m - 1) * (p + 2 * m))
        d, c = 1 / (1 + even * d), 1 + even / c
        odd = -(p + m) * (p + q + m) * t / ((p + 2 * m) * (p + 2 * m + 1))
        value = value * (d * c)
        d, c = 1 / (1 + odd * d), 1 + odd / c
        step = d * c
        value = value * step
        if m % 3 == 0 and np.all(np.abs(step - 1) <= 1e-14):
            break
    return value


def _log_peak(p: Array, q: Array) -> Array:
    """The logarithm of w at t = p / (p + q): sqrt(p q / (2 pi (p + q))) and three Stirling errors."""
    peak: Array = np.log(p * q / (2 * math.pi * (p + q))) / 2
    return peak + _stirling_error(p + q) - _stirling_error(p) - _stirling_error(q)


def _deviance(x: Array, mean: Array) -> Array:
    """X ln(x / mean) + mean - x, >= 0, without cancellation."""
    d = (mean - x) / x
    deviance: Array = x * (d - np.where(np.abs(d) < 0.1, np.log1p(np.clip(d, -0.1, 0.1)), np.log(mean / x)))
    return deviance


def _stirling_error(z: Array) -> Array:
    """What Stirling's formula for ln Gamma(z) leaves out; small z by Gamma(z) = Gamma(z + 10) / prod (z + i)."""
    small = z < _SHIFT
    big = np.where(small, z + _SHIFT, z)
    inverse = 1 / (big * big)
    series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / big
    low = np.where(small, z, 1.0)
    product = np.prod([low + i for i in range(_SHIFT)], axis=0)
    shift = (low + _SHIFT - 0.5) * np.log(low + _SHIFT) - (low - 0.5) * np.log(low) - _SHIFT - np.log(product)
    error: Array = np.where(small, series + shift, series)
    return error
