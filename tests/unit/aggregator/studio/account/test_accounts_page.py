"""Admins manage accounts on pages, and nobody is locked out by it."""

import re
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.surveys import survey
from tests.unit.aggregator.studio.staff import OWN, browser, press

BEN = Account(b"b" * 16, "Ben")
EVE = Account(b"e" * 16, "<b>Eve</b>", admin=True)
LINK = re.compile(r"https://[^<]+(/dashboard/[a-z-]+\?link=[\w-]{20,})")


@pytest.fixture(autouse=True)
def accounts(storage: SQLiteStorage) -> None:
    storage.publish(survey())
    storage.access.add_account(EVE)
    storage.access.add_account(BEN)


def act(app: Flask, what: str, **given: Any) -> Any:
    return press(browser(app, EVE.id), f"/dashboard/accounts/{BEN.id.hex()}", act=what, **given)


def test_accounts_are_listed_as_text(app: Flask) -> None:
    """A name that looks like markup stays a name; whoever cannot come in is said to need a link."""
    page = browser(app, EVE.id).get("/dashboard/accounts").text

    assert "&lt;b&gt;Eve" in page
    assert "<b>Eve" not in page
    assert "Ben" in page
    assert "none: needs a sign-in link" in page


def test_disabled_account_is_out_at_once_and_comes_back(app: Flask) -> None:
    ben = browser(app, BEN.id)
    assert act(app, "disable").status_code == 303
    assert ben.get("/dashboard/").status_code == 302
    assert act(app, "link").status_code == 422
    act(app, "enable")
    shown = act(app, "link").text
    [path] = LINK.findall(shown)
    client = app.test_client()

    assert client.post(path, data={"pressed": "yes"}, headers=OWN).status_code == 200
    assert client.get("/dashboard/").status_code == 200
    assert app.test_client().post(path, data={"pressed": "yes"}, headers=OWN).status_code == 401
    assert path not in browser(app, EVE.id).get(f"/dashboard/accounts/{BEN.id.hex()}").text


def test_last_admin_is_neither_disabled_nor_demoted(app: Flask, storage: SQLiteStorage) -> None:
    own = f"/dashboard/accounts/{EVE.id.hex()}"
    for what in ("disable", "no_admin"):
        reply = press(browser(app, EVE.id), own, act=what)
        assert (reply.status_code, "This is the only admin" in reply.text) == (422, True)
    assert "Niemand" in press(browser(app, EVE.id, "de"), own, act="disable").text
    assert storage.access.account(EVE.id) == EVE


def test_two_admins_cannot_disable_each_other(app: Flask, storage: SQLiteStorage) -> None:
    """The second has no session any more when he tries; one stays."""
    act(app, "admin")
    ben, eve = browser(app, BEN.id), browser(app, EVE.id)
    press(eve, f"/dashboard/accounts/{BEN.id.hex()}", act="disable")
    reply = ben.post(f"/dashboard/accounts/{EVE.id.hex()}", data={"act": "disable"}, headers=OWN)

    assert reply.status_code == 401
    assert storage.access.account(EVE.id) == EVE


def test_admin_sees_no_results_unless_granted_and_the_grant_is_seen(app: Flask, storage: SQLiteStorage) -> None:
    eve = browser(app, EVE.id)
    assert eve.get("/dashboard/surveys/exam/results").status_code == 404
    own = f"/dashboard/accounts/{EVE.id.hex()}"
    assert press(eve, own, act="grant", role="viewer", survey="nothing").status_code == 422
    assert press(eve, own, act="grant", role="sentinel", survey="exam").status_code == 422
    assert press(eve, own, act="grant", role="viewer", survey="exam").status_code == 303
    assert eve.get("/dashboard/surveys/exam/results").status_code == 200
    granted = [entry for entry in storage.journal.latest(20) if entry.what == words.GRANTED]

    assert [(entry.who, entry.about) for entry in granted] == [(EVE.id.hex(), f"exam viewer {EVE.id.hex()}")]
    press(eve, own, act="revoke", survey="exam")
    assert eve.get("/dashboard/surveys/exam/results").status_code == 404


def test_invitation_without_a_role_makes_an_account(app: Flask, storage: SQLiteStorage) -> None:
    asked = (("Zoe", {}, {}), ("Kim", {"role": "analyst", "survey": "exam"}, {"exam": "analyst"}))
    for name, given, grants in asked:
        [path] = LINK.findall(press(browser(app, EVE.id), "/dashboard/accounts", **given).text)
        app.test_client().post(path, data={"name": name}, headers=OWN)
        [made] = [one for one in storage.access.accounts() if one.name == name]
        assert (made.admin, storage.access.grants(made.id)) == (False, grants)


def test_unknown_account_leads_to_the_list(app: Flask) -> None:
    eve = browser(app, EVE.id)
    for path in ("/dashboard/accounts/sentinel", "/dashboard/accounts/" + "0" * 32):
        assert eve.get(path).headers["Location"] == "/dashboard/accounts"
        assert press(eve, path, act="disable").headers["Location"] == "/dashboard/accounts"
    assert press(eve, f"/dashboard/accounts/{BEN.id.hex()}", act="sentinel").status_code == 400


def test_account_is_deleted_by_its_name(app: Flask, storage: SQLiteStorage) -> None:
    ben = browser(app, BEN.id)
    assert act(app, "delete", typed="Bob").status_code == 422
    storage.access.grant(BEN.id, "exam", "owner")
    assert "the only owner" in act(app, "delete", typed="Ben").text
    storage.access.grant(EVE.id, "exam", "owner")
    assert act(app, "delete", typed="Ben").status_code == 303
    assert ben.get("/dashboard/").status_code == 302
    assert storage.access.account(BEN.id) is None
    own = f"/dashboard/accounts/{EVE.id.hex()}"

    assert "only admin" in press(browser(app, EVE.id), own, act="delete", typed=EVE.name).text
    assert b"Ben" not in browser(app, EVE.id).get("/dashboard/journal").data
