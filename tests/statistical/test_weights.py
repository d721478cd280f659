"""Weighted tables: limits within heavy and light regions, over simulated samples with fixed seeds.

A sample draws people of three regions and two ages with unequal chances, and the weights undo that. One design effect
for the whole table covers .89 of samples in the heavy region, and is 2.1 times too wide in a light one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.odds_ratio import odds_ratio
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs
from sottovoce.aggregator.analysis.tables.table import Rule, TwoWayTable, independence_of
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import difference
from sottovoce.aggregator.estimators.variable import Variable

from tests.documents import one_of
from tests.unit.aggregator.analysis.samples import Z, coin, kary, openly, public, variable

REGIONS = variable(public(one_of(3, {"name": "kary_rr", "odds": "3"})))
WEIGHTS = np.array([[8.0, 4.0], [1.0, 2.0], [1.0, 0.5]])
"""Of a person, by region and age."""
CHANCES = np.array([[1, 2], [3, 3], [5, 3]]) / 17
YES = np.array([0.3, 0.3, 0.5])
"""Share of yes in each region."""
N = 680


def drawn(outcome: Variable, reports: Any, chances: Any, generator: np.random.Generator) -> Joint:
    """A sample: ``reports`` has P(report) of each region, ``chances`` that of a region and age."""
    cells = chances[:, :, None] * np.asarray(reports)[:, None]
    counts = generator.multinomial(N, cells.ravel() / cells.sum()).astype(float)
    region, age, report = (each.ravel().astype(np.uint8) for each in np.indices(cells.shape))
    weights = WEIGHTS[region, age]
    there = counts > 0
    sums = ((counts * power)[there] for power in (weights, weights**2, np.ones(len(weights))))
    first = REGIONS if len(chances) == 3 else openly
    return Joint((Pairs(first, outcome, (region[there], report[there]), *sums),), N)


def of_regions(outcome: Variable, runs: int) -> dict[str, tuple[float, float]]:
    """Coverage of each figure, and its mean width over that of linearised limits which know all shares and sizes."""
    generator = np.random.Generator(np.random.PCG64(11))
    no, yes = outcome.scores(np.array([0, 1]))[:, 1].tolist()
    chance = (YES - no) / (yes - no)
    people = (CHANCES * WEIGHTS).sum(axis=1) / (CHANCES * WEIGHTS).sum()
    heavy = (CHANCES * WEIGHTS**2).sum(axis=1) / (CHANCES * WEIGHTS).sum() ** 2
    within = np.sqrt((yes - no) ** 2 * chance * (1 - chance) * heavy / N) / people
    cells = people * YES
    square = chance * yes**2 + (1 - chance) * no**2
    of_cells = np.sqrt((heavy * (square - 2 * cells * YES) + cells**2 * heavy.sum()) / N)
    right: dict[str, tuple[float, float]] = {}
    for region in range(3):
        right[f"share {region}"], right[f"cell {region}"] = (
            (YES[region], within[region]),
            (cells[region], of_cells[region]),
        )
    right |= {f"difference {region}": (YES[region] - YES[0], np.hypot(within[region], within[0])) for region in (1, 2)}
    held, widths = dict.fromkeys(right, 0), dict.fromkeys(right, 0.0)
    for _ in range(runs):
        sample = drawn(outcome, np.stack([1 - chance, chance], axis=1), CHANCES, generator)
        table = TwoWayTable(sample, Rule(least=0))
        limits: dict[str, Any] = {f"share {region}": table.share(region, 1) for region in range(3)}
        limits |= {f"cell {region}": table.cell(region, 1) for region in range(3)}
        apart = (-1.0, 1.0)
        limits |= {f"difference {region}": difference(sample, (0, region), 1, apart, Z) for region in (1, 2)}
        for name, found in limits.items():
            held[name] += found.low <= right[name][0] <= found.high
            widths[name] += found.high - found.low
    return {name: (held[name] / runs, widths[name] / runs / (2 * Z * right[name][1])) for name in right}


OUTCOMES = {"open": openly, "coin": coin}


@pytest.mark.parametrize(("runs", "least"), [(100, 0.8846), pytest.param(2000, 0.9345, marks=pytest.mark.slow)])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_limits_hold_in_heavy_and_in_light_regions(outcome: str, runs: int, least: float) -> None:
    """Cells, shares within a row and differences cover, and are never much wider than necessary."""
    found = of_regions(OUTCOMES[outcome], runs)

    assert min(coverage for coverage, _ in found.values()) >= least, found
    assert max(width for _, width in found.values()) <= 1.10, found


def of_measures(outcome: Variable, light: float, runs: int) -> tuple[float, float]:
    """How often independent answers are found to depend on each other, and limits of the odds ratio hold it.

    Two regions, of which the light one has this share of the reports; 20 % decline where the outcome says so.
    """
    generator = np.random.Generator(np.random.PCG64(12))
    truth = np.array([0.56, 0.24, 0.2]) if outcome.absent else np.array([0.7, 0.3])
    channel = outcome.likelihood(np.arange(len(truth), dtype=np.uint8))
    reports = np.stack([channel / channel.sum(axis=0) @ truth] * 2)
    chances = np.array([[1 - light] * 2, [light] * 2])
    rejected = held = 0
    for _ in range(runs):
        sample = drawn(outcome, reports, chances, generator)
        test, (_, low, high) = independence_of(sample), odds_ratio(sample, Z)
        rejected += test is not None and test.p < 0.05
        held += (low is None or low <= 1) and (high is None or high >= 1)
    return rejected / runs, held / runs


MEASURED = {"open": openly, "coin": coin, "declined": replace(kary, absent=True)}


@pytest.mark.parametrize(("outcome", "light"), [("open", 0.95), ("declined", 0.95)])
def test_association_with_a_weighted_region_is_not_invented(outcome: str, light: float) -> None:
    """Where a twentieth of the reports is heavy: the test keeps its size, and the odds ratio is within its limits."""
    rejected, held = of_measures(MEASURED[outcome], light, 100)

    assert rejected <= 0.10
    assert held >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("light", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("outcome", MEASURED)
def test_association_keeps_its_size_everywhere(outcome: str, light: float) -> None:
    """At most 6.5 % of 2,000 samples, and limits of the odds ratio cover .9345."""
    rejected, held = of_measures(MEASURED[outcome], light, 2000)

    assert rejected <= 0.0655
    assert held >= 0.9345
