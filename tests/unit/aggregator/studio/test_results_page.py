"""What the results' page shows: a band as long as people may look again, and after that the interval for one look."""

import re
from dataclasses import replace

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.results.analysis import QuestionResult, analyse, revisions_of
from sottovoce.aggregator.results.export import export_document
from sottovoce.aggregator.results.in_words import limits
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.aggregator.studio import results_view

from tests.conftest import FakeClock
from tests.storage.test_contract import arrival
from tests.surveys import survey
from tests.unit.aggregator.web.test_auth import log_in

SITE = "https://survey.example.org"


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    """The application on a database with fifty reports of an open survey, all of them shown."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number, (number % 3 > 0, number % 3, number % 2)) for number in range(50)])
    return create_app(Settings(public_url=SITE), storage, clock, {})


def page(app: Flask) -> str:
    """The page of the survey's results."""
    return str(log_in(app)[0].get("/dashboard/surveys/exam/results", base_url=SITE).text)


def yes(storage: SQLiteStorage) -> Estimate:
    """The estimate of the first question's yes."""
    return analyse(revisions_of(storage, "exam")).questions[0].estimates[0]


def told(low: float, high: float) -> str:
    """Limits as the page tells them."""
    return f"{low * 100:.1f}% to {high * 100:.1f}%"


def test_open_survey_shows_the_band_and_no_interval(app: Flask, storage: SQLiteStorage) -> None:
    """Whoever looks again and again may trust it; the interval would be too narrow for that."""
    estimate, shown = yes(storage), page(app)
    assert estimate.band_low is not None
    assert estimate.band_high is not None

    assert told(estimate.band_low, estimate.band_high) in shown
    assert told(estimate.low, estimate.high) not in shown
    assert set(re.findall("95% (band|interval)", shown)) == {"band"}


def test_share_of_yes_is_worked_out_beside_its_figure(app: Flask, storage: SQLiteStorage) -> None:
    """With the question's own numbers and the reports that are shown; the band while it is open, then the interval."""
    arithmetic = "66% of the reports (n = 50) said yes; 2 × 66% − 1/2 = 82.0%. 95% "

    assert f"{arithmetic}band: " in page(app)
    storage.close_survey("exam", 20_000)
    assert f"{arithmetic}interval: " in page(app)


def test_closed_survey_shows_the_interval_and_no_band(app: Flask, storage: SQLiteStorage) -> None:
    """The band is no longer worked out, neither for the page nor for the export."""
    before = yes(storage)
    storage.close_survey("exam", 20_000)
    estimate, shown = yes(storage), page(app)
    exported = export_document(analyse(revisions_of(storage, "exam")))["questions"]

    assert (estimate.band_low, estimate.band_high) == (None, None)
    assert {each["band_low"] for question in exported for each in question["estimates"]} == {None}
    assert told(estimate.low, estimate.high) in shown
    assert told(before.band_low or 0, before.band_high or 0) not in shown
    assert set(re.findall("95% (band|interval)", shown)) == {"interval"}


def test_band_that_is_there_after_close_is_not_shown(
    app: Flask, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page goes by the survey's state, whatever estimates hold."""
    found = analyse(revisions_of(storage, "exam"))
    banded = replace(found, closed=True, questions=tuple(map(_protected, found.questions)))
    monkeypatch.setattr(results_view, "analyse", lambda *_, **__: banded)
    shown = page(app)
    estimates = [each for question in banded.questions for each in question.estimates]

    for estimate in estimates:
        assert told(estimate.low, estimate.high) in shown
        if estimate.band_low is not None and estimate.band_high is not None:
            assert told(estimate.band_low, estimate.band_high) not in shown
    assert set(re.findall("95% (band|interval)", shown)) == {"interval"}


def _protected(question: QuestionResult) -> QuestionResult:
    """The question with a table of what self-protection would mean."""
    return replace(question, protection=[(0.0, question.estimates[0])])


def test_limits_are_the_interval_where_there_is_no_band(storage: SQLiteStorage) -> None:
    """A mean has none, and neither has what was pooled from different channels."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number) for number in range(25)])
    estimate = replace(yes(storage), band_low=None, band_high=None)

    assert limits(estimate, still_open=True) == (estimate.low, estimate.high)


def test_page_and_file_say_the_same(app: Flask) -> None:
    """What is downloaded from the page are the same results."""
    client, _ = log_in(app)
    reply = client.get("/dashboard/surveys/exam/results/export.json", base_url=SITE)

    assert reply.headers["Content-Disposition"] == "attachment; filename=export.json"
    assert reply.json["reports"] == 50
