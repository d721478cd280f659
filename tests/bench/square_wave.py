"""Coverage and width of the square wave's intervals for the mean and the median, over simulated samples.

Truths on the steps 0 .. 100 (three or four steps a bin) and 0 .. 31 (one step a bin): beta(2, 5), two equal groups of
beta(20, 80) and beta(80, 20), and 60 % on one step near the lower end with the rest uniform. Samples are drawn from the
exact distribution of reports; 33 is the seed of each setting. Widths are in parts of 2 z sd: of the score of a known
distribution for the mean, of the median shown over all runs for the median. Settings: ``SETTINGS``.
"""

import sys
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.square_wave import (
    SMOOTHED_BELOW,
    _mean,
    channel_of,
    edges_of_bins,
    maximum_likelihood,
    quantile,
    quantile_limits,
    variables,
)
from sottovoce.aggregator.estimators.support import DEFAULT_RULE
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.square_wave import SquareWave

from tests.documents import number, parsed

Array = NDArray[np.float64]

SEED = 33
RUNS = 1000
SETTINGS = list(product((100, 31), ("3", "7389/1000"), ("beta", "bimodal", "point"), (300, 3000)))
"""Last step, odds (e to the power of epsilon), truth, reports."""
Z = 1.959964


class Coverage(NamedTuple):
    """Figures of one setting: coverage, mean width in parts of 2 z sd, and the mean width itself."""

    mean: float
    mean_ratio: float
    median: float
    median_ratio: float
    median_width: float
    median_sd: float
    median_rmse: float


def truth(name: str, steps: int) -> Array:
    """Return the share of people at each of the steps 0 .. steps."""
    middles = (np.arange(steps + 1) + 0.5) / (steps + 1)

    def beta(a: float, b: float) -> Array:
        weights = middles ** (a - 1) * (1 - middles) ** (b - 1)
        return weights / weights.sum()

    near = np.arange(steps + 1) == steps // 25
    shares: dict[str, Array] = {
        "beta": beta(2, 5),
        "bimodal": (beta(20, 80) + beta(80, 20)) / 2,
        "point": 0.6 * near + 0.4 / (steps + 1),
    }
    return shares[name]


def coverage(steps: int, odds: str, name: str, n: int, runs: int = RUNS) -> Coverage:
    question = parsed(number(0, steps, 1, {"name": "square_wave", "odds": odds}))
    mechanism, shares = question.mechanism, truth(name, steps)
    assert isinstance(mechanism, SquareWave)
    table = np.array([mechanism.weights(step) for step in range(steps + 1)], dtype=float)
    reported = shares @ (table / table.sum(axis=1, keepdims=True))
    mean, median = float(shares @ np.arange(steps + 1)), int(np.argmax(np.cumsum(shares) >= 0.5))
    scores = np.array(variables(mechanism, question.domain)[0].scored.scores)
    sd = ((reported @ scores**2 - (reported @ scores) ** 2) / n) ** 0.5
    drawn = np.random.Generator(np.random.PCG64(SEED)).multinomial(n, reported, size=runs).astype(float)
    shown = _medians(mechanism, drawn, question.domain)
    means, medians = [], []
    for counts, middle in zip(drawn, shown, strict=True):
        found = _mean(mechanism, dict(enumerate(counts.astype(int).tolist())), question.domain, DEFAULT_RULE)
        means.append((found.low, found.high))
        limits = quantile_limits(mechanism, counts, question.domain, DEFAULT_RULE, (0.5,))[0]
        medians.append((min(limits[0], middle), max(limits[1], middle)))
    low, high = np.array(means).T
    least, most = np.array(medians).T
    return Coverage(
        float(np.mean((low <= mean) & (mean <= high))),
        float(np.mean(high - low) / (2 * Z * sd)),
        float(np.mean((least <= median) & (median <= most))),
        float(np.mean(most - least) / (2 * Z * shown.std())),
        float(np.mean(most - least)),
        float(shown.std()),
        float(np.mean((shown - median) ** 2) ** 0.5),
    )


def _medians(mechanism: SquareWave, drawn: Array, domain: Domain) -> Array:
    """Return the medians that results show for several samples of one size; all in one call, which is faster."""
    shares = maximum_likelihood(drawn / drawn[0].sum(), channel_of(mechanism), bool(drawn[0].sum() < SMOOTHED_BELOW))
    return np.array([quantile(row, edges_of_bins(mechanism, domain), 0.5) for row in shares])


def figures(runs: int = RUNS) -> None:
    print("steps odds truth n: mean covered, ratio; median covered, ratio, width, sd, rmse")
    for setting in SETTINGS:
        print(*setting, *(f"{value:.3f}" for value in coverage(*setting, runs)), flush=True)


if __name__ == "__main__":
    figures(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
