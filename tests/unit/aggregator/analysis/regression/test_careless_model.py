"""Models of those who answer with care: coefficients near the truth, what they say of themselves, and refusals."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names
from tests.surveys import document
from tests.vectors.arms import asks

N, CARELESS = 40_000, 0.2
CONSTANT, SLOPE, DECLINED = -1.0, 0.8, 0.15
DECLINES = {"public": True, "absent_category": True}


def _columns(outcome: dict[str, Any], anchor: dict[str, Any], n: int = N) -> Columns:
    """Reports of a population: of careful people the odds of the last answer depend on their group."""
    asked = [asks("g", public=True), asks("y", **outcome), asks("moon", anchor=True, known_share="0", **anchor)]
    survey = parse_survey(document(questions=[*asked, asks("coin", mechanism={"name": "coin_flip"})]))
    dice = np.random.default_rng(8)
    group = (dice.random(n) < 0.3).astype(int)
    size = survey.questions[1].domain.size
    last = size - 1 - survey.questions[1].domain.absent
    y = np.where(dice.random(n) < 1 / (1 + np.exp(-CONSTANT - SLOPE * group)), last, dice.integers(0, last, n))
    truths = {"g": group, "y": y, "moon": np.zeros(n, int), "coin": np.zeros(n, int)}
    careless = dice.random(n) < CARELESS
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
    """The cuts of careful people, who choose two of three steps equally often."""
    columns = _columns(OUTCOMES["choice"], {"public": True})
    found = regress(columns, "y", ("g",), model="ordered", among="careful")
    last = found.coefficients[-1]
    assert abs((last.estimate or 0) + CONSTANT) < 3 * (last.std_error or 0)


def test_document_says_whom_it_describes() -> None:
    """It is valid, and names the share of careless people."""
    found = parse_request("regression", {"outcome": "y", "on": ["g"], "among": "careful"}).document(
        _columns({"public": True}, {"public": True}, 3000)
    )
    schema = files("sottovoce.shared").joinpath("schema/regression.schema.json").read_text()
    jsonschema.validate(json.loads(json.dumps(found)), json.loads(schema))
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
    """Linear ones, those with a randomized predictor, and those of an anchor."""
    columns = _columns({"public": True}, {"public": True}, 1000)
    with pytest.raises(EstimateError, match=words):
        regress(columns, outcome, on, model=model, among="careful")
