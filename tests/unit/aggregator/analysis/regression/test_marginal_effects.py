from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.marginal_effects import predict, predicted_shares
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import maximize
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import survey
from tests.surveys import months
from tests.unit.aggregator.analysis.reports import (
    COIN,
    GROUP,
    MASK_LIKELIHOOD,
    ONES,
    ROW,
    SAID,
    WEIGHTS,
    X,
    columns,
    masks,
)
from tests.unit.aggregator.analysis.survey_of_reports import asked, reports

LOGIT = Multinomial(columns(ONES, X, GROUP), SAID, COIN)

CHOICE = Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD, WEIGHTS)

Shares = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

"""Shares after the first, (k - 1, n), for coefficients, x and g."""


def crossed(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    return np.stack([np.ones_like(x), x, g, x**2, x * g])


def logit(beta: np.ndarray, x: np.ndarray, g: np.ndarray) -> np.ndarray:
    odds = np.exp(beta.reshape(-1, 5) @ crossed(x, g))
    return odds / (1 + odds.sum(axis=0))


def ordered(beta: np.ndarray, x: np.ndarray, g: np.ndarray) -> np.ndarray:
    below = 1 / (1 + np.exp(beta[:4] @ crossed(x, g)[1:] - beta[4:, None]))
    return np.diff(below, axis=0, append=1)


def figures(fitted: Regression, field: str = "estimate") -> np.ndarray:
    return np.array([getattr(each, field) for each in fitted.ame])


def coefficients(fitted: Regression | None) -> np.ndarray:
    return np.array([each.estimate for each in fitted.coefficients], dtype=float)


REGRESSION = regress(reports(), "said", ["x", "g"])


def test_effect_of_a_category_is_the_difference_to_its_base() -> None:
    """2 % of 900 and 50 % of 100: .480, where a derivative would say .166; the other base changes the sign."""
    questions = parse_survey(survey(asked("y", "boolean", None), asked("g", "boolean", None)))
    g = (np.arange(1000) >= 900).astype(np.uint32)
    y = np.concatenate([np.arange(900) < 18, np.arange(100) < 50]).astype(np.uint32)
    given = Columns((questions,), {"y": y, "g": g}, np.zeros(1000, np.uint8), np.zeros(1000, np.uint8))
    [effect], [turned] = (regress(given, "y", parse_formula(text)).ame for text in ("g", 'C(g, ref="yes")'))

    assert (effect.term, effect.base, effect.estimate) == ("g=yes", "no", pytest.approx(0.48))
    assert effect.std_error == pytest.approx(np.sqrt(0.02 * 0.98 / 900 + 0.25 / 100))
    assert effect.as_dict()["base"] == "no"
    assert (turned.term, turned.base, turned.estimate) == ("g=no", "yes", pytest.approx(-0.48))


@pytest.mark.parametrize(
    ("outcome", "model", "shares", "weights"),
    [
        ("said", "logit", logit, None),
        ("said", "logit", logit, WEIGHTS),
        ("rating", "multinomial", logit, WEIGHTS),
        ("rating", "ordered", ordered, None),
        ("rating", "ordered", ordered, WEIGHTS),
    ],
)
def test_effects_are_mean_differences_of_predictions(
    outcome: str, model: str, shares: Shares, weights: np.ndarray | None
) -> None:
    """With an interaction and a square that move along, and weights; errors by the delta method and the sample."""
    fitted = regress(reports(), outcome, parse_formula("x * g + I(x^2)"), model=model, weights=weights, strata=False)
    theta, step, w = coefficients(fitted), 1e-4, ONES / 600 if weights is None else weights / weights.sum()

    def effects(beta: np.ndarray) -> np.ndarray:
        by_x = (shares(beta, X + step, GROUP) - shares(beta, X - step, GROUP)) / (2 * step)
        by_g = shares(beta, X, ONES) - shares(beta, X, 0 * ONES)
        return np.stack([by_x, by_g], axis=1)

    each = effects(theta)
    average = each @ w
    assert [one.term for one in fitted.ame[:2]] == ["x", "g=yes"]
    assert [one.base for one in fitted.ame[:2]] == [None, "no"]
    assert figures(fitted) == pytest.approx(average.ravel(), abs=1e-7)
    moved = [(effects(theta + 1e-5 * unit) - effects(theta - 1e-5 * unit)) @ w / 2e-5 for unit in np.eye(len(theta))]
    delta = np.einsum("dcj,de,ecj->cj", moved, fitted.covariance, moved)
    sampled = (each - average[:, :, None]) ** 2 @ w**2 * 600 / 599
    assert figures(fitted, "std_error") == pytest.approx(np.sqrt(delta + sampled).ravel(), rel=1e-5)


def test_effects_run_over_the_estimated_distribution_of_a_randomized_predictor() -> None:
    """Of it and of a number in interaction with it; the error of its distribution is part of theirs."""
    fitted = regress(reports(), "said", parse_formula("x * other"), strata=False)
    theta, of_other = coefficients(fitted), coefficients(fitted.of_predictor)

    def yes(x: np.ndarray, other: float) -> np.ndarray:
        return np.asarray(1 / (1 + np.exp(-(theta[0] + theta[1] * x + theta[2] * other + theta[3] * x * other))))

    has = 1 / (1 + np.exp(-(of_other[0] + of_other[1] * X)))
    step = 1e-4
    by_x = sum(
        share * (yes(X + step, other) - yes(X - step, other)) / (2 * step) for other, share in ((0, 1 - has), (1, has))
    )
    assert [(one.term, one.base) for one in fitted.ame] == [("x", None), ("other=yes", "no")]
    assert figures(fitted) == pytest.approx([np.mean(by_x), np.mean(yes(X, 1) - yes(X, 0))], abs=1e-7)


def test_derivative_that_is_infinite_is_left_out() -> None:
    fitted = regress(reports(), "said", parse_formula("g + sqrt(x + 2)"), strata=False)
    assert [one.term for one in fitted.ame] == ["g=yes"]


def test_predictions_of_a_choice_add_up_and_have_limits_within_0_and_1() -> None:
    fit = maximize(CHOICE)
    variance = covariance(CHOICE, fit, "sandwich")
    shares, low, high = predicted_shares(fit.theta.reshape(3, 2), variance, CHOICE.columns)

    assert shares.shape == (4, 600)
    assert shares.sum(axis=0) == pytest.approx(1)
    assert np.all((low > 0) & (low < shares) & (shares < high) & (high < 1))
    logit = maximize(LOGIT)
    yes_no = predicted_shares(logit.theta.reshape(1, 3), covariance(LOGIT, logit, "opg"), LOGIT.columns)
    assert yes_no[1][0] == pytest.approx(1 - yes_no[2][1])


def test_effects_of_a_linear_model_with_an_interaction_are_mean_changes_of_its_predictions() -> None:
    """The other predictor at its mean, with that mean's own error; without interaction the coefficients say it."""
    fitted = regress(reports(), "said", parse_formula("x * g + I(x^2)"), model="linear", strata=False)
    x, g, beta = X, GROUP, coefficients(fitted)
    by_x, by_g = beta[1] + 2 * beta[3] * x + beta[4] * g, beta[2] + beta[4] * x
    assert [(one.term, one.base) for one in fitted.ame] == [("x", None), ("g=yes", "no")]
    assert figures(fitted) == pytest.approx([by_x.mean(), by_g.mean()], rel=1e-6)
    gradients = [np.array([0, 1, 0, 2 * x.mean(), g.mean()]), np.array([0, 0, 1, 0, x.mean()])]
    for gradient, change, one in zip(gradients, (by_x, by_g), fitted.ame, strict=True):
        error = np.sqrt(gradient @ fitted.covariance @ gradient + change.var() / len(x))
        assert one.std_error == pytest.approx(error, rel=0.02)
    for each in (fitted, REGRESSION):
        printed = next(table for table in in_words(each.as_dict()) if table.title == "Average marginal effects")
        assert [line[0] for line in printed.lines] == ["x: derivative (change per one)", "g=yes against g=no"]
    assert regress(reports(), "said", parse_formula("x + g"), model="linear").ame == ()


@pytest.mark.parametrize(
    "among", ["each", *(pytest.param(name, marks=pytest.mark.slow) for name in ("weighted", "clustered", "waves"))]
)
def test_effects_of_a_linear_model_cover_beside_a_randomized_predictor(among: str) -> None:
    """At least .9125 of 400 samples, and not wide, where the noise of the other predictor is in both parts."""
    waves = 3 if among == "waves" else 1
    asked_for = parse_survey(
        survey(asked("y", "boolean", None), asked("a", "boolean", None), asked("c", "boolean", {"name": "coin_flip"}),
               **({"waves": months(waves)} if waves > 1 else {}))
    )  # fmt: skip
    dice, people = np.random.default_rng(3), 400
    inside, found = 0, []
    right = 0.1 + 0.4 * (0.6 if among != "weighted" else 0.75)
    for _ in range(400):
        c, a = dice.random(people) < 0.6, dice.random(people) < 0.5
        y = dice.random(people) < 0.2 + 0.1 * a + 0.4 * a * c
        if among == "clustered":
            c, a, y = (np.repeat(each[: people // 2], 2) for each in (c, a, y))
        told = [np.tile(each, waves) for each in (y, a, c)]
        truth = dice.random(people * waves) < 0.5
        told[2] = np.where(truth, told[2], dice.random(people * waves) < 0.5)
        values = dict(zip("yac", (each.astype(np.uint8) for each in told), strict=True))
        given = Columns.from_arrays(asked_for, values, np.repeat(np.arange(waves), people))
        more = {"weights": np.where(c, 2.0, 1.0)} if among == "weighted" else {}
        more |= {"cluster": np.repeat(np.arange(people // 2), 2)} if among == "clustered" else {}
        one = regress(given, "y", parse_formula("a * c"), model="linear", **more).ame[0]
        inside += one.low <= right <= one.high
        found.append((one.estimate, one.std_error))
    points, errors = np.array(found).T
    assert inside / 400 >= 0.9125
    assert errors.mean() <= 1.15 * points.std()


def test_prediction_of_a_logit_meets_the_worked_example() -> None:
    """X = .5, g = 1, and another row beside it; a command line has digits, which are as good as a number."""
    (found,), (other,) = predict(REGRESSION, [{"x": 0.5, "g": "yes"}, {"x": 0.5, "g": "no"}])

    assert (found.estimate, found.low, found.high) == pytest.approx((0.283639, 0.153142, 0.464360), abs=5e-7)
    assert other.estimate > found.high
    assert found.category is None
    assert predict(REGRESSION, [{"x": "-0.5", "g": "yes"}]) == predict(REGRESSION, [{"x": -0.5, "g": "yes"}])


def test_prediction_of_a_linear_model_is_a_line() -> None:
    ((found,),) = predict(REGRESSION.linear, [{"x": 0.5, "g": "yes"}])
    at = np.array([1, 0.5, 1])

    assert found.estimate == pytest.approx(0.414335 + 0.175114 / 2 - 0.171813, abs=2e-6)
    assert REGRESSION.linear.covariance is not None
    assert found.high - found.low == pytest.approx(
        2 * 1.959964 * np.sqrt(at @ REGRESSION.linear.covariance @ at), abs=1e-6
    )


def test_prediction_of_a_choice_has_one_figure_a_category() -> None:
    """Those after the first; the share of the first is what is left."""
    rows = predict(regress(reports(), "choice", ["x"]), [{"x": 0}, {"x": 1}, {"x": 2}])

    assert [each.category for each in rows[0]] == ["c1", "c2", "c3"]
    odds = np.exp([-0.173613, -0.087332, -1.177921])
    assert [each.estimate for each in rows[0]] == pytest.approx(odds / (1 + odds.sum()), abs=1e-6)
    assert all(each.low < each.estimate < each.high for row in rows for each in row)


def test_stratum_is_the_first_unless_it_is_named() -> None:
    waves = replace(reports(), wave=(ROW % 2).astype(np.uint8))
    fitted = regress(waves, "said", ["x"])
    shift = fitted.coefficients[2].estimate
    first, later = predict(fitted, [{"x": 0}, {"x": 0, "(stratum)": "revision 1, wave 1"}])

    assert shift is not None
    log_odds = [np.log(each.estimate / (1 - each.estimate)) for (each,) in (first, later)]
    assert log_odds[1] - log_odds[0] == pytest.approx(shift)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"x": 0.5}, "lacks what 'g' needs"),
        ({"x": 0.5, "g": "maybe"}, "'g' is one of: no, yes"),
        ({"x": "half", "g": "yes"}, "give it a number"),
        ({"x": 0.5, "g": "yes", "SECRET": 1}, "no predictor; there are: g, x"),
    ],
)
def test_row_that_does_not_suit_is_refused(row: dict[str, Any], words: str) -> None:
    with pytest.raises(EstimateError, match=words):
        predict(REGRESSION, [row])


def test_model_without_errors_predicts_nothing() -> None:
    """And an ordered one has several cuts, of which none is asked for."""
    said = np.where(ROW < 300, ROW % 2, ROW % 10 == 0).astype(int)
    for fitted in (
        regress(reports(said=said, g=ROW >= 300), "said", ["g"]),
        regress(reports(), "rating", ["x"], model="ordered"),
    ):
        with pytest.raises(EstimateError, match="logit and linear models"):
            predict(fitted, [{"g": "yes", "x": 0}])
