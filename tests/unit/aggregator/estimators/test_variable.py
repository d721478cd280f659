import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.estimators import VARIABLES, estimate, public
from sottovoce.aggregator.estimators.blocks.block_channel import BlockChannel
from sottovoce.aggregator.estimators.blocks.joint_channel import (
    APART,
    blocks_of,
    joint_likelihood,
    joint_scores,
    pair_score,
)
from sottovoce.aggregator.estimators.numeric import squares_of_steps
from sottovoce.aggregator.estimators.question_variables import (
    as_number,
    bare,
    check_explains,
    check_pair,
    num,
    points_of,
    scale_mean,
    variables_of,
)
from sottovoce.aggregator.estimators.support import IntervalRule
from sottovoce.aggregator.estimators.variable import ChoiceVariable, NumberVariable, Variable, YesNo
from sottovoce.aggregator.export.channels import _scores
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.questions import MAX_PUBLIC
from sottovoce.shared.spec import Question

from tests.blocks import block, blocks, channel, in_block
from tests.documents import (
    names,
    number,
    one_of,
    parsed,
    question,
    question as question_of,
    some_of,
    survey,
    survey as document_of,
    vector,
)
from tests.property.channels import truths
from tests.property.test_channels import QUESTIONS
from tests.unit.aggregator.analysis.samples import COIN, asked, public as openly, variable as variable_of

WITHIN = Fraction(1, 10**8)

"""Of half the range: what level tables promise; solving the square wave's equations loses far less."""

MOST = 32

"""True values of a question that are tried; all but of one choice among 64."""


def outputs(question):
    return np.array([value for value in range(question.largest + 1) if question.admits(value)])


def part(question, place, value):
    """The truth about one variable: a category, or a number in the question's own unit."""
    if question.kind.truth == "options":
        return value >> place & 1
    if question.kind.truth in {"number", "numbers"}:
        step = value[place] if isinstance(value, tuple) else value
        return question.domain.grid.low + question.domain.grid.step * step
    return value


def exact_scores(variable, reported):
    """The scores as fractions, (u, k)."""
    if isinstance(variable, NumberVariable):
        return [[variable.marks[output]] for output in variable.output(reported).tolist()]
    if isinstance(variable, YesNo):
        return [[1 - variable.marks[y], variable.marks[y]] for y in variable.bit(reported).astype(int).tolist()]
    return [[variable.marks[y] for y in row] for row in variable.supports(reported).astype(int).tolist()]


@pytest.fixture(scope="module")
def cases():
    """Name, question, variable, place in it and observed reports of each variable."""
    return [
        (name, question, variable, place, outputs(question)[variable.observed(outputs(question))])
        for name, question in QUESTIONS.items()
        for place, variable in enumerate(variables_of(question))
    ]


def expected(variable, true):
    """What the scores must be on average."""
    if isinstance(variable, NumberVariable):
        return [true]
    return [Fraction(category == true) for category in range(len(variable.categories))]


def income(most: int, step: Any = 1) -> dict[str, Any]:
    return openly(number(0, most, step, {"name": "geometric", "ratio": "4/5"}))


def reports(most: int, step: Any = 1) -> Columns:
    rng = np.random.default_rng(5)
    values = np.minimum(rng.lognormal(6, 1, 200).astype(int), int(most / float(step)))
    return Columns.from_arrays(
        asked(question_of(COIN), income(most, step)), {"a": rng.integers(0, 2, 200), "b": values}
    )


REQUESTS = [
    ("compare", {"outcome": "b", "groups": "a"}),
    ("pairs", {}),
    ("regression", {"formula": "a ~ log(b + 1)"}),
    ("regression", {"outcome": "b", "on": ["a"]}),
    ("test", {"question": "b", "mean": 600}),
]


def test_scores_are_a_left_inverse_of_the_channel(cases):
    """E[scores | x] is x exactly, in fractions; of level tables and the square wave within 1e-8."""
    for name, given, variable, place, reported in cases:
        scores = exact_scores(variable, reported)
        for value in truths(given)[:MOST]:
            chances = [given.mechanism.probability(int(y), value) for y in reported]
            means = [
                sum(c * z for c, z in zip(chances, column, strict=True)) / sum(chances)
                for column in zip(*scores, strict=True)
            ]
            truth = _bin_mean(given, value) if given.mechanism.name == "square_wave" else part(given, place, value)
            for mean, wanted in zip(means, expected(variable, truth), strict=True):
                if given.mechanism.name in {"level_table", "square_wave"}:
                    grid = given.domain.grid
                    assert abs(mean - wanted) <= WITHIN * (grid.high - grid.low) / 2, name
                else:
                    assert mean == wanted, name


