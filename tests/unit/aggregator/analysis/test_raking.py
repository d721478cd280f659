"""Raking and post-stratification: the worked example, and every refusal."""

from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.aggregator.analysis.weights import Margin, kish_effect, rake
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.reports import ROW, SCORE
from tests.unit.aggregator.analysis.survey_of_reports import NULL, reports

AGE = np.where(ROW % 5 == 0, 0, ROW // 2 % 3)
COLUMNS = reports(g=ROW % 2, third=AGE)
SEX_KNOWN = {"no": 0.45, "yes": 0.55}
AGE_KNOWN = {"c0": 0.3, "c1": 0.3, "c2": 0.4}


def margin(shares: dict[Any, float], *names: str, columns: Any = COLUMNS) -> Margin:
    """What is known of these questions."""
    return Margin(tuple(of(name, columns) for name in names), shares)


def of(name: str, columns: Any = COLUMNS) -> Answers:
    """The answers to a question."""
    return answers_of(columns, name)


def test_raking_meets_the_worked_example() -> None:
    """Weights, the share with them and the design effect."""
    raked = rake([margin(SEX_KNOWN, "g"), margin(AGE_KNOWN, "third")])

    assert raked.weights[:3] == pytest.approx([0.578571, 0.707143, 1.012500], abs=5e-7)
    assert raked.weights @ SCORE / raked.weights.sum() == pytest.approx(0.359214, abs=5e-7)
    assert raked.deff == pytest.approx(1.141661, abs=5e-7)
    assert raked.warnings == ()
    assert np.bincount(AGE, weights=raked.weights) / 600 == pytest.approx([0.3, 0.3, 0.4])
    assert np.bincount(ROW % 2, weights=raked.weights) / 600 == pytest.approx([0.45, 0.55])


def test_one_margin_of_two_questions_is_post_stratification() -> None:
    """Each cell's known share by that of its reports; known numbers do as well as shares."""
    cells = {(sex, age): 100.0 * (1 + i + j) for i, sex in enumerate(SEX_KNOWN) for j, age in enumerate(AGE_KNOWN)}
    found = rake([margin(cells, "g", "third")]).weights

    for (sex, age), known in cells.items():
        inside = ((ROW % 2 == 1) == (sex == "yes")) & (int(age[1]) == AGE)
        assert found[inside] == pytest.approx(known / sum(cells.values()) * 600 / inside.sum())
    assert kish_effect(found) > 1


@pytest.mark.parametrize(
    ("shares", "names", "words"),
    [
        ({"no": 0.5, "yes": 0.5}, ["said"], "'said' is randomized: no weights are raked to it"),
        ({"1": 1.0}, ["x"], "'x' is a number"),
        ({"no": 0.45, "maybe": 0.55}, ["g"], "names no cell; the categories are: no, yes"),
        ({"no": 1.0}, ["g"], "leaves out 'yes'"),
        ({"no": 0.5, "yes": 0.4}, ["g"], "do not add up to 1"),
        ({"no": -0.5, "yes": 1.5}, ["g"], "numbers of 0 or more"),
        ({"no": "half", "yes": 0.5}, ["g"], "numbers of 0 or more"),
        ({"no": float("nan"), "yes": 1.0}, ["g"], "numbers of 0 or more"),
        ({("no", "c0"): 1.0, "yes": 1.0}, ["g", "third"], "names no cell; the categories are: no, yes; c0"),
    ],
)
def test_unfit_margin_is_refused(shares: dict[Any, float], names: list[str], words: str) -> None:
    """Each with its sentence."""
    with pytest.raises(EstimateError, match=words):
        rake([margin(shares, *names)])


def test_cell_with_one_report_is_refused() -> None:
    """Its weight would be that of one person."""
    with pytest.raises(EstimateError, match="fewer than 2 reports are in 'yes'"):
        rake([margin(SEX_KNOWN, "g", columns=reports(g=ROW == 0))])


def test_question_that_not_everybody_was_asked_is_refused() -> None:
    """Some reports would have no weight."""
    with pytest.raises(EstimateError, match="was not asked of everybody"):
        rake([margin(SEX_KNOWN, "g", columns=reports(g=np.where(ROW == 5, NULL, ROW % 2)))])


def test_margins_that_contradict_each_other_are_refused() -> None:
    """Two questions with the same answers cannot have different shares."""
    same = reports(g=ROW % 2, other=ROW % 2, third=ROW % 2)
    with pytest.raises(EstimateError, match="contradict each other"):
        rake(
            [margin({"no": 0.4, "yes": 0.6}, "g", columns=same), margin({"c0": 0.5, "c1": 0.5}, "third", columns=same)]
        )


def test_weights_that_are_too_unequal_are_refused_and_unequal_ones_warned_of() -> None:
    """Above fifty, and above ten."""
    few = reports(g=ROW < 20)
    with pytest.raises(EstimateError, match="more than 50 times"):
        rake([margin({"no": 0.3, "yes": 0.7}, "g", columns=few)])
    assert "more than 10 times" in rake([margin({"no": 0.6, "yes": 0.4}, "g", columns=few)]).warnings[0]


def test_no_margin_is_refused() -> None:
    """There is nothing to rake to."""
    with pytest.raises(EstimateError, match="at least one margin"):
        rake([])
