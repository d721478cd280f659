"""Alarms ring for reports that honest devices would hardly send, and keep silent for the others."""

from dataclasses import replace

import pytest
from sottovoce.aggregator.analysis.diagnostics import alarms
from sottovoce.aggregator.analysis.estimates import SurveyResults, analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.storage.test_contract import arrival
from tests.surveys import document, every_type, survey


def kinds(results: SurveyResults, invited: int | None = None) -> list[str]:
    """What rings."""
    return [alarm.kind for alarm in alarms(results, invited)]


def asked(storage: SQLiteStorage, first: int, second: int) -> SurveyResults:
    """The results of a survey that draws one of two questions, with so many reports on each."""
    key = storage.publish(survey(ask=1)).key
    reports = [(1, None, 0)] * first + [(None, number % 3, 0) for number in range(second)]
    storage.store([arrival(key, number, values) for number, values in enumerate(reports)])
    storage.close_survey("exam", 20_000)
    results = analyse(revisions_of(storage, "exam"))
    # Only the draw is looked at here.
    calm = [replace(each, estimates=()) for each in results.questions]
    return replace(results, questions=tuple(calm))


@pytest.mark.parametrize(("first", "second", "rings"), [(50, 50, []), (60, 40, []), (90, 10, ["asked"])])
def test_uneven_draw_of_questions_rings(storage: SQLiteStorage, first: int, second: int, rings: list[str]) -> None:
    """Chance draws 60 of 100 now and then, and never 90."""
    assert kinds(asked(storage, first, second)) == rings


@pytest.mark.parametrize(("forged", "rings"), [(0, []), (40, ["drawn"])])
def test_uneven_draw_of_options_rings(storage: SQLiteStorage, forged: int, rings: list[str]) -> None:
    """Whoever forges reports draws the same option each time."""
    which = [question for question in every_type() if question["name"] == "which"]
    key = storage.publish(survey(questions=[*which, *document()["questions"][1:]])).key
    honest = [(number % 12, 0, 0) for number in range(120)]
    reports = honest + [(number % 2, 0, 0) for number in range(forged)]
    storage.store([arrival(key, number, values) for number, values in enumerate(reports)])
    storage.close_survey("exam", 20_000)

    assert [kind for kind in kinds(analyse(revisions_of(storage, "exam"))) if kind != "implausible"] == rings


def test_more_reports_than_people_ring(storage: SQLiteStorage) -> None:
    """In the steps in which reports are counted, and not without a number of people."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number, (number % 2, number % 3, 0)) for number in range(60)])
    results = analyse(revisions_of(storage, "exam"))

    assert kinds(results, 49) == ["more"]
    assert kinds(results, 60) == []
    assert kinds(results) == []
