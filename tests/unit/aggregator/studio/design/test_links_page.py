import json
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.by_link.link_question import parse_link

from tests.surveys import survey
from tests.unit.aggregator.studio.staff import browser, press
from tests.unit.shared.by_link.test_link_question import COIN, LINK

ANN, BEN, EVE = Account(b"a" * 16, "Ann"), Account(b"b" * 16, "Ben"), Account(b"e" * 16, "Eve", admin=True)
VIC = Account(b"v" * 16, "Vic")
PAGE = "/dashboard/questions"
DIGEST = parse_link(LINK).digest
WITHDRAW = "Withdraw this question"


@pytest.fixture(autouse=True)
def accounts(storage: SQLiteStorage) -> None:
    for account, name in ((ANN, "exam"), (BEN, "other"), (EVE, "")):
        storage.access.add_account(account)
        if name:
            storage.publish(survey(name=name))
            storage.access.grant(account.id, name, "owner")


def publish(client: FlaskClient, document: dict[str, Any]) -> Any:
    return press(client, PAGE, file=(BytesIO(json.dumps(document).encode()), "question.yaml"))


def test_owner_publishes_and_withdraws(app: Flask, storage: SQLiteStorage) -> None:
    ann, ben = browser(app, ANN.id), browser(app, BEN.id)
    assert publish(ann, LINK).headers["Location"].endswith(f"#{DIGEST}")
    shown = ann.get(PAGE).text
    for text in (f"/q/1/{DIGEST}<", "Ever?", "Without consent", WITHDRAW):
        assert text in shown
    assert WITHDRAW not in ben.get(PAGE).text
    press(ben, f"{PAGE}/withdraw", digest=DIGEST)
    assert storage.link_questions.document(DIGEST)
    press(ann, f"{PAGE}/withdraw", digest=DIGEST)
    assert storage.link_questions.document(DIGEST) is None


def test_question_without_a_text_in_the_readers_language_has_one_of_its_own(app: Flask) -> None:
    ann = browser(app, ANN.id)
    assert publish(ann, json.loads(json.dumps(LINK).replace('"en"', '"de"'))).status_code == 303
    assert "Ever?" in ann.get(PAGE).text


def test_question_of_two_owners_stands_once_and_is_both_owners(app: Flask, storage: SQLiteStorage) -> None:
    owners = [browser(app, account.id) for account in (ANN, BEN)]
    for owner in owners:
        publish(owner, LINK)
    assert [owner.get(PAGE).text.count(WITHDRAW) for owner in owners] == [1, 1]
    for owner in owners:
        assert storage.link_questions.document(DIGEST)
        press(owner, f"{PAGE}/withdraw", digest=DIGEST)
    assert storage.link_questions.all() == []


def test_admin_withdraws_what_others_published(app: Flask, storage: SQLiteStorage) -> None:
    """Since they answer for what stands under the institution's name."""
    publish(browser(app, ANN.id), LINK)
    eve = browser(app, EVE.id)
    assert WITHDRAW in eve.get(PAGE).text
    press(eve, f"{PAGE}/withdraw", digest=DIGEST)
    assert storage.link_questions.document(DIGEST) is None


@pytest.mark.parametrize("document", [COIN, {**LINK, "then": "http://forms.example.org/"}])
def test_other_files_are_refused_with_the_reason(app: Flask, storage: SQLiteStorage, document: dict[str, Any]) -> None:
    reply = publish(browser(app, ANN.id), document)
    assert (reply.status_code, "must be an address such as" in reply.text) == (422, True)
    assert storage.link_questions.all() == []


def test_who_may_not_publish_sees_no_page(app: Flask, storage: SQLiteStorage) -> None:
    storage.access.add_account(VIC)
    storage.access.grant(VIC.id, "exam", "viewer")
    vic = browser(app, VIC.id)
    assert PAGE in browser(app, ANN.id).get("/dashboard/").text
    assert PAGE not in vic.get("/dashboard/").text
    assert vic.get(PAGE).status_code == 403
    assert publish(vic, LINK).status_code == 403
    assert storage.link_questions.all() == []
