"""Coverage of intervals for two questions together, and the size of the test of independence, over simulated samples.

Samples are drawn from the exact distribution of reported pairs, with fixed seeds. Plain intervals cover .34 to .88 in
the sparse settings here, and intervals made of two separate shares .885; a test of estimated counts rejects 62 to 79 of
100 true nulls.

With weights a sample draws people of three regions and two ages with unequal chances, and the weights undo that. One
design effect for the whole table covers .89 of samples in the heavy region, and is 2.1 times too wide in a light one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports, likeliest_table
from sottovoce.aggregator.analysis.tables.odds_ratio import odds_ratio
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs, independence
from sottovoce.aggregator.analysis.tables.score_intervals import implausible
from sottovoce.aggregator.analysis.tables.table import Rule, TwoWayTable, independence_of
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import correlation, difference, ratio
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.spec import Question

from tests.documents import number, one_of, parsed, question
from tests.unit.aggregator.analysis.samples import COIN, Z, coin, kary, openly, public, variable

QUESTIONS = {
    "public": public(question(COIN)),
    "coin": question(COIN),
    "epsilon 3": question({"epsilon": "3"}),
    "kary 3": one_of(3, {"name": "kary_rr", "odds": "3"}),
    "kary 4": one_of(4, {"name": "kary_rr", "odds": "3"}),
    "subset 8": one_of(8, {"name": "subset_selection", "odds": "3", "size": 2}),
    "columns 20": one_of(20, {"name": "hadamard_response", "odds": "3"}),
    "number": number(0, 10, 1, {"name": "geometric", "ratio": "4/5"}),
}

FLIP = np.array([[0.75, 0.25], [0.25, 0.75]])

TABLES = {
    "dense": [[0.45, 0.15], [0.10, 0.30]],
    "independent": [[0.42, 0.28], [0.18, 0.12]],
    "sparse": [[0.69, 0.10], [0.20, 0.01]],
    "empty": [[0.60, 0.20], [0.20, 0.0]],
}


class Survey:
    """Two questions, and samples of their reports.

    Args:
        first: name of the first question.
        second: name of the second one.
        truth: shares of the true pairs.
    """

    def __init__(self, first: str, second: str, truth: Any) -> None:
        questions = [parsed(QUESTIONS[name]) for name in (first, second)]
        self.first, self.second = (variables_of(each)[0] for each in questions)
        (self._values, one), (self._others, other) = map(_channel, questions)
        self._reported = one.T @ np.array(truth) @ other

    def sample(self, n: int, generator: np.random.Generator) -> Joint:
        shares = self._reported.ravel() / self._reported.sum()
        counts = generator.multinomial(n, shares).reshape(self._reported.shape)
        places = np.nonzero(counts)
        numbers = counts[places].astype(float)
        reported = self._values[places[0]], self._others[places[1]]
        return Joint((Pairs(self.first, self.second, reported, numbers, numbers, numbers),), n)


def _channel(asked: Question) -> tuple[np.ndarray, np.ndarray]:
    """Reported values, and P(reported | truth) with a row for each truth."""
    values = [value for value in range(asked.largest + 1) if asked.admits(value)]
    if asked.mechanism is None:
        return np.array(values), np.eye(len(values))
    rows = [[float(asked.mechanism.probability(y, x)) for y in values] for x in range(asked.domain.size)]
    return np.array(values), np.array(rows)


def coverages(survey: Survey, truth: Any, n: int, runs: int) -> dict[str, float]:
    """How often the limits of each figure hold the truth."""
    generator = np.random.Generator(np.random.PCG64(n))
    p = np.array(truth)
    in_rows = p[:, 1] / p.sum(axis=1)
    a, b = p[1].sum(), p[:, 1].sum()
    right = {
        "cell": p[1, 1],
        "share": in_rows[1],
        "difference": in_rows[1] - in_rows[0],
        "ratio": in_rows[1] / in_rows[0],
        "phi": (p[1, 1] - a * b) / np.sqrt(a * (1 - a) * b * (1 - b)),
    }
    held = dict.fromkeys(right, 0)
    for _ in range(runs):
        found = _limits(survey.sample(n, generator))
        for name, (low, high) in found.items():
            held[name] += low - 1e-9 <= right[name] <= high + 1e-9
    return {name: count / runs for name, count in held.items()}


def _limits(reports: Joint) -> dict[str, tuple[float, float]]:
    table = TwoWayTable(reports, Rule(least=0))
    cell, share = table.cell(1, 1), table.share(1, 1)
    inverted = {
        "difference": difference(reports, (0, 1), 1, (-1.0, 1.0), Z),
        "ratio": ratio(reports, (0, 1), 1, Z),
        "phi": correlation(reports, Z),
    }
    return {
        "cell": (float(cell.low or 0), float(cell.high or 0)),
        "share": (float(share.low or 0), float(share.high or 0)),
        **{name: (found.low, found.high) for name, found in inverted.items()},
    }


@pytest.mark.parametrize(
    ("pair", "table", "n"), [(("coin", "coin"), "sparse", 200), (("public", "epsilon 3"), "sparse", 50)]
)
def test_limits_cover_in_sparse_tables(pair: tuple[str, str], table: str, n: int) -> None:
    """Where plain limits cover .7, and those by inversion .6 of the ratios: a small version of the long run below."""
    found = coverages(Survey(*pair, TABLES[table]), TABLES[table], n, 300)

    assert min(found.values()) >= 0.94 - 3 * 0.0137


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000, 5000])
@pytest.mark.parametrize("table", ["dense", "independent", "sparse", "empty"])
@pytest.mark.parametrize(
    "pair", [("coin", "coin"), ("public", "coin"), ("epsilon 3", "epsilon 3"), ("public", "epsilon 3")]
)
def test_limits_cover_everywhere(pair: tuple[str, str], table: str, n: int) -> None:
    """At least .94, but for three standard errors of 2,000 samples; a dense table's cells not above .985."""
    found = coverages(Survey(*pair, TABLES[table]), TABLES[table], n, 2000)

    assert min(found.values()) >= 0.94 - 3 * 0.0053
    assert table in {"sparse", "empty"} or found["cell"] <= 0.985 + 3 * 0.0027


