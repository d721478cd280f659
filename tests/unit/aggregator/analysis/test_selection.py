"""Whom a figure describes: by the question's way out, by what hides it, and by who can be told apart."""

from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.selection import (
    ALL,
    ANSWERED,
    ASKED,
    ASKED_AND_ANSWERED,
    EVERYBODY,
    DescribedPeople,
    both_described,
    described_people,
)
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.unit.aggregator.analysis.survey_of_reports import COIN, asked

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
    """The people that a figure of the last question describes."""
    reports = columns(**keys)
    return described_people(reports, reports.survey.questions[-1], among)


@pytest.mark.parametrize(
    ("keys", "described"),
    [
        ({}, ALL),
        (CODED, ALL),
        (CATEGORY, ANSWERED),
        ({**CATEGORY, "visible_if": {"open": "yes"}}, ASKED_AND_ANSWERED),
        ({**CATEGORY, "visible_if": {"secret": "yes"}}, ASKED_AND_ANSWERED),
        ({**CODED, "visible_if": {"open": "yes"}}, ASKED),
        ({**CODED, "visible_if": {"secret": "yes"}}, ALL),
    ],
)
def test_people_by_the_keys_of_the_question(keys: dict[str, Any], described: str) -> None:
    """All of them on request."""
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
    """Row by row, as devices decide it."""
    found = people(**CATEGORY, **condition).asked

    assert found is not None
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
    """Answered and asked add up, and so do the masks."""
    first, second = np.array([True, True, False]), np.array([True, False, True])
    both = both_described(DescribedPeople(ASKED, first), DescribedPeople(ANSWERED, second))

    assert both.people == ASKED_AND_ANSWERED
    assert both.asked is not None
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
