"""Hold the curator's own mechanisms against their claims: every branch of the running code on small neighbours.

A check passes only if it could have failed: its neighbours must show at least half of what is claimed. They are as far
apart as their domain allows. Small data are enough where the noise does not look at the data: what counts is how far
neighbours can be apart, and those at the ends of each range are tried. Of clusters it is one iteration, from fixed
starts: starts are drawn without a look at the data, so that whatever a release promises, it promises from each start.

The budget is the running one, on files: nothing was shown that its ledger does not hold. The power is cut before and
after each of its steps on the disk, and after an answer was shown; what was written to the ledger and not yet synced is
lost then, as a disk may lose it.
"""

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.curator import noisy_max
from sottovoce.aggregator.curator.budget import Budget
from sottovoce.aggregator.curator.clipping import Ball, VectorBox
from sottovoce.aggregator.curator.clusters import cluster as clusters
from sottovoce.aggregator.curator.count import column_counts, count, counts, histogram, weighted_count
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerAnchor, LedgerFile
from sottovoce.aggregator.curator.ledger.ledger_format import BudgetTerms
from sottovoce.aggregator.curator.release import Charge, Neighbours, Release, ReleaseTerms
from sottovoce.aggregator.curator.sum import noisy_mean, noisy_sum, vector
from sottovoce.aggregator.curator.unknown_names import names_histogram
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.curator.noise_branches import (
    FLOOR,
    ReleaseRun,
    exact_delta,
    exact_loss,
    exp_bounds,
    noise_distribution,
)
from sottovoce.audit.patch import patch
from sottovoce.shared.errors import StorageError
from sottovoce.shared.exact_noise import ExactNoise

FORMAT = "sottovoce-curator-audit/1"
_APART = (0, 3, 30)

ROUNDED = 1e-6
"""Sums of a few thousand floating-point probabilities are right to this."""

EPSILON = Fraction(2)
_GRID = NumberGrid(Fraction(-1), Fraction(2), Fraction(1))
_THREE = NumberGrid(Fraction(0), Fraction(2), Fraction(1))

NeighbourPair = tuple[Any, Any]


@dataclass(frozen=True)
class NeighbourCase:
    """A release and two neighbours of each relation.

    Attributes:
        pairs: in the second data set one record of the first is replaced, or there is one record more.
        epsilon: that the release is asked for.
        delta: of Gaussian noise, or 0.
        floor: answers less likely than this are not compared.
        least: ways less likely than this are not followed.
    """

    name: str
    run: Callable[[Any, ReleaseTerms, ExactNoise], Release]
    pairs: Mapping[Neighbours, NeighbourPair]
    epsilon: Fraction = EPSILON
    delta: Fraction = Fraction(0)
    floor: float = FLOOR
    least: float = 1e-14

    def answer(self, relation: Neighbours) -> Callable[[Any, ExactNoise], str]:
        """Return the function that gives what is released under a relation, hashable."""
        terms = ReleaseTerms(self.epsilon, relation)
        return lambda data, draws: repr(self.run(data, terms, draws).values)


def _both(replaced: tuple[Any, Any], added: tuple[Any, Any]) -> Mapping[Neighbours, NeighbourPair]:
    """Turn lists of records into two pairs of arrays."""
    return {
        Neighbours.REPLACE: (np.array(replaced[0]), np.array(replaced[1])),
        Neighbours.ADD_REMOVE: (np.array(added[0]), np.array(added[1])),
    }


class _Started(ExactNoise):
    """Noise whose uniform numbers come from a list."""

    def __init__(self, starts: Sequence[int], noise: ExactNoise) -> None:
        self._starts = iter(starts)
        self._noise = noise

    def below(self, _bound: int) -> int:
        return next(self._starts)

    def discrete_laplace(self, n: int, d: int) -> int:
        return self._noise.discrete_laplace(n, d)


def _lloyd(lloyd: clusters.Lloyd, *starts: int) -> Callable[[Any, ReleaseTerms, ExactNoise], Release]:
    return lambda data, terms, draws: clusters.cluster(data, lloyd, terms, _Started(starts, draws))


