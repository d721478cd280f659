"""The public page of results: what published steps show of randomized questions, for everyone who has the link."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.parse_survey import parse_survey

from tests.conftest import FakeClock
from tests.storage.test_contract import arrival
from tests.surveys import document, months, survey
from tests.unit.aggregator.studio.staff import browser, press
from tests.vectors.arms import two_arms

ANN = Account(b"a" * 16, "Ann")
BOARD = "/dashboard/surveys/exam/board"


@pytest.fixture
def app(public_app: Flask, storage: SQLiteStorage) -> Flask:
    key = storage.publish(survey()).key
    for reports in (range(50), range(50, 60)):
        storage.store([arrival(key, number, (number % 3 > 0, number % 3, number % 2)) for number in reports])
    storage.access.add_account(ANN)
    storage.access.grant(ANN.id, "exam", "owner")
    return public_app


def made(app: Flask, results: str = "public") -> str:
    page = press(browser(app, ANN.id), BOARD, act="make", days="30", results=results).text
    return str(re.findall(r"https://[^<]+(/dashboard/\w+\?link=[\w-]{20,})", page)[0])


def test_owner_makes_the_page_from_results(app: Flask, storage: SQLiteStorage) -> None:
    storage.access.add_account(bob := Account(b"b" * 16, "Bob"))
    storage.access.grant(bob.id, "exam", "analyst")
    own, other = (browser(app, each.id).get("/dashboard/surveys/exam/results").text for each in (ANN, bob))
    [form] = re.findall(r'<form method="post" action="([^"]+)"><.*?name="results" value="public">', own)

    assert form == BOARD
    assert f'action="{BOARD}"' not in other
    assert app.test_client().get(made(app)).status_code == 200


def test_page_shows_estimates_of_randomized_questions_and_nothing_else(app: Flask, storage: SQLiteStorage) -> None:
    """Neither public answers, groups, counts that no step has shown, files nor the survey's pages; no search engine."""
    path = made(app)
    before = storage.journal.head()
    reply = app.test_client().get(path)

    assert reply.status_code == 200
    assert reply.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert "Set-Cookie" not in reply.headers
    assert re.findall(r'<bdi id="q-\w+">([^<]+)', reply.text) == ["Cheated?", "Why?"]
    assert re.search(r'<p class="finding"><strong>[\d.]+%', reply.text)
    assert "<dd>50</dd>" in reply.text
    for hidden in (">60<", "Year?", "First", "export.json", ".csv", "/surveys/"):
        assert hidden not in re.sub(r"[a-z-]+=\"[^\"]*\"", "", reply.text), hidden
    assert storage.journal.head() == before
    chinese = app.test_client().get(path, headers={"Accept-Language": "zh"}).text
    assert "。" in chinese
    assert not re.findall("[。，；：] .", chinese)


def test_question_that_devices_remember_has_a_sentence_and_no_figure(public_app: Flask, storage: SQLiteStorage) -> None:
    """Reports of one person in two waves are of one draw; the page does not leave the question out without a word."""
    coin = {"name": "coin_flip"}
    memo = {"name": "memoized_rr", "permanent": coin, "instantaneous": coin, "waves": 2}
    asked = {"type": "boolean", "name": "kept", "label": {"en": "Kept?"}, "mechanism": memo}
    cheated, _, year = document()["questions"]
    key = storage.publish(survey(questions=[asked, cheated, year], waves=months(2))).key
    for wave in (0, 1):
        storage.store(replace(arrival(key, 99 * wave + each, (each % 2, each % 2, 0)), wave=wave) for each in range(30))
    storage.close_survey("exam", 20_600)
    storage.access.add_account(ANN)
    storage.access.grant(ANN.id, "exam", "owner")
    page = public_app.test_client().get(made(public_app)).text
    kept = page.partition('id="q-kept"')[2].partition("</section>")[0]

    assert kept.partition("</h2>")[2].strip() == (
        "<p>No figure of several waves together: devices remember a draw for this question.</p>"
    )
    assert 'id="q-cheated"' in page


