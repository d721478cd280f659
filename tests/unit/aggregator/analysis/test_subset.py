"""Subsets of people by conditions on public questions, and everything else refused with its column."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.subset import parse_condition, subset
from sottovoce.shared.errors import EstimateError, OptionsError

from tests.unit.aggregator.analysis.reports import GROUP, ROW, WEIGHTS, X
from tests.unit.aggregator.analysis.survey_of_reports import NULL, reports

EVERYTHING = reports()
THIRD = ROW % 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g = yes", GROUP == 1),
        ("g != yes", GROUP == 0),
        ("third in (c0, c2)", THIRD != 1),
        ('third in (c0, "c2") and x > 0', (THIRD != 1) & (X > 0)),
        ("x >= -0.52 and x <= 0.96", (X >= -0.52) & (X <= 0.96)),
        ("x = 0.96 or x < -1.48", (X == 0.96) | (X < -1.48)),
        ("x != 0.96", X != 0.96),
        ("g = yes or third = c1 and x > 0", (GROUP == 1) | ((THIRD == 1) & (X > 0))),
        ("(g = yes or third = c1) and x > 0", (THIRD < 2) & (X > 0)),
    ],
)
def test_condition_selects_people(text: str, expected: np.ndarray) -> None:
    """By categories and numbers; "and" binds more closely than "or"."""
    assert (subset(EVERYTHING, parse_condition(text)) == expected).all()


def test_missing_value_fulfils_no_comparison() -> None:
    """Neither = nor !=."""
    given = reports(g=np.where(ROW < 100, NULL, GROUP))
    for text in ("g = yes", "g != yes"):
        assert not subset(given, parse_condition(text))[:100].any()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("g", "subset, column 2: this cannot be here"),
        ("g = yes x", "column 9: this cannot be here"),
        ("g == yes", "column 4: this cannot be here"),
        ("g = (yes)", "column 5: this cannot be here"),
        ("third in c0", r"column 10: '\(' is missing here"),
        ("x > y[0]", "column 6"),
        ("x.mean() > 0", "column 7"),
        ("(" * 30 + "g = yes", "nested more than 20 deep"),
        ("g = yes" + " or g = yes" * 200, "more than 1,000 characters"),
        ("= yes", "the name of a question is missing"),
        ("other = yes", "'other' is randomized"),
        ("g = SECRET", "'g' is one of: no, yes"),
        ("third < c1", "'third' is one of: c0, c1, c2"),
        ("x > many", "give it a number"),
        ("nothing = 1", "asks no such question"),
        ("x > 100", "this subset is empty"),
        ("x = 0.96 and third = c2", "fewer than 5 people are in this subset, or outside it"),
        ("x != 0.96 or third != c2", "fewer than 5 people are in this subset, or outside it"),
    ],
)
def test_other_conditions_are_refused(text: str, words: str) -> None:
    """Each with its sentence, without what was written."""
    with pytest.raises(EstimateError, match=words) as refused:
        subset(EVERYTHING, parse_condition(text))
    assert "SECRET" not in str(refused.value.args[0])


def test_analysis_of_a_subset_is_that_of_its_reports() -> None:
    """With the weights of these reports; the document repeats the condition."""
    request = parse_request("crosstab", {"rows": "said", "columns": "other", "where": "x > 0 and g = no"})
    inside = (X > 0) & (GROUP == 0)
    plain = parse_request("crosstab", {"rows": "said", "columns": "other"})
    found = request.document(EVERYTHING, WEIGHTS)

    assert found["where"] == "x > 0 and g = no"
    assert found["n"] == inside.sum()
    assert found == {**plain.document(EVERYTHING.among(inside), WEIGHTS[inside]), "where": found["where"]}
    assert request.names == ("said", "other", "x", "g")


def test_confidence_changes_every_interval() -> None:
    """Of tables, comparisons, models and predictions; the document says the level."""
    for kind, options in (
        ("crosstab", {"rows": "g", "columns": "said"}),
        ("compare", {"outcome": "said", "groups": "g"}),
        ("regression", {"formula": "said ~ x", "at": [{"x": 0}]}),
    ):
        wide = parse_request(kind, options).document(EVERYTHING)
        narrow = parse_request(kind, {**options, "confidence": 0.8}).document(EVERYTHING)
        keys = [key for key in ("cells", "values", "coefficients", "predictions", "ame", "differences") if key in wide]
        assert keys
        for key in keys:
            for one, other in zip(wide[key], narrow[key], strict=True):
                assert one["low"] < other["low"] < other["high"] < one["high"]
        assert narrow["confidence"] == 0.8
        assert "confidence" not in wide


@pytest.mark.parametrize(
    ("options", "pointer", "words"),
    [
        ({"formula": "y ~ eval(x)"}, "/formula", "formula, column 5: there is no such function"),
        ({"formula": "x"}, "/formula", "must begin with the outcome"),
        ({"formula": "said ~ x", "outcome": "said"}, "/formula", "must begin with the outcome"),
        ({"formula": "said ~ x", "on": ["x"]}, "/on", "goes without a formula"),
        ({"formula": 3}, "/formula", "must be a text"),
        ({"outcome": "said"}, "/on", "is missing"),
        ({"formula": "said ~ x", "confidence": 95}, "/confidence", "from 0.5 to below 1"),
        ({"formula": "said ~ x", "where": "g ="}, "/where", "subset, column 4"),
        ({"formula": "said ~ x", "strata": "no"}, "/strata", "must be true or false"),
    ],
)
def test_wrong_options_are_told_by_their_place(options: dict[str, object], pointer: str, words: str) -> None:
    """As JSON pointers."""
    with pytest.raises(OptionsError) as refused:
        parse_request("regression", options)
    (problem,) = refused.value.problems
    assert problem.pointer == pointer
    assert words in problem.message


def test_formula_without_outcome_takes_that_of_the_request() -> None:
    """And without strata it leaves waves out."""
    waves = (ROW % 2).astype(np.uint8)
    given = reports()
    given = type(given)(given.revisions, given.values, waves, given.revision)
    with_waves = parse_request("regression", {"outcome": "said", "formula": "x*g"}).document(given)
    without = parse_request("regression", {"outcome": "said", "formula": "x*g", "strata": False}).document(given)

    assert with_waves["formula"] == "x*g"
    assert [one["term"] for one in without["coefficients"]] == ["(constant)", "x", "g=yes", "x:g=yes"]
    assert len(with_waves["coefficients"]) == 5