ENUMERATED = (
    NeighbourCase("count", count, _both(([0, 1], [1, 1]), ([1], [1, 1]))),
    NeighbourCase("counts", counts, _both(([[1, 0]], [[0, 1]]), ([[0, 0]], [[0, 0], [1, 1]]))),
    NeighbourCase(
        "weighted_count",
        lambda data, terms, draws: weighted_count(data, 3, terms, draws),
        _both(([0], [9]), ([1], [1, 9])),
    ),
    NeighbourCase(
        "histogram", lambda data, terms, draws: histogram(data, 2, terms, draws), _both(([0, 0], [0, 1]), ([0], [0, 1]))
    ),
    NeighbourCase(
        "sum", lambda data, terms, draws: noisy_sum(data, _GRID, terms, draws), _both(([-9], [9]), ([1], [1, 9]))
    ),
    NeighbourCase(
        "mean", lambda data, terms, draws: noisy_mean(data, _GRID, terms, draws), _both(([0, 1], [3, 1]), ([1], [1, 3]))
    ),
    NeighbourCase(
        "vector (Laplace)",
        lambda data, terms, draws: vector(data, Ball(1, 1, 2), terms, draws),
        _both(([[9, 0]], [[0, -9]]), ([[0, 0]], [[0, 0], [9, 0]])),
    ),
    NeighbourCase(
        "vector of a mark and a number",
        lambda data, terms, draws: vector(data, VectorBox((0, -1), (1, 2)), terms, draws),
        _both(([[-9, -9]], [[9, 9]]), ([[0, 0]], [[0, 0], [9, 9]])),
        Fraction(4),
    ),
    NeighbourCase(
        "vector (Gaussian)",
        lambda data, terms, draws: vector(data, Ball(2, 1, 1), terms, draws, Fraction(1, 10)),
        _both(([[9]], [[-9]]), ([[0]], [[0], [9]])),
        Fraction(1, 4),
        Fraction(1, 10),
    ),
    NeighbourCase(
        "top",
        lambda data, terms, draws: noisy_max.top_cell(data, 2, terms, draws),
        _both(([0, 0], [0, 1]), ([0], [0, 1])),
        Fraction(8),
    ),
    NeighbourCase(
        "names",
        lambda data, terms, draws: names_histogram(data, terms, draws, Fraction(1, 10)),
        _both(([[1], [2]], [[1], [1]]), ([[1]], [[1], [2]])),
        Fraction(1),
        Fraction(1, 10),
    ),
    NeighbourCase(
        "top_mark",
        lambda data, terms, draws: noisy_max.top_mark(column_counts(data, 2), terms, draws),
        _both(([[1, 0], [1, 0]], [[1, 0], [0, 1]]), ([[1, 0]], [[1, 0], [0, 1]])),
        Fraction(8),
    ),
    NeighbourCase(
        "quantiles",
        lambda data, terms, draws: noisy_max.quantiles(data, _THREE, [Fraction(1, 4)], terms, draws),
        _both(([0, 1, 1, 2], [1, 1, 2, 2]), ([1, 1, 2], [0, 1, 1, 2])),
        Fraction(4),
        floor=1e-3,
        least=1e-7,
    ),
    NeighbourCase(
        "grid of clusters",
        lambda data, terms, draws: clusters.grid_cluster(data, clusters.Box((1,)), 2, terms, draws),
        _both(([[9], [9], [-9]], [[9], [-9], [-9]]), ([[9]], [[9], [9]])),
        Fraction(4),
        least=1e-18,
    ),
    NeighbourCase(
        "one cluster",
        _lloyd(clusters.Lloyd(Ball(1, 1, 1), 1, 1, keep_empty=True), 1, 0),
        _both(([[9]], [[-9]]), ([[9]], [[9], [9]])),
        Fraction(8),
        least=1e-18,
    ),
    NeighbourCase(
        "two clusters",
        _lloyd(clusters.Lloyd(clusters.Box((1,)), 2, 1, keep_empty=True), 2, 0),
        {Neighbours.REPLACE: (np.array([[9], [9], [-9]]), np.array([[9], [-9], [-9]]))},
        Fraction(20),
        floor=1e-4,
        least=1e-17,
    ),
)
"""Releases whose likely answers are few enough to be enumerated.

One cluster hides that a record that becomes another one can move two counts, and two clusters show it.
"""


