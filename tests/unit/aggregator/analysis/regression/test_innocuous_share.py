"""Standard errors of models with a crosswise question take in that the share of the innocuous fact is estimated."""

from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.predictions import predict
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.surveys import document
from tests.vectors.arms import asks

CONSTANT, SLOPE, SHARE = -1.0, 1.0, 0.25


def _survey(error: str | None, procedure: str = "crosswise") -> Survey:
    innocuous: dict[str, Any] = {"label": {"en": "I"}, "share": "1/4", "source": {"en": "S"}}
    innocuous |= {} if error is None else {"se": error}
    innocuous |= {"truth": "2/3"} if procedure == "unrelated_question" else {}
    y = asks("y", procedure=procedure, innocuous=innocuous)
    return parse_survey(document(questions=[asks("g", public=True), y]))


def _columns(survey: Survey, n: int, share: float, seed: int) -> Columns:
    """Reports of people of whom ``share`` have the fact."""
    dice = np.random.default_rng(seed)
    g = (dice.random(n) < 0.4).astype(int)
    y = dice.random(n) < 1 / (1 + np.exp(-CONSTANT - SLOPE * g))
    fact = dice.random(n) < share
    return Columns.from_arrays(survey, {"g": g, "y": (y != fact).astype(int)})


def _error(found: Regression, place: int) -> float:
    return found.coefficients[place].std_error or 0.0


@pytest.mark.parametrize("procedure", ["crosswise", "unrelated_question"])
def test_errors_grow_by_the_derivative_times_the_error_of_the_share(procedure: str) -> None:
    """Of coefficients, marginal effects, the linear model and predictions; estimates stay as they are."""
    exact, wide = (
        regress(_columns(_survey(error, procedure), 4000, SHARE, 1), "y", ("g",)) for error in (None, "1/50")
    )
    for one, other in zip(exact.coefficients, wide.coefficients, strict=True):
        assert one.estimate == other.estimate
        assert (other.std_error or 0) > (one.std_error or 0)
        assert (other.low or 0) < (one.low or 0)
    assert exact.linear is not None
    assert wide.linear is not None
    assert _error(wide.linear, 0) > _error(exact.linear, 0)
    assert (wide.ame[0].std_error or 0) > (exact.ame[0].std_error or 0)
    assert wide.covariance is not None
    assert np.sqrt(np.diag(wide.covariance)) == pytest.approx([_error(wide, 0), _error(wide, 1)])
    [(narrow,)], [(broad,)] = (predict(each, [{"g": "yes"}]) for each in (exact, wide))
    assert broad.high - broad.low > narrow.high - narrow.low


def test_constant_of_a_linear_model_moves_as_the_share_itself() -> None:
    """Of one group: the derivative of the estimated share by the innocuous one is (2 p - 1) / (1 - 2 share)."""
    survey = _survey("1/50")
    found = regress(_columns(survey, 4000, SHARE, 2), "y", ("g",), model="linear")
    exact = regress(_columns(_survey(None), 4000, SHARE, 2), "y", ("g",), model="linear")
    added = np.sqrt(_error(found, 0) ** 2 - _error(exact, 0) ** 2)
    slope = (2 * (found.coefficients[0].estimate or 0) - 1) / (1 - 2 * SHARE)
    assert added == pytest.approx(abs(slope) / 50, rel=0.01)


@pytest.mark.slow
def test_limits_cover_when_the_share_is_estimated() -> None:
    """A thousand samples whose true share scatters around the stated one: at least .93; taken as exact, fewer."""
    dice = np.random.default_rng(4)
    held = np.zeros((2, 2))
    for seed in range(1000):
        share = SHARE + dice.normal() / 50
        for place, error in enumerate(("1/50", None)):
            found = regress(_columns(_survey(error), 2000, share, seed), "y", ("g",)).coefficients
            truths = zip(found, (CONSTANT, SLOPE), strict=True)
            held[place] += [(each.low or -np.inf) <= truth <= (each.high or np.inf) for each, truth in truths]
    assert held[0].min() >= 930
    assert held[1, 0] < held[0, 0] - 20
