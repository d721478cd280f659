"""Questions that are asked by a link, over HTTP: publishing, serving and withdrawing."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.survey_file import write_published
from sottovoce.client.question_page import question_assets
from sottovoce.shared import canonical
from sottovoce.shared.by_link.link_question import parse_link

from tests.conftest import FakeClock
from tests.unit.aggregator.api.test_results import ask
from tests.unit.shared.by_link.test_link_question import COIN, LINK

QUESTIONS = "/api/v1/questions"
DIGEST = parse_link(LINK).digest


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock, tmp_path: Path) -> Flask:
    """The application on an empty database."""
    settings = Settings(public_url="https://survey.example.org", data=tmp_path)
    return create_app(settings, storage, clock, question_assets())


def test_question_is_published_served_and_withdrawn(app: Flask, researcher: FlaskClient) -> None:
    """Twice is as once; its page is for everybody, and gone afterwards."""
    described = {"digest": DIGEST, "address": f"https://survey.example.org/q/1/{DIGEST}", "then": LINK["then"]}
    for _ in range(2):
        assert ask(researcher, "POST", QUESTIONS, canonical.dump(LINK)) == (200, described)
    assert ask(researcher, "GET", QUESTIONS) == (200, {"questions": [described]})
    page = app.test_client().get(f"/q/1/{DIGEST}")
    assert (page.status_code, canonical.dump(LINK["label"]) in page.data) == (200, True)

    for withdrawn in (True, False):
        reply = ask(researcher, "DELETE", f"{QUESTIONS}/{DIGEST}")
        assert reply == (200, {"digest": DIGEST, "withdrawn": withdrawn})
    assert ask(researcher, "DELETE", f"{QUESTIONS}/no-digest")[0] == 404
    assert app.test_client().get(f"/q/1/{DIGEST}").status_code == 404


def test_question_in_the_data_folder_stays_served(app: Flask, researcher: FlaskClient, tmp_path: Path) -> None:
    """Where the machine's administrator has put it, no account withdraws it."""
    write_published(tmp_path, parse_link(LINK))
    ask(researcher, "POST", QUESTIONS, canonical.dump(LINK))
    ask(researcher, "DELETE", f"{QUESTIONS}/{DIGEST}")
    assert app.test_client().get(f"/q/1/{DIGEST}").status_code == 200


def test_what_is_no_question_by_a_link_is_refused(researcher: FlaskClient) -> None:
    """With its mistakes, and nothing is published."""
    status, refused = ask(researcher, "POST", QUESTIONS, canonical.dump({**COIN, "then": "http://forms.example.org/"}))
    assert (status, refused["code"], refused["problems"][0]["pointer"]) == (422, "spec_invalid", "/then")
    assert ask(researcher, "POST", QUESTIONS, b"{")[0] == 422
    assert ask(researcher, "GET", QUESTIONS) == (200, {"questions": []})


def test_only_those_who_may_publish_do(app: Flask, storage: SQLiteStorage) -> None:
    """A program without a key is refused, and a key without the scope."""
    client = app.test_client()
    assert ask(client, "POST", QUESTIONS, canonical.dump(LINK))[0] == 401
    assert storage.link_questions.all() == []
