"""Exact distributions and coverages: what the statistical tests enumerate instead of sampling."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Limits = tuple[Array, Array]


def symmetric(epsilon: float) -> tuple[float, float]:
    """The best yes/no channel at this epsilon."""
    return 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))


CHANNELS = {
    "coin": (3 / 4, 1 / 4),
    "warner": (2 / 3, 1 / 3),
    "forced": (11 / 12, 1 / 6),
    "epsilon .5": symmetric(0.5),
    "epsilon 3": symmetric(3.0),
    "epsilon 5": symmetric(5.0),
}
"""a and b by name."""

SIZES = [*range(1, 61), *range(75, 401, 15)]
"""Every n to 60, then every 15th to 400."""

GRID = np.linspace(0, 1, 201)
"""Shares at which coverage is enumerated."""


@lru_cache(maxsize=512)
def log_choose(n: int) -> Array:
    """Logarithm of n over 0 .. n."""
    logs = np.array([math.lgamma(i + 1) for i in range(n + 1)])
    return logs[n] - logs - logs[::-1]


def binomial(n: int, reported: Array) -> Array:
    """P(x) for x = 0 .. n (columns), one row for each reported share in (0, 1)."""
    x = np.arange(n + 1)
    logs = log_choose(n) + np.outer(np.log(reported), x) + np.outer(np.log1p(-reported), n - x)
    return np.exp(logs)


def coverage(limits: Limits, n: int, a: float, b: float, shares: Array = GRID) -> Array:
    """P(low <= p <= high) for each share p; ``limits`` are those of the counts 0 .. n."""
    low, high = limits
    inside = (low[None, :] <= shares[:, None]) & (shares[:, None] <= high[None, :])
    return (binomial(n, b + (a - b) * shares) * inside).sum(axis=1)


def minimum(
    method: Callable[..., Limits],
    channel: tuple[float, float],
    sizes: list[int],
    confidence: float = 0.95,
    *,
    claimed: tuple[float, float] | None = None,
) -> float:
    """The smallest coverage over sizes and ``GRID``; ``claimed`` is another channel, told to a mutant's interval."""
    told = claimed or channel
    return min(coverage(method(np.arange(n + 1), n, *told, confidence), n, *channel).min() for n in sizes)
