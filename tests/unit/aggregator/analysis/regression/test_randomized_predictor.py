"""Models with a randomized predictor or a scale: the worked example, and what it becomes without noise."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import maximize
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.shared.errors import EstimateError, OptionsError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.unit.aggregator.analysis.reports import (
    COIN,
    MASK_LIKELIHOOD,
    ONES,
    OTHER,
    ROW,
    WEIGHTS,
    X,
    check_derivatives,
    columns,
    masks,
    ratings,
)
from tests.unit.aggregator.analysis.survey_of_reports import COIN as COIN_FLIP, asked

OUTCOME = (35 + 15 * OTHER + 10 * (X > 0) > 41 * ROW % 100).astype(int)


def on_cells(outcome: Multinomial, predictor: Multinomial) -> RandomizedPredictor:
    """Outcome on its columns and on an indicator of each category of the predictor after the first."""
    later = predictor.shape[0]
    ones = np.ones((later, outcome.rows))
    cells = np.hstack([np.ones((later + 1, len(outcome.columns))), np.eye(later + 1)[:, 1:]])
    with_ones = replace(outcome, columns=np.vstack([outcome.columns, ones]))
    return RandomizedPredictor(with_ones, predictor, cells, np.eye(predictor.parameters))


NEARLY = {"name": "kary_rr", "odds": "30"}

RISK = np.random.default_rng(5).integers(0, 7, 3000)

FEW = np.random.default_rng(8).integers(0, 3, 3000)

YES = np.random.default_rng(6).random(3000) < 1 / (1 + np.exp(1.5 - 0.5 * RISK))


def people(mechanism: dict[str, Any] | None = None, **more: Any) -> Columns:
    """People who say yes the more the higher they rate risk from 0 to 6, with the rating as a decimal number, too."""
    questions = [
        asked("said", "boolean", COIN_FLIP),
        asked("risk", "rating", mechanism, choices=names(7, "r"), **more),
        asked("plain", "decimal", None, min="0", max="6", step="1"),
        asked("few", "rating", None, choices=names(3, "f")),
    ]
    draws = np.random.default_rng(7)
    said = np.where(draws.random(3000) < 0.5, YES, draws.random(3000) < 0.5).astype(int)
    kept = draws.random(3000) < 30 / 36
    shown = RISK if mechanism is None else np.where(kept, RISK, (RISK + draws.integers(1, 7, 3000)) % 7)
    values = {"said": said, "risk": shown, "plain": RISK, "few": FEW}
    return Columns.from_arrays(parse_survey(survey(*questions)), values)


def model(columns: Columns, **options: Any) -> dict[str, Any]:
    return dict(parse_request("regression", options).document(columns))


def test_predictor_without_noise_is_an_ordinary_one() -> None:
    """The two models are then fitted apart."""
    of_x = columns(ONES, X)
    both = maximize(on_cells(Multinomial(of_x, OUTCOME, COIN), Multinomial(of_x, OTHER, np.eye(2))))
    outcome = maximize(Multinomial(columns(ONES, X, OTHER), OUTCOME, COIN))
    predictor = maximize(Multinomial(of_x, OTHER, np.eye(2)))

    assert both.theta == pytest.approx([*outcome.theta, *predictor.theta], abs=1e-7)
    assert both.log_likelihood == pytest.approx(outcome.log_likelihood + predictor.log_likelihood, abs=1e-8)


def test_derivatives_hold_with_many_categories_on_both_sides() -> None:
    """A rating on a masked choice, both randomized, weighted."""
    of_x = columns(ONES, X)
    rating = Multinomial(of_x, ratings(), np.ones((4, 4)) + 2 * np.eye(4), WEIGHTS)
    model = on_cells(rating, Multinomial(of_x, masks(), MASK_LIKELIHOOD))
    theta = np.sin(np.arange(model.parameters))
    found = check_derivatives(model, theta)

    assert model.parameters == 3 * (2 + 3) + 3 * 2
    assert model.scores(theta, slice(None)) @ WEIGHTS == pytest.approx(found.gradient, abs=1e-9)


def test_linear_predictors_have_the_directions_that_are_said() -> None:
    """The log odds of one report, by their derivatives."""
    of_x = columns(ONES, X)
    model = on_cells(Multinomial(of_x, OUTCOME, COIN), Multinomial(of_x, masks(), MASK_LIKELIHOOD))
    theta = np.cos(np.arange(model.parameters))

    found = [float(predictor[0]) for predictor in model.predictors(theta, slice(7, 8))]
    assert model.directions(7) @ theta == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("kind", ["logit", "linear"])
def test_public_rating_is_the_number_that_its_points_are(kind: str) -> None:
    """The same coefficients, effects and predictions as of a decimal question with these values."""
    columns = people()
    rating, number = (
        model(columns, outcome="said", on=[name], model=kind, at=[{name: value}])
        for name, value in (("risk", "r4"), ("plain", 4))
    )

    assert [each["term"] for each in rating["coefficients"]] == ["(constant)", "num(risk)"]
    for key in ("coefficients", "ame", "predictions"):
        for one, other in zip(rating[key], number[key], strict=True):
            assert (one["estimate"], one["low"]) == pytest.approx((other["estimate"], other["low"]))


@pytest.mark.parametrize("kind", ["logit", "linear"])
def test_randomized_rating_is_a_number_through_its_channel(kind: str) -> None:
    """The slope is that of the true ratings within its error, where reports taken as they are would flatten it."""
    columns = people(NEARLY)
    found, open_answers = (model(each, formula="said ~ num(risk)", model=kind) for each in (columns, people()))

    slope, true = (each["coefficients"][1] for each in (found, open_answers))
    assert abs(slope["estimate"] - true["estimate"]) < 2 * slope["std_error"]
    assert slope["std_error"] > true["std_error"]
    assert [each["term"] for each in found["ame"]] == (["num(risk)"] if kind == "logit" else [])
    for effect, plain in zip(found["ame"], open_answers["ame"], strict=True):
        assert abs(effect["estimate"] - plain["estimate"]) < 2 * effect["std_error"]


def test_randomized_rating_may_interact_in_a_logit() -> None:
    """Its product with a public number, and an effect that moves along."""
    found = model(people(NEARLY), formula="said ~ num(risk) * num(few)")
    assert [each["term"] for each in found["coefficients"][1:]] == ["num(risk)", "num(few)", "num(risk):num(few)"]
    assert [each["term"] for each in found["ame"]] == ["num(risk)", "num(few)"]


def test_ratings_are_numbers_from_seven_points_on_unless_asked_otherwise() -> None:
    """One choice: numbers, categories, or by length; a formula says it itself, also within arithmetic."""
    columns = people()

    def terms(**options: Any) -> list[str]:
        return [each["term"] for each in model(columns, **options)["coefficients"][1:]]

    both = {"outcome": "said", "on": ["risk", "few"]}
    assert terms(**both) == ["num(risk)", "few=f1", "few=f2"]
    assert terms(**both, scales="numbers") == ["num(risk)", "num(few)"]
    assert terms(**both, scales="categories")[:2] == ["risk=r1", "risk=r2"]
    assert terms(formula="said ~ risk")[:2] == ["risk=r1", "risk=r2"]
    assert terms(formula="said ~ num(few) + I(num(risk)^2)") == ["num(few)", "I(num(risk)^2)"]
    with pytest.raises(OptionsError, match="goes without a formula"):
        model(columns, formula="said ~ num(few)", scales="numbers")


def test_what_is_no_number_is_refused() -> None:
    """A yes/no, the same question twice, and randomized answers that hide who gave none."""
    columns = people(NEARLY)
    with pytest.raises(EstimateError, match="'said' is no scale"):
        regress(columns, "plain", parse_formula("num(said)"))
    with pytest.raises(EstimateError, match="'risk' is asked for twice"):
        regress(columns, "said", parse_formula("num(risk) + risk"))
    with pytest.raises(EstimateError, match="'risk': people may have given no answer"):
        regress(people(NEARLY, absent_category=True), "said", parse_formula("num(risk)"))
