"""Compute the exact distribution of noise from the running sampler: every branch of its code is taken.

``below`` branches by value and ``bernoulli`` into two, each with its exact probability. ``bernoulli_exp`` has a comb of
branches that never ends; they are enumerated exactly to any depth (``exp_bounds``), elsewhere it is one of two.
``until`` repeats independent attempts, so that its distribution equals one attempt's, given that it succeeds.

All branches give the distribution of a release's answers under either of two neighbouring data sets. The loss is the
largest log-ratio of answers likelier than a floor (without end where one of them cannot occur under the other), delta
the hockey-stick at the claimed epsilon.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from sottovoce.audit.exact_channel import ScriptedBranches, every_way
from sottovoce.shared.exact_noise import ExactNoise

NEGLIGIBLE = 1e-18
"""A way less likely than this is not followed."""

Weight = Fraction | float
Distribution = dict[int, float]


class _Left(Exception):
    """This way is too unlikely to be followed."""


class NoiseBranches(ScriptedBranches, ExactNoise):
    """Noise that takes every branch, with its probability."""

    def __init__(self, script: Sequence[int], known: dict[tuple[object, ...], Distribution], least: float) -> None:
        super().__init__(script)
        self.probability: Weight = Fraction(1)
        self._known = known
        self._least = least

    def below(self, bound: int) -> int:
        """Take one branch for each value."""
        return self._branch([Fraction(1, bound)] * bound)

    def bernoulli(self, n: int, d: int) -> bool:
        """Take two branches, or the only one."""
        share = min(Fraction(n, d), Fraction(1))
        return self._branch([share, 1 - share]) == 0

    def bernoulli_exp(self, n: int, d: int) -> bool:
        """Take two branches; ``exp_bounds`` shows of the running code that they have these probabilities."""
        return self._branch([math.exp(-n / d), -math.expm1(-n / d)]) == 0

    def until(self, attempt: Callable[..., int | None], *arguments: int) -> int:
        """Take one branch for each outcome of an attempt that succeeds."""
        key = (attempt.__name__, *arguments)
        if key not in self._known:
            name = attempt.__name__
            every = branches(lambda draws: getattr(draws, name)(*arguments), self._known, self._least)
            found = {value: share for value, share in every.items() if value is not None}
            whole = math.fsum(found.values())
            self._known[key] = {value: share / whole for value, share in sorted(found.items())}
        outcomes = self._known[key]
        return list(outcomes)[self._branch(list(outcomes.values()))]

    def _branch(self, weights: Sequence[Weight]) -> int:
        index = self.choose(len(weights))
        self.probability *= weights[index]
        if self.probability <= self._least:
            raise _Left
        return index


class _OwnComb(NoiseBranches):
    """Branches that run the body of ``bernoulli_exp`` too."""

    def bernoulli_exp(self, n: int, d: int) -> bool:
        return ExactNoise.bernoulli_exp(self, n, d)


def exp_bounds(n: int, d: int, least: float = 1e-30) -> tuple[Fraction, Fraction]:
    """Return exact limits of the probability that the running ``bernoulli_exp(n, d)`` is true."""
    found: dict[bool, Fraction] = {}
    _walk(lambda script: _OwnComb(script, {}, least), lambda draws: draws.bernoulli_exp(n, d), found)
    return found.get(True, Fraction(0)), 1 - found.get(False, Fraction(0))


def noise_distribution(draw: Callable[[ExactNoise], int], least: float = NEGLIGIBLE) -> Distribution:
    """Return the probability of each value of a draw of noise; values less likely than ``least`` may be missing."""
    return branches(draw, {}, least)


def branches(
    draw: Callable[[ExactNoise], int], known: dict[tuple[object, ...], Distribution], least: float
) -> Distribution:
    """Return the probability of each outcome of ``draw``, which is run from its beginning for each way.

    ``known`` holds the distributions of attempts found so far; ways less likely than ``least`` are not followed.
    """
    found: Distribution = {}
    _walk(lambda script: NoiseBranches(script, known, least), draw, found)
    return {value: float(share) for value, share in found.items()}


def _walk(stand_in: Callable[[Sequence[int]], NoiseBranches], draw: Callable[..., object], found: dict) -> None:  # type: ignore[type-arg]
    for draws in every_way(stand_in):
        with suppress(_Left):
            outcome = draw(draws)
            found[outcome] = found.get(outcome, 0) + draws.probability


FLOOR = 1e-9
"""Answers less likely than this are not compared, unless a check says otherwise: ways to them were not followed."""

ReleaseRun = Callable[[Any, ExactNoise], Any]
"""``run(data, draws)``: the answer of one release, hashable."""


def exact_loss(
    run: ReleaseRun, first: object, second: object, least: float = NEGLIGIBLE, floor: float = FLOOR
) -> float:
    """Return the largest log-ratio of probabilities of an answer under two data sets, in either direction.

    Ways less likely than ``least`` are not followed, answers less likely than ``floor`` not compared.
    """
    p, q = _distributions(run, first, second, least)
    return max(_largest_ratio(p, q, floor), _largest_ratio(q, p, floor))


def exact_delta(run: ReleaseRun, first: object, second: object, epsilon: float) -> float:
    """Return the hockey-stick at epsilon, in the worse direction."""
    p, q = _distributions(run, first, second, NEGLIGIBLE)
    return max(_hockey_stick(p, q, epsilon), _hockey_stick(q, p, epsilon))


def _distributions(run: ReleaseRun, first: object, second: object, least: float) -> tuple[Distribution, Distribution]:
    return (
        noise_distribution(lambda draws: run(first, draws), least),
        noise_distribution(lambda draws: run(second, draws), least),
    )


def _largest_ratio(p: Distribution, q: Distribution, floor: float) -> float:
    likely = [(share, q.get(answer, 0.0)) for answer, share in p.items() if share > floor]
    return max((math.log(here / there) if there else math.inf for here, there in likely), default=0.0)


def _hockey_stick(p: Distribution, q: Distribution, epsilon: float) -> float:
    return math.fsum(max(share - math.exp(epsilon) * q.get(answer, 0.0), 0.0) for answer, share in p.items())
