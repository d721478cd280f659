"""Regressions of questions of one block: the limit of many reports is the model of the true answers."""

from itertools import product

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Survey

from tests.blocks import block, blocks, channel, in_block
from tests.documents import question

SEX = {"type": "boolean", "name": "sex", "label": {"en": "S"}, "public": True}
THREE = blocks(block(in_block("a"), in_block("b", absent_category=True), in_block("c"), odds="20"), SEX)
OPEN = blocks(*({**SEX, "name": name} for name in ("a", "b", "c", "sex")))
PEOPLE = 20_000


def truth(declining: bool) -> tuple[np.ndarray, np.ndarray]:
    """All true answers to a, b, c and sex, and their shares."""
    cells = np.array(list(product((0, 1), (0, 1, 2), (0, 1), (0, 1))))
    a, b, c, sex = cells.T
    yes, absent = -0.5 + 0.8 * a - 0.6 * c + 0.5 * sex, -2 + 0.9 * a + 0.4 * sex
    odds = np.exp([np.zeros(len(cells)), yes, absent])
    odds[2] *= declining
    answer = (odds / odds.sum(axis=0))[b, np.arange(len(cells))]
    return cells, answer * np.where(a == 1, 0.4, 0.6) * np.where(c == 1, 0.3 + 0.2 * a, 0.7 - 0.2 * a) / 2


def many(declining: bool) -> tuple[Columns, np.ndarray]:
    """Every possible report, and how many are expected of so many people."""
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
    """The true answers of those who answered."""
    cells, shares = truth(declining=True)
    some = cells[:, 1] < 2
    return repeated(OPEN, dict(zip(("a", "b", "c", "sex"), cells[some].T, strict=True)), shares[some])


def estimates(fitted: Regression) -> dict[str, float]:
    """Coefficients by term."""
    return {each.term.removesuffix("=yes"): each.estimate or 0.0 for each in fitted.coefficients}


@pytest.mark.parametrize("formula", ["a + c + sex", "a * c + sex"])
def test_logit_and_linear_model_of_a_block_are_those_of_the_true_answers(formula: str) -> None:
    """Among those who answered, with outcome and two predictors in the block, and their interaction."""
    columns, weights = many(declining=True)
    known, shares = openly()
    found = regress(columns, "b", parse_formula(formula), weights=weights, smallest_group=1)
    wanted = regress(known, "b", parse_formula(formula), weights=shares, smallest_group=1)
    assert found.linear is not None
    assert wanted.linear is not None

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
    assert found.linear is not None
    assert wanted.linear is not None
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