def _bin_mean(question, value):
    """The mean of the steps that share this one's bin."""
    mechanism, grid = question.mechanism, question.domain.grid
    shared = [step for step in range(question.domain.size) if mechanism.bin(step) == mechanism.bin(value)]
    return grid.low + grid.step * Fraction(sum(shared), len(shared))


def test_scores_as_floating_point_are_the_exact_ones(cases):
    for name, _, variable, _, reported in cases:
        exact = np.array([[float(z) for z in row] for row in exact_scores(variable, reported)])
        assert variable.scores(reported).reshape(exact.shape) == pytest.approx(exact, rel=1e-15), name


def test_likelihood_rows_are_proportional_to_the_channel(cases):
    """L[y, x] / P(y | x) is one positive number for each report, whatever the truth."""
    for name, given, variable, place, reported in cases:
        rows = variable.likelihood(reported)
        known = {part(given, place, value): value for value in truths(given)}
        for y, row in zip(reported.tolist(), rows, strict=True):
            ratios = [_at(given, variable, row, value) / _chance(given, place, y, value) for value in known.values()]
            assert min(ratios) > 0, name
            assert max(ratios) == pytest.approx(min(ratios), rel=1e-9), name


def _chance(question, place, y, value):
    """P of all that the report says about this variable."""
    if question.mechanism.name == "bitwise_rr":
        return float(question.mechanism.bit.probability(y >> place & 1, value >> place & 1))
    return float(question.mechanism.probability(y, value))


def _at(question, variable, row, value):
    """The row at a true value, on the chord between two levels."""
    if question.mechanism.name == "square_wave":
        return row[question.mechanism.bin(value)]
    if not isinstance(variable, NumberVariable):
        place = [each.full_name for each in variables_of(question)].index(variable.full_name)
        return row[part(question, place, value)]
    place = question.domain.options.index(variable.name) if variable.name else 0
    return np.interp(float(part(question, place, value)), variable.levels, row)


@pytest.mark.parametrize("name", [name for name in QUESTIONS if "geometric" in name or "level table" in name])
def test_square_scores_are_unbiased(name):
    """E[z2 | v] = v^2; of a level table at its levels, where nothing is rounded."""
    question = QUESTIONS[name]
    (variable,) = variables_of(question)
    reported = outputs(question)
    squares = variable.square_scores(reported)
    rows = variable.likelihood(reported)

    means = (rows / rows.sum(axis=0)).T @ squares

    assert means == pytest.approx(np.array(variable.levels) ** 2, abs=1e-9 * max(variable.levels) ** 2)


def test_square_scores_of_the_geometric_are_exact_in_fractions():
    """For every step: sum_y P(y | v) z2(y) = v^2."""
    mechanism = Geometric(Fraction(4, 5), 10)
    scores = squares_of_steps(mechanism)

    for value in range(11):
        assert sum(mechanism.probability(y, value) * scores[y] for y in range(11)) == value**2


def test_scores_are_the_published_ones():
    """Ends and squares of the geometric, of the square wave, and Hadamard's columns."""
    (variable,) = variables_of(parsed(number(0, 10, 1, {"name": "geometric", "ratio": "4/5"})))

    assert variable.scores(np.array([0, 10])) == pytest.approx([-4, 14], abs=1e-12)
    assert variable.square_scores(np.array([0, 3, 10])) == pytest.approx([-4, -31, 176], abs=1e-9)

    mechanism = {"name": "square_wave", "odds": "3", "bins": 4, "width": 1}
    question = parsed(number("-3", "3", "2", mechanism))
    (variable,) = variables_of(question)

    # On levels -3, -1, 1, 3 everything is three times what it is on -1, -1/3, 1/3, 1.
    assert variable.levels == (-3, -1, 1, 3)
    assert variable.scores(np.arange(6)) / 3 == pytest.approx([-2.5, -2, -1.5, 1.5, 2, 2.5], abs=1e-12)

    (variable,) = variables_of(parsed(one_of(3, {"name": "hadamard_response", "odds": "3"})))

    shares = np.array([160, 90, 80, 70]) @ variable.scores(np.arange(4)) / 400

    assert shares == pytest.approx([0.4, 0.5, 0.3], abs=1e-12)