def test_page_changes_at_published_steps_only(app: Flask, storage: SQLiteStorage) -> None:
    """Between two steps it is the same, byte by byte, and its ETag says so."""
    path, key = made(app), storage.revisions("exam")[-1].key
    first = app.test_client().get(path)
    storage.store([arrival(key, number, (1, 0, number % 2)) for number in range(60, 90)])
    same = app.test_client().get(path, headers={"If-None-Match": first.headers["ETag"]})
    storage.store([arrival(key, number, (1, 0, number % 2)) for number in range(90, 100)])
    later = app.test_client().get(path)

    assert same.status_code == 304
    assert "<dd>100</dd>" in later.text


def test_link_opens_no_other_page_and_ends(app: Flask, clock: FakeClock) -> None:
    path, board = made(app), made(app, results="yes")
    client = app.test_client()
    assert client.get(path.replace("shared", "ethics")).status_code == 404
    assert client.get(board.replace("ethics", "shared")).status_code == 404
    listed = browser(app, ANN.id).get(BOARD).text
    assert "results only, for everyone" in listed
    for number in re.findall(r'name="view" value="(\w+)"', listed):
        press(browser(app, ANN.id), BOARD, act="end", view=number)
    assert client.get(path).status_code == 404

    path = made(app)
    clock.moment += timedelta(days=31)
    assert client.get(path).status_code == 404


def direct_page(storage: SQLiteStorage, app: Flask, yes: int, close: bool = True) -> str:
    """The public page of a closed survey of two arms, with so many of 40 people who admit directly."""
    asked = parse_survey(two_arms(name="exam", revision=1))
    key = storage.publish(asked).key
    rows = [(0, person < yes, None, 0) for person in range(40)] + [(1, None, person % 2, 1) for person in range(40)]
    storage.store([arrival(key, number, row) for number, row in enumerate(rows)])
    if close:
        storage.close_survey("exam", 20_600)
    storage.access.add_account(ANN)
    storage.access.grant(ANN.id, "exam", "owner")
    return str(app.test_client().get(made(app)).text)


TOO_FEW = "Too few answers of one kind to show."


@pytest.mark.parametrize("yes", [0, 1, 4, 36, 39, 40])
def test_direct_answers_of_a_few_people_are_one_line(public_app: Flask, storage: SQLiteStorage, yes: int) -> None:
    page = direct_page(storage, public_app, yes)
    _, _, after = page.partition('id="q-cheated_direct"')

    assert after.index(TOO_FEW) < after.index("</section>")
    assert not re.search(r"\d", after[: after.index("</section>")].partition("</h2>")[2])
    assert "except those of a group that was asked openly" in page


@pytest.mark.parametrize("yes", [5, 35])
def test_direct_answers_of_five_people_each_have_a_share(public_app: Flask, storage: SQLiteStorage, yes: int) -> None:
    page = direct_page(storage, public_app, yes)

    assert TOO_FEW not in page
    assert f"{100 * yes / 40:.1f}%" in page.partition('id="q-cheated_direct"')[2]
    assert 'id="q-year"' not in page


def test_direct_answers_stay_off_the_page_while_the_survey_is_open(public_app: Flask, storage: SQLiteStorage) -> None:
    """They come with joint results, after the close."""
    page = direct_page(storage, public_app, 20, close=False)

    assert "q-cheated_direct" not in page
    assert "Questions that were sent unchanged are not shown here." in page


def test_test_run_has_no_public_page(app: Flask, storage: SQLiteStorage) -> None:
    """It shows each report at once, which is nothing for everyone."""
    storage.publish(survey(name="exam-trial-1", trial=True))
    storage.access.grant(ANN.id, "exam-trial-1", "owner")
    page = press(browser(app, ANN.id), "/dashboard/surveys/exam-trial-1/board", act="make", days="3", results="public")
    [path] = re.findall(r"https://[^<]+(/dashboard/shared\?link=[\w-]{20,})", page.text)

    assert app.test_client().get(path).status_code == 404
