"""Compute amplification by shuffling, a conditional account: privacy loss of one report among n in unknown order.

Condition   The observer sees the reports of n respondents in an order that says nothing, without addresses, times or
            ids, and n - 1 of them are honest. The respondent cannot check any of this; the ledger never counts on it.
Binary      Exact: with B the number of yes among the n - 1 others, T of whom have the truth yes, the law of all yes is
            a [0, B] + (1 - a) [B, 0] for one truth and its mirror for the other, and delta(E) is their hockey-stick.
            The worst T is mostly, but not always, 0 or n - 1 (at epsilon .3 and n = 30 it is not): up to 200 people
            all are tried, beyond that 41 of them. Only the bound below is proved for every T.
Clones      An upper bound for any mechanism: the outputs of x and x' are mixtures of two laws with weights
            E/(E+1) and 1/(E+1), E = e^epsilon, and every other respondent plays one of the two, by a fair coin, with
            probability w at least. C ~ Bin(n - 1, w) is the number of clones, so that delta(E) is the mean over C of
            the binary figure with C fair coins. It falls with C; C is taken in blocks at their left ends.
            w = min over outputs of 2 m / (M + M'), m the least and M, M' the two largest probabilities that different
            truths give it: 2/(E+1) for k-ary randomized response, and 1/E at least for whatever is epsilon-private.
Sources     Erlingsson et al. 2019; Feldman, McMillan and Talwar 2021 and 2023 (clones); Balle et al. 2019.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise

from sottovoce.shared.accounting import check_delta_among, check_epsilon, check_whole

MAX_PEOPLE = 1_000_000
MAX_EXACT = 20_000
"""Most people for whom the exact figure is computed."""

ALL_TRIED = 200
"""Most people for whom every population of the others is tried."""

MIN_DELTA = 1e-15

_LOST = 1e-25
"""Terms below this share of the largest are left out: together less than 10^-19, where delta is at least 10^-15."""

_WORK = 3_000_000
"""Terms that all blocks together may have: with fewer people than 10,000 every number of clones is its own block."""


def shuffled_binary(a: float, people: int, delta: float) -> float:
    """Return the epsilon of one report of symmetric randomized response among those of so many people, with this delta.

    ``a`` in (1/2, 1) is the probability of sending the truth, ``people`` the number n of mixed respondents, ``delta``
    above 0 and below 1/(10 n). Raises ValueError if one of them is out of range.
    """
    if not 0.5 < a < 1:
        raise ValueError("a must lie between 1/2 and 1")
    _check(people, delta)
    check_whole(people, 1, MAX_EXACT, "the number of respondents of an exact figure")
    others = people - 1
    tried = range(people) if people <= ALL_TRIED else {others * part // 40 for part in range(41)}
    distributions = [_Count(_sum_of(_binomial(t, a)[1], _binomial(others - t, 1 - a)[1])) for t in tried]
    own = math.log(a / (1 - a))
    return _least(own, delta, lambda total: max(each.hockey_stick(own, total) for each in distributions))


def shuffled_bound(epsilon: float, weight: float, people: int, delta: float) -> float:
    """Return an upper bound for the epsilon of one report of any mechanism among those of so many people, with this
    delta.

    Args:
        epsilon: of the mechanism alone.
        weight: probability w with which every other report is a clone; ``clone_weight`` gives what always holds.
        people: the number of respondents n.
        delta: above 0 and below 1/(10 n).

    Raises:
        ValueError: one of them is out of range.
    """
    check_epsilon(epsilon)
    _check(people, delta)
    if not 0 < weight <= 1:
        raise ValueError("the weight must lie between 0 and 1")
    first, distribution = _binomial(people - 1, weight)
    size = math.ceil(len(distribution) * len(_binomial(people - 1, 0.5)[1]) / _WORK)
    blocks = [
        (math.fsum(distribution[start : start + size]), _Count(_binomial(first + start, 0.5)[1]))
        for start in range(0, len(distribution), size)
    ]

    def delta_of(total: float) -> float:
        return math.fsum(share * clones.hockey_stick(epsilon, total) for share, clones in blocks)

    return _least(epsilon, delta, delta_of)


def clone_weight(epsilon: float) -> float:
    """Return the weight for every mechanism of this epsilon: no output is E times likelier than for another."""
    check_epsilon(epsilon)
    return math.exp(-epsilon)


def pair_weight(epsilon: float) -> float:
    """Return the weight if each output is likeliest for one truth only, and alike for all the others."""
    check_epsilon(epsilon)
    return 2 / (math.exp(epsilon) + 1)


def _check(people: int, delta: float) -> None:
    check_whole(people, 1, MAX_PEOPLE, "the number of respondents")
    check_delta_among(delta, people)
    if delta < MIN_DELTA:
        raise ValueError("delta must be at least 10^-15")


def _least(own: float, delta: float, delta_of: Callable[[float], float]) -> float:
    """Return the least total in [0, own] whose delta is small enough, rounded up; ``own`` always is, with delta 0."""
    low, high = 0.0, own
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(middle) <= delta else (middle, high)
    return high


class _Count:
    """Distribution of the number of yes answers among the others, ready for hockey-sticks.

    It is log-concave, so that r(c) = B(c - 1) / B(c) grows with c, and so does the ratio of the two distributions P(c)
    = a B(c - 1) + (1 - a) B(c) and Q(c) = (1 - a) B(c - 1) + a B(c): each hockey-stick is a difference of tails.
    """

    def __init__(self, distribution: list[float]) -> None:
        self._ratios = [0.0, *(before / here for before, here in pairwise(distribution)), math.inf]
        self._suffix_sums = [*[*accumulate(reversed(distribution))][::-1], 0.0]
        self._prefix_sums = [0.0, *accumulate(distribution)]

    def hockey_stick(self, epsilon: float, total: float) -> float:
        """Return the larger of the sums of max(P - e^total Q, 0) and max(Q - e^total P, 0), a = e^e / (1 + e^e)."""
        a, limit = 1 / (1 + math.exp(-epsilon)), math.exp(total)
        if total >= epsilon:
            return 0.0
        turn = (limit * a - (1 - a)) / (a - limit * (1 - a))
        here = bisect_right(self._ratios, turn)
        before = max(0, here - 1)
        up, down = self._suffix_sums[before], self._suffix_sums[min(here, len(self._suffix_sums) - 1)]
        forward = a * up + (1 - a) * down - limit * ((1 - a) * up + a * down)
        here = bisect_left(self._ratios, 1 / turn)
        up, down = self._prefix_sums[max(0, here - 1)], self._prefix_sums[min(here, len(self._prefix_sums) - 1)]
        backward = (1 - a) * up + a * down - limit * (a * up + (1 - a) * down)
        return max(forward, backward, 0.0)


def _binomial(n: int, p: float) -> tuple[int, list[float]]:
    """Return Bin(n, p) from its first count on that is not negligible, to its last one."""
    mode = min(n, int((n + 1) * p))
    up, down = (p / (1 - p), (1 - p) / p) if p < 1 else (math.inf, 0.0)
    upper, lower = [1.0], [1.0]
    while mode + len(upper) <= n and upper[-1] > _LOST:
        count = mode + len(upper)
        upper.append(upper[-1] * (n - count + 1) / count * up)
    while mode - len(lower) >= 0 and lower[-1] > _LOST:
        count = mode - len(lower)
        lower.append(lower[-1] * (count + 1) / (n - count) * down)
    weights = lower[:0:-1] + upper
    whole = math.fsum(weights)
    return mode - len(lower) + 1, [weight / whole for weight in weights]


def _sum_of(distribution: list[float], other: list[float]) -> list[float]:
    """Return the law of the sum of two independent counts."""
    result = [0.0] * (len(distribution) + len(other) - 1)
    for i, p in enumerate(distribution):
        for j, q in enumerate(other):
            result[i + j] += p * q
    return result
