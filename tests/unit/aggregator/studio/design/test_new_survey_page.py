import json
import re
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.authoring.to_survey import survey_document
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.parse_survey import parse_survey

from tests.surveys import document, survey
from tests.unit.aggregator.authoring.workbooks import workbook
from tests.unit.aggregator.studio.staff import browser, press

ANN, EVE = Account(b"a" * 16, "Ann"), Account(b"e" * 16, "Eve")
NEW = "/dashboard/new"


@pytest.fixture(autouse=True)
def surveys(storage: SQLiteStorage) -> None:
    storage.publish(survey())
    storage.publish(survey(name="secret", title={"en": "Nobody else's"}))
    for account, owned in ((ANN, "exam"), (EVE, "secret")):
        storage.access.add_account(account)
        storage.access.grant(account.id, owned, "owner")


@pytest.fixture
def ann(app: Flask) -> FlaskClient:
    return browser(app, ANN.id)


@pytest.mark.parametrize("name", ["exam", "protection"])
def test_template_becomes_a_draft_that_can_be_published(ann: FlaskClient, storage: SQLiteStorage, name: str) -> None:
    reply = press(ann, NEW, **{"from": "template", "template": name})
    began = reply.headers["Location"].split("/")[-2]
    kept = storage.drafts.draft(began)
    made = parse_survey(survey_document(SurveyDraft.read(kept.document), began))
    template = next(each for each in all_templates() if each.name == name)

    assert made.epsilon == pytest.approx(parse_survey({**template.document, "name": began}).epsilon)
    assert storage.access.grants(ANN.id)[began] == "owner"


def test_file_of_another_program_is_told_what_to_do_with_it(ann: FlaskClient) -> None:
    """An old workbook, a document, a text in another encoding: nobody needs to know what an encoding is."""
    for data in (b"\xd0\xcf\x11\xe0" + bytes(600), b"%PDF-1.7\n\xe2\xe3", b"\xff\xfea\x00"):
        reply = press(ann, NEW, **{"from": "file", "file": (BytesIO(data), "form.xls")})
        assert (reply.status_code, "save it there as .xlsx" in reply.text) == (422, True), data[:4]


def test_upload_that_is_too_large_leads_back(ann: FlaskClient) -> None:
    headers = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
    reply = ann.post(NEW, data=b"a" * 700_000, headers=headers, content_type="application/x-www-form-urlencoded")
    assert reply.status_code == 413
    assert "at most 512 kB" in reply.text
    assert 'href="/dashboard/"' in reply.text


def test_templates_say_what_they_cost_and_give_and_where_they_come_from(ann: FlaskClient) -> None:
    """As ``test_templates`` has it from the channels: on each card for 1,500 and 2,000 people, and item by item."""
    page = ann.get(NEW).text
    cards = {name: card for card in page.split("<li>")[1:] for name in re.findall(r'value="(\w+)" aria', card)}
    assert "Epsilon of a report: 3.30." in cards["exam"]
    assert "Expected margin for every share: 5.6 points with 1,500 people, 4.8 points with 2,000." in cards["exam"]
    assert "Höglinger, Jann and Diekmann (2016)" in cards["exam"]
    assert "If 15% say yes or choose it, the margin is 3.2 points with 1,500 people" in cards["benefits"]
    assert "If the mean is 2.0, the margin is 0.5 with 1,500 people and 0.4 with 2,000." in cards["sexual_health"]
    assert all(len(re.findall("<dd>.*?<bdi class=.hint", card)) >= 1 for card in cards.values())
    assert len(cards) == len(all_templates())


def test_what_one_may_not_know_of_is_not_copied(ann: FlaskClient, storage: SQLiteStorage) -> None:
    storage.drafts.add("unseen", storage.drafts.draft(_begun(ann, "copy", copy="exam")).document)  # type: ignore[union-attr]
    page = ann.get(NEW).text

    assert 'value="exam"' in page
    assert "secret" not in page
    assert "unseen" not in page
    for name in ("secret", "unseen", "nothing"):
        assert press(ann, NEW, **{"from": "copy", "copy": name}).status_code == 422


def test_file_that_no_page_of_a_draft_can_show_is_refused_by_its_key(ann: FlaskClient, storage: SQLiteStorage) -> None:
    """Nothing is begun: the pages of such a draft would fail."""
    question = {"type": "boolean", "name": "q", "label": "Why?", "public": True}
    listed = {**question, "type": ["boolean"], "label": {"en": "Why?"}}
    for changes, told in (
        ({"title": "Exams"}, "title: must be a map"), ({"privacy": "none"}, "privacy: must be a map"),
        ({"analysis_plan": [1]}, "analysis_plan: "), ({"questions": [question]}, "questions, 0, label"),
        ({"questions": [listed]}, "questions, 0, type"),
    ):  # fmt: skip
        data = json.dumps(document(**changes)).encode()
        reply = press(ann, NEW, **{"from": "file", "file": (BytesIO(data), "x")})
        assert (reply.status_code, told in reply.text) == (422, True), told
    assert storage.drafts.drafts() == []


def _begun(client: FlaskClient, way: str, **given: str) -> str:
    return str(press(client, NEW, **{"from": way, **given}).headers["Location"].split("/")[-2])


def test_workbook_is_refused_in_the_readers_language(app: Flask) -> None:
    client = browser(app, ANN.id, "de")
    for data, told in (
        (b"PK\x03\x04 no workbook", "Das ist keine .xlsx-Arbeitsmappe"),
        (workbook(survey=[["type", "label"], ["note", "Hello"]]), "survey, Zeile 1: Die Spalte name fehlt"),
        (workbook(choices=[["list_name", "name"], ["yn", "yes"]]), "kein Blatt namens survey"),
    ):
        reply = press(client, NEW, **{"from": "file", "file": (BytesIO(data), "form.xlsx")})
        assert (reply.status_code, told in reply.text) == (422, True), told
