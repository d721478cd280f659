"""The curator's mechanisms beside OpenDP and diffprivlib on the same work: error and time, where they are installed."""

import importlib
import math
import time
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.aggregator.curator.clipping import VectorBox
from sottovoce.aggregator.curator.clusters.cluster import Box, grid_cluster
from sottovoce.aggregator.curator.count import count, histogram
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.aggregator.curator.noisy_max import distances, quantiles, top_cell
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.aggregator.curator.sum import noisy_mean, vector

RUNS = 1000
SLOW = {"largest": 60, "median": 200, "four": 30}
"""Runs of what takes longer, by the first word of the work."""

ADD, REPLACE = ReleaseTerms(Fraction(1), Neighbours.ADD_REMOVE), ReleaseTerms(Fraction(1))
GENERATOR = np.random.Generator(np.random.PCG64(1))
CELLS = GENERATOR.integers(0, 10_000, 100_000)
FEW = GENERATOR.choice(100, 2000, p=np.full(100, 0.01))
NUMBERS = GENERATOR.integers(0, 10_000, 2000)
MARKS = GENERATOR.integers(0, 2, (5000, 50))
CENTRES = np.array([[-600, -500], [500, -600], [-400, 500], [600, 400]])
CLOUDS = np.rint(np.concatenate([GENERATOR.normal(each, 120, (5000, 2)) for each in CENTRES])).clip(-1000, 1000)
DRAWS = system_draws()

Answer = Callable[[], Any]
Errors = Mapping[str, Callable[[Any], float]]


def rank_error(value: float) -> float:
    """Records between an answer and the median of the numbers."""
    far = distances(np.bincount(NUMBERS, minlength=10_000), Fraction(1, 2))
    return float(far[min(max(round(value), 0), 9999)]) / 2


def squared_error(centres: Any) -> float:
    """Squared error of centres of the clouds over that of the best ones."""

    def spread(around: np.ndarray) -> float:
        return float(((CLOUDS[:, None] - around) ** 2).sum(axis=2).min(axis=1).mean())

    return spread(np.array(centres)) / spread(CLOUDS.reshape(4, -1, 2).mean(axis=1))


ERRORS: Errors = {
    "count of 2,000, add/remove": lambda found: abs(found - int((FEW < 50).sum())),
    "largest of 10,000 cells, add/remove": lambda found: np.abs(found - np.bincount(CELLS, minlength=10_000)).max(),
    "mean of 2,000 numbers 0..9,999, replace-one": lambda found: abs(found - NUMBERS.mean()),
    "median of the same, in ranks, replace-one": rank_error,
    "top of 100, its shortfall, add/remove": lambda found: np.bincount(FEW).max() - np.bincount(FEW)[found],
    "largest of 50 marks, delta 1e-8, replace-one": lambda found: np.abs(found - MARKS.sum(axis=0)).max(),
    "four clusters, squared error over the best": squared_error,
}
"""The work, all at epsilon 1, and the error of an answer."""


def own() -> list[Answer]:
    grid, box = NumberGrid(Fraction(0), Fraction(9999), Fraction(1)), VectorBox((0,) * 50, (1,) * 50)
    return [
        lambda: count(FEW < 50, ADD, DRAWS).values["count"],
        lambda: histogram(CELLS, 10_000, ADD, DRAWS).values["counts"],
        lambda: float(Fraction(noisy_mean(NUMBERS, grid, REPLACE, DRAWS).values["mean"])),
        lambda: float(Fraction(quantiles(NUMBERS, grid, [Fraction(1, 2)], REPLACE, DRAWS).values["quantiles"][0])),
        lambda: top_cell(FEW, 100, ADD, DRAWS).values["index"],
        lambda: vector(MARKS, box, REPLACE, DRAWS, Fraction(1, 10**8)).values["vector"],
        lambda: grid_cluster(CLOUDS, Box((1000, 1000)), 4, REPLACE, DRAWS).values["centres"],
    ]


