"""Waves of the same people, added up: intervals hold, by exact enumeration."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from sottovoce.aggregator.analysis.one_sample_test import one_sample_test
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.selection import SAME_PEOPLE
from sottovoce.aggregator.analysis.tables.crosstab import crosstab
from sottovoce.aggregator.analysis.tables.group_comparison import compare
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.aggregator.estimators.intervals import same_people, score_cc
from sottovoce.aggregator.estimators.means import ScoredChannel, mean_interval

from tests.documents import number, one_of, question
from tests.statistical.exact import CHANNELS, Array, binomial
from tests.statistical.test_joint_tables import QUESTIONS, TABLES
from tests.surveys import months, survey

SHARES = np.linspace(0.01, 0.99, 33)


@lru_cache(maxsize=64)
def reported(people: int, waves: int, a: float, b: float) -> Array:
    """P(x reports of yes) for each number of people whose truth is yes in every wave: (people + 1, n + 1)."""
    rows = []
    for yes in range(people + 1):
        (of_yes,), (of_no,) = (
            binomial(waves * size, np.array([rate])) if size else np.ones((1, 1))
            for size, rate in ((yes, a), (people - yes, b))
        )
        rows.append(np.convolve(of_yes, of_no))
    return np.array(rows)


def coverage(limits: tuple[Array, Array], people: int, waves: int, a: float, b: float) -> Array:
    """P(low <= p <= high) for each share p of ``SHARES``; ``limits`` are those of the counts 0 .. n."""
    low, high = limits
    inside = (low[None, :] <= SHARES[:, None]) & (SHARES[:, None] <= high[None, :])
    counts = binomial(people, SHARES) @ reported(people, waves, a, b)
    return (counts * inside).sum(axis=1)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("people", "waves"), [(5, 2), (20, 2), (20, 5), (60, 3)])
def test_same_people_in_several_waves_are_covered(channel: str, people: int, waves: int) -> None:
    """No share gets less than .945, but for epsilon 5 and five people, .941."""
    a, b = CHANNELS[channel]
    n = people * waves
    least = coverage(same_people(np.arange(n + 1), n, a, b, 0.95, waves), people, waves, a, b).min()

    assert least >= (0.941 if (channel, people) == ("epsilon 5", 5) else 0.945)


def test_interval_for_independent_reports_would_not_hold() -> None:
    """Epsilon 3, five waves: what the second term is for."""
    a, b = CHANNELS["epsilon 3"]

    assert coverage(score_cc(np.arange(101), 100, a, b, 0.95), 20, 5, a, b).min() < 0.7


@pytest.mark.parametrize("channel", CHANNELS)
def test_one_wave_has_the_interval_it_always_had(channel: str) -> None:
    """To the last digits: no second kind of interval."""
    counts = np.arange(58)
    one, other = same_people(counts, 57, *CHANNELS[channel], 0.95, 1), score_cc(counts, 57, *CHANNELS[channel], 0.95)

    assert np.abs(np.array(one) - np.array(other)).max() < 1e-9


def test_mean_of_two_scores_has_the_limits_of_the_share() -> None:
    """Among means, too, the second term is the variance of a truth that never changes."""
    a, b, n, waves = 0.75, 0.25, 60, 3
    scores = (-b / (a - b), (1 - b) / (a - b))
    channel = ScoredChannel((0.0, 1.0), scores, tuple(r * scores[1] ** 2 + (1 - r) * scores[0] ** 2 for r in (b, a)))
    low, high = same_people(np.arange(n + 1), n, a, b, 0.95, waves)
    for count in (0, 15, 21, 30, 45, 60):
        found = mean_interval((count / n - b) / (a - b), n, channel, 0.95, waves)
        assert found == pytest.approx((low[count], high[count]), abs=1e-9)


class Panel:
    """Two questions "a" and "b" that the same people answer alike in each wave.

    Args:
        first, second: questions of the survey.
        truth: shares of the pairs of true values.
        waves: number of waves.
        weighted: a person of the first answer to "a" has weight 3, as by a public question.
    """

    def __init__(self, first: Any, second: Any, truth: Any, waves: int, *, weighted: bool = False) -> None:
        asked = [{**each, "name": name} for each, name in ((first, "a"), (second, "b"))]
        self.survey = survey(questions=asked, waves=months(waves))
        self.truth, self.waves, self.weighted = np.array(truth), waves, weighted
        self.channels = [_rows(each) for each in self.survey.questions]

    def columns(self, people: int, generator: np.random.Generator) -> tuple[Columns, Array | None]:
        who = generator.choice(self.truth.size, people, p=self.truth.ravel())
        truths = np.tile(np.stack(np.unravel_index(who, self.truth.shape)), self.waves)
        values = {
            name: (generator.random(truths.shape[1])[:, None] > np.cumsum(rows, axis=1)[true]).sum(axis=1)
            for name, rows, true in zip("ab", self.channels, truths, strict=True)
        }
        wave = np.repeat(np.arange(self.waves), people)
        weights = np.where(values["a"] == 0, 3.0, 1.0) if self.weighted else None
        return Columns.from_arrays(self.survey, values, wave), weights


def _rows(asked: Any) -> Array:
    """P(reported | truth), with a row for each truth."""
    if asked.mechanism is None:
        return np.eye(asked.domain.size)
    size = asked.domain.size
    values = range(asked.largest + 1)
    return np.array([[float(asked.mechanism.probability(y, x)) for y in values] for x in range(size)])


class Held(NamedTuple):
    """How often limits held the truth, and their mean width in parts of 2 z standard deviations of the estimates."""

    coverage: dict[str, float]
    width: dict[str, float]
    rejected: float


def held(panel: Panel, people: int, runs: int) -> Held:
    """Coverage of all figures of a table of two yes/no questions, and how often independence is rejected."""
    generator = np.random.Generator(np.random.PCG64(people))
    p = panel.truth[:2, :2] / panel.truth[:2, :2].sum()
    if panel.weighted:
        p = p * [[3.0], [1.0]] / (p * [[3.0], [1.0]]).sum()
    yes, (a, b) = p[:, 1] / p.sum(axis=1), (p[1].sum(), p[:, 1].sum())
    right = {
        "cell": p[1, 1],
        "share": yes[1],
        "risk_difference": yes[1] - yes[0],
        "risk_ratio": np.log(yes[1] / yes[0]),
        "odds_ratio": np.log(p[0, 0] * p[1, 1] / p[0, 1] / p[1, 0]),
        "phi": (p[1, 1] - a * b) / np.sqrt(a * (1 - a) * b * (1 - b)),
    }
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in right}
    rejected = 0
    for _ in range(runs):
        columns, weights = panel.columns(people, generator)
        table = crosstab(columns, "a", "b", weights, Rule(least=0))
        rejected += table.independence is not None and table.independence.p < 0.05
        figures = {"cell": table.cells[1][1], "share": table.conditional[1][1], **table.measures._asdict()}
        for name in right:
            one = figures[name]
            ends = (one.raw or 0.0, one.low or 0.0, np.inf if one.high is None else one.high)
            with np.errstate(divide="ignore"):
                found[name].append(tuple(np.log(ends)) if name in {"risk_ratio", "odds_ratio"} else ends)
    arrays = {name: np.array(each) for name, each in found.items()}
    inside = {name: (x[:, 1] <= right[name] + 1e-9) & (right[name] <= x[:, 2] + 1e-9) for name, x in arrays.items()}
    return Held(
        {name: float(held.mean()) for name, held in inside.items()},
        {name: float(np.mean(x[:, 2] - x[:, 1]) / (2 * 1.96 * x[:, 0].std())) for name, x in arrays.items()},
        rejected / runs,
    )


DENSE, INDEPENDENT = TABLES["dense"], TABLES["independent"]
DECLINING = {**QUESTIONS["epsilon 3"], "absent_category": True}


def test_standard_errors_of_tables_of_several_waves_are_those_of_the_estimates() -> None:
    """Of a share, of differences and of ratios alike, where errors of independent reports are .6 times as large."""
    panel, generator = Panel(QUESTIONS["public"], QUESTIONS["epsilon 3"], DENSE, 3), np.random.default_rng(5)
    printed: dict[str, list[tuple[float, float]]] = {}
    for _ in range(60):
        columns, _ = panel.columns(300, generator)
        table = crosstab(columns, "a", "b", rule=Rule(least=0))
        (apart,) = compare(columns, "b", "a", rule=Rule(least=0)).differences
        figures = {"share": table.conditional[1][1], **table.measures._asdict(), "difference": apart}
        for name in figures.keys() - {"odds_ratio"}:
            printed.setdefault(name, []).append((figures[name].raw, figures[name].std_error))

    for name, each in printed.items():
        points, errors = np.array(each).T
        assert errors.mean() / points.std() == pytest.approx(1, abs=0.2), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("panel", "people"),
    [
        (Panel(QUESTIONS["public"], QUESTIONS["epsilon 3"], DENSE, 3), 300),
        (Panel(QUESTIONS["coin"], QUESTIONS["coin"], DENSE, 3), 3000),
        (Panel(QUESTIONS["public"], QUESTIONS["coin"], INDEPENDENT, 3), 300),
        (Panel(QUESTIONS["public"], QUESTIONS["epsilon 3"], DENSE, 3, weighted=True), 300),
        (Panel(QUESTIONS["public"], DECLINING, [[0.40, 0.12, 0.08], [0.08, 0.25, 0.07]], 3), 300),
        (Panel(QUESTIONS["epsilon 3"], QUESTIONS["epsilon 3"], INDEPENDENT, 4), 300),
    ],
)
def test_tables_of_several_waves_cover_in_two_thousand_samples(panel: Panel, people: int) -> None:
    """At least .9345, and limits at most 1.10 times as wide as those of who knows all; independence keeps its level.

    Limits for independent reports hold .76 to .82.
    """
    found = held(panel, people, 2000)

    assert min(found.coverage.values()) >= 0.9345
    assert max(found.width.values()) <= 1.10
    assert panel.truth.tolist() != INDEPENDENT or found.rejected <= 0.0655


def test_known_shares_of_several_waves_are_rejected_as_often_as_said() -> None:
    """Five in a hundred and no more than three standard errors of 400 samples above; limits are those of Results."""
    panel = Panel(QUESTIONS["public"], QUESTIONS["epsilon 3"], DENSE, 3)
    generator, truth = np.random.Generator(np.random.PCG64(3)), {"yes": 0.45}
    tests = [one_sample_test(panel.columns(200, generator)[0], "b", truth) for _ in range(400)]

    rejected = np.mean([test.p < 0.05 for test in tests])
    assert rejected <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    assert {test.values[0].estimate.method for test in tests} == {"same-people"}


def test_means_of_several_waves_cover() -> None:
    """By group and between groups, of numbers that lie at both ends, where the same people matter most."""
    ends = np.zeros((2, 11))
    ends[:, [0, 10]] = [[0.3, 0.2], [0.1, 0.4]]
    panel = Panel(QUESTIONS["public"], QUESTIONS["number"], ends, 3)
    generator, right = np.random.Generator(np.random.PCG64(4)), (4.0, 8.0, 4.0)
    covered = np.zeros(3)
    for _ in range(100):
        found = compare(panel.columns(200, generator)[0], "b", "a", rule=Rule(least=0))
        limits = [*found.values, *found.differences]
        covered += [each.low <= mean <= each.high for each, mean in zip(limits, right, strict=True)]  # type: ignore[operator]

    assert covered.min() / 100 >= 0.95 - 3 * 0.0218


def modelled(panel: Panel, people: int, runs: int) -> Held:
    """Coverage of a logit's slope, its average marginal effect and the linear slope of "b" on "a"."""
    generator = np.random.Generator(np.random.PCG64(people))
    p = panel.truth[:2, :2] / panel.truth[:2, :2].sum()
    if panel.weighted:
        p = p * [[3.0], [1.0]] / (p * [[3.0], [1.0]]).sum()
    difference = p[1, 1] / p[1].sum() - p[0, 1] / p[0].sum()
    right = {"slope": np.log(p[0, 0] * p[1, 1] / p[0, 1] / p[1, 0]), "effect": difference, "linear": difference}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in right}
    for _ in range(runs):
        columns, weights = panel.columns(people, generator)
        model = regress(columns, "b", ["a"], weights=weights)
        assert SAME_PEOPLE in model.warnings
        assert model.tests == ()
        for name, values in zip(right, (model.coefficients, model.ame, model.linear.coefficients), strict=True):
            one = next(value for value in values if value.term == "a=yes")
            found[name].append((one.estimate, one.low, one.high))
    return against(found, right)


