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

import math
from bisect import bisect_left
from dataclasses import dataclass

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
    low = bisect_left(range(n), True, key=lambda people: distribution(people, n, a, b)[count:].sum() > tail)
    high = n - bisect_left(range(n), True, key=lambda few: distribution(n - few, n, a, b)[: count + 1].sum() > tail)
    return PeopleCount(min(max(round((count - n * b) / (a - b)), 0), n), low, high, n)


def distribution(people: int, n: int, a: float, b: float) -> NDArray[np.float64]:
    """Return P(X = 0), .., P(X = n), (n + 1,), if T = ``people`` of n truly support the option."""
    return np.convolve(binomial(people, a), binomial(n - people, b))


def binomial(n: int, chance: float) -> NDArray[np.float64]:
    """Return the probabilities of 0 to n successes, (n + 1,)."""
    successes = np.arange(n + 1)
    if not 0 < chance < 1:
        return np.where(successes == n * chance, 1.0, 0.0)
    # Logarithms, since binomial coefficients overflow floats for n above 1,029.
    ways = np.concatenate([[0.0], np.cumsum(np.log(np.arange(n, 0, -1.0)) - np.log(np.arange(1.0, n + 1)))])
    found: NDArray[np.float64] = np.exp(ways + successes * math.log(chance) + (n - successes) * math.log1p(-chance))
    return found
