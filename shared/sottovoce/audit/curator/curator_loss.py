"""
Privacy loss of one release at a curator between two neighbouring data sets.

All branches of its running code give the distribution of its answers under either data set. The loss is the largest
log-ratio of answers likelier than a floor (without end where one of them cannot occur under the other), delta the
hockey-stick at the claimed epsilon.
"""

import math
from collections.abc import Callable
from typing import Any

from sottovoce.audit.curator.noise_branches import NEGLIGIBLE, Distribution, noise_distribution
from sottovoce.shared.exact_noise import ExactNoise

FLOOR = 1e-9
"""Answers less likely than this are not compared, unless a check says otherwise: ways that lead to them were left."""

Run = Callable[[Any, ExactNoise], Any]
"""``run(data, draws)``: the answer of one release, hashable."""


def exact_loss(run: Run, first: object, second: object, least: float = NEGLIGIBLE, floor: float = FLOOR) -> float:
    """
    The largest log-ratio of probabilities of an answer under two data sets, in either direction.

    Args:
        run: the release.
        first: a data set.
        second: its neighbour.
        least: ways less likely are left.
        floor: answers less likely are not compared.
    """
    p, q = _distributions(run, first, second, least)
    return max(_largest_ratio(p, q, floor), _largest_ratio(q, p, floor))


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


def _largest_ratio(p: Distribution, q: Distribution, floor: float) -> float:
    likely = [(share, q.get(answer, 0.0)) for answer, share in p.items() if share > floor]
    return max((math.log(here / there) if there else math.inf for here, there in likely), default=0.0)


def _hockey_stick(p: Distribution, q: Distribution, epsilon: float) -> float:
    return math.fsum(max(share - math.exp(epsilon) * q.get(answer, 0.0), 0.0) for answer, share in p.items())
