"""What an ethics board is shown: everything that respondents are, for as long as an owner says, and no more."""

import re
import shlex
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.link import parse_link
from sottovoce.client.page import PageFile

from tests.conftest import FakeClock
from tests.page_files import page_files
from tests.surveys import document, survey
from tests.unit.aggregator.studio.staff import browser, press

ANN = Account(b"a" * 16, "Ann")
BOARD = "/dashboard/surveys/exam/board"
LINK = re.compile(r"http://[^<]+(/dashboard/ethics\?link=[\w-]{20,})")


@pytest.fixture(scope="module")
def assets() -> dict[str, PageFile]:
    """Of the form's parts those that the page reads: to pack all of them takes a third of a second."""
    return {name: asset for name, asset in page_files().items() if name in {"catalogues/en.json", "catalogues/de.json"}}


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock, assets: dict[str, PageFile]) -> Flask:
    """The application with a survey in two languages, of which one lacks most texts, and its owner."""
    storage.publish(survey(title={"en": "Exams", "de": "<b>Prüfungen</b>"}))
    storage.access.add_account(ANN)
    storage.access.grant(ANN.id, "exam", "owner")
    return create_app(Settings(), storage, clock, assets)


def make(app: Flask, **given: Any) -> str:
    """The path of a new link."""
    [path] = LINK.findall(press(browser(app, ANN.id), BOARD, act="make", **({"days": "30"} | given)).text)
    return str(path)


def test_board_sees_every_text_and_the_account_and_no_results(app: Flask) -> None:
    """Without an account or a cookie, in every language; markup in a text stays text."""
    reply = app.test_client().get(make(app))

    assert reply.status_code == 200
    assert "Set-Cookie" not in reply.headers
    for text in ("Cheated?", "Fear", "&lt;b&gt;Prüfungen&lt;/b&gt;", "not in this language", "What is stored"):
        assert text in reply.text
    assert "Question 1: text" in reply.text
    assert "/questions/" not in reply.text
    assert "has not shared the results" in reply.text
    assert "Estimate" not in reply.text


def test_board_is_told_how_to_have_it_checked(app: Flask, storage: SQLiteStorage) -> None:
    """By commands that there are, for the revision that the link is bound to."""
    page = app.test_client().get(make(app)).text
    [commands] = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
    verify, fetch, audit = (shlex.split(line) for line in unescape(commands).splitlines())

    assert (verify[:3], audit[:4]) == (
        ["sottovoce", "device", "verify"],
        ["sottovoce", "audit", "survey.json", "--client"],
    )
    assert parse_link(verify[3]) == parse_link(audit[4])
    assert storage.revisions("exam")[0].digest.startswith(parse_link(verify[3]).digest)
    assert app.test_client().get(fetch[3]).data == storage.revisions("exam")[0].document


def test_results_are_shown_only_if_the_owner_says_so(app: Flask, storage: SQLiteStorage) -> None:
    """And that they were read stands in the journal, by nobody who has an account."""
    page = app.test_client().get(make(app, results="yes")).text

    assert "has not shared the results" not in page
    assert "Nothing to show yet" in page
    assert [entry.who for entry in storage.journal.latest(9) if entry.what == words.RESULTS_READ] == [words.NO_ACTOR]


def test_board_sees_no_exact_public_answers_beside_published_ones(app: Flask, storage: SQLiteStorage) -> None:
    """A board sees none of a question whose tables have noise; the cohort is never published so, and stays."""
    again = {"type": "boolean", "name": "again", "label": {"en": "Again?"}, "public": True}
    replaced = storage.revisions("exam")[-1].digest
    storage.publish(survey(revision=2, replaces=replaced, questions=[*document()["questions"], again]))
    path = make(app, results="yes")
    assert app.test_client().get(path).text.count("<h3><bdi>") == 4
    storage.releases.begin("exam", b"opened\n")
    page = app.test_client().get(path).text
    assert page.count("<h3><bdi>") == 3
    assert "<h3><bdi>Year?" in page


def test_link_ends_by_its_day_or_by_hand(app: Flask, storage: SQLiteStorage, clock: FakeClock) -> None:
    """From the next request on; only its hash is stored."""
    short, long = make(app, days="1"), make(app, days="366")
    client, ann = app.test_client(), browser(app, ANN.id)
    assert {view.hash for view in storage.access.views("exam")}.isdisjoint({short.encode(), long.encode()})
    assert "?link=" not in ann.get(BOARD).text
    clock.moment += timedelta(days=2)
    assert [client.get(path).status_code for path in (short, long)] == [404, 200]
    number = re.findall(r'name="view" value="(\w+)"', browser(app, ANN.id).get(BOARD).text)[-1]
    press(browser(app, ANN.id), BOARD, act="end", view=number)

    assert client.get(long).status_code == 404
    assert client.get("/dashboard/ethics?link=none").status_code == 404


def test_days_that_cannot_be_make_no_link(app: Flask, storage: SQLiteStorage) -> None:
    """And are said to be none."""
    for days in ("0", "367", "", "-1", "\u0663"):
        reply = press(browser(app, ANN.id), BOARD, act="make", days=days)
        assert (reply.status_code, "from 1 to 366 days" in reply.text) == (422, True), days
    assert storage.access.views("exam") == []


def test_board_is_told_of_a_correction_and_goes_on_seeing_what_it_was_shown(app: Flask, storage: SQLiteStorage) -> None:
    """The link is bound to the digest."""
    path = make(app)
    assert "was corrected after" not in app.test_client().get(path).text
    corrected = document(title={"en": "Other words"})
    storage.publish(survey(**(corrected | {"revision": 2})))
    page = app.test_client().get(path).text

    assert "was corrected after" in page
    assert "Other words" not in page
    assert "an earlier revision" in browser(app, ANN.id).get(BOARD).text