def against(found: dict[str, list[tuple[float, ...]]], right: dict[str, Any]) -> Held:
    """How often limits (estimate, low, high) hold what is right, and their width beside the spread of estimates."""
    arrays = {name: np.array(each, dtype=float) for name, each in found.items()}
    return Held(
        {name: float(((x[:, 1] <= right[name]) & (right[name] <= x[:, 2])).mean()) for name, x in arrays.items()},
        {name: float(np.mean(x[:, 2] - x[:, 1]) / (2 * 1.96 * x[:, 0].std())) for name, x in arrays.items()},
        0.0,
    )


FEW = Panel(QUESTIONS["public"], QUESTIONS["epsilon 3"], DENSE, 3)


@pytest.mark.parametrize(
    ("panel", "people", "runs", "least"),
    [
        (FEW, 300, 400, 0.9125),
        *(
            pytest.param(panel, people, 2000, 0.9345, marks=pytest.mark.slow)
            for panel, people in (
                (FEW, 300),
                (Panel(QUESTIONS["public"], QUESTIONS["coin"], DENSE, 3), 1000),
                (Panel(QUESTIONS["public"], QUESTIONS["epsilon 3"], DENSE, 3, weighted=True), 300),
                (Panel(QUESTIONS["epsilon 3"], QUESTIONS["epsilon 3"], DENSE, 3), 600),
            )
        ),
    ],
)
def test_models_of_several_waves_cover_and_are_not_wide(panel: Panel, people: int, runs: int, least: float) -> None:
    """Three waves of some hundred people each."""
    found = modelled(panel, people, runs)

    assert min(found.coverage.values()) >= least
    assert max(found.width.values()) <= 1.10


