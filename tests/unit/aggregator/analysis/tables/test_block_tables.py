"""Tables of questions of one block: exact moments, known figures, and what is refused."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.answered_cells import (
    block_groups,
    block_moments,
    cell_among_answered,
    share_among_answered,
)
from sottovoce.aggregator.analysis.tables.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.group_comparison import compare
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs, independence, joint
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel
from sottovoce.aggregator.analysis.tables.table import Rule, TwoWayTable
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.blocks import block, blocks, in_block, reports
from tests.documents import survey
from tests.unit.aggregator.analysis.samples import Z

SIZED = blocks(block(in_block("a"), in_block("b", 3), in_block("c", 4), odds="20"))
TWO = blocks(
    block(in_block("a"), in_block("b")),
    {"type": "select_one", "name": "sex", "label": {"en": "S"}, "public": True,
     "choices": [{"name": each, "label": {"en": each}} for each in ("x", "y")]},
)  # fmt: skip
DECLINED = blocks(block(in_block("a", absent_category=True), in_block("b", 3, absent_category=True), odds="20"))
TRUTH = np.array([[0.42, 0.18], [0.12, 0.28]])


def variables(survey: Any, *names: str) -> list[Variable]:
    """The variables of questions."""
    asked = {question.name: question for question in survey.questions}
    return [variables_of(asked[name])[0] for name in names]


def expected(one: Variable, other: Variable, truth: Any, n: float = 1.0) -> Joint:
    """So many reports as are expected of a population, of each pair of values."""
    assert one.block is not None
    assert other.block is not None
    patterns = one.block.mechanism.match_patterns((one.block.position, other.block.position))
    places = list(np.ndindex(np.shape(truth)))
    counts = [n * sum(truth[x] * float(patterns[x[0] == y[0], x[1] == y[1]]) for x in places) for y in places]
    reported = tuple(np.array(each) for each in zip(*places, strict=True))
    weights = np.array(counts)
    return joint([Pairs(one, other, reported, weights, weights, np.maximum(weights, 1))], round(n))


def test_expected_reports_give_the_true_table() -> None:
    """Also of two questions of three, with two of four options and of three."""
    truth = np.arange(1, 13).reshape(3, 4) / 78
    found = expected(*variables(SIZED, "b", "c"), truth)
    assert TwoWayTable(found, Rule()).raw == pytest.approx(truth)


def test_independent_answers_are_not_rejected_although_their_reports_depend_on_each_other() -> None:
    """The statistic of the expected reports is 0, though they have an odds ratio; not so that of an association."""
    pair = variables(TWO, "a", "b")
    independent = expected(*pair, np.outer([0.7, 0.3], [0.6, 0.4]), 2000)
    found = independence(independent.strata)
    assert (found.statistic, found.df) == (pytest.approx(0, abs=1e-9), 1)
    reported = independent.strata[0].weights.reshape(2, 2)
    assert reported[0, 0] * reported[1, 1] / (reported[0, 1] * reported[1, 0]) > 1.05

    linked = independence(expected(*pair, TRUTH, 2000).strata)
    assert linked.p < 1e-9


def test_variances_of_a_cell_and_of_a_share_are_those_of_the_channel() -> None:
    """By enumeration of all truths and reports of two questions of a block."""
    one, other = variables(SIZED, "b", "c")
    truth = np.arange(1, 13).reshape(3, 4) / 78
    pairs = expected(one, other, truth).strata[0]
    scores = pairs.score.of(one.scores(pairs.reported[0])[:, 1], other.scores(pairs.reported[1])[:, 2])
    z_row, w = one.scores(pairs.reported[0])[:, 1], pairs.weights
    cell = CellChannel(TwoWayTable(expected(one, other, truth), Rule()).channels[1, 2][0].moments, 1)
    t, rows, columns = truth[1, 2], truth[1].sum(), truth[:, 2].sum()

    assert cell.cell_variance(t, rows, columns) == pytest.approx(w @ scores**2 - t**2)
    share = t / rows
    assert cell.share_variance(share, rows, columns) == pytest.approx(w @ (scores - share * z_row) ** 2)


def test_moments_among_the_people_who_answered_are_those_of_the_channel() -> None:
    """Of a cell, of a share within a row and of the difference of two groups, by enumeration."""
    one, other = variables(DECLINED, "a", "b")
    truth = np.arange(1, 13).reshape(3, 4) / 78
    pairs = expected(one, other, truth).strata[0]
    z, z2, w, score = one.scores(pairs.reported[0]), other.scores(pairs.reported[1]), pairs.weights, pairs.score
    cell = score.of(z[:, 1], z2[:, 0])
    r, r2 = 1 - z[:, -1], 1 - z2[:, -1]
    small = np.array([[truth[1, 0], truth[1, 1:3].sum(), truth[1, 3]],
                      [truth[0, 0], truth[0, 1:3].sum(), truth[0, 3]],
                      [truth[2, 0], truth[2, 1:3].sum(), truth[2, 3]]])  # fmt: skip

    of_cell, in_row = block_moments(pairs, (1, 0))
    whole, row = score.of(r, r2, (2, 3)), score.of(z[:, 1], r2, (1, 3))
    assert (small * of_cell.at(0.3)).sum() == pytest.approx(w @ (cell - 0.3 * whole) ** 2)
    assert (small * in_row.at(0.3)).sum() == pytest.approx(w @ (cell - 0.3 * row) ** 2)
    grouped = small[[1, 0, 2]]
    slopes = (-0.4, 0.2, 0.5, -0.1)
    h = -0.4 * score.of(z[:, 0], z2[:, 0]) + 0.2 * score.of(z[:, 0], r2, (1, 3)) + 0.5 * cell - 0.1 * row
    assert block_groups(pairs, (0, 1), 0).of_difference(grouped, slopes) == pytest.approx(w @ h**2)


def test_limits_among_the_people_who_answered_contain_the_truth_of_expected_reports() -> None:
    """And are narrower with more reports."""
    pair, truth = variables(DECLINED, "a", "b"), np.arange(1, 13).reshape(3, 4) / 78
    for limits, share in ((cell_among_answered, 5 / 24), (share_among_answered, 5 / 18)):
        widths = []
        for n in (500, 5000):
            found = expected(*pair, truth, n)
            low, high = limits(found, truth, (1, 0), Z)
            assert low < share < high
            widths.append(high - low)
        assert widths[1] < widths[0] / 2


def test_one_forged_report_moves_a_cell_by_less_than_through_two_coins() -> None:
    """1.375 / n with odds 9, where two coin flips give 2.25 / n."""
    columns = reported(np.random.default_rng(1), 500)
    assert crosstab(columns, "a", "b").forged.shift / 0.01 == pytest.approx(1.375)


def reported(rng: np.random.Generator, n: int) -> Columns:
    """So many reports on two yes/no answers of a block and a public one."""
    both = rng.choice(4, n, p=TRUTH.ravel())
    drawn = reports(TWO.blocks[0].mechanism, np.stack([both // 2, both % 2], 1), rng)
    return Columns.from_arrays(TWO, {"a": drawn[:, 0], "b": drawn[:, 1], "sex": rng.integers(0, 2, n)})


def test_every_analysis_of_two_questions_takes_a_block() -> None:
    """Table, measures, groups, all pairs, a third question, weights: near the truth, and within their limits."""
    columns = reported(np.random.default_rng(7), 40_000)
    weights = np.random.default_rng(8).uniform(0.5, 1.5, 40_000)
    for table in (crosstab(columns, "a", "b"), crosstab(columns, "a", "b", weights)):
        assert [[each.raw for each in row] for row in table.cells] == [pytest.approx(row, abs=0.02) for row in TRUTH]
        assert table.independence is not None
        assert table.independence.p < 1e-12
        assert table.measures is not None
        known = {"risk_difference": 0.4, "risk_ratio": 7 / 3, "odds_ratio": 0.42 * 0.28 / (0.12 * 0.18), "phi": 0.4082}
        for name, value in known.items():
            found = getattr(table.measures, name)
            assert found.low < value < found.high, name
            assert found.estimate == pytest.approx(value, rel=0.15), name
    compared = compare(columns, "b", "a").differences[0]
    assert compared.estimate == pytest.approx(0.4, abs=0.04)
    assert len(every_pair(columns).tests) == 3
    within = crosstab_within(columns, "a", "b", "sex")
    assert len(within.tables) == 2
    assert within.independence is not None
    assert within.independence.df == 1


def test_table_that_reports_do_not_tell_is_refused_and_not_counted_among_the_pairs() -> None:
    """Three yes/no questions with radius 1."""
    asked = blocks(block(in_block("a"), in_block("b"), in_block("c"), radius=1))
    rows = np.array(list(product((0, 1), repeat=3)) * 5)
    columns = Columns.from_arrays(asked, {name: rows[:, place] for place, name in enumerate("abc")})

    with pytest.raises(EstimateError, match="a, b are reported together"):
        crosstab(columns, "a", "b")
    assert every_pair(columns).possible == 0


def test_block_that_is_the_one_private_item_asked_has_its_table() -> None:
    """Under ``ask: 1`` it is asked as a whole, and no table goes beyond it."""
    coin = {"type": "boolean", "name": "c", "label": {"en": "C"}, "mechanism": {"name": "coin_flip"}}
    asked = parse_survey(survey(block(in_block("a"), in_block("b")), coin, ask=1))
    values = {name: np.ma.array([0, 1] * 20, mask=[name == "c"] * 20 + [name != "c"] * 20) for name in "abc"}
    columns = Columns.from_arrays(asked, values)

    assert crosstab(columns, "a", "b").n_pair == 20
    with pytest.raises(EstimateError, match="no report contains both"):
        crosstab(columns, "a", "c")
