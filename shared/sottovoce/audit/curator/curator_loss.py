"""
Privacy loss of one release at a curator between two neighbouring data sets.

Exact     Where a release has finitely many likely answers, all branches of its running code give the distribution
          under either data set: the loss is the largest log-ratio of answers likelier than ``FLOOR`` (without end where
          one of them cannot occur under the other), delta the hockey-stick at the claimed epsilon.
Sampled   Elsewhere: a lower bound of the loss from fixed events and one-sided Clopper-Pearson limits, each at the level
          alpha / (4 m) for m events, so that an honest release is flagged with probability alpha at most.
Source    Jagielski, Ullman and Oprea 2020; statistics as in ``lower_bound``.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from sottovoce.audit.curator.noise_branches import NEGLIGIBLE, Distribution, noise_distribution
from sottovoce.audit.lower_bound import limits
from sottovoce.shared.exact_noise import ExactNoise

FLOOR = 1e-9
"""Answers less likely than this are not compared: ways that lead to them were left."""

Run = Callable[[Any, ExactNoise], Any]
"""``run(data, draws)``: the answer of one release, hashable."""


def exact_loss(run: Run, first: object, second: object, least: float = NEGLIGIBLE) -> float:
    """
    The largest log-ratio of probabilities of an answer under two data sets, in either direction.

    Args:
        run: the release.
        first: a data set.
        second: its neighbour.
        least: ways less likely are left.
    """
    p, q = _distributions(run, first, second, least)
    return max(_largest_ratio(p, q), _largest_ratio(q, p))


def exact_delta(run: Run, first: object, second: object, epsilon: float) -> float:
    """
    The hockey-stick at epsilon, in the worse direction.

    Args:
        run: the release.
        first: a data set.
        second: its neighbour.
        epsilon: that is claimed.
    """
    p, q = _distributions(run, first, second, NEGLIGIBLE)
    return max(_hockey_stick(p, q, epsilon), _hockey_stick(q, p, epsilon))


def _distributions(run: Run, first: object, second: object, least: float) -> tuple[Distribution, Distribution]:
    return (
        noise_distribution(lambda draws: run(first, draws), least),
        noise_distribution(lambda draws: run(second, draws), least),
    )


def _largest_ratio(p: Distribution, q: Distribution) -> float:
    likely = [(share, q.get(answer, 0.0)) for answer, share in p.items() if share > FLOOR]
    return max((math.log(here / there) if there else math.inf for here, there in likely), default=0.0)


def _hockey_stick(p: Distribution, q: Distribution, epsilon: float) -> float:
    return math.fsum(max(share - math.exp(epsilon) * q.get(answer, 0.0), 0.0) for answer, share in p.items())


def sampled_loss(
    answers: tuple[Sequence[Any], Sequence[Any]],
    events: Sequence[Callable[[Any], bool]],
    alpha: float,
    delta: float = 0.0,
) -> float:
    """
    A lower bound of the loss that is too high with probability alpha at most.

    Args:
        answers: of independent runs under two data sets.
        events: fixed before any run.
        alpha: that probability.
        delta: of the claim.
    """
    level = alpha / (4 * len(events))
    bounds = []
    for event in events:
        counts = [sum(map(event, each)) for each in answers]
        (low, high) = zip(
            *(_limits(count, len(each), level) for count, each in zip(counts, answers, strict=True)), strict=True
        )
        for here, there in ((low[0], high[1]), (low[1], high[0])):
            bounds.append(math.log((here - delta) / there) if here > delta else 0.0)
    return max(0.0, *bounds)


def _limits(count: int, n: int, level: float) -> tuple[float, float]:
    lower, upper = limits([count], n, level)
    return lower[0], upper[0]