def audit_curator() -> list[Check]:
    """Return all checks of the curator's mechanisms, none of which is sampled."""
    return [*_noise(), *(check for case in ENUMERATED for check in enumerated(case)), *_top(), check_ledger()]


def _noise() -> Iterator[Check]:
    """Check the samplers: e^(-n/d) enclosed by exact fractions, the two distributions from all branches."""
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


def enumerated(case: NeighbourCase) -> Iterator[Check]:
    """Check a release against its claim under each relation of neighbours, by every branch of its code."""
    for relation, (first, second) in case.pairs.items():
        name, run = f"{case.name}, {relation.value}", case.answer(relation)
        if case.delta:
            yield delta_check(name, run, (first, second), (float(case.epsilon), float(case.delta)))
        else:
            yield judged(name, exact_loss(run, first, second, case.least, case.floor), float(case.epsilon))


def _top() -> Iterator[Check]:
    """Check more cells than branches allow, by summation: all moves of each relation, counts up to 30 apart."""
    moves = {
        Neighbours.ADD_REMOVE: [(1, 0, 0), (1, 1, 0), (1, 1, 1)],
        Neighbours.REPLACE: [(1, -1, 0), (0, 1, -1), (-1, 0, 1), (1, -1, -1)],
    }
    for (relation, each), noise in product(moves.items(), noisy_max.NOISES.values()):
        rate = EPSILON / relation.of(1, 2)
        loss = max(winner_loss((a, b, 0), move, rate, noise) for a, b, move in product(_APART, _APART, each))
        yield judged(f"top of three cells, {noise.name} noise, {relation.value}", loss, float(EPSILON), "a sum")


def winner_loss(
    counts: tuple[int, ...], move: tuple[int, ...], rate: Fraction, noise: noisy_max.WinnerNoise = noisy_max.LAPLACE
) -> float:
    """Return the loss of a noisy maximum by summation; ``move`` is what the neighbour adds to each cell."""
    moved = [count + step for count, step in zip(counts, move, strict=True)]
    ratios = noisy_max.winner_distribution(counts, rate, noise) / noisy_max.winner_distribution(moved, rate, noise)
    return float(np.abs(np.log(ratios)).max())


def delta_check(name: str, run: ReleaseRun, pair: NeighbourPair, claim: tuple[float, float]) -> Check:
    """Check the hockey-stick of a release between two neighbours; ``claim`` is epsilon and delta."""
    found = exact_delta(run, *pair, claim[0])
    message = _verdict("delta", found, claim[1])
    scope = f"every branch, delta {found:.3g} of {claim[1]:.3g}"
    return Check("python", name, FAILED if message else PASSED, claim[0], scope=scope, message=message)


def judged(name: str, loss: float, claim: float, scope: str = "every branch") -> Check:
    """Judge a computed loss between two neighbours by the claimed epsilon."""
    message = _verdict("the loss", loss, claim)
    # JSON has no infinity.
    shown = None if math.isinf(loss) else loss
    return Check("python", name, FAILED if message else PASSED, claim, shown, scope, message)


def _verdict(figure: str, found: float, claim: float) -> str:
    """Return what is wrong, or "": less than half of a claim could not have shown a release with half of the noise."""
    if found > claim * (1 + ROUNDED):
        return f"{figure} is {found:.3g} at least, and {claim:.3g} is claimed"
    if found == 0:
        return "not tested: the release cannot tell these two neighbours apart, which is an error of this check"
    if found < claim / 2 * (1 - ROUNDED):
        return f"not tested: these neighbours show {found:.3g}, less than half of the {claim:.3g} that is claimed"
    return ""


def _check(name: str, right: bool, scope: str) -> Check:
    return Check(
        "python", name, PASSED if right else FAILED, scope=scope, message="" if right else "another distribution"
    )