def test_public_answers_are_their_own_scores():
    """An indicator of the option, or the number itself with its square."""
    (choice,), (age,) = (
        variables_of(parsed({key: value for key, value in {**made, "public": True}.items() if key != "mechanism"}))
        for made in (one_of(3, {}), number(10, 12, "0.5", {}))
    )

    assert choice.public
    assert age.public
    assert (
        choice.scores(np.array([2, 0])).tolist()
        == choice.likelihood(np.array([2, 0])).tolist()
        == [[0, 0, 1], [1, 0, 0]]
    )
    assert age.scores(np.array([1, 4])).tolist() == [10.5, 12]
    assert age.square_scores(np.array([1])).tolist() == [110.25]


def test_drawn_options_and_coordinates_are_seen_in_their_reports_only():
    """Report 2 j + y tells of option j alone."""
    for document in (
        some_of(3, {"name": "sampled_option", "a": "3/4", "b": "1/4"}),
        vector(3, 0, 4, 2, {"epsilon": "1"}),
    ):
        variables = variables_of(parsed(document))

        seen = [variable.observed(np.arange(6)).tolist() for variable in variables]

        assert np.array(seen).sum(axis=0).tolist() == [1] * 6
        assert [row.index(True) for row in seen] == [0, 2, 4]


def test_two_options_of_one_drawn_question_are_refused():
    """No report tells of both; two questions, or the bits of one mask, are a pair."""
    drawn, bitwise = (
        variables_of(parsed(some_of(3, {"name": name, "a": "3/4", "b": "1/4"})))
        for name in ("sampled_option", "bitwise_rr")
    )

    with pytest.raises(EstimateError, match=r"'q\.c0' and 'q\.c1': no report contains two options"):
        check_pair(drawn[0], drawn[1])
    with pytest.raises(EstimateError, match="asked for twice"):
        check_pair(bitwise[0], bitwise[0])
    check_pair(bitwise[0], bitwise[1])


@pytest.mark.parametrize("name", ["rounding_rr", "square_wave"])
def test_number_without_a_spread_explains_nothing(name):
    """Its reports tell the mean alone."""
    parameters = {"odds": "3"} if name == "square_wave" else {"a": "3/4", "b": "1/4"}
    (variable,) = variables_of(parsed(number(0, 10, 1, {"name": name, **parameters})))

    assert variable.square_scores(np.arange(2)) is None
    with pytest.raises(EstimateError, match="it can be the outcome, but not a predictor"):
        check_explains(variable)


def test_numbers_that_may_explain_are_let_through():
    """The geometric with exact squares, the level table with a word of caution."""
    (exact,) = variables_of(parsed(number(0, 10, 1, {"name": "geometric", "ratio": "4/5"})))
    (rounded,) = variables_of(parsed(number(0, 10, 1, {"name": "level_table", "epsilon": "2"})))

    check_explains(exact)
    check_explains(rounded)
    assert (exact.coarse, "1/16" in rounded.coarse) == ("", True)


def test_level_table_whose_outputs_do_not_tell_squares_has_none():
    weights = [[3, 1], [2, 2], [1, 3]]
    half = 10**9
    (variable,) = variables_of(
        parsed(number(0, 2, 1, {"name": "level_table", "scores": [-2 * half, 2 * half], "weights": weights}))
    )

    assert variable.squares is None


def test_every_mechanism_has_variables():
    assert set(VARIABLES) == {*MECHANISMS, "matrix", "joint_rr"}
    assert {type(variable) for case in QUESTIONS.values() for variable in variables_of(case)} == {
        YesNo,
        ChoiceVariable,
        NumberVariable,
    }


def test_points_are_the_numbers_in_the_names_or_the_places() -> None:
    """0 to 10 stays 0 to 10; words are 1, 2, 3."""
    assert points_of(["r0", "r5", "r10"]) == (0.0, 5.0, 10.0)
    assert points_of(["never", "once", "often"]) == (1.0, 2.0, 3.0)
    assert points_of(["a1", "b7", "a2"]) == (1.0, 2.0, 3.0)
    assert (bare(num("a.b")), bare("a.b")) == ("a.b", "a.b")


def test_scores_of_a_randomized_scale_are_right_on_average() -> None:
    scale = as_number(variable_of(one_of(5, {"name": "kary_rr", "odds": "3"})))
    for truth, level in enumerate(scale.levels):
        chances = np.where(np.arange(5) == truth, 3 / 7, 1 / 7)
        for power, scores in ((1, scale.scores), (2, scale.square_scores)):
            assert chances @ scores(np.arange(5)) == pytest.approx(level**power)


