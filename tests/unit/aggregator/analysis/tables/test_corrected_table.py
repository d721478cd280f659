"""Tables, comparisons and models among careful people, where anchors tell how many answer at random."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.analysis.tables.crosstab import compare, crosstab
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.shared.errors import EstimateError, OptionsError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names
from tests.surveys import document
from tests.unit.shared.test_schema import validate
from tests.vectors.arms import arms, asks

CAREFUL = Rule(among="careful")

CARELESS, N = 0.2, 900_000


REQUESTS: dict[str, dict[str, Any]] = {
    "crosstab": {"rows": "g", "columns": "y", "among": "careful"},
    "compare": {"outcome": "y", "groups": "g", "among": "careful"},
}


def _survey(*, declines: bool = False, anchor: bool = True) -> Survey:
    way_out = {"absent_category": True, "public": True} if declines else {"public": True}
    known = {"anchor": True, "known_share": "0"} if anchor else {}
    age = asks("age", kind="integer", min=0, max=9, public=True)
    hidden = asks("hidden", public=True, when_absent="no", visible_if={"g": "yes"})
    asked = [asks("g", public=True), asks("y", **way_out), asks("moon", **way_out, **known), age, hidden]
    return parse_survey(document(questions=asked))


def _exact(survey: Survey) -> Columns:
    """Reports that are exactly as expected: of careful people, 60 % in the first group, .1 and .3 say yes by group."""
    sizes = [question.domain.size for question in survey.questions[:3]]
    declined = 0.05 if sizes[1] == 3 else 0.0
    rows: list[np.ndarray] = []
    for g, y, moon in product(*map(range, sizes)):
        yes = (0.1, 0.3)[g]
        of_y = [(1 - declined) * (1 - yes), (1 - declined) * yes, declined][y]
        of_moon = [1 - declined, 0.0, declined][moon]
        share = (1 - CARELESS) * (0.6, 0.4)[g] * of_y * of_moon + CARELESS / float(np.prod(sizes))
        rows.append(np.tile([g, y, moon], (round(N * share), 1)))
    values = np.concatenate(rows)
    arrays = dict(zip(("g", "y", "moon"), values.T, strict=True))
    zeros = np.zeros(len(values), int)
    return Columns.from_arrays(survey, {**arrays, "age": zeros, "hidden": zeros})


PEOPLE, AT_RANDOM = 40_000, 0.2

CONSTANT, SLOPE, DECLINED = -1.0, 0.8, 0.15

DECLINES = {"public": True, "absent_category": True}


def _columns(outcome: dict[str, Any], anchor: dict[str, Any], n: int = PEOPLE) -> Columns:
    """Reports of a population: of careful people the odds of the last answer depend on their group."""
    asked = [asks("g", public=True), asks("y", **outcome), asks("moon", anchor=True, known_share="0", **anchor)]
    survey = parse_survey(document(questions=[*asked, asks("coin", mechanism={"name": "coin_flip"})]))
    dice = np.random.default_rng(8)
    group = (dice.random(n) < 0.3).astype(int)
    size = survey.questions[1].domain.size
    last = size - 1 - survey.questions[1].domain.absent
    y = np.where(dice.random(n) < 1 / (1 + np.exp(-CONSTANT - SLOPE * group)), last, dice.integers(0, last, n))
    truths = {"g": group, "y": y, "moon": np.zeros(n, int), "coin": np.zeros(n, int)}
    careless = dice.random(n) < AT_RANDOM
    values = {}
    for question in survey.questions:
        truth = truths[question.name]
        if question.domain.absent:
            truth = np.where(dice.random(n) < DECLINED, question.domain.size - 1, truth)
        values[question.name] = np.where(careless, dice.integers(0, question.domain.size, n), truth)
    return Columns.from_arrays(survey, values)


OUTCOMES = {
    "public": {"public": True},
    "declined": DECLINES,
    "choice": {"kind": "select_one", "choices": names(3), "public": True},
}


@pytest.mark.parametrize("declines", [False, True])
def test_corrected_comparison_is_that_of_careful_people(declines: bool) -> None:
    """Careless people answer the question of the groups at random, too."""
    columns = _exact(_survey(declines=declines))
    found, plain = compare(columns, "y", "g", rule=CAREFUL), compare(columns, "y", "g")
    assert [each.raw for each in found.values] == pytest.approx([0.1, 0.3], abs=1e-4)
    assert [each.raw for each in found.differences] == pytest.approx([0.2], abs=1e-4)
    assert (plain.differences[0].raw or 0) < 0.19
    assert found.people == "careful"
    assert found.independence is None


@pytest.mark.parametrize("declines", [False, True])
def test_corrected_table_is_that_of_careful_people(declines: bool) -> None:
    found = crosstab(_exact(_survey(declines=declines)), "g", "y", rule=CAREFUL)
    cells = [[each.raw for each in line] for line in found.cells]
    assert np.array(cells, float) == pytest.approx(np.array([[0.54, 0.06], [0.28, 0.12]]), abs=1e-4)
    assert [line[1].raw for line in found.conditional] == pytest.approx([0.1, 0.3], abs=1e-4)
    for each in (*found.cells[0], *found.conditional[1]):
        assert (each.low or 0) < (each.raw or 0) < (each.high or 0)
        assert 0 < (each.high or 0) - (each.low or 0) < 0.02


@pytest.mark.parametrize("kind", REQUESTS)
def test_document_says_who_is_described_and_how_many_are_careless(kind: str) -> None:
    found = parse_request(kind, REQUESTS[kind]).document(_exact(_survey()))
    validate({"compare": "comparison"}.get(kind, kind), found)
    assert found["people"] == "careful"
    assert found["warnings"][0].startswith("corrected for careless answers: 20.0% (19.9 to 20.1%) of these people")
    assert found["warnings"][0].endswith("at random, by moon")
    assert "report the uncorrected figures" not in " ".join(found["warnings"])
    assert "Among those who answered with care." in in_words(found)[0].sentences


def test_small_share_of_careless_people_calls_for_both_figures() -> None:
    columns = _exact(_survey())
    few = columns.among(np.arange(len(columns)) < 100)
    careful = few.among(few.values["moon"] == 0)
    found = parse_request("crosstab", REQUESTS["crosstab"]).document(careful)
    assert any("include 0" in note for note in found["warnings"])


def test_share_below_that_of_careless_people_has_limits_of_some_width() -> None:
    """Nobody of the first group says yes, of the second 1 in 3; the difference is that of the shares beside it."""
    g, y, moon = np.array([(0, 0, 0)] * 60 + [(0, 0, 1)] * 30 + [(1, 0, 0)] * 40 + [(1, 1, 0)] * 20).T
    zeros = np.zeros(len(g), int)
    columns = Columns.from_arrays(_survey(), {"g": g, "y": y, "moon": moon, "age": zeros, "hidden": zeros})
    found = compare(columns, "y", "g", rule=CAREFUL)
    first, later = found.values
    assert (first.raw or 0) < 0
    assert (first.estimate, first.low) == (0, 0)
    assert (first.high or 0) > 0.05
    assert found.differences[0].estimate == (later.estimate or 0) - 0
    assert (found.differences[0].raw or 0) > (later.estimate or 0) + 0.1


@pytest.mark.parametrize("outcome", ["moon", "age", "hidden"])
def test_other_questions_are_refused(outcome: str) -> None:
    with pytest.raises(EstimateError, match="is not corrected for careless answers"):
        compare(_exact(_survey()), outcome, "g", rule=CAREFUL)


def test_anchors_without_figures_correct_nothing() -> None:
    columns = _exact(_survey())
    withheld = replace(columns, withheld=frozenset({"moon"}))
    rare = np.ma.masked_equal(columns.values["moon"], 1)
    left_out = Columns.from_arrays(columns.survey, {**columns.values, "moon": columns.values["moon"] * 0})
    left_out.values["moon"][rare.mask] = 255
    for each in (_exact(_survey(anchor=False)), withheld, left_out):
        with pytest.raises(EstimateError, match="have no anchor"):
            crosstab(each, "g", "y", rule=CAREFUL)
    with pytest.raises(EstimateError, match="have no weights"):
        crosstab(columns, "g", "y", np.ones(len(columns)), CAREFUL)
    with pytest.raises(OptionsError, match="goes without the correction"):
        parse_request("crosstab", {**REQUESTS["crosstab"], "within": "moon"})


def _exact_arms(yes: float) -> Columns:
    """Exactly expected reports of two arms, 1 to 4: of careful people .1 of "own" and ``yes`` of "other" are yes."""
    public = {"public": True}
    asked = [asks("y", **public), asks("own", "direct", **public), asks("other", "protected", **public)]
    anchor = asks("moon", anchor=True, known_share="0", **public)
    survey = parse_survey(document(questions=[*asked, anchor], arms=arms(1, 4)))
    rows = []
    for arm, y, of_arm, moon in product((0, 1), repeat=4):
        shares = ((0.7, 0.3)[y], abs(1 - of_arm - (0.1, yes)[arm]), 1.0 - moon)
        share = (0.2, 0.8)[arm] * ((1 - CARELESS) * np.prod(shares) + CARELESS / 8)
        both = (of_arm, np.nan) if arm == 0 else (np.nan, of_arm)
        rows.append(np.tile([y, *both, moon, arm], (round(N * share), 1)))
    names = ("y", "own", "other", "moon", "arm")
    return Columns.from_arrays(survey, dict(zip(names, np.concatenate(rows).T, strict=True)))


def test_careless_people_are_in_each_arm_as_often_as_others() -> None:
    """Of one question by arm, and of two questions of two arms; the arm is no answer."""
    found = compare(_exact_arms(0.4), "y", "arm", rule=CAREFUL)
    assert [each.raw for each in found.values] == pytest.approx([0.3, 0.3], abs=1e-4)
    across = compare_across_arms(_exact_arms(0.4), ("other", "own"), rule=CAREFUL)
    assert [each.raw for each in across.values] == pytest.approx([0.1, 0.4], abs=1e-4)
    assert across.differences[0].raw == pytest.approx(0.3, abs=1e-4)
    assert across.people == "careful"
    assert len(across.ratios) == 1


def test_one_share_of_careless_people_moves_two_arms_apart() -> None:
    """A share below one half and one above it: the difference is less certain than of independent shares."""
    found = compare_across_arms(_exact_arms(0.9), ("other", "own"), rule=CAREFUL)
    first, later = (each.std_error or 0 for each in found.values)
    assert (found.differences[0].std_error or 0) > np.hypot(first, later)
    assert found.ratios == ()


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_coefficients_are_those_of_careful_people(outcome: str) -> None:
    """Within three standard errors; the slope of all people is too small."""
    columns = _columns(OUTCOMES[outcome], DECLINES if outcome == "declined" else {"public": True})
    careful, plain = (regress(columns, "y", ("g",), among=among) for among in ("careful", None))
    # Of three options the other two are equally likely, so each has half their odds.
    truth = CONSTANT + (np.log(2) if outcome == "choice" else 0)
    for each, expected in zip(careful.coefficients[-2:], (truth, SLOPE), strict=True):
        assert abs((each.estimate or 0) - expected) < 3 * (each.std_error or 0)
    slope = plain.coefficients[-1]
    assert (slope.estimate or 0) < SLOPE - 2 * (slope.std_error or 0)
    assert careful.linear is None
    assert len(careful.ame) == len(careful.coefficients) // 2
    declining = careful.declining
    assert (declining is not None) == (outcome == "declined")
    if declining is not None:
        found = declining.coefficients[0]
        assert abs((found.estimate or 0) - np.log(DECLINED / (1 - DECLINED))) < 3 * (found.std_error or 0)


def test_ordered_models_are_corrected_too() -> None:
    columns = _columns(OUTCOMES["choice"], {"public": True})
    found = regress(columns, "y", ("g",), model="ordered", among="careful")
    last = found.coefficients[-1]
    assert abs((last.estimate or 0) + CONSTANT) < 3 * (last.std_error or 0)


def test_document_says_whom_it_describes() -> None:
    found = parse_request("regression", {"outcome": "y", "on": ["g"], "among": "careful"}).document(
        _columns({"public": True}, {"public": True}, 3000)
    )
    validate("regression", found)
    assert found["people"] == "careful"
    assert found["warnings"][0].startswith("corrected for careless answers: ")


@pytest.mark.parametrize(
    ("outcome", "on", "model", "words"),
    [
        ("y", ("g",), "linear", "not if it is linear"),
        ("y", ("coin",), None, "public predictors only"),
        ("moon", ("g",), None, "'moon' is not corrected"),
    ],
)
def test_other_models_are_refused(outcome: str, on: tuple[str, ...], model: str | None, words: str) -> None:
    columns = _columns({"public": True}, {"public": True}, 1000)
    with pytest.raises(EstimateError, match=words):
        regress(columns, outcome, on, model=model, among="careful")
