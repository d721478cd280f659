"""
How many people of a group, when everybody in it has sent a report.

A class of thirty is no sample: nobody else is meant, and only the channel is random. With T people of n who would truly
support the option, the supporting reports are X = Bin(T, a) + Bin(n - T, b), two independent sums. For a > b, X grows
with T stochastically, so the limits are found by inverting both tails of that exact distribution:

    low  = the smallest T with P_T(X >= x) > alpha / 2,
    high = the largest  T with P_T(X <= x) > alpha / 2.

By construction the true T lies within with at least the confidence, whatever it is; no approximation, and shorter than
an interval for a population of which the n are a sample. The point is (x - n b) / (a - b), rounded and forced into
0 .. n for display; it is never shown without its limits.

Sources: the inversion of two tails is Clopper and Pearson's (1934), here for a sum of two binomials.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

MOST = 2000
"""People in a group: beyond it, the difference to a sample no longer matters, and the sums take long."""


@dataclass(frozen=True)
class PeopleCount:
    """
    A number of people.

    Attributes:
        people: the estimate, forced into what is possible.
        low: fewest.
        high: most.
        of: people in the group.
    """

    people: int
    low: int
    high: int
    of: int


def people_count(count: int, n: int, a: float, b: float, confidence: float = 0.95) -> PeopleCount:
    """
    The number of people who truly support an option, where all n of a group have sent a report.

    Args:
        count: reports that support the option, 0 .. n.
        n: people in the group, 1 .. ``MOST``, each with a report.
        a: P(support | true).
        b: P(support | not true), b < a.
        confidence: least probability, in (0, 1), that the limits hold the number.

    Raises:
        ValueError: n is no such number.
    """
    if not 1 <= n <= MOST:
        raise ValueError(f"a group has 1 to {MOST} people")
    tail = (1 - confidence) / 2
    low = _first(n, lambda people: at_least(count, people, n, (a, b)) > tail)
    high = n - _first(n, lambda missing: at_most(count, n - missing, n, (a, b)) > tail)
    point = min(max(round((count - n * b) / (a - b)), 0), n)
    return PeopleCount(point, low, high, n)


def at_least(count: int, people: int, n: int, support: tuple[float, float]) -> float:
    """
    P(X >= count).

    Args:
        count: of reports that support the option.
        people: of whom it is true.
        n: all.
        support: a and b.
    """
    return float(_distribution(people, n, support)[count:].sum())


def at_most(count: int, people: int, n: int, support: tuple[float, float]) -> float:
    """
    P(X <= count).

    Args:
        count: of reports that support the option.
        people: of whom it is true.
        n: all.
        support: a and b.
    """
    return float(_distribution(people, n, support)[: count + 1].sum())


def _distribution(people: int, n: int, support: tuple[float, float]) -> NDArray[np.float64]:
    """P(X = 0), .., P(X = n)."""
    a, b = support
    return np.convolve(_binomial(people, a), _binomial(n - people, b))


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    """P(X = 0), .., P(X = n) of a binomial count."""
    if p in {0.0, 1.0}:
        return np.array([float(k == n * p) for k in range(n + 1)])
    ways = [lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in range(n + 1)]
    logs = [way + k * log(p) + (n - k) * log(1 - p) for k, way in enumerate(ways)]
    return np.array([exp(each) for each in logs])


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The smallest of 0 .. n for which it holds, and then for all larger; n if for none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
