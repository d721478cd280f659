"""Anytime-valid confidence band for a share: the grid-mixture confidence sequence.

Maths       S of the first t reports support the option; l(p) = b + (a - b) p; L_t(p) = l(p)^S (1 - l(p))^(t-S).
            mix_t = mean of L_t over the J nodes p_j = (j + 1/2) / J, and
                band_t = { p in [0, 1] : L_t(p) > alpha mix_t }.
Guarantee   Under the true p, mix_t / L_t(p) is a nonnegative martingale that starts at 1, for any fixed nodes, so by
            Ville's inequality the truth is ever excluded with probability at most alpha. The grid is the prior
            itself; no error of integration enters. Reports must be i.i.d. in their order of arrival.
Shape       mix_t <= max of L_t over [0, 1], so the band holds the constrained maximum and is never empty. ln L_t is
            concave in p, so each limit is one bisection.
Cost        About 1.4 to 1.8 times as wide as a fixed-n interval at the same t (coin flip, t = 50 .. 2000). 512 nodes
            are dense enough up to 10^6 reports; beyond, the band stays valid and grows wider than it need be.
Sources     Ville 1939; Robbins 1970 (mixture martingales); Howard, Ramdas, McAuliffe and Sekhon 2021.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.estimators.intervals import edge

Array = NDArray[np.float64]

NODES = 512


def band(count: int, n: int, a: float, b: float, confidence: float, options: int = 1) -> tuple[float, float]:
    """Return the limits (low, high) of a share, within [0, 1], that hold simultaneously at every number of reports.

    Args:
        count: reports so far that support the option, 0 .. n.
        n: reports so far; without any the limits are [0, 1].
        a: P(support | true).
        b: P(support | not true), b < a.
        confidence: probability that the truth is never excluded, in (0, 1).
        options: k > 1 makes the bands of k options hold jointly (Bonferroni, alpha / k each).
    """
    if n == 0:
        return 0.0, 1.0
    threshold = float(log_mixture(count, n, a, b)) + math.log((1 - confidence) / options)
    best = min(max((count / n - b) / (a - b), 0.0), 1.0)

    def inside(p: float) -> bool:
        return _log_likelihood(count, n, b + (a - b) * p) > threshold

    return edge(inside, best, 0.0), edge(inside, best, 1.0)


def log_mixture(count: ArrayLike, n: ArrayLike, a: float, b: float) -> Array:
    """Return the logarithm of mix, for one count or an array of counts; ``n`` broadcasts against ``count``, a and b as
    in ``band``.
    """
    yes, no = _node_logs(float(a), float(b))
    support = np.asarray(count, dtype=float)[..., None]
    log_likelihood = support * yes + (np.asarray(n, dtype=float)[..., None] - support) * no
    # Log-sum-exp, since the likelihoods of many reports underflow.
    top = log_likelihood.max(axis=-1)
    mixture: Array = top + np.log(np.exp(log_likelihood - top[..., None]).mean(axis=-1))
    return mixture


@lru_cache(maxsize=256)
def _node_logs(a: float, b: float) -> tuple[Array, Array]:
    """Return ln l and ln(1 - l) at the nodes, shape (J,) each; cached by channel."""
    reported = b + (a - b) * (np.arange(NODES) + 0.5) / NODES
    return np.log(reported), np.log1p(-reported)


def _log_likelihood(count: int, n: int, reported: float) -> float:
    """Return S ln l + (t - S) ln(1 - l), with 0 ln 0 = 0."""
    yes = count * math.log(reported) if count and reported > 0 else (-math.inf if count else 0.0)
    no = (n - count) * math.log1p(-reported) if count < n and reported < 1 else (-math.inf if count < n else 0.0)
    return yes + no
