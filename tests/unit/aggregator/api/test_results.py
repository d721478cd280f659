from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared import canonical

from tests.conftest import FakeClock
from tests.storage.test_contract import arrival
from tests.surveys import document, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.api.conftest import program_of

EXAM = "/api/v1/surveys/exam"


@pytest.fixture(autouse=True)
def published(storage: SQLiteStorage) -> None:
    storage.publish(survey(closes="2026-07-01T00:00:00Z", trial=True))


def ask(client: FlaskClient, method: str, path: str, body: bytes = b"") -> tuple[int, Any]:
    reply = client.open(path, method=method, data=body, content_type="application/json",
                        environ_overrides={"CONTENT_LENGTH": str(len(body))})  # fmt: skip
    return reply.status_code, reply.json


def test_second_of_two_who_publish_at_once_is_told(
    researcher: FlaskClient, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a code of its own, not as a database that is away."""
    publish = storage.publish

    def publish_second(*survey_and_more: Any, **options: Any) -> StoredSurvey:
        publish(survey(revision=2, title={"en": "First"}, trial=True))
        return publish(*survey_and_more, **options)

    monkeypatch.setattr(storage, "publish", publish_second)
    body = canonical.dump(document(revision=2, title={"en": "Second"}, trial=True))
    status, refused = ask(researcher, "POST", f"{EXAM}/publish", body)

    assert (status, refused["code"]) == (409, "revision_conflict")
    assert "another revision was published" in refused["detail"]


def test_survey_is_closed_and_opened_again(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    assert ask(researcher, "POST", f"{EXAM}/close") == (200, {"name": "exam", "closed": True})
    assert ask(researcher, "GET", "/api/v1/surveys")[1]["items"][0]["closed"] is True
    assert ask(researcher, "POST", f"{EXAM}/reopen") == (200, {"name": "exam", "closed": False})

    assert not storage.surveys()[0].closed


def test_survey_whose_time_is_over_is_not_opened_again(
    researcher: FlaskClient, storage: SQLiteStorage, clock: FakeClock
) -> None:
    storage.close_survey("exam", 1)
    storage.purge(1)
    status, refused = ask(researcher, "POST", f"{EXAM}/reopen")
    assert (status, refused["code"], "forgotten" in refused["detail"]) == (409, "closed", True)
    clock.moment += timedelta(days=60)
    status, refused = ask(researcher, "POST", f"{EXAM}/reopen")

    assert (status, refused["code"], "window" in refused["detail"]) == (409, "closed", True)
    assert storage.surveys()[0].closed


def test_survey_is_deleted_and_its_name_refused(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    """For whoever asks next there is none; the name may not come again."""
    assert ask(researcher, "DELETE", EXAM) == (200, {"name": "exam", "deleted": True})
    assert storage.surveys() == []
    later = [("DELETE", EXAM), ("GET", EXAM), ("POST", f"{EXAM}/close"), ("POST", f"{EXAM}/reopen")]
    assert [ask(researcher, method, path)[0] for method, path in later] == [404] * 4
    status, refused = ask(researcher, "POST", f"{EXAM}/publish", canonical.dump(document()))

    assert (status, refused["problems"][0]["pointer"]) == (422, "/name")


def test_correction_retires_the_earlier_revision_if_asked(researcher: FlaskClient) -> None:
    for revision, query in ((2, ""), (3, "?retire=1")):
        given = document(revision=revision, closes="2026-07-01T00:00:00Z", trial=True)
        assert ask(researcher, "POST", f"{EXAM}/publish{query}", canonical.dump(given))[0] == 200
        retired = [row["retired"] for row in ask(researcher, "GET", "/api/v1/surveys")[1]["items"]]
        assert retired == [False, False] if revision == 2 else [True, True, False]


def test_lists_tell_the_number_of_reports_in_steps(app: Flask, researcher: FlaskClient, storage: SQLiteStorage) -> None:
    """For programs and on the page: who looks again and again sees nobody come. The page says what is a try-out."""
    fill(storage, range(25))
    fill(storage, range(25, 30))
    assert ask(researcher, "GET", "/api/v1/surveys")[1]["items"][0]["reports"] == 25
    page = log_in(app)[0].get("/dashboard/", base_url="https://survey.example.org").text

    assert '<td class="number" data-head="Reports">25</td>' in page
    assert "Test run: not the real survey." in page


def fill(storage: SQLiteStorage, reports: range) -> None:
    storage.store([arrival(storage.revisions("exam")[0].key, number) for number in reports])


@pytest.mark.parametrize("end", ["estimates", "export"])
def test_results_that_are_known_are_not_sent_again(researcher: FlaskClient, storage: SQLiteStorage, end: str) -> None:
    """By any list that names them, by a weak tag, by a star; never to somebody who may not see them."""
    fill(storage, range(25))
    first = researcher.get(f"{EXAM}/{end}")
    tag = first.headers["ETag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}", f'W/"x" ,W/{tag}, "y"', "*"):
        for method in ("GET", "HEAD"):
            again = researcher.open(f"{EXAM}/{end}", method=method, headers={"If-None-Match": known})
            assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
            assert again.headers["Cache-Control"] == "no-store"
            assert "Content-Type" not in again.headers
    for unknown in ('"other"', tag.strip('"')[:-1], ""):
        again = researcher.get(f"{EXAM}/{end}", headers={"If-None-Match": unknown})
        assert (again.status_code, again.data) == (200, first.data)
    stranger = researcher.application.test_client()
    assert stranger.get(f"{EXAM}/{end}", headers={"If-None-Match": tag}).status_code == 401


def test_etag_moves_with_what_is_shown_and_with_nothing_else(
    app: Flask, researcher: FlaskClient, storage: SQLiteStorage, clock: FakeClock
) -> None:
    """Not with reports that are not shown yet, a day, or another reader; but with the next step."""

    def tag(question: str = "", client: FlaskClient = researcher) -> str:
        return str(client.get(f"{EXAM}/estimates{question}").headers["ETag"])

    fill(storage, range(25))
    first = tag()
    fill(storage, range(25, 49))
    clock.moment += timedelta(days=1)
    assert {tag(), tag(client=program_of(app, "ben")), tag("?wave=")} == {first}
    assert tag("?interval=wilson") != first
    fill(storage, range(49, 50))
    assert tag() != first


@pytest.mark.parametrize("end", ["estimates", "export"])
def test_program_chooses_the_level_of_the_intervals(researcher: FlaskClient, storage: SQLiteStorage, end: str) -> None:
    storage.store([arrival(1, number) for number in range(30)])
    storage.close_survey("exam", 20_000)
    found = [ask(researcher, "GET", f"{EXAM}/{end}{query}")[1] for query in ("", "?confidence=0.8")]

    usual, narrow = ([one for each in told["questions"] for one in each["estimates"]] for told in found)
    assert ({one["confidence"] for one in usual}, {one["confidence"] for one in narrow}) == ({0.95}, {0.8})
    assert all(b["high"] - b["low"] < a["high"] - a["low"] for a, b in zip(usual, narrow, strict=True))
    for written in ("1", "0.4", "90", "nan"):
        assert ask(researcher, "GET", f"{EXAM}/{end}?confidence={written}")[0] == 400


@pytest.mark.parametrize("end", ["estimates", "export"])
def test_program_is_told_of_how_many_people_something_is_true(
    researcher: FlaskClient, storage: SQLiteStorage, end: str
) -> None:
    storage.store([arrival(1, number) for number in range(30)])
    status, told = ask(researcher, "GET", f"{EXAM}/{end}?people=30")
    assert (status, told["code"]) == (422, "estimate_impossible")
    assert "not closed" in told["detail"]

    storage.close_survey("exam", 20_000)
    status, told = ask(researcher, "GET", f"{EXAM}/{end}?people=30")
    assert (status, told["questions"][0]["estimates"][0]["people"]["of"]) == (200, 30)
    assert "not as many reports as people" in ask(researcher, "GET", f"{EXAM}/{end}?people=31")[1]["detail"]
    for written in ("0", "3.5", "9" * 12):
        assert ask(researcher, "GET", f"{EXAM}/{end}?people={written}")[0] == 400
    # As a form sends it whose field was left empty.
    assert ask(researcher, "GET", f"{EXAM}/{end}?people=") == ask(researcher, "GET", f"{EXAM}/{end}")
