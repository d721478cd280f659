"""Standard errors of models with a crosswise question take in that the share of the innocuous fact is estimated."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.marginal_effects import predict
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.surveys import document
from tests.unit.aggregator.analysis.innocuous_surveys import (
    SHARE,
    grouped_columns,
    innocuous,
    innocuous_survey,
    reported,
)
from tests.vectors.arms import asks

CONSTANT, SLOPE = -1.0, 1.0


def _columns(survey: Survey, n: int, share: float, seed: int, procedure: str = "crosswise") -> Columns:
    """Reports of people of whom ``share`` have the fact."""
    return grouped_columns(survey, n, (_logistic(CONSTANT), _logistic(CONSTANT + SLOPE)), share, seed, procedure)


def _logistic(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def _error(found: Regression, place: int) -> float:
    return found.coefficients[place].std_error or 0.0


@pytest.mark.parametrize("procedure", ["crosswise", "unrelated_question"])
def test_errors_grow_by_the_derivative_times_the_error_of_the_share(procedure: str) -> None:
    """Of coefficients, marginal effects, the linear model and predictions; estimates stay as they are."""
    exact, wide = (
        regress(_columns(innocuous_survey(error, procedure), 4000, SHARE, 1, procedure), "y", ("g",))
        for error in (None, "1/50")
    )
    for one, other in zip(exact.coefficients, wide.coefficients, strict=True):
        assert one.estimate == other.estimate
        assert (other.std_error or 0) > (one.std_error or 0)
        assert (other.low or 0) < (one.low or 0)
    assert exact.linear is not None
    assert wide.linear is not None
    assert _error(wide.linear, 0) > _error(exact.linear, 0)
    grown = (wide.ame[0].std_error or 0) / (exact.ame[0].std_error or 1)
    # An unrelated question adds the same to both shares, so their difference does not depend on it.
    assert grown == pytest.approx(1) if procedure == "unrelated_question" else grown > 1
    assert wide.covariance is not None
    assert np.sqrt(np.diag(wide.covariance)) == pytest.approx([_error(wide, 0), _error(wide, 1)])
    [(narrow,)], [(broad,)] = (predict(each, [{"g": "yes"}]) for each in (exact, wide))
    assert broad.high - broad.low > narrow.high - narrow.low


def test_constant_of_a_linear_model_moves_as_the_share_itself() -> None:
    """Of one group: the derivative of the estimated share by the innocuous one is (2 p - 1) / (1 - 2 share)."""
    survey = innocuous_survey("1/50")
    found = regress(_columns(survey, 4000, SHARE, 2), "y", ("g",), model="linear")
    exact = regress(_columns(innocuous_survey(None), 4000, SHARE, 2), "y", ("g",), model="linear")
    added = np.sqrt(_error(found, 0) ** 2 - _error(exact, 0) ** 2)
    slope = (2 * (found.coefficients[0].estimate or 0) - 1) / (1 - 2 * SHARE)
    assert added == pytest.approx(abs(slope) / 50, rel=0.01)


def _coverage(shares: tuple[float, float], samples: int) -> float:
    """Share of samples, whose fact has another share each time, in which limits cover the truth; the worse term."""
    dice, held = np.random.default_rng(4), np.zeros(2)
    survey = innocuous_survey("1/50")
    odds = [np.log(share / (1 - share)) for share in shares]
    for seed in range(samples):
        columns = grouped_columns(survey, 1000, shares, SHARE + dice.normal() / 50, seed)
        found = regress(columns, "y", ("g",)).coefficients
        held += [_holds(each, truth) for each, truth in zip(found, (odds[0], odds[1] - odds[0]), strict=True)]
    return float(held.min() / samples)


def _holds(found: Coefficient, truth: float) -> bool:
    return (found.low is None or found.low <= truth) and (found.high is None or truth <= found.high)


RARE, COMMON = (0.076, 0.269), (0.269, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("shares", [RARE, COMMON])
def test_limits_cover_in_many_samples(shares: tuple[float, float]) -> None:
    """At least .9345 of 2,000 samples; of a rare answer some have no maximum at a share that is a bit larger."""
    assert _coverage(shares, 2000) >= 0.9345


def _reports(error: str | None, *yes: int) -> Columns:
    """Reports of two groups of 500 people, of whom so many say yes."""
    y = np.repeat([1, 0, 1, 0], [yes[0], 500 - yes[0], yes[1], 500 - yes[1]])
    return Columns.from_arrays(innocuous_survey(error), {"g": np.repeat([0, 1], 500), "y": y})


def test_limits_without_a_maximum_take_in_the_share() -> None:
    """Fewer report yes in a group than the fact alone brings: its limit by likelihood ratio moves out."""
    exact, wide = (regress(_reports(error, 200, 118), "y", ("g",)) for error in (None, "1/50"))
    assert not exact.converged
    assert wide.coefficients[1].low is None
    assert (wide.coefficients[1].high or 0) > (exact.coefficients[1].high or 0)
    assert wide.linear is not None
    assert exact.linear is not None
    assert _error(wide.linear, 0) > _error(exact.linear, 0)


def test_model_whose_maximum_depends_on_the_share_predicts_nothing() -> None:
    """Its limits stand, but no covariance could give those of a prediction."""
    found = regress(_reports("1/50", 200, 131), "y", ("g",))
    assert found.converged
    assert found.coefficients[1].low is None
    assert found.covariance is None


def test_test_of_no_effect_stays_as_it_is() -> None:
    """Without an effect no share of the fact matters, in either likelihood."""
    exact, wide = (regress(_reports(error, 200, 240), "y", ("g",)) for error in (None, "1/50"))
    assert wide.tests[0].statistic == pytest.approx(exact.tests[0].statistic, rel=1e-4)


def test_test_of_a_model_has_both_likelihoods_at_their_own_share() -> None:
    """Of a logit in two predictors without their interaction the reports tell of the fact: an own search over u."""
    dice = np.random.default_rng(8)
    asked = [asks("g", public=True), asks("h", public=True), asks("y", **innocuous("1/30"))]
    survey = parse_survey(document(questions=asked))
    g, h = dice.integers(0, 2, (2, 4000))
    y = reported(dice, dice.random(4000) < 1 / (1 + np.exp(1.5 - g - h)), SHARE + 0.03)
    columns = Columns.from_arrays(survey, {"g": g, "h": h, "y": y})
    found = {each.predictor: each.statistic for each in regress(columns, "y", ("g", "h")).tests}
    moved = {}
    for u in np.linspace(-1.5, 1.5, 31):
        share = Fraction(SHARE + u / 30).limit_denominator(10**5)
        fact = {**innocuous(None)["innocuous"], "share": f"{share.numerator}/{share.denominator}"}
        asked[2]["innocuous"] = fact
        at = regress(replace(columns, revisions=(parse_survey(document(questions=asked)),)), "y", ("g", "h"))
        moved[u] = at.log_likelihood or 0.0, {each.predictor: each.statistic for each in at.tests}
    for name, statistic in found.items():
        whole = max(log - u**2 / 2 for u, (log, _) in moved.items())
        nested = max(log - tests[name] / 2 - u**2 / 2 for u, (log, tests) in moved.items())
        assert statistic == pytest.approx(2 * (whole - nested), rel=0.02)
