"""Tests of nested models, limits where there is no maximum, smallest effects and people needed."""

from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.likelihood_ratio import likelihood_ratio, profile_limits
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import maximize
from sottovoce.aggregator.analysis.regression.regression import NO_SPREAD, regress
from sottovoce.aggregator.analysis.regression.regression_result import detectable_effects, people_needed
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.shared.errors import EstimateError

from tests.documents import number, question
from tests.unit.aggregator.analysis.reports import COIN, GROUP, ONES, SAID, X, columns
from tests.unit.aggregator.analysis.samples import COIN as FLIP, asked, columns as tabulated, public
from tests.unit.aggregator.analysis.survey_of_reports import reports
from tests.unit.shared.test_schema import validator

LOGIT = Multinomial(columns(ONES, X, GROUP), SAID, COIN)

ONE_SIDED = Multinomial(columns(np.ones(120), np.repeat([0, 1], 60)), np.repeat([0, 1, 0, 1], [48, 12, 30, 30]), COIN)

"""Of the first sixty too few say yes for any share."""


def test_smallest_effect_is_2_80_standard_errors() -> None:
    """Of each slope, and of no constant; with so many people an odds ratio of 2 is found with power .8."""
    fitted = regress(reports(), "said", ["x", "g"])
    found = detectable_effects(fitted)

    assert [each.term for each in found] == ["x", "g=yes"]
    assert found[0].smallest == pytest.approx(2.8015852 * 0.224050, abs=2e-6)
    assert found[0].people == people_needed(600, 0.2240499)
    error = 0.224050 * (600 / (found[0].people or 1)) ** 0.5
    assert NormalDist().cdf(0.693147 / error - 1.959964) == pytest.approx(0.8, abs=2e-3)


def test_linear_model_has_no_people_for_odds() -> None:
    """And a model without a maximum has no smallest effect; documents fit the schema."""
    linear = parse_request("regression", {"formula": "x ~ noisy"}).document(reports())
    logit = parse_request("regression", {"formula": "said ~ x"}).document(reports())

    assert set(linear["detectable"][0]) == {"term", "smallest"}
    assert set(logit["detectable"][0]) == {"term", "smallest", "people"}
    for document in (linear, logit):
        validator("regression").validate(document)


def test_test_of_a_predictor_meets_the_worked_example() -> None:
    """The logit with x and without."""
    found = likelihood_ratio(LOGIT, maximize(LOGIT), "x", np.array([False, True, False]))
    without = maximize(Multinomial(columns(ONES, GROUP), SAID, COIN))

    assert (found.predictor, found.df) == ("x", 1)
    assert found.statistic == pytest.approx(26.612909, abs=5e-7)
    assert found.statistic == pytest.approx(2 * (maximize(LOGIT).log_likelihood - without.log_likelihood), abs=1e-9)
    assert found.p == pytest.approx(2.48577e-7, rel=1e-4)


def test_limits_are_where_the_likelihood_has_lost_enough() -> None:
    """Twice the loss is z^2 on both sides, for each coefficient."""
    fit = maximize(LOGIT)
    for index in range(3):
        free = np.arange(3) != index
        for limit in profile_limits(LOGIT, fit, index):
            assert limit is not None
            fixed = np.where(free, fit.theta, limit)
            loss = 2 * (fit.log_likelihood - maximize(LOGIT, fixed, free).log_likelihood)
            assert loss == pytest.approx(3.841459, abs=1e-4)


def test_side_without_limit_is_none() -> None:
    """A reported share below noise alone: the constant has no lower limit, the difference no upper one."""
    fit = maximize(ONE_SIDED)
    assert fit.runs_off is not None

    low, high = profile_limits(ONE_SIDED, fit, 0)
    assert low is None
    # One group of 60 with 12 yes: twice the log likelihood of p falls by 3.84 from that of p = 0 where p = .150694.
    assert high == pytest.approx(np.log(_upper_share() / (1 - _upper_share())), abs=1e-4)
    low, high = profile_limits(ONE_SIDED, fit, 1)
    assert low == pytest.approx(1.464069, abs=1e-4)
    assert high is None


def test_model_with_one_parameter_has_limits_too() -> None:
    """There is nothing else to be at its best."""
    alone = Multinomial(np.ones((1, 60)), (np.arange(60) < 12).astype(int), COIN)
    low, high = profile_limits(alone, maximize(alone), 0)

    assert low is None
    assert high == pytest.approx(np.log(_upper_share() / (1 - _upper_share())), abs=1e-4)


def _upper_share() -> float:
    """By bisection on the closed form."""

    def loss(share: float) -> float:
        said = 0.25 + share / 2
        return 2 * (12 * np.log(0.25 / said) + 48 * np.log(0.75 / (1 - said)))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) < 3.841458820694124 else (low, middle)
    return low


def test_models_without_maximum_are_not_compared() -> None:
    """There is no likelihood at its best."""
    with pytest.raises(EstimateError, match="has none"):
        likelihood_ratio(ONE_SIDED, maximize(ONE_SIDED), "group", np.array([False, True]))


@pytest.mark.parametrize(("counts", "flat"), [([[60, 0], [50, 0]], [True, True]), ([[60, 0], [50, 9]], [True, False])])
def test_answers_that_are_all_the_same_tell_no_limits(counts: list[list[int]], flat: list[bool]) -> None:
    """Nobody of the first group says yes, or nobody at all: no interval of zero width, and predictions alike."""
    openly = public(question(FLIP))
    options = {"outcome": "b", "on": ["a"], "model": "linear", "at": [{"a": "no"}, {"a": "yes"}]}
    found = parse_request("regression", options).document(tabulated(counts, openly, openly))

    validator("regression").validate(found)
    rows = [*found["coefficients"], *found["predictions"]]
    assert [each["low"] is None and each["high"] is None for each in rows] == flat * 2
    assert [each["std_error"] is None for each in found["coefficients"]] == flat
    assert [each["estimate"] for each in rows] == pytest.approx([0, 0 if flat[1] else 9 / 59] * 2, abs=1e-12)
    assert NO_SPREAD in found["warnings"]


def test_small_coefficient_of_large_numbers_has_limits() -> None:
    """Of an income squared, in whose unit the standard error is below a billionth."""
    income = np.arange(200) % 50 * 20_000
    made = asked(public(number(0, 1_000_000, 1, FLIP)), public(question(FLIP)))
    said = (np.arange(200) * 7 % 11 < 5).astype(np.uint8)
    fitted = regress(
        Columns.from_arrays(made, {"a": income, "b": said}), "b", parse_formula("b ~ I(a^2)"), model="linear"
    )
    slope = fitted.coefficients[1]
    assert 0 < (slope.std_error or 0) < 1e-9
    assert fitted.warnings == ()