def rating(**treatment: object) -> Question:
    asked = {"type": "rating", "name": "risk", "label": {"en": "Risk?"}, "choices": names(11, "r"), **treatment}
    return parse_survey(document_of(asked)).questions[0]


def test_mean_of_a_rating_is_that_of_its_points_through_the_channel() -> None:
    """Of public counts the plain mean and its normal limits; of counts as k-ary chances make them, the true one."""
    counts = {place: 10 * (place + 1) for place in range(11)}
    values = np.repeat(np.arange(11), [*counts.values()])

    public = scale_mean(rating(public=True), counts, 0.95)

    assert public["estimate"] == pytest.approx(values.mean())
    half = 1.959964 * values.std(ddof=1) / len(values) ** 0.5
    assert (public["low"], public["high"]) == pytest.approx((values.mean() - half, values.mean() + half))
    own = 5 / 15
    made = {place: round(15000 * (count * own + (660 - count) * (1 - own) / 10)) for place, count in counts.items()}
    randomized = scale_mean(rating(mechanism={"name": "kary_rr", "odds": "5"}), made, 0.95)
    assert randomized["estimate"] == pytest.approx(values.mean(), abs=1e-6)


def test_mean_that_a_tally_does_not_show_is_none() -> None:
    """Of bit masks, of few reports, and where randomization hides who answered."""
    counts = {place: 50 for place in range(11)}
    mask = {"name": "subset_selection", "odds": "3", "size": 2}
    assert scale_mean(rating(mechanism=mask), counts, 0.95) is None
    assert scale_mean(rating(public=True), {0: 29}, 0.95) is None
    hidden = rating(mechanism={"name": "kary_rr", "odds": "5"}, absent_category=True)
    assert scale_mean(hidden, counts, 0.95) is None
    declined = rating(public=True, absent_category=True)
    assert scale_mean(declined, {**counts, 11: 400}, 0.95) == scale_mean(rating(public=True), counts, 0.95)


@pytest.mark.parametrize(("kind", "options"), REQUESTS, ids=lambda each: each if isinstance(each, str) else "")
@pytest.mark.parametrize("step", [1, "0.25"])
def test_values_that_are_not_listed_give_the_same_figures(
    monkeypatch: pytest.MonkeyPatch, kind: str, options: dict[str, Any], step: Any
) -> None:
    """To the last digits, of 3,001 values that are listed and that are not."""
    columns = reports(int(3000 * float(step)), step)
    listed = parse_request(kind, options).document(columns)
    monkeypatch.setattr(public, "LISTED", 100)
    found = parse_request(kind, options).document(columns)

    def figures(found: Any) -> list[float]:
        if isinstance(found, dict | list):
            inner = found.values() if isinstance(found, dict) else found
            return [each for value in inner for each in figures(value)]
        return [found] if isinstance(found, int | float) else []

    assert figures(found) == pytest.approx(figures(listed), rel=1e-9)