def opendp() -> list[Answer | None]:
    """Answers of OpenDP; it has no clusters."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    whole, numbers = dp.atom_domain(T=int), dp.vector_domain(dp.atom_domain(T=int))
    apart = dp.symmetric_distance()
    counted = dp.t.make_count(numbers, apart) >> dp.m.then_laplace(1.0)
    cells = dp.t.make_count_by_categories(numbers, apart, list(range(10_000)), null_category=False)
    noisy_cells = cells >> dp.m.then_laplace(1.0)
    bounded = dp.vector_domain(dp.atom_domain(bounds=(0.0, 9999.0)), size=len(NUMBERS))
    mean = dp.t.make_mean(bounded, apart)
    noisy_mean_ = dp.binary_search_chain(lambda scale: mean >> dp.m.then_laplace(scale), 2, 1.0, (1e-3, 1e5))
    sized = dp.vector_domain(whole, size=len(NUMBERS))
    scores = dp.t.make_quantile_score_candidates(sized, apart, list(range(10_000)), 0.5)
    pure = dp.max_divergence()
    median = dp.binary_search_chain(
        lambda scale: scores >> dp.m.then_noisy_max(pure, scale, negate=True), 2, 1.0, (1e-3, 1e9)
    )
    top = dp.m.make_noisy_max(numbers, dp.linf_distance(T=int, monotonic=True), pure, 1.0)

    def gaussian(scale: float) -> Any:
        made = dp.m.make_gaussian(numbers, dp.l2_distance(T=float), scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), 1e-8)

    marks = dp.binary_search_chain(gaussian, math.sqrt(50), (1.0, 1e-8), (1.0, 1e4))
    young = FEW[FEW < 50].astype(np.int32)
    return [
        lambda: counted(young),
        lambda: noisy_cells(CELLS.astype(np.int32)),
        lambda: noisy_mean_(NUMBERS.astype(np.float64)),
        lambda: median(NUMBERS.astype(np.int32)),
        lambda: top(np.bincount(FEW).astype(np.int32)),
        lambda: marks(MARKS.sum(axis=0).astype(np.int32)),
        None,
    ]


def diffprivlib() -> list[Answer | None]:
    warnings.simplefilter("ignore")
    tools, mechanisms, models = (
        importlib.import_module(f"diffprivlib.{each}") for each in ("tools", "mechanisms", "models")
    )
    ends = ([-1000, -1000], [1000, 1000])

    def top() -> int:
        utility = np.bincount(FEW).tolist()
        return int(mechanisms.PermuteAndFlip(epsilon=1, sensitivity=1, utility=utility, monotonic=True).randomise())

    def marks() -> list[float]:
        noise = mechanisms.GaussianAnalytic(epsilon=1, delta=1e-8, sensitivity=math.sqrt(50))
        return [noise.randomise(float(total)) for total in MARKS.sum(axis=0)]

    return [
        lambda: tools.count_nonzero(FEW < 50, epsilon=1),
        lambda: tools.histogram(CELLS, epsilon=1, bins=10_000, range=(-0.5, 9999.5))[0],
        lambda: tools.mean(NUMBERS, epsilon=1, bounds=(0, 9999)),
        lambda: tools.median(NUMBERS, epsilon=1, bounds=(0, 9999)),
        top,
        marks,
        lambda: models.KMeans(4, epsilon=1, bounds=ends).fit(CLOUDS).cluster_centers_,
    ]


def measured(answer: Answer, error: Callable[[Any], float], runs: int) -> tuple[float, float, float]:
    """Mean and largest error of some runs, and the median time in milliseconds."""
    errors, seconds = [], []
    for _ in range(runs):
        started = time.perf_counter()
        found = answer()
        seconds.append(time.perf_counter() - started)
        errors.append(float(error(found)))
    return float(np.mean(errors)), max(errors), 1000 * float(np.median(seconds))


def figures() -> None:
    for name, make in {"sottovoce": own, "opendp": opendp, "diffprivlib": diffprivlib}.items():
        try:
            answers = make()
        except ImportError:
            print(f"{name} is not installed")
            continue
        for (work, error), answer in zip(ERRORS.items(), answers, strict=True):
            if answer is not None:
                mean, largest, took = measured(answer, error, SLOW.get(work.split()[0], RUNS))
                print(f"{work:<46} {name:<12} mean {mean:>8.3f} largest {largest:>8.3f} {took:>9.2f} ms")


if __name__ == "__main__":
    figures()
