from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.weights import checked_weights, kish_effect, raked, weight_warnings
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.reports import ROW, SCORE
from tests.unit.aggregator.analysis.survey_of_reports import NULL, reports

AGE = np.where(ROW % 5 == 0, 0, ROW // 2 % 3)

COLUMNS = reports(g=ROW % 2, third=AGE)

SEX_KNOWN = {"no": 0.45, "yes": 0.55}

AGE_KNOWN = {"c0": 0.3, "c1": 0.3, "c2": 0.4}


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 1.0], "2 weights for 3 reports"),
        ([[1.0, 1.0, 1.0]], "3 weights for 3 reports"),
        ([1.0, float("nan"), 1.0], "row 2: the weight is missing"),
        ([1.0, 1.0, 0.0], "row 3: the weight is missing, or not a number above 0"),
        ([-1.0, 1.0, 1.0], "row 1"),
        ([1.0, float("inf"), 1.0], "row 2"),
        ([1.0, 51.0, 1.0], "more than 50 times"),
        ({"region": {"north": 0.5, "south": 0.5}}, "weights are 3 numbers"),
        (["1", "two", "3"], "weights are 3 numbers"),
    ],
)
def test_unfit_weights_are_refused(weights: Any, words: str) -> None:
    with pytest.raises(EstimateError, match=words):
        checked_weights(weights, 3)


def test_unequal_weights_are_warned_of() -> None:
    assert weight_warnings(np.array([1.0, 10.0])) == []
    assert len(weight_warnings(np.array([1.0, 11.0]))) == 1


def test_equal_weights_cost_nothing() -> None:
    assert kish_effect(np.full(600, 7.0)) == pytest.approx(1)


def test_raking_meets_the_worked_example() -> None:
    made = raked(COLUMNS, {"g": SEX_KNOWN, "third": AGE_KNOWN})

    assert made.weights[:3] == pytest.approx([0.578571, 0.707143, 1.012500], abs=5e-7)
    assert made.weights @ SCORE / made.weights.sum() == pytest.approx(0.359214, abs=5e-7)
    assert made.deff == pytest.approx(1.141661, abs=5e-7)
    assert made.warnings == ()
    assert np.bincount(AGE, weights=made.weights) / 600 == pytest.approx([0.3, 0.3, 0.4])
    assert np.bincount(ROW % 2, weights=made.weights) / 600 == pytest.approx([0.45, 0.55])


def test_one_margin_of_two_questions_is_post_stratification() -> None:
    """Each cell's known share by that of its reports; known numbers do as well as shares."""
    names = [*enumerate(SEX_KNOWN)], [*enumerate(AGE_KNOWN)]
    cells = {f"{sex} x {age}": 100.0 * (1 + i + j) for i, sex in names[0] for j, age in names[1]}
    found = raked(COLUMNS, {"g x third": cells}).weights

    for cell, known in cells.items():
        sex, age = cell.split(" x ")
        inside = ((ROW % 2 == 1) == (sex == "yes")) & (int(age[1]) == AGE)
        assert found[inside] == pytest.approx(known / sum(cells.values()) * 600 / inside.sum())
    assert kish_effect(found) > 1


@pytest.mark.parametrize(
    ("given", "margins", "words"),
    [
        (COLUMNS, {"said": {"no": 0.5, "yes": 0.5}}, "'said' is randomized: no weights are raked to it"),
        (COLUMNS, {"x": {"1": 1.0}}, "'x' is a number"),
        (COLUMNS, {"g": {"no": 0.45, "maybe": 0.55}}, "names no cell; the categories are: no, yes"),
        (COLUMNS, {"g": {"no": 1.0}}, "leaves out 'yes'"),
        (COLUMNS, {"g": {"no": 0.5, "yes": 0.4}}, "do not add up to 1"),
        (COLUMNS, {"g": {"no": -0.5, "yes": 1.5}}, "numbers of 0 or more"),
        (COLUMNS, {"g": {"no": "half", "yes": 0.5}}, "numbers of 0 or more"),
        (COLUMNS, {"g": {"no": float("nan"), "yes": 1.0}}, "numbers of 0 or more"),
        (COLUMNS, {"g x third": {"no x c0": 1.0, "yes": 1.0}}, "names no cell; the categories are: no, yes; c0"),
        (COLUMNS, {}, "at least one margin"),
        # The weights would tell how many they are; in one's own file, that of one report would be a person's.
        (reports(g=ROW < 4), {"g": SEX_KNOWN}, "fewer than 5 reports are in 'yes'"),
        (replace(reports(g=ROW == 0), least=0), {"g": SEX_KNOWN}, "fewer than 2 reports are in 'yes'"),
        # Some reports would have no weight.
        (reports(g=np.where(ROW == 5, NULL, ROW % 2)), {"g": SEX_KNOWN}, "was not asked of everybody"),
        # Two questions with the same answers cannot have different shares.
        (
            reports(g=ROW % 2, other=ROW % 2, third=ROW % 2),
            {"g": {"no": 0.4, "yes": 0.6}, "third": {"c0": 0.5, "c1": 0.5}},
            "contradict each other",
        ),
    ],
)
def test_unfit_margin_is_refused(given: Columns, margins: dict[str, Any], words: str) -> None:
    with pytest.raises(EstimateError, match=words):
        raked(given, margins)


@pytest.mark.parametrize(("few", "least"), [(5, 5), (2, 0)])
def test_smallest_cell_of_a_margin_has_weights(few: int, least: int) -> None:
    found = raked(replace(reports(g=few > ROW), least=least), {"g": {"no": 0.99, "yes": 0.01}}).weights

    assert found[0] == pytest.approx(0.01 * len(ROW) / few)


def test_weights_that_are_too_unequal_are_refused_and_unequal_ones_warned_of() -> None:
    few = reports(g=ROW < 20)
    with pytest.raises(EstimateError, match="more than 50 times"):
        raked(few, {"g": {"no": 0.3, "yes": 0.7}})
    assert "more than 10 times" in raked(few, {"g": {"no": 0.6, "yes": 0.4}}).warnings[0]
