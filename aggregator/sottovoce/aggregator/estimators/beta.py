"""
Quantiles of the beta distribution, vectorised, from numpy alone.

Maths       I_t(p, q) = w / F(t; p, q), w = t^p (1-t)^q / B(p, q), F a continued fraction evaluated forwards; beyond
            t = (p+1)/(p+q+2), where it converges slowly, I_t(p, q) = 1 - I_(1-t)(q, p).
            w is written with deviances and Stirling errors, since lgamma(1e6) alone has lost nine digits.
Root        Newton's method for ln I as a function of u = ln t. With q >= 1 the density of ln T is log-concave, so
            ln I is concave and increasing in u: after one step every iterate lies left of the root and moves right.
            No bracket is needed, and none can be wrong.
Start       The normal approximation of Peizer and Pratt, so near that one step of Newton's is mostly enough; for small
            parameters a bound from the left.
Large       From p, q >= 5,000 on the fraction needs hundreds of terms; there the approximation itself is the result.
            Its error in t is below 1e-9 (2e-11 from 10,000 on), a millionth of any interval's width.
Source      Peizer and Pratt 1968; Didonato and Morris 1992 (the fraction); Loader 2000 (the saddle-point form of w).
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LARGE = 5000
"""Where both parameters reach this, the deviate is exact enough."""

_SMALL = 10
"""From here on in both parameters the deviate is a start from which Newton's method needs a step or two."""

_DEVIATE_STEPS = 10
_FRACTION_STEPS = 20_000
_NEWTON_STEPS = 60
_LOOK = 3  # steps of the fraction between two looks: a look costs as much as a step
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
    p, q = first.ravel(), second.ravel()
    log_peak = _log_peak(p, q)
    u = _start(tail, p, q, log_peak)
    going = np.arange(len(u))
    for _ in range(_NEWTON_STEPS):
        before, these = u[going], (p[going], q[going])
        log_mass, log_slope = _log_mass(before, *these, log_peak[going])
        newton = before + (math.log(tail) - log_mass) / np.exp(log_slope - log_mass)
        u[going] = after = np.clip(newton, _LEAST, before / 2)  # u / 2 keeps t below 1
        # Quadratic: where a step was shorter than 1e-7, the next one would be lost in the rounding.
        going = going[np.abs(after - before) > 1e-7 * np.abs(after)]
        if not len(going):
            break
    quantile: Array = np.exp(u).reshape(first.shape)
    return quantile


def _peizer_pratt(tail: float, p: Array, q: Array, close: float = 1e-9) -> Array:
    """The quantile from Peizer and Pratt's normal deviate of I_t(p, q) = P(X >= p), X ~ Bin(p + q - 1, t)."""
    n, x, wanted = p + q - 1, p - 1, -NormalDist().inv_cdf(tail)
    t = _score_limit(tail, p, q)
    # The deviate falls by nearly sqrt(n / (t (1 - t))) for each unit of t, the more nearly the larger n.
    slope = np.sqrt(n / (t * (1 - t)))
    before, excess_before = t, np.full_like(t, np.nan)
    for _ in range(_DEVIATE_STEPS):
        excess = _deviate(t, n, x) - wanted
        if np.all(np.abs(excess) <= close):
            break
        # From the second step on the slope is what the last step found: a secant.
        found = (excess_before - excess) / np.where(t == before, np.nan, t - before)
        slope = np.where(found > 0, found, slope)
        before, excess_before = t, excess
        t = np.clip(t + excess / slope, t / 2, (1 + t) / 2)
    return t


def _deviate(t: Array, n: Array, x: Array) -> Array:
    rest = 1 - t
    offset = x + 2 / 3 - (n + 1 / 3) * t
    offset = offset + 0.02 * (rest / (x + 1) - t / (n - x) + (rest - 0.5) / (n + 1))
    spread = rest * _skewness((x + 0.5) / (n * t)) + t * _skewness((n - x - 0.5) / (n * rest))
    deviate: Array = offset * np.sqrt((1 + spread) / ((n + 1 / 6) * t * rest))
    return deviate


def _skewness(x: Array) -> Array:
    """(1 - x^2 + 2 x ln x) / (1 - x)^2; its series near 1, where the two differences cancel."""
    d = 1 - x
    near = np.abs(d) < 0.01
    series = d * (1 / 3 + d * (1 / 6 + d * (1 / 10 + d * (1 / 15 + d / 21))))
    apart = np.where(near, 2.0, x)
    skewness: Array = np.where(near, series, (1 - apart * apart + 2 * apart * np.log(apart)) / (1 - apart) ** 2)
    return skewness


