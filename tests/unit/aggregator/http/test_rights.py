"""Every route x every role x own, other and unknown survey: each pair is in the table, or refused."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.accounts.authentication import ADMIN, NO_KEY, PUBLIC, RIGHTS, STAFF, new_cookie, new_key
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.accounts.models import EVERY_SURVEY, ROLES, SCOPES, AccessKey, Account
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared import canonical

from tests.access_document import DOCUMENT, document as access_document
from tests.conftest import FakeClock
from tests.surveys import document, survey

NEVER = 99_999
SURVEYS = {"exam": "own", "other": "other", "nothing": "unknown"}


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    for name in ("exam", "other"):
        storage.publish(survey(name=name))
    storage.access.add_owner("first")
    methods = {"sign_in_methods": "key oidc passkey", "oidc_issuer": "http://127.0.0.1:9", "oidc_client": "sottovoce"}
    return create_app(Settings(public_url="http://localhost:8000", **methods), storage, clock, {})


def account(storage: SQLiteStorage, role: str, number: int = 1) -> Account:
    """Somebody with this role on one survey; an admin has none."""
    made = Account(bytes([number]) * 16, role, admin=role == ADMIN)
    storage.access.add_account(made)
    if role in ROLES:
        storage.access.grant(made.id, "exam", role)
    return made


def routes(app: Flask) -> Iterator[tuple[str, str, str]]:
    """Name, method and path of every route that is not public."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint not in PUBLIC:
            for method in sorted(rule.methods - {"HEAD", "OPTIONS"}):
                yield rule.endpoint, method, rule.rule


def ask(app: Flask, who: Account, method: str, path: str, **key: Any) -> Any:
    storage, client = app.extensions["storage"], app.test_client()
    now = int(app.extensions["clock"]().timestamp())
    if path.startswith("/dashboard") and not key:
        cookie, digest = new_cookie()
        assert storage.access.start_session(digest, who.id, "link", now)
        client.set_cookie("sottovoce", cookie)
        sent: dict[str, Any] = {}
        if method == "POST":
            token = re.search(r'name="form_token" value="([0-9a-f]+)"', client.get("/dashboard/").text)
            assert token
            sent = {"data": {"form_token": token[1]}}
        return client.open(path, method=method, headers={"Sec-Fetch-Site": "same-origin"}, **sent)
    secret, digest = new_key()
    whole = {"scopes": frozenset(SCOPES), "survey": EVERY_SURVEY} | key
    storage.access.add_key(AccessKey(digest, who.id, "test", expires_on=NEVER, **whole))
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    return client.open(path, method=method, headers=headers, data=b"{}" if method == "POST" else None)


def test_every_route_is_public_or_in_the_table(app: Flask) -> None:
    assert {endpoint for endpoint, _, _ in routes(app)} == set(RIGHTS)
    assert all(right.who <= {*ROLES, STAFF, ADMIN} for right in RIGHTS.values())


@pytest.mark.parametrize("role", [*ROLES, ADMIN])
def test_each_pair_of_role_and_route_is_in_the_table_or_refused(app: Flask, storage: SQLiteStorage, role: str) -> None:
    """403 for a survey that one knows, 404 for one that one may not know of, with the words for one that is not."""
    who = account(storage, role)
    for endpoint, method, rule in routes(app):
        if endpoint == "results.delete" and role == "owner":
            continue  # last of all, below
        for name in SURVEYS if "<name>" in rule else ["exam"]:
            reply = ask(app, who, method, rule.replace("<name>", name).replace("<digest>", "0" * 64))
            # An uploaded file has a name as well, and every account may ask for one: only its own is there.
            if "<name>" not in rule or STAFF in RIGHTS[endpoint].who:
                allowed = bool({role, STAFF} & RIGHTS[endpoint].who)
                assert (reply.status_code not in {401, 403, 404}) is allowed, (endpoint, role)
            elif name != "exam" or role == ADMIN:
                # A survey of a new name may be published by whoever owns one, and by an admin.
                new = endpoint == "results.publish" and name == "nothing"
                expected = {True: 422 if role in {"owner", ADMIN} else 403, False: 404}[new]
                assert reply.status_code == expected, (endpoint, role, name)
            else:
                refused = reply.status_code in {401, 403}
                assert refused is (role not in RIGHTS[endpoint].who), (endpoint, role)
    assert ask(app, who, "DELETE", "/api/v1/surveys/exam").status_code == {"owner": 200, ADMIN: 404}.get(role, 403)


def test_unknown_and_hidden_surveys_are_told_alike(app: Flask, storage: SQLiteStorage) -> None:
    who = account(storage, "owner")
    for method, end in (("GET", "/estimates"), ("POST", "/close"), ("DELETE", ""), ("GET", "/tokens")):
        hidden, unknown = (ask(app, who, method, f"/api/v1/surveys/{name}{end}") for name in ("other", "nothing"))
        assert (hidden.status_code, hidden.data) == (unknown.status_code, unknown.data)


def test_lists_show_only_what_one_may_know(app: Flask, storage: SQLiteStorage) -> None:
    who = account(storage, "fieldwork")
    page = ask(app, who, "GET", "/dashboard/").text

    assert [row["name"] for row in ask(app, who, "GET", "/api/v1/surveys").json["items"]] == ["exam"]
    assert "/dashboard/surveys/exam/" in page
    assert "other" not in page.partition("<main")[2]
    bare = ask(app, who, "GET", "/dashboard/surveys/exam/")
    assert (bare.status_code, bare.headers["Location"]) == (303, "/dashboard/surveys/exam/invite")
    assert "/results" not in ask(app, who, "GET", "/dashboard/surveys/exam/invite").text
    assert ask(app, account(storage, ADMIN, 2), "GET", "/api/v1/surveys").json["items"] == []


