"""
The curator's own mechanisms, held against what they claim: every branch of the running code on small neighbours.

Small data are enough where the noise does not look at the data: what counts is how far neighbours can be apart, and
those at the ends of each range are tried. Clusters have too many ways; of them a lower bound is sampled.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.aggregator.curator.clipping import Ball
from sottovoce.aggregator.curator.cluster import Lloyd, cluster
from sottovoce.aggregator.curator.count import count, counts, weighted_count
from sottovoce.aggregator.curator.gaussian_delta import gaussian_variance
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.histogram import histogram
from sottovoce.aggregator.curator.mean import noisy_mean
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.noisy_max import top_cell, top_mark, winner_distribution
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.aggregator.curator.sum import noisy_sum
from sottovoce.aggregator.curator.vector import vector
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.curator.curator_ledger import check_ledger
from sottovoce.audit.curator.curator_loss import exact_delta, exact_loss, sampled_loss
from sottovoce.audit.curator.noise_branches import exp_bounds, noise_distribution
from sottovoce.shared.exact_noise import ExactNoise

FORMAT = "sottovoce-curator-audit/1"
ROUNDED = 1e-6
"""Sums of a few thousand floating-point probabilities are right to this."""

_GRID = NumberGrid(Fraction(-1), Fraction(2), Fraction(1))
EPSILON = Fraction(2)
REPLACE = ReleaseTerms(EPSILON)
ADD = ReleaseTerms(EPSILON, Neighbours.ADD_REMOVE)


@dataclass(frozen=True)
class Pair:
    """
    A release and two neighbours that are as far apart as its domain allows.

    Attributes:
        name: of the mechanism.
        run: the release.
        replaced: two data sets, one record of which is another one.
        added: two data sets, the second with one record more.
    """

    name: str
    run: Callable[[Any, ReleaseTerms, ExactNoise], Release]
    replaced: tuple[Any, Any]
    added: tuple[Any, Any]


def _marks(*rows: tuple[int, ...]) -> Any:  # noqa: ANN401 - an array of whatever its mechanism takes
    return np.array(rows)


EXACT = (
    Pair("count", count, (_marks(0, 1), _marks(1, 1)), (_marks(1), _marks(1, 1))),  # type: ignore[arg-type]
    Pair("counts", counts, (_marks((1, 0)), _marks((0, 1))), (_marks((0, 0)), _marks((0, 0), (1, 1)))),
    Pair(
        "weighted_count",
        lambda data, terms, draws: weighted_count(data, 3, terms, draws),
        (np.array([0]), np.array([9])),
        (np.array([1]), np.array([1, 9])),
    ),
    Pair(
        "histogram",
        lambda data, terms, draws: histogram(data, 2, terms, draws),
        (np.array([0, 0]), np.array([0, 1])),
        (np.array([0]), np.array([0, 1])),
    ),
    Pair(
        "sum",
        lambda data, terms, draws: noisy_sum(data, _GRID, terms, draws),
        (np.array([-9]), np.array([9])),
        (np.array([1]), np.array([1, 9])),
    ),
    Pair(
        "mean",
        lambda data, terms, draws: noisy_mean(data, _GRID, terms, draws),
        (np.array([0, 1]), np.array([3, 1])),
        (np.array([1]), np.array([1, 3])),
    ),
    Pair(
        "vector (Laplace)",
        lambda data, terms, draws: vector(data, Ball(1, 1, 2), terms, draws),
        (np.array([[9, 0]]), np.array([[0, -9]])),
        (np.array([[0, 0]]), np.array([[0, 0], [9, -9]])),
    ),
    Pair(
        "top",
        lambda data, terms, draws: top_cell(data, 2, terms, draws),
        (np.array([0, 0]), np.array([0, 1])),
        (np.array([0]), np.array([0, 1])),
    ),
    Pair("top_mark", top_mark, (_marks((1, 0)), _marks((0, 1))), (_marks((0, 0)), _marks((0, 0), (0, 1)))),
)
"""Releases whose likely answers are few enough to be enumerated."""


def audit_curator(draws: ExactNoise, runs: int, alpha: float) -> list[Check]:
    """
    All checks of the curator's mechanisms.

    Args:
        draws: where the sampled part's noise comes from.
        runs: samples of each data set of clusters.
        alpha: probability that sampling fails what is right, at most.
    """
    exact = (_exact(pair, terms) for pair in EXACT for terms in (REPLACE, ADD))
    return [*_noise(), *exact, *_top(), _gaussian(), lloyd_check(cluster, draws, runs, alpha), check_ledger()]


def _noise() -> Iterator[Check]:
    """The samplers: e^(-n/d) enclosed by exact fractions, the two distributions from all branches."""
    wrong = [f"{n}/{d}" for n, d in ((0, 1), (1, 1), (2, 3), (1, 10)) if not _encloses(*exp_bounds(n, d), n / d)]
    yield _check("e^(-n/d)", not wrong, "every branch, exact fractions")
    found = noise_distribution(lambda draws: draws.discrete_laplace(1, 2))
    a = math.exp(-0.5)
    off = max(abs(share - (1 - a) / (1 + a) * a ** abs(x)) for x, share in found.items())
    yield _check("discrete Laplace", off < ROUNDED, f"every branch, {len(found)} values")
    found = noise_distribution(lambda draws: draws.discrete_gaussian(4, 1))
    whole = math.fsum(math.exp(-x * x / 8) for x in range(-60, 61))
    off = max(abs(share - math.exp(-x * x / 8) / whole) for x, share in found.items())
    yield _check("discrete Gaussian", off < ROUNDED, f"every branch, {len(found)} values")


def _encloses(low: Fraction, high: Fraction, rate: float) -> bool:
    return float(low) - 1e-15 <= math.exp(-rate) <= float(high) + 1e-15


def _exact(pair: Pair, terms: ReleaseTerms) -> Check:
    first, second = pair.replaced if terms.neighbours is Neighbours.REPLACE else pair.added

    def run(data: object, draws: ExactNoise) -> str:
        return repr(pair.run(data, terms, draws).values)

    return judged(f"{pair.name}, {terms.neighbours.value}", exact_loss(run, first, second, 1e-14), float(terms.epsilon))


def _top() -> Iterator[Check]:
    """More cells than branches allow, by summation: all moves of each relation, counts up to 30 apart."""
    moves = {ADD: [(1, 0, 0), (1, 1, 0), (1, 1, 1)], REPLACE: [(1, -1, 0), (0, 1, -1), (-1, 0, 1), (1, -1, -1)]}
    for terms, each in moves.items():
        rate = terms.epsilon / terms.neighbours.of(1, 2)
        loss = max(winner_loss((a, b, 0), move, rate) for a in (0, 3, 30) for b in (0, 3, 30) for move in each)
        yield judged(f"top of three cells, {terms.neighbours.value}", loss, float(terms.epsilon))


def winner_loss(counts: tuple[int, ...], move: tuple[int, ...], rate: Fraction) -> float:
    """
    The loss of a noisy maximum by summation.

    Args:
        counts: of the cells.
        move: what the neighbour adds to each.
        rate: of the noise.
    """
    moved = [count + step for count, step in zip(counts, move, strict=True)]
    ratios = winner_distribution(counts, rate) / winner_distribution(moved, rate)
    return float(np.abs(np.log(ratios)).max())


def _gaussian() -> Check:
    """One number of a vector: the hockey-stick of the running sampler at the variance that is used."""
    delta = Fraction(1, 1000)
    variance, _ = gaussian_variance(EPSILON, delta, 4, 1)
    return gaussian_check("vector (Gaussian)", variance, 2, (float(EPSILON), float(delta)))


def gaussian_check(name: str, variance: Fraction, shift: int, claim: tuple[float, float]) -> Check:
    """
    Gaussian noise of one number against a claim.

    Args:
        name: for the report.
        variance: of the running sampler.
        shift: by how many steps neighbours differ.
        claim: epsilon and delta.
    """

    def run(value: int, draws: ExactNoise) -> int:
        return value + draws.discrete_gaussian(variance.numerator, variance.denominator)

    found = exact_delta(run, 0, shift, claim[0])
    message = "" if found <= claim[1] else f"delta is {found:.3g}, and {claim[1]:.3g} is claimed"
    return Check("python", name, FAILED if message else PASSED, claim[0], scope="every branch", message=message)


LLOYD = Lloyd(Ball(1, 1024, 8), 1, 1)
"""One cluster and one iteration, so that all of epsilon is spent where it can be seen."""


def lloyd_check(run: Callable[..., Release], draws: ExactNoise, runs: int, alpha: float) -> Check:
    """
    DP-Lloyd on thirty points of which one is at one corner of the cube or at the other.

    Args:
        run: as ``cluster``.
        draws: where its noise comes from.
        runs: of each data set.
        alpha: probability of flagging what is honest, at most.
    """
    answers = []
    for side in (1024, -1024):
        points = np.zeros((30, 8), dtype=np.int64)
        points[0] = side
        answers.append([sum(run(points, LLOYD, REPLACE, draws).values["centres"][0]) for _ in range(runs)])
    events = [lambda total, edge=edge: total > edge for edge in range(-768, 769, 128)]
    loss = sampled_loss((answers[0], answers[1]), events, alpha)
    return judged("cluster, replace-one", loss, float(EPSILON), f"{runs} runs of two neighbours, a lower bound")


def judged(name: str, loss: float, claim: float, scope: str = "every branch") -> Check:
    """
    A check of a loss against a claim.

    Args:
        name: for the report.
        loss: exact, or a lower bound.
        claim: epsilon.
        scope: what was tried.
    """
    wrong = loss > claim * (1 + ROUNDED)
    message = f"the loss is {loss:.3f} at least, and {claim:.3f} is claimed" if wrong else ""
    # JSON has no infinity.
    shown = None if math.isinf(loss) else loss
    return Check("python", name, FAILED if wrong else PASSED, claim, shown, scope, message)


def _check(name: str, right: bool, scope: str) -> Check:
    return Check(
        "python", name, PASSED if right else FAILED, scope=scope, message="" if right else "another distribution"
    )


def curator_report(checks: list[Check]) -> dict[str, Any]:
    """Build the document with the format name sottovoce-curator-audit/1."""
    verdict = PASSED if all(check.outcome == PASSED for check in checks) else FAILED
    return {"format": FORMAT, "verdict": verdict, "checks": [check.as_dict() for check in checks]}


def curator_lines(document: dict[str, Any]) -> list[str]:
    """Format the document as lines of text, one for each check."""
    lines = [
        f"{each['outcome']}: {each['subject']}"
        + ("" if each["epsilon"] is None else f": {each['epsilon']:.4f} of {each['claim']:.4f}")
        + f" ({each['scope']})"
        + (f": {each['message']}" if each["message"] else "")
        for each in document["checks"]
    ]
    return [*lines, f"The curator's mechanisms: {document['verdict']}."]