LATENT = {"ordered": one_of(4, {"name": "kary_rr", "odds": "9"}),
          "declining": {**question({"name": "kary_rr", "odds": "9"}), "absent_category": True}}  # fmt: skip


def latent(kind: str, people: int, runs: int) -> Held:
    """Coverage of the slope of an ordered logit of .8, or of a logit beside which one group declines more often."""
    panel, generator = Panel(QUESTIONS["public"], LATENT[kind], np.eye(1), 3), np.random.Generator(np.random.PCG64(7))
    below = 1 / (1 + np.exp(-np.array([[-1.2, 0, 1.1], [-2.0, -0.8, 0.3]])))
    yes, declined = 1 / (1 + np.exp([0.5, -0.3])), np.array([0.1, 0.3])
    shares = np.diff(below, axis=1, prepend=0, append=1)
    if kind == "declining":
        shares = np.stack([(1 - yes) * (1 - declined), yes * (1 - declined), declined], axis=1)
    panel.truth, right = shares / 2, {"slope": 0.8}
    if kind == "declining":
        right["declining"] = np.log(3 / 7 * 9)
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in right}
    for _ in range(runs):
        columns, _ = panel.columns(people, generator)
        model = regress(columns, "b", ["a"], model="ordered" if kind == "ordered" else "logit")
        for name, part in zip(right, (model, model.declining), strict=False):
            one = next(each for each in part.coefficients if each.term == "a=yes")  # type: ignore[union-attr]
            found[name].append((one.estimate, one.low, one.high))  # type: ignore[arg-type]
    return against(found, right)


