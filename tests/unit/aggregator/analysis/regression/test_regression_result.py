"""Smallest effects and people needed: by hand, and by the power of a test of so many people."""

from statistics import NormalDist

import pytest
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_result import detectable_effects, people_needed
from sottovoce.aggregator.analysis.requests import parse_request

from tests.unit.aggregator.analysis.survey_of_reports import reports
from tests.unit.shared.test_schema import validator


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
