"""The institution's door on pages: an account binds itself, and whoever comes in goes on to where they were going."""

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.conftest import FakeClock
from tests.surveys import survey
from tests.unit.aggregator.studio.staff import browser, press

ANN, BEN = Account(b"a" * 16, "Ann"), Account(b"b" * 16, "Ben")
CALLBACK = "/dashboard/oidc/callback"


class Institution:
    def address(self, *_: object) -> str:
        return "https://university.example/"

    def subject(self, *_: object) -> str:
        return "https://university.example ada"


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    storage.publish(survey())
    for account in (ANN, BEN):
        storage.access.add_account(account)
    settings = Settings(sign_in_methods="oidc", oidc_issuer="http://127.0.0.1:9", oidc_client="sottovoce")
    made = create_app(settings, storage, clock, {})
    made.extensions["provider"] = Institution()
    return made


def test_account_binds_itself_and_nobody_elses(app: Flask, storage: SQLiteStorage) -> None:
    ann, ben = browser(app, ANN.id), browser(app, BEN.id)
    assert "https://university.example/" in press(ann, "/dashboard/oidc/bind").text
    assert ann.get(CALLBACK).status_code == 200
    assert storage.access.account_of_subject("https://university.example ada") == storage.access.account(ANN.id)
    assert "You sign in at your institution." in ann.get("/dashboard/me").text
    press(ben, "/dashboard/oidc/bind")
    refused = ben.get(CALLBACK)

    assert (refused.status_code, "Another account here already belongs to this person" in refused.text) == (401, True)
    assert storage.access.account(BEN.id) == BEN
    forged = app.test_client()
    forged.set_cookie("sottovoce-oidc", "c2VjcmV0..bGluaw==.")
    assert forged.get(CALLBACK).status_code == 401


def test_way_back_from_the_institution_is_the_page_asked_for(app: Flask, storage: SQLiteStorage) -> None:
    storage.access.set_subject(ANN.id, "https://university.example ada")
    client = app.test_client()
    door = client.get("/dashboard/me").headers["Location"]
    page = client.get(door).text
    assert 'href="/dashboard/oidc/start?next=/dashboard/me"' in page
    assert 'id="token"' not in page
    for asked, onward in (("/dashboard/me", "/dashboard/me"), ("https://evil.example/", "/dashboard/")):
        client.get(f"/dashboard/oidc/start?next={asked}")
        assert f'url={onward}"' in client.get(CALLBACK).text