@pytest.mark.parametrize("scope", SCOPES)
def test_key_does_no_more_than_its_scope(app: Flask, storage: SQLiteStorage, scope: str) -> None:
    [who] = storage.access.accounts()
    for endpoint, method, rule in routes(app):
        if endpoint == "results.delete" or rule.startswith("/dashboard"):
            continue
        path = rule.replace("<name>", "exam")
        reply = ask(app, who, method, path, scopes=frozenset({scope}))
        assert (reply.status_code == 403) is (RIGHTS[endpoint].scope not in {"", scope}), endpoint
    assert ask(app, who, "GET", "/dashboard/", scopes=frozenset({scope})).status_code == 302


def test_no_key_opens_a_page(app: Flask) -> None:
    """Pages are for people: every one of them wants a session."""
    assert all(RIGHTS[name].scope == NO_KEY for name, _, rule in routes(app) if rule.startswith("/dashboard"))


def test_key_for_one_survey_knows_of_no_other(app: Flask, storage: SQLiteStorage) -> None:
    [who] = storage.access.accounts()
    for name, status in (("exam", 200), ("other", 404), ("nothing", 404)):
        assert ask(app, who, "GET", f"/api/v1/surveys/{name}/estimates", survey="exam").status_code == status
    assert ask(app, who, "POST", "/api/v1/surveys/nothing/publish", survey="exam").status_code == 403
    assert ask(app, who, "GET", "/metrics", survey="exam").status_code == 403
    assert [row["name"] for row in ask(app, who, "GET", "/api/v1/surveys", survey="exam").json["items"]] == ["exam"]


def test_publisher_owns_a_survey_of_a_new_name(app: Flask, storage: SQLiteStorage) -> None:
    """An admin who had no role on anything; where publishing fails nothing is owned."""
    who, client = account(storage, ADMIN), app.test_client()
    secret, digest = new_key()
    storage.access.add_key(AccessKey(digest, who.id, "test", frozenset(SCOPES), EVERY_SURVEY, NEVER))
    storage.publish(survey(name="gone"))
    storage.delete_survey("gone")
    for name, status in (("gone", 422), ("new", 200)):
        reply = client.post(
            f"/api/v1/surveys/{name}/publish", data=canonical.dump(document(name=name)),
            content_type="application/json", headers={"Authorization": f"Bearer {secret}"},
        )  # fmt: skip
        assert reply.status_code == status
        assert storage.access.grants(who.id) == ({"new": "owner"} if status == 200 else {})
    told = [(one.what, one.about.split()[0]) for one in storage.journal.entries() if one.who == who.id.hex()]
    assert told == [
        (words.GRANTED, "gone"), (words.GRANT_REVOKED, "gone"), (words.GRANTED, "new"), (words.PUBLISHED, "new")
    ]  # fmt: skip
    assert ask(app, who, "GET", "/api/v1/surveys/new/estimates").status_code == 200


def test_expired_key_and_disabled_account_are_not_let_in(app: Flask, storage: SQLiteStorage, clock: FakeClock) -> None:
    who, today = account(storage, "owner"), int(clock.moment.timestamp()) // DAY
    keys = [new_key() for _ in range(2)]
    for (_, digest), last in zip(keys, (today - 1, today), strict=True):
        storage.access.add_key(AccessKey(digest, who.id, "test", frozenset(SCOPES), EVERY_SURVEY, last))
    cookie, session = new_cookie()
    storage.access.start_session(session, who.id, "link", int(clock.moment.timestamp()))

    def tried() -> list[int]:
        client = app.test_client()
        client.set_cookie("sottovoce", cookie)
        by_key = [client.get("/api/v1/surveys", headers={"Authorization": f"Bearer {key}"}) for key, _ in keys]
        return [reply.status_code for reply in (*by_key, client.get("/dashboard/"))]

    assert tried() == [401, 200, 200]
    storage.access.disable(who.id, today)
    assert tried() == [401, 401, 302]


def test_signing_in_leads_to_the_page_asked_for_and_never_elsewhere(app: Flask, storage: SQLiteStorage) -> None:
    secret, digest = new_key()
    storage.add_researcher("ann", digest)
    own = "/dashboard/surveys/exam?wave=0"
    door = app.test_client().get(own).headers["Location"]
    assert door.startswith("/dashboard/login?next=")
    elsewhere = ("//evil.example/dashboard/", "https://evil.example", "/dashboard/../\\evil.example")
    doors = {door: own, **{f"/dashboard/login?next={asked}": "/dashboard/" for asked in elsewhere}}
    for asked, then in doors.items():
        headers = {"Sec-Fetch-Site": "same-origin"}
        reply = app.test_client().post(asked, data={"token": secret}, headers=headers)
        assert (reply.status_code, reply.headers["Location"]) == (302, then), asked


def test_document_is_made_from_the_table() -> None:
    """``python -m tests.access_document`` writes it."""
    assert Path(DOCUMENT).read_text(encoding="utf-8") == access_document()
