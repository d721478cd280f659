from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import question_result
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns, read_columns, strata_of
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.answered_cells import (
    cell_squares,
    group_squares,
    mean_square,
    share_among_answered,
)
from sottovoce.aggregator.analysis.tables.crosstab import compare, crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.ml_table import fit_block
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Pairs, independence, joint
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel
from sottovoce.aggregator.analysis.tables.table import Rule, TwoWayTable
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.blocks import block, blocks, channel, in_block, reports
from tests.documents import Document, question, survey
from tests.exported import send
from tests.unit.aggregator.analysis.samples import Z

SIZED = blocks(block(in_block("a"), in_block("b", 3), in_block("c", 4), odds="20"))

SEX = {"type": "boolean", "name": "sex", "label": {"en": "S"}, "public": True}

TWO = blocks(block(in_block("a"), in_block("b")), SEX)

DECLINED = blocks(block(in_block("a", absent_category=True), in_block("b", 3, absent_category=True), odds="20"))

TRUTH = np.array([[0.42, 0.18], [0.12, 0.28]])


def variables(survey: Any, *names: str) -> list[Variable]:
    asked = {question.name: question for question in survey.questions}
    return [variables_of(asked[name])[0] for name in names]


def expected(one: Variable, other: Variable, truth: Any, n: float = 1.0) -> Joint:
    """So many reports as are expected of a population, of each pair of values."""
    patterns = one.block.mechanism.match_patterns((one.block.position, other.block.position))
    places = list(np.ndindex(np.shape(truth)))
    counts = [n * sum(truth[x] * float(patterns[x[0] == y[0], x[1] == y[1]]) for x in places) for y in places]
    reported = tuple(np.array(each) for each in zip(*places, strict=True))
    weights = np.array(counts)
    return joint([Pairs(one, other, reported, weights, weights, np.maximum(weights, 1))], round(n))


SURVEY = blocks(
    block(in_block("a"), in_block("b", 3), in_block("c"), odds="20"), {**question({"name": "coin_flip"}), "name": "d"}
)

MECHANISM = SURVEY.blocks[0].mechanism

CELLS = np.array([0.4, 0.1, 0.05, 0.05, 0.1, 0.02, 0.08, 0.02, 0.03, 0.05, 0.05, 0.05])


def columns(rows: np.ndarray) -> Columns:
    named = dict(zip("abc", rows.T, strict=True))
    return Columns.from_arrays(SURVEY, {**named, "d": np.zeros(len(rows), int)})


N = 20_000

FIVE_ERRORS = 5


def asked(*questions: Document, revision: int) -> Survey:
    return blocks(*questions, name="block", revision=revision)


def columns_of(storage: SQLiteStorage, *answered: tuple[Survey, NDArray[np.int64]]) -> Columns:
    rng = np.random.default_rng(5)
    for revision, truth in answered:
        storage.publish(revision)
        send(storage, revision, reports(revision.blocks[0].mechanism, truth, rng).tolist())
    return read_columns(storage, storage.revisions("block"))


def truths(sizes: tuple[int, ...], seed: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, N) * (rng.random(N) < 0.6)
    rest = [np.where(rng.random(N) < 0.5, first, rng.integers(0, size, N)) for size in sizes[1:]]
    return np.column_stack([first, *rest])


THREE = blocks(block(in_block("a"), in_block("b", absent_category=True), in_block("c"), odds="20"), SEX)

OPEN = blocks(*({**SEX, "name": name} for name in ("a", "b", "c", "sex")))

PEOPLE = 20_000


def truth(declining: bool) -> tuple[np.ndarray, np.ndarray]:
    cells = np.array(list(product((0, 1), (0, 1, 2), (0, 1), (0, 1))))
    a, b, c, sex = cells.T
    yes, absent = -0.5 + 0.8 * a - 0.6 * c + 0.5 * sex, -2 + 0.9 * a + 0.4 * sex
    odds = np.exp([np.zeros(len(cells)), yes, absent])
    odds[2] *= declining
    answer = (odds / odds.sum(axis=0))[b, np.arange(len(cells))]
    return cells, answer * np.where(a == 1, 0.4, 0.6) * np.where(c == 1, 0.3 + 0.2 * a, 0.7 - 0.2 * a) / 2


