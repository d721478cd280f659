"""Predictions from a fitted regression, by the names of answers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.marginal_effects import predict
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.reports import ROW
from tests.unit.aggregator.analysis.survey_of_reports import reports

LOGIT = regress(reports(), "said", ["x", "g"])


def test_prediction_of_a_logit_meets_the_worked_example() -> None:
    """X = .5, g = 1, and another row beside it."""
    (found,), (other,) = predict(LOGIT, [{"x": 0.5, "g": "yes"}, {"x": 0.5, "g": "no"}])

    assert (found.estimate, found.low, found.high) == pytest.approx((0.283639, 0.153142, 0.464360), abs=5e-7)
    assert other.estimate > found.high
    assert found.category is None


def test_prediction_of_a_linear_model_is_a_line() -> None:
    """With the limits of its mean, in the same names."""
    assert LOGIT.linear is not None
    ((found,),) = predict(LOGIT.linear, [{"x": 0.5, "g": "yes"}])
    at = np.array([1, 0.5, 1])

    assert found.estimate == pytest.approx(0.414335 + 0.175114 / 2 - 0.171813, abs=2e-6)
    assert LOGIT.linear.covariance is not None
    assert found.high - found.low == pytest.approx(2 * 1.959964 * np.sqrt(at @ LOGIT.linear.covariance @ at), abs=1e-6)


def test_prediction_of_a_choice_has_one_figure_a_category() -> None:
    """Those after the first; the share of the first is what is left."""
    rows = predict(regress(reports(), "choice", ["x"]), [{"x": 0}, {"x": 1}, {"x": 2}])

    assert [each.category for each in rows[0]] == ["c1", "c2", "c3"]
    odds = np.exp([-0.173613, -0.087332, -1.177921])
    assert [each.estimate for each in rows[0]] == pytest.approx(odds / (1 + odds.sum()), abs=1e-6)
    assert all(each.low < each.estimate < each.high for row in rows for each in row)


def test_stratum_is_the_first_unless_it_is_named() -> None:
    """By its wave and revision."""
    waves = replace(reports(), wave=(ROW % 2).astype(np.uint8))
    fitted = regress(waves, "said", ["x"])
    shift = fitted.coefficients[2].estimate
    first, later = predict(fitted, [{"x": 0}, {"x": 0, "(stratum)": "revision 1, wave 1"}])

    assert shift is not None
    log_odds = [np.log(each.estimate / (1 - each.estimate)) for (each,) in (first, later)]
    assert log_odds[1] - log_odds[0] == pytest.approx(shift)


def test_digits_are_as_good_as_a_number() -> None:
    """A command line has nothing else."""
    assert predict(LOGIT, [{"x": "-0.5", "g": "yes"}]) == predict(LOGIT, [{"x": -0.5, "g": "yes"}])


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
    """With the predictor that is missing or wrong."""
    with pytest.raises(EstimateError, match=words):
        predict(LOGIT, [row])


def test_model_without_errors_predicts_nothing() -> None:
    """And an ordered one has several cuts, of which none is asked for."""
    said = np.where(ROW < 300, ROW % 2, ROW % 10 == 0).astype(int)
    for fitted in (
        regress(reports(said=said, g=ROW >= 300), "said", ["g"]),
        regress(reports(), "rating", ["x"], model="ordered"),
    ):
        with pytest.raises(EstimateError, match="logit and linear models"):
            predict(fitted, [{"g": "yes", "x": 0}])
