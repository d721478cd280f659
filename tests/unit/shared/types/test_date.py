"""A day between two others: read, written, and told as an ISO date wherever it is told."""

import json
import re
from datetime import date, timedelta
from fractions import Fraction
from importlib.resources import files

import jsonschema
import pytest
from flask import Flask
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.planning.simulated_survey import invent, pilot
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.aggregator.studio import request_context
from sottovoce.cli.survey.simulate import compare
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.types.base import DayGrid

from tests.documents import day, parsed, survey
from tests.unit.client.terminal.test_interview import typed

COIN = {"name": "rounding_rr", "a": "3/4", "b": "1/4"}
WAVE = {"name": "square_wave", "odds": "3", "bins": 8, "width": 2}
WEEKS = parse_survey(
    survey(
        day("2000-01-03", "2001-12-31", COIN, step=7),
        {**day("2000-01-03", "2001-12-31", WAVE, step=7), "name": "wave"},
        {**{key: value for key, value in day("2000-01-03", "2000-01-31", {}).items() if key != "mechanism"},
         "name": "open", "public": True},
    )
)  # fmt: skip


def test_days_are_steps_of_the_calendar_and_one_is_written_out() -> None:
    asked = parsed(day("1899-12-31", "2400-03-01", COIN))
    middle = date(1899, 12, 31) + timedelta(days=36525)

    assert asked.domain.size == (date(2400, 3, 1) - date(1899, 12, 31)).days + 1
    assert asked.encode(middle.isoformat()) == 36525
    assert asked.answer(36525) == middle.isoformat()
    assert isinstance(asked.mechanism, RoundingRR)

    plain, explicit = (survey(day("2000-01-01", "2000-01-31", COIN, **more)) for more in ({}, {"step": "1"}))

    assert parse_survey(plain).digest == parse_survey(explicit).digest
    assert parse_survey(plain).document["questions"][0]["step"] == "1"


@pytest.mark.parametrize(
    ("low", "high", "step", "told"),
    [
        ("2001-02-29", "2002-01-01", 1, "/questions/0/min: must be a day that there is in the calendar"),
        ("2001-1-1", "2002-01-01", 1, "/questions/0/min: must be a date written as a string"),
        ("2001-01-01", 20020101, 1, "/questions/0/max: must be a date written as a string"),
        ("2001-01-01", "2002-01-01", "1.5", "/questions/0/step: must be a whole number of days"),
        ("2001-01-01", "2001-01-10", 7, "/questions/0: step must divide the range"),
        ("2001-01-01", "2001-01-01", 1, "/questions/0: min must be less than max"),
    ],
)
def test_mistakes_are_told_and_not_repeated(low: str, high: str, step: object, told: str) -> None:
    """The message says where and what, and nothing of what was written."""
    with pytest.raises(SpecError) as refused:
        parse_survey(survey(day(low, high, COIN, step=step)))

    assert told in str(refused.value)
    assert "2001" not in str(refused.value)


@pytest.mark.parametrize(
    ("value", "towards", "text"),
    [
        (0.49, 0, "1970-01-01"),
        (0.5, 0, "1970-01-02"),
        (-0.5, -1, "1969-12-31"),
        (-0.5, 1, "1970-01-01"),
        (10957.0, -1, "2000-01-01"),
        (10957.0, 1, "2000-01-01"),
        (1e9, 0, "9999-12-31"),
        (-1e9, 0, "0001-01-01"),
    ],
)
def test_figure_is_a_date_that_never_narrows_an_interval(value: float, towards: int, text: str) -> None:
    """Limits are rounded outwards; an unclipped mean stays within the calendar."""
    assert DayGrid.figure(value, towards) == text


def test_grid_of_days_is_not_a_grid_of_numbers() -> None:
    """A revision that turned a number into a date would not be pooled with it."""
    numbers = (Fraction(0), Fraction(7), Fraction(1))
    assert DayGrid(*numbers) == DayGrid(*numbers)
    assert DayGrid(*numbers) != Grid(*numbers)


def test_export_writes_dates_and_fits_its_schema() -> None:
    results = pilot(WEEKS, invent(WEEKS, 3000, 1), BatchDraws(seeded("dates"))).results
    exported = json.loads(json.dumps(export_document(results)))
    schema = json.loads(files("sottovoce.shared").joinpath("schema/export.schema.json").read_text())

    jsonschema.Draft202012Validator(schema).validate(exported)
    weeks, wave, _ = exported["questions"]
    assert weeks["mean"]["low"] < weeks["mean"]["raw"] < weeks["mean"]["high"]
    assert (weeks["mean"]["lowest"], weeks["mean"]["highest"]) == ("2000-01-03", "2001-12-31")
    assert 5 < weeks["mean"]["std_error"] < 30
    assert wave["histogram"][0]["option"] == "2000-01-03 to 2000-04-03"
    assert [0 <= bin_["raw"] <= 1 for bin_ in wave["histogram"]] == [True] * 8
    assert wave["quantiles"][0]["raw"] < wave["quantiles"][-1]["raw"] < "2002"


def test_dashboard_shows_dates() -> None:
    results = pilot(WEEKS, invent(WEEKS, 3000, 1), BatchDraws(seeded("dates"))).results
    mean, grid = results.questions[0].estimates[0], WEEKS.questions[0].domain.grid

    with Flask("pages").test_request_context():
        assert re.fullmatch(r"2000-\d\d-\d\d", request_context.figure(mean.raw, mean, grid))
        assert re.fullmatch(r"2000-\d\d-\d\d to 200[01]-\d\d-\d\d", request_context.interval(mean, False, grid))
        ends = (mean.lowest, mean.highest)
        assert [request_context.tick(part, ends, "mean", grid) for part in (0, 100)] == ["2000-01-03", "2001-12-31"]
        assert re.fullmatch(r"[\d.]+ days", request_context.difference(mean.std_error, mean, grid))


def test_simulation_finds_dates() -> None:
    rows = compare(pilot(WEEKS, invent(WEEKS, 3000, 1), BatchDraws(seeded("dates"))))
    name, option, truth, _, low, high = rows[0]

    assert (name, option) == ("q", "mean")
    assert str(low) <= str(truth) <= str(high)
    assert str(truth).startswith("2000-")


def test_terminal_asks_for_a_date() -> None:
    asked = parse_survey(survey(day("2000-01-03", "2001-12-31", COIN, step=7)))
    answers, said = typed(asked, "2000-01-02", "3 January 2000", "2000-01-09")

    assert answers == {"q": "2000-01-10"}
    assert said.count("Enter a date from 2000-01-03 to 2001-12-31") == 2
    assert "Counted as 2000-01-10." in said
    assert "January" not in said.replace("3 January 2000", "", 1)


def test_dates_bound_a_condition() -> None:
    first = {**day("2000-01-01", "2000-12-31", COIN), "name": "first"}
    second = {**day("2000-01-01", "2000-12-31", COIN), "when_absent": "2000-01-01",
              "visible_if": {"first": {"min": "2000-06-01"}}}  # fmt: skip
    made = parse_survey(survey(first, second))

    assert made.document["questions"][1]["visible_if"] == {"first": {"max": "2000-12-31", "min": "2000-06-01"}}
    assert made.encode({"first": "2000-05-31", "q": "2000-07-01"})[1] == 0
    assert made.encode({"first": "2000-06-01", "q": "2000-07-01"})[1] == 182
