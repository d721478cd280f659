"""Number of people in a finite population in which everyone has sent a report.

A class of thirty is not a sample: it is the whole population, and only the channel is random. If T of n people truly
support the option, the number of supporting reports is X = Bin(T, a) + Bin(n - T, b), independent. For a > b, X grows
stochastically with T, so the limits invert both tails of this exact distribution:

    low  = the smallest T with P_T(X >= x) > alpha / 2,
    high = the largest  T with P_T(X <= x) > alpha / 2.

The coverage is at least the confidence for every T, without approximation, and the interval is shorter than one for a
population of which the n are a sample. The point estimate is (x - n b) / (a - b), rounded and clipped into 0 .. n for
display; it is never shown without its limits.

Sources: Clopper and Pearson 1934 (inversion of two tails), here for a sum of two binomials.
"""

from bisect import bisect_left
from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

MOST = 2000
"""Largest population: beyond it the difference from a sample is negligible, and the convolutions take long."""


@dataclass(frozen=True)
class PeopleCount:
    """Estimated number of people in a population of size ``of``, clipped into 0 .. ``of``, with limits."""

    people: int
    low: int
    high: int
    of: int


def people_count(count: int, n: int, a: float, b: float, confidence: float = 0.95) -> PeopleCount:
    """Estimate the number of people who truly support an option, if all n of a population have sent a report.

    Args:
        count: reports that support the option, 0 .. n.
        n: size of the population, 1 .. ``MOST``, else ValueError.
        a: P(support | true).
        b: P(support | not true), b < a.
        confidence: least coverage of the limits, in (0, 1).
    """
    if not 1 <= n <= MOST:
        raise ValueError(f"a group has 1 to {MOST} people")
    tail = (1 - confidence) / 2
    low = bisect_left(range(n), True, key=lambda people: at_least(count, people, n, (a, b)) > tail)
    high = n - bisect_left(range(n), True, key=lambda missing: at_most(count, n - missing, n, (a, b)) > tail)
    point = min(max(round((count - n * b) / (a - b)), 0), n)
    return PeopleCount(point, low, high, n)


def at_least(count: int, people: int, n: int, support: tuple[float, float]) -> float:
    """Return P(X >= count) if T = ``people`` of n truly support the option; ``support`` is (a, b)."""
    return float(_distribution(people, n, support)[count:].sum())


def at_most(count: int, people: int, n: int, support: tuple[float, float]) -> float:
    """Return P(X <= count) if T = ``people`` of n truly support the option; ``support`` is (a, b)."""
    return float(_distribution(people, n, support)[: count + 1].sum())


def _distribution(people: int, n: int, support: tuple[float, float]) -> NDArray[np.float64]:
    """Return P(X = 0), .., P(X = n) for T = ``people``, shape (n + 1,)."""
    a, b = support
    return np.convolve(_binomial(people, a), _binomial(n - people, b))


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    """Return P(X = 0), .., P(X = n) for X ~ Bin(n, p), shape (n + 1,)."""
    if p in {0.0, 1.0}:
        return np.array([float(k == n * p) for k in range(n + 1)])
    # Logarithms, since the binomial coefficients overflow floats for n above 1,029.
    ways = [lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in range(n + 1)]
    return np.array([exp(each) for each in [way + k * log(p) + (n - k) * log(1 - p) for k, way in enumerate(ways)]])