def curator_report(checks: list[Check]) -> dict[str, Any]:
    """Build the document with the format name sottovoce-curator-audit/1."""
    verdict = PASSED if all(check.outcome == PASSED for check in checks) else FAILED
    return {"format": FORMAT, "verdict": verdict, "checks": [asdict(check) for check in checks]}


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


QUESTION = {"verb": "count"}
RELEASE = Release({"count": 7}, Charge(Fraction(1)), "sensitivity 1", {"t": 3}, ())

_TERMS = BudgetTerms(Fraction(2), Fraction(0), Neighbours.REPLACE, 100, "d" * 64, "e" * 64)
_STEPS = ("write", "fsync", "replace")
_DAMAGED = "an answer was shown that is in no ledger after a power cut"

Show = Callable[[Mapping[str, Any]], None]
Ask = Callable[[Budget, Show], None]
"""``ask(budget, show)``: asks ``QUESTION``, and shows the values of the answer."""


class _Cut(BaseException):
    """The power is cut: nothing that the program does about it happens."""


@dataclass
class _Disk:
    """A disk that counts steps, and cuts the power at one.

    Attributes:
        cut: half of it is the number of the step; the power is cut before that step if even, after it if odd.
        synced: how many bytes of the ledger are durable.
        shown: answers that were shown.
    """

    ledger: Path
    cut: int | None
    synced: int = 0
    steps: int = 0
    shown: list[Mapping[str, Any]] = field(default_factory=list)

    @contextmanager
    def step(self) -> Iterator[None]:
        """Count one step of the disk or the screen, and cut the power before or after it."""
        at = 2 * self.steps
        self.steps += 1
        if self.cut == at:
            raise _Cut
        yield
        if self.cut == at + 1:
            raise _Cut

    def show(self, values: Mapping[str, Any]) -> None:
        """Record that a person saw an answer."""
        with self.step():
            self.shown.append(values)

    def watched(self, name: str) -> Callable[..., Any]:
        """Return one of the system's calls, as a step."""
        real = getattr(os, name)

        def call(*words: Any, **more: Any) -> Any:  # noqa: ANN401 - the signature of os
            with self.step():
                done = real(*words, **more)
                if name == "fsync" and os.path.samestat(os.fstat(words[0]), self.ledger.stat()):
                    self.synced = self.ledger.stat().st_size
                return done

        return call


def ask_and_show(budget: Budget, show: Show) -> None:
    """Ask once and show the answer, in the order of the commands: ledger first."""
    show(budget.ask(QUESTION, lambda _: RELEASE).entry.answer["values"])


def check_ledger(ask: Ask = ask_and_show) -> Check:
    """Check that no power cut leaves an answer that was shown but is missing from the ledger.

    A faulty ``ask`` shows that this check can fail.
    """
    _, steps, shown = _cut_at(ask, None)
    states = [_cut_at(ask, cut)[0] for cut in range(2 * steps)]
    message = "" if all(states) and shown else _DAMAGED
    scope = f"the power cut before and after each of {steps} steps"
    return Check("python", "ledger of a budget", FAILED if message else PASSED, scope=scope, message=message)


def _cut_at(ask: Ask, cut: int | None) -> tuple[bool, int, bool]:
    """Cut the power at one step. Return whether the ledger has every shown answer, steps, and whether any was shown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "data.budget"
        budget = Budget(LedgerFile(path), _TERMS.data, _TERMS.declaration, LedgerAnchor(folder))
        budget.open(_TERMS)
        disk = _Disk(path, cut, synced=path.stat().st_size)
        with ExitStack() as stack, suppress(_Cut):
            for step in _STEPS:
                stack.enter_context(patch(os, step, disk.watched(step)))
            ask(budget, disk.show)
        os.truncate(path, disk.synced)
        recorded = _recorded(budget)
        return all(values in recorded for values in disk.shown), disk.steps, bool(disk.shown)


def _recorded(budget: Budget) -> list[object]:
    """Return the values of all answers that the ledger holds; none where it is damaged."""
    try:
        return [entry.answer["values"] for entry in budget.read().entries]
    except StorageError:
        return []