def size(first: str, second: str, n: int, runs: int) -> float:
    """How often independence of independent answers is rejected at 5 %."""
    generator = np.random.Generator(np.random.PCG64(n))
    sizes = [parsed(QUESTIONS[name]).domain.size for name in (first, second)]
    survey = Survey(first, second, np.outer(*(_uneven(each) for each in sizes)))
    return sum(independence(survey.sample(n, generator).strata).p < 0.05 for _ in range(runs)) / runs


def _uneven(k: int) -> np.ndarray:
    """Shares that fall like 1, 1/2, 1/3, ..."""
    shares = 1 / np.arange(1, k + 1)
    return np.asarray(shares / shares.sum())


PAIRS = [("coin", "coin", 100), ("public", "coin", 200), ("kary 4", "kary 3", 200), ("subset 8", "kary 4", 300)]


@pytest.mark.parametrize(("first", "second", "n"), PAIRS)
def test_test_keeps_its_size(first: str, second: str, n: int) -> None:
    """Near 5 % for every pair of channels, masks too: a small version of the long run below."""
    assert 0.02 <= size(first, second, n, 1000) <= 0.075


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "n"),
    [*PAIRS, ("subset 8", "subset 8", 500), ("columns 20", "coin", 500), ("number", "subset 8", 500)],
)
def test_test_keeps_its_size_everywhere(first: str, second: str, n: int) -> None:
    """From 2.5 to 6 % of 10,000 samples."""
    assert 0.025 <= size(first, second, n, 10_000) <= 0.06


@pytest.mark.parametrize(("pair", "table"), [(("coin", "coin"), "empty"), (("epsilon 3", "coin"), "sparse")])
def test_alarm_is_hardly_ever_false(pair: tuple[str, str], table: str) -> None:
    """Less than one in a thousand; with the sample's own variance it would be up to one in five."""
    generator = np.random.Generator(np.random.PCG64(7))
    survey, rung = Survey(*pair, TABLES[table]), 0
    for _ in range(1000):
        found = TwoWayTable(survey.sample(200, generator), Rule(least=0))
        alarm = implausible(found.raw, found.channels)
        rung += alarm is not None and alarm.statistic < alarm.limit

    assert rung <= 4


def test_half_seen_reports_sharpen_the_cells() -> None:
    """Two of three coin questions each: the likeliest table of all reports, against the pairs alone, 600 samples."""
    generator, pairs = np.random.default_rng(33), np.kron(FLIP, FLIP)
    rows = np.vstack([pairs, np.kron(FLIP, [[1, 1]]), np.kron([[1, 1]], FLIP)])
    truth = np.array([0.5, 0.2, 0.1, 0.2])
    chances = rows @ truth / 3
    found, alone = [], []
    for _ in range(600):
        counts = generator.multinomial(3000, chances).astype(float)
        found.append(likeliest_table([ObservedReports(rows, counts)], (2, 2)).ravel())
        alone.append(np.linalg.solve(pairs, counts[:4] / counts[:4].sum()))
    ratios = np.var(found, axis=0) / np.var(alone, axis=0)

    assert np.mean(found, axis=0) == pytest.approx(truth, abs=0.006)
    assert ratios[0] < 0.83
    assert ratios.mean() < 0.9


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
