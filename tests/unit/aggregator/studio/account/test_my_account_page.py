import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.accounts.account_invitations import invitation_link, sign_in_link
from sottovoce.aggregator.accounts.authentication import key_hash
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, SCOPES, Account
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.surveys import survey
from tests.unit.aggregator.studio.staff import OWN, browser, press

BEN = Account(b"b" * 16, "Ben")


@pytest.fixture(autouse=True)
def accounts(storage: SQLiteStorage) -> None:
    storage.publish(survey())
    storage.access.add_owner("first")
    storage.access.add_account(BEN)
    storage.access.grant(BEN.id, "exam", "viewer")


@pytest.fixture
def ben(app: Flask) -> FlaskClient:
    return browser(app, BEN.id)


def seconds(app: Flask) -> int:
    return int(app.extensions["clock"]().timestamp())


def test_key_is_shown_once_and_listed_from_then_on(app: Flask, ben: FlaskClient, storage: SQLiteStorage) -> None:
    asked = {"label": "R on my laptop", "scope": ["results:read"], "survey": "exam", "days": "30"}
    made = press(ben, "/dashboard/me/keys", **asked)
    secret = re.search(r"sottovoce-key-[\w-]{20,}", made.text)
    assert secret
    page = ben.get("/dashboard/me").text
    [key] = storage.access.list_keys(BEN.id)

    assert secret[0] not in page
    assert "R on my laptop" in page
    assert "in 30 days" in page
    assert key.hash == key_hash(secret[0])
    assert (key.scopes, key.survey, key.expires_on) == (frozenset({"results:read"}), "exam", seconds(app) // DAY + 30)
    headers = {"Authorization": f"Bearer {secret[0]}"}
    # A viewer's key is worth no more than a viewer.
    assert app.test_client().get("/api/v1/surveys/exam/estimates", headers=headers).status_code == 403
    assert press(ben, f"/dashboard/me/keys/{key.number}/revoke").status_code == 303
    assert app.test_client().get("/api/v1/surveys", headers=headers).status_code == 401


WRONG_KEYS: list[tuple[dict[str, Any], str]] = [
    ({"label": "x" * 1_000_000}, ""),
    ({"label": "a\u202eb"}, "cannot be shown"),
    ({"label": "a\0b"}, "cannot be shown"),
    ({"label": "x" * 101}, "A name must have 1 to 100 characters"),
    ({"scope": []}, "at least one permission for the key"),
    ({"scope": ["sentinel"]}, "at least one permission for the key"),
    ({"days": "367"}, "from 1 to 366 days"),
    ({"days": "-1"}, "from 1 to 366 days"),
    ({"days": "\u0663"}, "from 1 to 366 days"),
    ({"survey": "sentinel"}, "no role on a survey with this name"),
]


def test_key_that_cannot_be_is_refused_in_a_sentence(ben: FlaskClient, storage: SQLiteStorage) -> None:
    for wrong, told in WRONG_KEYS:
        reply = press(ben, "/dashboard/me/keys", **({"label": "x", "scope": ["results:read"], "days": "90"} | wrong))
        assert (reply.status_code, told in reply.text) == (422 if told else 413, True), told
        assert "sentinel" not in reply.text
    assert storage.access.list_keys(BEN.id) == []


def test_nobody_touches_what_is_anothers(app: Flask, ben: FlaskClient, storage: SQLiteStorage) -> None:
    """Neither keys nor sessions, whose numbers may be known."""
    storage.add_researcher("first", b"key")
    [first] = [account for account in storage.access.accounts() if account.name == "first"]
    other = browser(app, first.id)
    [key], [session] = storage.access.list_keys(first.id), storage.access.sessions(first.id, seconds(app))
    press(ben, f"/dashboard/me/keys/{key.number}/revoke")
    press(ben, f"/dashboard/me/sessions/{session.number}/end")

    assert storage.access.list_keys(first.id) == [key]
    assert other.get("/dashboard/me").status_code == 200


def test_sessions_are_listed_and_ended(app: Flask, ben: FlaskClient, storage: SQLiteStorage) -> None:
    phone, laptop = browser(app, BEN.id), browser(app, BEN.id)
    assert "(this one)" in ben.get("/dashboard/me").text
    cookie = phone.get_cookie(app.config["STAFF_COOKIE"])
    assert cookie
    press(ben, f"/dashboard/me/sessions/{key_hash(cookie.value).hex()[:16]}/end")
    assert [client.get("/dashboard/me").status_code for client in (ben, phone, laptop)] == [200, 302, 200]
    press(ben, "/dashboard/me/sessions/end")

    assert [client.get("/dashboard/me").status_code for client in (ben, phone, laptop)] == [302, 302, 302]
    assert storage.access.sessions(BEN.id, seconds(app)) == []


def test_what_is_done_to_ones_own_is_noted_with_who(app: Flask, ben: FlaskClient, storage: SQLiteStorage) -> None:
    first, own = storage.journal.head().number, BEN.id.hex()
    press(ben, "/dashboard/me/keys", label="x", scope=["results:read"], survey="exam", days="1")
    [key] = storage.access.list_keys(BEN.id)
    press(ben, f"/dashboard/me/keys/{key.number}/revoke")
    press(ben, "/dashboard/me/sessions/end")
    path = sign_in_link(storage.access.by(words.MACHINE), "", BEN.id, seconds(app) // DAY)
    assert app.test_client().post(path, data={"pressed": ""}, headers=OWN).status_code == 200
    told = [(one.what, one.who, one.about) for one in storage.journal.entries() if one.number > first]

    assert told == [
        (words.KEY_MADE, own, f"exam {own}"), (words.KEY_REVOKED, own, f"exam {own}"), (words.SESSIONS_ENDED, own, own),
        (words.SIGN_IN_LINK, words.MACHINE, own), (words.LOGIN, own, "link"), (words.KEY_MADE, own, f"* {own}"),
    ]  # fmt: skip


def test_invitation_makes_one_account_and_signs_it_in(app: Flask, storage: SQLiteStorage) -> None:
    path = invitation_link(storage.access, "", "exam", "analyst", seconds(app) // DAY)
    client = app.test_client()
    assert client.get(path).status_code == 200
    assert client.post(path, data={"name": "Eve"}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    for name in ("", "x" * 101, "a\nb", "\u2066Eve"):
        assert client.post(path, data={"name": name}, headers=OWN).status_code == 422
    assert client.post(path, data={"name": "<b>Zoe</b>"}, headers=OWN).status_code == 303
    page = client.get("/dashboard/me").text
    [zoe] = [account for account in storage.access.accounts() if account.name == "<b>Zoe</b>"]

    assert "no way to sign in yet" in page
    assert "&lt;b&gt;Zoe" in page
    assert "<b>Zoe" not in page
    assert (zoe.admin, storage.access.grants(zoe.id)) == (False, {"exam": "analyst"})
    again = app.test_client().post(path, data={"name": "Eve"}, headers=OWN)
    assert (again.status_code, "Set-Cookie" in again.headers) == (401, False)
    assert len(storage.access.accounts()) == 3


def test_whole_key_of_ones_own_signs_in(app: Flask, ben: FlaskClient) -> None:
    for scopes, status in ((list(SCOPES), 302), (["results:read"], 401)):
        made = press(ben, "/dashboard/me/keys", label="x", scope=scopes, days="1", survey=EVERY_SURVEY)
        secret = re.search(r"sottovoce-key-[\w-]{20,}", made.text)
        assert secret
        reply = app.test_client().post("/dashboard/login", data={"token": secret[0]}, headers=OWN)
        assert reply.status_code == status