def many(declining: bool) -> tuple[Columns, np.ndarray]:
    cells, shares = truth(declining)
    combinations, chances = channel(THREE.blocks[0].mechanism)
    codes = np.ravel_multi_index(tuple(cells[:, :3].T), THREE.blocks[0].mechanism.sizes)
    weights = np.zeros((len(combinations), 2))
    for code, sex, share in zip(codes, cells[:, 3], shares, strict=True):
        weights[:, sex] += share * chances[code]
    rows = np.repeat(combinations, 2, axis=0)
    arrays = {"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2], "sex": np.tile([0, 1], len(combinations))}
    return repeated(THREE, arrays, weights.ravel())


def repeated(survey: Survey, arrays: dict[str, np.ndarray], shares: np.ndarray) -> tuple[Columns, np.ndarray]:
    """Each row as often as to be more than a handful, with the weight that makes its share."""
    times = 8
    columns = Columns.from_arrays(survey, {name: np.repeat(values, times) for name, values in arrays.items()})
    return columns, np.repeat(shares * PEOPLE / times, times)


def openly() -> tuple[Columns, np.ndarray]:
    cells, shares = truth(declining=True)
    some = cells[:, 1] < 2
    return repeated(OPEN, dict(zip(("a", "b", "c", "sex"), cells[some].T, strict=True)), shares[some])


def estimates(fitted: Regression) -> dict[str, float]:
    return {each.term.removesuffix("=yes"): each.estimate or 0.0 for each in fitted.coefficients}


def test_expected_reports_give_the_true_table() -> None:
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

    squares = cell_squares(pairs, (1, 0))
    whole, row = score.of(r, r2, (2, 3)), score.of(z[:, 1], r2, (1, 3))
    assert mean_square(squares, (1, -0.3, 0), small) == pytest.approx(w @ (cell - 0.3 * whole) ** 2)
    assert mean_square(squares, (1, 0, -0.3), small) == pytest.approx(w @ (cell - 0.3 * row) ** 2)
    grouped = small[[1, 0, 2]]
    slopes = (-0.4, 0.2, 0.5, -0.1)
    h = -0.4 * score.of(z[:, 0], z2[:, 0]) + 0.2 * score.of(z[:, 0], r2, (1, 3)) + 0.5 * cell - 0.1 * row
    assert mean_square(group_squares(pairs, (0, 1), 0), slopes, grouped) == pytest.approx(w @ h**2)


def test_limits_among_the_people_who_answered_contain_the_truth_of_expected_reports() -> None:
    pair, truth = variables(DECLINED, "a", "b"), np.arange(1, 13).reshape(3, 4) / 78
    for in_row, share in ((False, 5 / 24), (True, 5 / 18)):
        widths = []
        for n in (500, 5000):
            found = expected(*pair, truth, n)
            low, high = share_among_answered(found, truth, (1, 0), Z, in_row)
            assert low < share < high
            widths.append(high - low)
        assert widths[1] < widths[0] / 2


def test_one_forged_report_moves_a_cell_by_less_than_through_two_coins() -> None:
    """1.375 / n with odds 9, where two coin flips give 2.25 / n."""
    columns = reported(np.random.default_rng(1), 500)
    assert crosstab(columns, "a", "b").forged.shift / 0.01 == pytest.approx(1.375)


def reported(rng: np.random.Generator, n: int) -> Columns:
    both = rng.choice(4, n, p=TRUTH.ravel())
    drawn = reports(TWO.blocks[0].mechanism, np.stack([both // 2, both % 2], 1), rng)
    return Columns.from_arrays(TWO, {"a": drawn[:, 0], "b": drawn[:, 1], "sex": rng.integers(0, 2, n)})


def test_every_analysis_of_two_questions_takes_a_block() -> None:
    columns = reported(np.random.default_rng(7), 40_000)
    weights = np.random.default_rng(8).uniform(0.5, 1.5, 40_000)
    for table in (crosstab(columns, "a", "b"), crosstab(columns, "a", "b", weights)):
        assert [[each.raw for each in row] for row in table.cells] == [pytest.approx(row, abs=0.02) for row in TRUTH]
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
    assert within.independence.df == 1


def test_table_that_reports_do_not_tell_is_refused_and_not_counted_among_the_pairs() -> None:
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


def test_expected_reports_fit_exactly() -> None:
    """The likeliest table is the truth, the distance is 0 and needs no bootstrap."""
    cells, chances = channel(MECHANISM)
    counts = np.round(1e6 * CELLS @ chances).astype(int)
    found = fit_block(columns(np.repeat(cells, counts, axis=0)), ["a", "b", "c"])

    assert found.table.ravel() == pytest.approx(CELLS, abs=1e-3)
    assert found.distance < 1e-3
    assert found.p > 0.9
    for share in found.shares:
        assert share.alone == pytest.approx(share.likeliest, abs=1e-3)
    assert [share.category for share in found.shares] == ["no", "yes", "c0", "c1", "c2", "no", "yes"]


def test_block_that_asks_some_of_its_questions_is_fitted_from_reports_with_these() -> None:
    """Every set equally often; the third question is in reports that have one of the two alone."""
    drawn = blocks(block(*map(in_block, "abc")) | {"ask": 2})
    cells, counts = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [500, 200, 150, 150]
    values = np.full((3000, 3), np.nan)
    for number, places in enumerate([[0, 1], [0, 2], [1, 2]]):
        values[1000 * number : 1000 * (number + 1), places] = np.repeat(cells, counts, axis=0)
    found = fit_block(Columns.from_arrays(drawn, dict(zip("abc", values.T, strict=True))), ["a", "b"], draws=0)

    # Of four combinations with weights 9, 1, 1, 1.
    assert found.n == 1000
    assert found.table.ravel() == pytest.approx([(count / 1000 - 1 / 12) * 12 / 8 for count in counts], abs=1e-6)


def test_reports_drawn_apart_do_not_fit_a_block() -> None:
    """A client that draws each question by itself has other combinations than the block explains."""
    rng = np.random.default_rng(4)
    cells, _ = channel(MECHANISM)
    truth = cells[np.zeros(4000, int)]
    honest = fit_block(columns(reports(MECHANISM, truth, rng)), ["a", "b", "c"])
    apart = truth.copy()
    for place in range(3):
        a, _ = MECHANISM.marginal(place)
        other = (truth[:, place] + 1 + rng.integers(0, MECHANISM.sizes[place] - 1, 4000)) % MECHANISM.sizes[place]
        apart[:, place] = np.where(rng.random(4000) < float(a), truth[:, place], other)

    assert honest.p > 0.02
    assert fit_block(columns(apart), ["a", "b", "c"]).p == pytest.approx(0.005)


def test_likeliest_share_of_a_rare_answer_varies_less_than_the_share_alone() -> None:
    """Over samples of 300 reports of a population in which few say yes to anything."""
    rng, (cells, chances) = np.random.default_rng(5), channel(MECHANISM)
    shares = np.array([0.94, 0, 0.02, 0, 0, 0, 0.01, 0, 0, 0, 0.02, 0.01]) @ chances
    found = []
    for _ in range(40):
        rows = np.repeat(cells, rng.multinomial(300, shares), axis=0)
        fitted = fit_block(columns(rows), ["a", "c"], draws=0).shares[1]
        found.append((min(max(fitted.alone, 0), 1), fitted.likeliest))
    alone, likeliest = np.std(found, axis=0)
    assert likeliest < alone


def test_correction_that_adds_an_option_changes_the_channel_of_all_and_biases_none(storage: SQLiteStorage) -> None:
    before = asked(block(in_block("a"), in_block("b"), in_block("c", 3), odds="20"), revision=1)
    after = asked(block(in_block("a"), in_block("b"), in_block("c", 4), odds="20"), revision=2)
    first, second = truths((2, 2, 3), 1), truths((2, 2, 4), 2)
    columns = columns_of(storage, (before, first), (after, second))
    both = np.concatenate([first, second])
    strata = strata_of(columns, after.questions[0])
    assert strata[0][0] != strata[1][0]
    [share] = question_result(after.questions[0], strata, DEFAULT_RULE).estimates
    assert abs(share.raw - both[:, 0].mean()) < FIVE_ERRORS * share.std_error
    table = crosstab(columns, "a", "b")
    for row, column in product((0, 1), repeat=2):
        cell = table.cells[row][column]
        true = np.mean((both[:, 0] == row) & (both[:, 1] == column))
        assert abs(cell.raw - true) < FIVE_ERRORS * cell.std_error
    changed = crosstab(columns, "a", "c")
    assert table.n == 2 * N
    assert changed.cells[1][3].raw == pytest.approx(np.mean((second[:, 0] == 1) & (second[:, 2] == 3)), abs=0.03)


def test_correction_that_moves_a_question_within_its_block_is_read_by_name(storage: SQLiteStorage) -> None:
    """The order of a block's questions is part of its channel, and not of what they mean."""
    before = asked(block(in_block("a"), in_block("b", 3)), revision=1)
    after = asked(block(in_block("b", 3), in_block("a")), revision=2)
    first, second = truths((2, 3), 1), truths((2, 3), 2)
    columns = columns_of(storage, (before, first), (after, second[:, ::-1]))
    both = np.concatenate([first, second])
    table = crosstab(columns, "a", "b")
    assert table.n == 2 * N
    for row, column in product((0, 1), range(3)):
        cell = table.cells[row][column]
        assert abs(cell.raw - np.mean((both[:, 0] == row) & (both[:, 1] == column))) < FIVE_ERRORS * cell.std_error


@pytest.mark.parametrize("formula", ["a + c + sex", "a * c + sex"])
def test_logit_and_linear_model_of_a_block_are_those_of_the_true_answers(formula: str) -> None:
    """Among those who answered, with outcome and two predictors in the block, and their interaction."""
    found, wanted = (
        regress(columns, "b", parse_formula(formula), weights=weights, smallest_group=1)
        for columns, weights in (many(declining=True), openly())
    )

    assert estimates(found.linear) == pytest.approx(estimates(wanted.linear), abs=1e-6)
    if "*" not in formula:
        assert estimates(found) == pytest.approx(estimates(wanted), abs=1e-4)
        assert estimates(found) == pytest.approx({"(constant)": -0.5, "a": 0.8, "c": -0.6, "sex": 0.5}, abs=1e-4)


def test_predictors_of_one_block_are_corrected_for_their_common_noise() -> None:
    """A public outcome, of which the block explains a part."""
    columns, weights = many(declining=True)
    cells, all_shares = truth(declining=True)
    arrays = {"a": cells[:, 0], "b": cells[:, 1] % 2, "c": cells[:, 2], "sex": cells[:, 3]}
    everybody = repeated(OPEN, arrays, all_shares)
    found = regress(columns, "sex", ["a", "c"], weights=weights, smallest_group=1)
    wanted = regress(everybody[0], "sex", ["a", "c"], weights=everybody[1], smallest_group=1)
    assert estimates(found.linear) == pytest.approx(estimates(wanted.linear), abs=1e-6)
    assert estimates(found) == pytest.approx(estimates(wanted), abs=1e-4)


def test_errors_are_those_of_the_score_of_many_reports() -> None:
    """The standard error of a slope on a question of the block falls as 1 / sqrt(n)."""
    columns, weights = many(declining=False)
    one = regress(columns, "b", ["a"], model="linear", weights=weights, smallest_group=1)
    four = regress(columns, "b", ["a"], model="linear", weights=4 * weights, smallest_group=1)
    assert one.coefficients[1].std_error == pytest.approx(four.coefficients[1].std_error or 0.0)


def test_predictors_that_reports_do_not_tell_together_are_refused() -> None:
    """Pairs are known, threes are not: five yes/no questions with radius 1."""
    names = "abcde"
    asked = blocks(block(*map(in_block, names), odds="20", radius=1), {**question({"name": "coin_flip"}), "name": "q"})
    rows = np.array(list(product((0, 1), repeat=6)))
    columns = Columns.from_arrays(asked, {name: rows[:, place] for place, name in enumerate([*names, "q"])})

    assert regress(columns, "a", ["b", "q"], model="linear").n == 64
    with pytest.raises(EstimateError, match="a, b, c are reported together"):
        regress(columns, "a", ["b", "c"])


@pytest.mark.parametrize("names", [["a"], ["a", "d"]])
def test_questions_of_other_blocks_are_refused(names: list[str]) -> None:
    with pytest.raises(EstimateError, match="not questions of one block"):
        fit_block(columns(np.zeros((3, 3), int)), names)
