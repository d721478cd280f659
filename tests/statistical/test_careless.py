"""Limits of tables and logits that are corrected for careless answers hold the truth about careful people.

Careless people answer all questions evenly at random: that of the groups, the outcome and the anchor. Of 1,000 samples
at least .93 are covered in each setting (an exact interval of 95 % fails that once in 400). Seeds are fixed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.crosstab import compare, crosstab
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question, Survey

from tests.surveys import document
from tests.vectors.arms import asks

ODDS_20 = {"mechanism": {"name": "binary_rr", "a": "20/21", "b": "1/21"}}
COIN = {"mechanism": {"name": "coin_flip"}}
PUBLIC = {"public": True}
DECLINED = {"mechanism": {"name": "kary_rr", "odds": "20"}, "absent_category": True}
SHARES, GROUP = (0.2, 0.4), 0.4
"""Share of yes in each group, and share of the second group, among careful people."""

TRUTHS = {
    "cell": GROUP * SHARES[1],
    "rare cell": GROUP * (1 - SHARES[1]),
    "share": SHARES[1],
    "difference": SHARES[1] - SHARES[0],
    "constant": float(np.log(SHARES[0] / (1 - SHARES[0]))),
    "slope": float(np.log(SHARES[1] / (1 - SHARES[1])) - np.log(SHARES[0] / (1 - SHARES[0]))),
}
CAREFUL = Rule(among="careful")


def asked(groups: dict[str, Any], outcome: dict[str, Any]) -> Survey:
    anchor = asks("moon", anchor=True, known_share="0", **PUBLIC)
    return parse_survey(document(questions=[asks("g", **groups), asks("y", **outcome), anchor]))


def reported(question: Question, truth: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Reports through the question's channel, (n,)."""
    if question.mechanism is None:
        return truth
    given = np.arange(question.largest + 1)
    channel = [[float(question.mechanism.probability(int(y), x)) for y in given] for x in range(question.domain.size)]
    ends = np.cumsum(np.array(channel), axis=1)[:, :-1]
    return np.asarray((ends[truth] < generator.random((len(truth), 1))).sum(axis=1))


def people(survey: Survey, n: int, careless: float, generator: np.random.Generator) -> Columns:
    """A sample of the population; of people who may decline one in ten does, more in the second group."""
    group = (generator.random(n) < GROUP).astype(int)
    yes = (generator.random(n) < np.array(SHARES)[group]).astype(int)
    truths = {"g": group, "y": yes, "moon": np.zeros(n, int)}
    at_random = generator.random(n) < careless
    values = {}
    for question in survey.questions:
        truth = truths[question.name]
        if question.domain.absent:
            truth = np.where(generator.random(n) < 0.1 * (1 + group), 2, truth)
        truth = np.where(at_random, generator.integers(0, question.domain.size, n), truth)
        values[question.name] = reported(question, truth, generator)
    return Columns.from_arrays(survey, values)


def tables(columns: Columns) -> Iterator[tuple[str, float | None, float | None]]:
    table = crosstab(columns, "g", "y", rule=CAREFUL)
    apart = compare(columns, "y", "g", rule=CAREFUL).differences[0]
    figures = {"cell": table.cells[1][1], "rare cell": table.cells[1][0], "share": table.conditional[1][1]}
    yield from ((name, each.low, each.high) for name, each in {**figures, "difference": apart}.items())


def logit(columns: Columns) -> Iterator[tuple[str, float | None, float | None]]:
    """Limits of the logit's coefficients; by likelihood ratio where there is no maximum."""
    found = regress(columns, "y", ("g",), among="careful")
    for name, each in zip(("constant", "slope"), found.coefficients, strict=True):
        yield name, each.low, each.high


def coverage(survey: Survey, limits: Any, careless: float, n: int, runs: int) -> dict[str, float]:
    """How often the limits hold the truth, by figure."""
    generator = np.random.Generator(np.random.PCG64([20261127, n, round(100 * careless)]))
    held: dict[str, int] = {}
    for _ in range(runs):
        for name, low, high in limits(people(survey, n, careless, generator)):
            inside = (low is None or low <= TRUTHS[name]) and (high is None or TRUTHS[name] <= high)
            held[name] = held.get(name, 0) + inside
    return {name: count / runs for name, count in held.items()}


SETTINGS = [(careless, n) for careless in (0.0, 0.05, 0.2) for n in (300, 2000)]


@pytest.mark.slow
@pytest.mark.parametrize(("careless", "n"), SETTINGS)
@pytest.mark.parametrize("groups", [PUBLIC, ODDS_20, COIN])
@pytest.mark.parametrize("outcome", [PUBLIC, ODDS_20])
def test_tables_cover(outcome: dict[str, Any], groups: dict[str, Any], careless: float, n: int) -> None:
    found = coverage(asked(groups, outcome), tables, careless, n, 1000)
    assert min(found.values()) >= 0.93, found


@pytest.mark.slow
@pytest.mark.parametrize(("careless", "n"), SETTINGS)
@pytest.mark.parametrize("outcome", [PUBLIC, ODDS_20, DECLINED])
def test_logits_cover(outcome: dict[str, Any], careless: float, n: int) -> None:
    found = coverage(asked(PUBLIC, outcome), logit, careless, n, 1000)
    assert min(found.values()) >= 0.93, found


@pytest.mark.parametrize(
    ("limits", "groups"), [(tables, PUBLIC), pytest.param(tables, COIN, marks=pytest.mark.slow), (logit, PUBLIC)]
)
def test_limits_cover_in_a_few_samples(limits: Any, groups: dict[str, Any]) -> None:
    """The small version: one person in five is careless; three standard errors of 100 samples."""
    found = coverage(asked(groups, ODDS_20), limits, 0.2, 600, 100)
    assert min(found.values()) >= 0.95 - 3 * 0.0218, found


def test_uncorrected_slope_is_too_small() -> None:
    """Careless people are in both groups and say yes as often as no."""
    columns = people(asked(PUBLIC, ODDS_20), 20_000, 0.2, np.random.Generator(np.random.PCG64(3)))
    plain, careful = (regress(columns, "y", ("g",), among=among).coefficients[1] for among in (None, "careful"))
    assert abs((careful.estimate or 0) - TRUTHS["slope"]) < 3 * (careful.std_error or 0)
    assert (plain.estimate or 0) < TRUTHS["slope"] - 3 * (plain.std_error or 0)
