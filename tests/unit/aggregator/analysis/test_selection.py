from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.selection import (
    ALL,
    ANSWERED,
    ASKED,
    ASKED_AND_ANSWERED,
    EVERYBODY,
    PERHAPS_ASKED,
    DescribedPeople,
    both_described,
    described_people,
    parse_condition,
    subset,
)
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.shared.errors import EstimateError, OptionsError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.unit.aggregator.analysis.reports import GROUP, ROW, WEIGHTS, X
from tests.unit.aggregator.analysis.survey_of_reports import COIN, NULL, asked, reports

N = 60

CATEGORY, CODED = {"absent_category": True}, {"when_absent": "no"}


def columns(**keys: Any) -> Columns:
    """Reports on a public yes/no question, number and choice, a randomized one, and one with these keys."""
    questions = [
        asked("open", "boolean", None),
        asked("age", "integer", None, min=0, max=9),
        asked("which", "select_one", None, choices=names(3)),
        asked("secret", "boolean", COIN),
        asked("y", "boolean", COIN, **keys),
    ]
    rows = np.arange(N)
    arrays = {"open": rows % 2, "age": rows % 10, "which": rows % 3, "secret": rows % 2, "y": rows % 2}
    return Columns.from_arrays(parse_survey(survey(*questions)), arrays)


def people(among: str | None = None, **keys: Any) -> DescribedPeople:
    reports = columns(**keys)
    return described_people(reports, reports.survey.questions[-1], among)


EVERYTHING = reports()

THIRD = ROW % 3


@pytest.mark.parametrize(
    ("keys", "described"),
    [
        ({}, ALL),
        (CODED, ALL),
        (CATEGORY, ANSWERED),
        ({**CATEGORY, "visible_if": {"open": "yes"}}, ASKED_AND_ANSWERED),
        ({**CATEGORY, "visible_if": {"secret": "yes"}}, PERHAPS_ASKED),
        ({**CODED, "visible_if": {"open": "yes"}}, ASKED),
        ({**CODED, "visible_if": {"secret": "yes"}}, ALL),
    ],
)
def test_people_by_the_keys_of_the_question(keys: dict[str, Any], described: str) -> None:
    assert people(**keys).people == described
    assert people(ALL, **keys) == EVERYBODY


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ({"visible_if": {"open": "yes"}}, lambda row: row % 2 == 1),
        ({"visible_if": {"age": {"min": 3, "max": 5}}}, lambda row: 3 <= row % 10 <= 5),
        ({"visible_if": {"open": "yes", "which": ["c0", "c2"]}}, lambda row: row % 2 == 1 and row % 3 != 1),
        ({"any_of": {"open": "yes", "which": "c0"}}, lambda row: row % 2 == 1 or row % 3 == 0),
        ({"visible_if": {"open": "yes", "secret": "yes"}}, lambda row: row % 2 == 1),
    ],
)
def test_asked_are_those_for_whom_public_conditions_hold(condition: dict[str, Any], shown: Any) -> None:
    found = people(**CATEGORY, **condition).asked

    assert found.tolist() == [shown(row) for row in range(N)]


@pytest.mark.parametrize(
    "condition",
    [
        {"visible_if": {"secret": "yes"}},
        {"any_of": {"open": "yes", "secret": "yes"}},
        {"visible_if": {"age": {"max": 9}}},
        {"visible_if": {"open": "yes", "age": {"min": 0, "max": 0}, "which": "c0"}},
    ],
)
def test_nobody_is_left_out_where_too_little_is_known(condition: dict[str, Any]) -> None:
    """A randomized answer may have decided, all were asked, or fewer than five were."""
    assert people(**CATEGORY, **condition).asked is None


def test_coded_answers_of_unknown_people_have_a_note_and_are_refused_on_request() -> None:
    """A share among those who were asked cannot be had from them."""
    hidden = {**CODED, "visible_if": {"secret": "yes"}}

    assert [str(note)[:4] for note in people(**hidden).cautions] == ["'y':"]
    with pytest.raises(EstimateError, match="do not tell at least 5 of them from those who were asked"):
        people(ANSWERED, **hidden)


def test_two_questions_describe_those_whom_both_do() -> None:
    first, second = np.array([True, True, False]), np.array([True, False, True])
    both = both_described(DescribedPeople(ASKED, first), DescribedPeople(ANSWERED, second))

    assert both.people == ASKED_AND_ANSWERED
    assert both.asked.tolist() == [True, False, False]
    assert both_described(EVERYBODY, EVERYBODY) == EVERYBODY
    assert both_described(DescribedPeople(ASKED), EVERYBODY).people == ASKED


def test_number_beside_a_question_with_a_way_out_is_tested() -> None:
    """All pairs are tested; a number has no cells, so that no answer counts as an answer beside it."""
    questions = [asked("hours", "integer", {"epsilon": "1"}, min=0, max=40), asked("y", "boolean", COIN, **CATEGORY)]
    reports = parse_survey(survey(*questions))
    draw = np.random.default_rng(1)
    arrays = {each.name: draw.integers(0, each.largest + 1, 600) for each in reports.questions}
    found = every_pair(Columns.from_arrays(reports, arrays))

    assert [(test.first, test.second) for test in found.tests] == [("hours", "y")]


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
    assert (subset(EVERYTHING, parse_condition(text)) == expected).all()


def test_missing_value_fulfils_no_comparison() -> None:
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
    with pytest.raises(EstimateError, match=words) as refused:
        subset(EVERYTHING, parse_condition(text))
    assert "SECRET" not in str(refused.value.args[0])


def test_analysis_of_a_subset_is_that_of_its_reports() -> None:
    request = parse_request("crosstab", {"rows": "said", "columns": "other", "where": "x > 0 and g = no"})
    inside = (X > 0) & (GROUP == 0)
    plain = parse_request("crosstab", {"rows": "said", "columns": "other"})
    found = request.document(EVERYTHING, WEIGHTS)

    assert found["where"] == "x > 0 and g = no"
    assert found["n"] == inside.sum()
    alone = replace(EVERYTHING.among(inside), everybody=len(EVERYTHING))
    assert found == {**plain.document(alone, WEIGHTS[inside]), "where": found["where"]}
    assert request.names == ("said", "other", "x", "g")


def test_confidence_changes_every_interval() -> None:
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
    with pytest.raises(OptionsError) as refused:
        parse_request("regression", options)
    (problem,) = refused.value.problems
    assert problem.pointer == pointer
    assert words in problem.message


def test_formula_without_outcome_takes_that_of_the_request() -> None:
    waves = (ROW % 2).astype(np.uint8)
    given = reports()
    given = type(given)(given.revisions, given.values, waves, given.revision)
    with_waves = parse_request("regression", {"outcome": "said", "formula": "x*g"}).document(given)
    without = parse_request("regression", {"outcome": "said", "formula": "x*g", "strata": False}).document(given)

    assert with_waves["formula"] == "x*g"
    assert [one["term"] for one in without["coefficients"]] == ["(constant)", "x", "g=yes", "x:g=yes"]
    assert len(with_waves["coefficients"]) == 5