@pytest.mark.parametrize(
    ("people", "runs", "least"),
    [(400, 100, 0.95 - 3 * 0.0218), pytest.param(500, 2000, 0.9345, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("kind", LATENT)
def test_ordered_and_declining_models_of_several_waves_cover(kind: str, people: int, runs: int, least: float) -> None:
    """In three waves: .95 less three errors, and not wide; thrice the variance is 1.7 times as wide."""
    found = latent(kind, people, runs)

    assert min(found.coverage.values()) >= least
    assert max(found.width.values()) <= 1.10


def test_public_numbers_of_the_same_people_have_the_variance_that_they_show() -> None:
    """Of 150 people, who all say the same in both waves: limits as if each was asked once, not ten times as wide."""
    document = {key: value for key, value in number(0, 100, 1, {"name": "coin_flip"}).items() if key != "mechanism"}
    openly = {"type": "boolean", "label": {"en": "g"}, "public": True}
    made = survey(questions=[{**openly, "name": "g"}, {**document, "name": "age", "public": True}], waves=months(2))
    rng, held = np.random.default_rng(4), 0
    wave, group = np.repeat(np.array([0, 1], np.uint8), 150), np.tile(np.arange(150) % 2, 2)
    for _ in range(400):
        age = np.tile(np.rint(50 + 5 * rng.standard_normal(150)), 2).astype(int)
        columns = Columns.from_arrays(made, {"g": group, "age": age}, wave)
        apart = compare(columns, "age", "g").differences[0]
        held += apart.low <= 0 <= apart.high
    once = np.sqrt(sum(age[:150][group[:150] == each].var() / 75 for each in (0, 1)))
    slope = regress(columns, "age", ["g"], strata=False).coefficients[1]

    assert columns.repeats == 2
    assert held / 400 >= 0.9125
    assert apart.std_error == pytest.approx(once, rel=0.03)
    assert apart.high - apart.low == pytest.approx(2 * 1.96 * once, rel=0.05)
    assert slope.std_error == pytest.approx(once, rel=0.03)