def _start(tail: float, p: Array, q: Array, log_peak: Array) -> Array:
    """Where Newton starts in ln t."""
    start = np.empty_like(p)
    near = np.minimum(p, q) >= _SMALL
    start[near] = np.log(_peizer_pratt(tail, p[near], q[near], 1e-6))
    start[~near] = _start_small(tail, p[~near], q[~near], log_peak[~near])
    return start


def _start_small(tail: float, p: Array, q: Array, log_peak: Array) -> Array:
    """Left of the root, or at the corrected score limit where that is nearer."""
    # I_t <= t^p / (p B), since (1-t)^(q-1) <= 1: the root of the right side lies left of ours.
    log_beta = p * np.log(p / (p + q)) + q * np.log(q / (p + q)) - log_peak
    bound = (math.log(tail) + np.log(p) + log_beta) / p
    score = np.log(np.maximum(_score_limit(tail, p, q), 1e-300))
    start: Array = np.clip(np.maximum(bound, score), _LEAST, -1e-15)
    return start


def _score_limit(tail: float, p: Array, q: Array) -> Array:
    """Wilson's lower limit with continuity correction: about the quantile."""
    z, n, x = NormalDist().inv_cdf(tail), p + q - 1, np.maximum(p - 0.5, 0.0)
    limit: Array = (x + z * z / 2 + z * np.sqrt(x * np.maximum(n - x, 0.0) / n + z * z / 4)) / (n + z * z)
    return limit


def _log_mass(u: Array, p: Array, q: Array, log_peak: Array) -> tuple[Array, Array]:
    """The logarithm of I_t(p, q), and ln of its derivative with respect to u = ln t."""
    t, rest = np.exp(u), -np.expm1(u)
    log_w = log_peak - _deviance(p, (p + q) * t) - _deviance(q, (p + q) * rest)
    far = t > (p + 1) / (p + q + 2)
    near_p, near_q = np.where(far, q, p), np.where(far, p, q)
    log_part = log_w - np.log(_fraction(np.where(far, rest, t), near_p, near_q))
    part = np.exp(np.minimum(log_part, -1e-16))
    return np.where(far, np.log1p(-np.where(far, part, 0.0)), log_part), log_w - np.log(rest)


def _fraction(t: Array, p: Array, q: Array) -> Array:
    """The continued fraction F(t; p, q) = b_0 + a_1 / (b_1 + a_2 / ...), as the quotient of two recurrences."""
    both, centre, slope = p + q, p - (p + q) * t + 1, 2 - t
    part = 1 / (p + 1)
    value, settled = p * centre * part, np.zeros(p.shape, dtype=bool)
    before, quotient = np.stack([np.ones_like(p), np.zeros_like(p)]), np.stack([value, np.ones_like(p)])
    for m in range(1, _FRACTION_STEPS):
        even, onward = m * (q - m) * (t * part), p + m
        a = (onward - 1) * (both + (m - 1)) * (t * part) * even
        part = 1 / (onward + (m + 1))
        b = m + even + onward * (centre + m * slope) * part
        before, quotient = quotient, b * quotient + a * before
        if m % _LOOK == 0:
            last, value = value, quotient[0] / quotient[1]
            # Rounding may move a value again that had settled; to wait for all at once could be to wait for ever.
            settled |= np.abs(value - last) <= 1e-10 * value
            if settled.all():
                break
            before, quotient = before / quotient[1], quotient / quotient[1]
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
    """What Stirling's formula for ln Gamma(z) leaves out."""
    small = z < _SHIFT
    big = np.where(small, z + _SHIFT, z)
    inverse = 1 / (big * big)
    error: Array = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / big
    if small.any():
        error[small] += _stirling_shift(z[small])
    return error


def _stirling_shift(z: Array) -> Array:
    """By how much more it leaves out at z than at z + 10, since Gamma(z) = Gamma(z + 10) / prod (z + i)."""
    product = np.prod([z + i for i in range(_SHIFT)], axis=0)
    shift: Array = (z + _SHIFT - 0.5) * np.log(z + _SHIFT) - (z - 0.5) * np.log(z) - _SHIFT - np.log(product)
    return shift
