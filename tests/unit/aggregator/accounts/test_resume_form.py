"""Without a script too, what was typed outlives the session: it goes with the page for signing in, and nowhere else."""

import html
import io
import logging
import re
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.surveys import document
from tests.unit.aggregator.accounts.test_authentication import log_in

BASE: dict[str, Any] = {"base_url": "https://survey.example.org", "headers": {"Sec-Fetch-Site": "same-origin"}}
DESIGN = "/dashboard/surveys/exam/design"
TYPED = "Ever \"cheated\"?\r\n<script>alert('sentinel')</script>"
FORM = {"version": "1", "q0.label.en": TYPED, "do": "save", "form_token": "0" * 64}


@pytest.fixture(autouse=True)
def draft(storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", draft_of(document()).dumped)


@pytest.fixture
def key(storage: SQLiteStorage) -> str:
    token, digest = new_key()
    storage.add_researcher("bea", digest)
    return token


def fields_of(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return {html.unescape(name): html.unescape(text) for name, text in found}


def action_of(page: str) -> str:
    (found,) = re.findall(r'<form class="login card" method="post" action="([^"]*)">', page)
    return html.unescape(str(found))


def label_of(storage: SQLiteStorage) -> str:
    kept = storage.drafts.draft("exam")
    assert kept
    return str(SurveyDraft.read(kept.document).cards[0].asked["label"]["en"])


def test_what_was_posted_after_the_session_had_ended_is_saved_after_signing_in(
    app: Flask, storage: SQLiteStorage, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Through a mistyped key too; it stands in no cookie and no log, and only a button sends it."""
    caplog.set_level(logging.DEBUG)
    client = app.test_client()
    reply = client.post(DESIGN, data=FORM, **BASE)
    assert (reply.status_code, "sentinel" in str(reply.headers)) == (401, False)
    assert "<script>alert" not in reply.text
    reply = client.post(action_of(reply.text), data={**fields_of(reply.text), "token": "wrong"}, **BASE)
    assert reply.status_code == 401
    reply = client.post(action_of(reply.text), data={**fields_of(reply.text), "token": key}, **BASE)
    assert (reply.status_code, "sentinel" in str(reply.headers)) == (200, False)
    assert label_of(storage) == "Cheated?"

    assert action_of(reply.text) == DESIGN
    assert client.post(DESIGN, data=fields_of(reply.text), **BASE).status_code == 303
    assert label_of(storage).split() == TYPED.split()
    assert "sentinel" not in caplog.text


def test_whoever_signs_in_elsewhere_gets_it_back_too(app: Flask, storage: SQLiteStorage) -> None:
    page = app.test_client().post(DESIGN, data=FORM, **BASE).text
    again = {**fields_of(page), "signed_in": "1", "token": ""}
    assert app.test_client().post("/dashboard/login", data=again, **BASE).status_code == 401
    client, _ = log_in(app)
    given_back = client.post("/dashboard/login", data=again, **BASE).text
    assert client.post(action_of(given_back), data=fields_of(given_back), **BASE).status_code == 303
    assert label_of(storage) != "Cheated?"


def test_page_opened_before_signing_in_again_keeps_what_was_typed(app: Flask, storage: SQLiteStorage) -> None:
    """Another tab has begun the session: its page, not a refusal, comes with a button; another site's form does not."""
    client, _ = log_in(app)
    refused = client.post(DESIGN, data=FORM, base_url=BASE["base_url"], headers={"Sec-Fetch-Site": "cross-site"})
    page = client.post(DESIGN, data=FORM, **BASE)

    assert (refused.status_code, "sentinel" in refused.text) == (403, False)
    assert (page.status_code, label_of(storage)) == (403, "Cheated?")
    assert client.post(action_of(page.text), data=fields_of(page.text), **BASE).status_code == 303
    assert label_of(storage).split() == TYPED.split()


def test_file_sent_after_the_session_had_ended_is_said_to_be_lost(app: Flask, key: str) -> None:
    """The page for signing in says so, and leads back to the page with the field for the file."""
    client = app.test_client()
    file = {"form_token": "0" * 64, "file": (io.BytesIO(b"a\n1\n"), "a.csv")}
    reply = client.post("/dashboard/analyze", data=file, **BASE)
    page = client.get(reply.location, **BASE).text

    assert "what you sent last did not arrive" in page
    assert client.post(action_of(page), data={"token": key}, **BASE).location == "/dashboard/analyze"


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {}])
def test_what_another_site_posts_is_not_kept(app: Flask, headers: dict[str, str]) -> None:
    reply = app.test_client().post(DESIGN, data=FORM, base_url=BASE["base_url"], headers=headers)
    assert reply.status_code == 302
    assert "sentinel" not in reply.text


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/s/exam", ""])
def test_what_is_kept_goes_back_to_a_page_of_this_site_only(app: Flask, key: str, address: str) -> None:
    data = {"kept_for": address, "kept.name": "sentinel", "token": key}
    reply = app.test_client().post("/dashboard/login", data=data, **BASE)
    assert (reply.status_code, "sentinel" in reply.text) == (302, False)


def test_form_in_which_nothing_was_typed_is_not_kept(app: Flask) -> None:
    reply = app.test_client().post("/dashboard/logout", data={"form_token": "0" * 64}, **BASE)
    assert (reply.status_code, reply.location) == (302, "/dashboard/login")


def test_long_draft_is_kept_whole(app: Flask, key: str) -> None:
    client, text = app.test_client(), "é" * 60_000
    page = client.post(DESIGN, data={**FORM, "description.en": text}, **BASE).text
    reply = client.post("/dashboard/login", data={**fields_of(page), "token": key}, **BASE)
    assert fields_of(reply.text)["description.en"] == text