@pytest.mark.parametrize("most", [4000, 1_000_000])
@pytest.mark.parametrize("waves", [1, 2])
def test_mean_of_a_public_number_has_limits_by_its_spread(most: int, waves: int) -> None:
    """Student's t, with all the variance that so many waves can have; of few or skewed answers for every population."""
    domain = asked(question_of(COIN), income(most)).questions[1].domain
    values = np.random.default_rng(6).gamma(6, 250, 400).astype(int).clip(0, 4000)
    skewed, few = np.append(values.clip(0, 3999), [4000] * 3), values[: 30 * waves - 1]

    (found,) = public.estimate(Counter(values.tolist()), domain, IntervalRule(waves=waves))

    error = values.std(ddof=1) * (waves / 400) ** 0.5
    half = (1.965927 if waves == 1 else 1.971957) * error  # t of 399 and of 199 degrees of freedom
    assert (found.method, found.std_error) == ("t", pytest.approx(error))
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), rel=1e-6)
    assert (found.simultaneous_low, found.simultaneous_high) == (found.low, found.high)
    for sample in (skewed // 4000 * most, few, values * 0):
        (kept,) = public.estimate(Counter(sample.tolist()), domain, IntervalRule(waves=waves))
        assert (kept.method, kept.high > kept.low) == ("score-mean" if waves == 1 else "same-people", True)


def test_income_of_a_million_values_is_analysed() -> None:
    """In tables as a number, whose means are compared; its file of scores would list every value and has none."""
    columns = reports(1_000_000)
    asked_question = columns.survey.questions[1]

    assert parse_request("compare", {"outcome": "b", "groups": "a"}).document(columns)["n"] == 200
    assert list(_scores(asked_question, None)) == []
    with pytest.raises(EstimateError, match="compare its means among groups instead"):
        parse_request("crosstab", {"rows": "a", "columns": "b"}).document(columns)
    with pytest.raises(EstimateError, match="impossible"):
        public.estimate({1_000_001: 1}, asked_question.domain)
    assert asked_question.domain.size < MAX_PUBLIC


SURVEY = blocks(
    block(in_block("a"), in_block("b", 3), in_block("c", 4), odds="20"),
    block(in_block("d"), in_block("e", 3), in_block("f", 4), odds="20", name="other"),
    {**question({"name": "coin_flip"}), "name": "g"},
)

A, B, C, D, E, _, G = (variables_of(each)[0] for each in SURVEY.questions)


def reported(*variables: Variable) -> list[np.ndarray]:
    return [each.ravel() for each in np.indices([len(each.categories) for each in variables])]


TABLES = [
    ((2, 2), 9, 0, 0.5625, 1.6875),
    ((2, 2, 2), 27, 0, 0.4275, 1.2825),
    ((2,) * 5, 20, 1, 0.9226, 5.5357),
    ((2,) * 5, 20, 0, 1.8012, 5.4037),
    ((2,) * 10, 148, 2, 0.7648, 4.0075),
    ((2,) * 10, 148, 1, 0.9962, 3.6393),
    ((5, 5, 5), 27, 1, 1.1035, 24.1359),
    ((2,) * 10, 3, 4, 12.6985, 1053.9735),
    ((2, 2), 3, 0, 2.25, 6.75),
]

BLOCK = {
    "block": "intimate",
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
    "items": [
        {"type": "boolean", "name": "a", "label": {"en": "A"}},
        {"type": "rating", "name": "b", "label": {"en": "B"}, "choices": names(3)},
    ],
}

YES_NO, RATING = parse_survey(survey(BLOCK)).questions


def test_likelihood_of_a_block_is_that_of_its_combinations() -> None:
    """Up to a constant; a question drawn apart multiplies it."""
    found = joint_likelihood([A, B, C], reported(A, B, C))
    _, chances = channel(SURVEY.blocks[0].mechanism)
    assert found.reshape(24, 24) == pytest.approx(chances.T)

    crossed = joint_likelihood([A, G, B], reported(A, G, B))
    alone = joint_likelihood([A, B], reported(A, B)).reshape(2, 3, 2, 3)
    coin = G.likelihood(np.arange(2))
    assert crossed == pytest.approx(np.einsum("abij,gk->agbikj", alone, coin).reshape(crossed.shape))


def test_scores_are_unbiased_for_combinations() -> None:
    _, chances = channel(SURVEY.blocks[0].mechanism)
    cells = reported(A, B, C)
    for variables, places in (((A, C), (0, 2)), ((A, B, C), (0, 1, 2))):
        wanted = tuple(len(each.categories) - 1 for each in variables)
        scores = joint_scores(variables, wanted, [cells[place] for place in places])
        truth = np.logical_and.reduce([cells[p] == w for p, w in zip(places, wanted, strict=True)])
        assert chances @ scores == pytest.approx(truth.astype(float))


def test_score_of_a_pair_follows_from_its_questions_own() -> None:
    """The coefficients give the same figure as the channel of the pair."""
    pairs = reported(B, C)
    score = pair_score(B, C)
    for i, j in ((0, 0), (2, 3)):
        own = score.of(B.scores(pairs[0])[:, i], C.scores(pairs[1])[:, j])
        assert own == pytest.approx(joint_scores([B, C], (i, j), pairs))


def test_two_blocks_with_equal_mechanisms_are_drawn_apart() -> None:
    """The name tells them apart, not the numbers."""
    assert pair_score(A, E) == APART
    assert blocks_of([A, D, B, G, E]) == [[0, 2], [1, 4], [3]]
    alone = np.einsum("ai,dj->adij", A.likelihood(np.arange(2)), D.likelihood(np.arange(2)))
    assert joint_likelihood([A, D], reported(A, D)) == pytest.approx(alone.reshape(4, 2, 2))


def test_pair_that_a_radius_does_not_tell_is_refused() -> None:
    """Three yes/no questions with radius 1: shares are known, tables are not."""
    one, other, _ = (variables_of(each)[0] for each in
                     blocks(block(in_block("a"), in_block("b"), in_block("c"), radius=1)).questions)  # fmt: skip

    check_pair(A, B)
    with pytest.raises(EstimateError, match="a, b are reported together, and such reports do not tell"):
        check_pair(one, other)


@pytest.mark.parametrize(("sizes", "odds", "radius", "share", "cells"), TABLES)
def test_variances_of_shares_and_pair_tables(
    sizes: tuple[int, ...], odds: int, radius: int, share: float, cells: float
) -> None:
    """Of a share of 1/2, and of all cells of a pair's table of uniform answers together: four decimals."""
    mechanism = JointRR(Fraction(odds), radius, sizes)
    a, b = mechanism.marginal(0)

    assert round(float((a + b) / 2 * (1 - (a + b) / 2) / (a - b) ** 2), 4) == share
    assert round(float(BlockChannel(mechanism, (0, 1)).cell_variances()), 4) == cells


@pytest.mark.parametrize(("radius", "positions"), [(1, (0,)), (1, (0, 1)), (1, (2, 0)), (0, (0, 1, 2))])
def test_scores_invert_the_channel(radius: int, positions: tuple[int, ...]) -> None:
    """Exactly: the mean score of each combination is 1 for itself and 0 for all others."""
    found = BlockChannel(JointRR(Fraction(20), radius, (2, 3, 5)), positions)
    cells = list(product(*map(range, found.sizes)))

    def figures(patterns: np.ndarray) -> np.ndarray:
        return np.array(
            [[patterns[tuple(int(i == j) for i, j in zip(x, y, strict=True))] for y in cells] for x in cells]
        )

    assert (figures(found.chances) @ figures(found.scores) == np.eye(len(cells), dtype=int)).all()
    assert figures(found.chances).sum() == len(cells)
    table = figures(found.chances).astype(float)
    assert found.condition == pytest.approx(np.linalg.cond(table))
    assert sum(value == 1 for value in found.eigenvalues.ravel()) == 1


@pytest.mark.parametrize(
    ("sizes", "odds", "radius", "most"), [((2,) * 3, 27, 1, 1), ((2,) * 5, 20, 1, 2), ((2,) * 10, 148, 2, 3)]
)
def test_larger_sets_are_not_identified(sizes: tuple[int, ...], odds: int, radius: int, most: int) -> None:
    """Pairs, threes and fours are the first sets that a radius does not tell."""
    mechanism = JointRR(Fraction(odds), radius, sizes)

    assert all(BlockChannel(mechanism, part).identifies for part in combinations(range(len(sizes)), most))
    assert not any(BlockChannel(mechanism, part).identifies for part in combinations(range(len(sizes)), most + 1))
    assert math.isinf(BlockChannel(mechanism, tuple(range(most + 1))).condition)


def test_shares_by_the_channel_of_the_question_alone() -> None:
    """Of six combinations with weights 9 and 1 the yes/no answer is kept by 11 of 14, the other by 10 and 2 each."""
    (yes,) = estimate(YES_NO.mechanism, {0: 600, 1: 400}, YES_NO.domain)
    a, b = Fraction(11, 14), Fraction(3, 14)
    assert (yes.option, yes.raw) == ("yes", pytest.approx(float((Fraction(2, 5) - b) / (a - b))))
    shares = estimate(RATING.mechanism, {0: 500, 1: 300, 2: 200}, RATING.domain)
    assert [each.raw for each in shares] == pytest.approx(
        [float((x - Fraction(1, 7)) * Fraction(7, 4)) for x in (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))]
    )


@pytest.mark.parametrize("question", [YES_NO, RATING])
def test_scores_are_unbiased_and_likelihoods_are_the_channel(question: Question) -> None:
    (variable,) = variables_of(question)
    assert question.mechanism is not None
    reported = np.arange(question.largest + 1)
    channel = np.array([[float(question.mechanism.probability(y, x)) for y in reported] for x in reported])
    assert channel @ variable.scores(reported) == pytest.approx(np.eye(len(reported)))
    rows = variable.likelihood(reported)
    assert rows / rows[:, :1] == pytest.approx(channel.T / channel.T[:, :1])
