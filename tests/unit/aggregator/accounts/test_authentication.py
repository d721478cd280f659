"""Deny by default: every route but those on one list needs a researcher, whose secrets are stored as hashes."""

import re
import threading
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.accounts.account_invitations import sign_in_link
from sottovoce.aggregator.accounts.authentication import (
    KEY_PREFIX,
    PUBLIC,
    key_hash,
    link_hash,
    new_cookie,
    new_key,
    new_link,
)
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.http.headers import add_headers, form_policy, security_headers
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.conftest import FakeClock
from tests.surveys import survey


def test_key_is_known_by_its_beginning_is_new_each_time_and_is_no_links_secret() -> None:
    """Programs that look for lost secrets find it; what a log may keep of a link lets nobody in at another door."""
    keys = {new_key() for _ in range(100)}
    assert all(key.startswith(KEY_PREFIX) and key_hash(key) == digest for key, digest in keys)
    assert len(keys) == len({new_cookie() for _ in range(100)}) == 100
    secret, digest = new_link()
    assert digest == link_hash(secret) != key_hash(secret)


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    storage.publish(survey())
    methods = {"sign_in_methods": "key oidc passkey", "oidc_issuer": "http://127.0.0.1:9", "oidc_client": "sottovoce"}
    return create_app(Settings(public_url="https://survey.example.org", **methods), storage, clock, {})


def log_in(app: Flask, **headers: str) -> Any:
    token, digest = new_key()
    app.extensions["storage"].add_researcher("ann", digest)
    client = app.test_client()
    client.environ_base["wsgi.url_scheme"] = "https"
    reply = client.post(
        "/dashboard/login", data={"token": token}, headers={"Sec-Fetch-Site": "same-origin", **headers},
        base_url="https://survey.example.org",
    )  # fmt: skip
    return client, reply


DOORS = {"auth.enter", "auth.sign_in", "oidc.callback", "passkeys.sign_in"}
"""Routes that refuse whoever brings nothing good, though they are public."""


def test_every_route_is_public_by_name_or_refuses(app: Flask) -> None:
    client = app.test_client()
    refused = 0
    assert {rule.endpoint for rule in app.url_map.iter_rules()} >= PUBLIC
    for rule in app.url_map.iter_rules():
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            path = re.sub(r"<[^>]+>", "exam", rule.rule)
            status = client.open(path, method=method, environ_overrides={"CONTENT_LENGTH": "0"}).status_code
            if rule.endpoint in PUBLIC:
                assert status != 401 or rule.endpoint in DOORS
            else:
                refused += 1
                assert status == (302 if path.startswith("/dashboard") else 401), rule
    assert refused >= 8


def test_every_refused_method_names_those_that_are_allowed(app: Flask) -> None:
    """RFC 9110, 15.5.6: of every path, to programs and to browsers; OPTIONS names the same."""
    client = app.test_client()
    for path in sorted({re.sub(r"<[^>]+>", "exam", rule.rule) for rule in app.url_map.iter_rules()}):
        allowed = set(client.options(path).headers["Allow"].split(", "))
        assert ("HEAD" in allowed) == ("GET" in allowed)
        for method in {"GET", "POST", "DELETE", "PUT", "TRACE", "NEW"} - allowed:
            # Browsers send no other method than these two.
            for accept in ("*/*", "text/html") if method in {"GET", "POST"} else ("*/*",):
                reply = client.open(path, method=method, data=b"", content_type="application/json",
                                    environ_overrides={"CONTENT_LENGTH": "0"}, headers={"Accept": accept})  # fmt: skip
                assert (reply.status_code, set(reply.headers["Allow"].split(", "))) == (405, allowed), (method, path)


def test_every_reply_carries_the_security_headers(app: Flask) -> None:
    paths = ("/", "/nothing", "/s/exam", "/api/v1/surveys/none", "/api/v1/surveys", "/healthz")
    for path, method in product(paths, ("GET", "POST", "DELETE")):
        reply = app.test_client().open(path, method=method)
        expected = dict(security_headers(secure=True))
        if path.startswith("/api/v1/surveys/") and method == "GET":
            expected["Cross-Origin-Resource-Policy"] = "cross-origin"
        assert {name: reply.headers.get(name) for name in expected} == expected, (path, method)
        assert {"Set-Cookie", "Server"}.isdisjoint(reply.headers.keys()), (path, method)


def test_bearer_token_opens_the_api_and_a_wrong_one_does_not(app: Flask) -> None:
    token, digest = new_key()
    app.extensions["storage"].add_researcher("ann", digest)
    client = app.test_client()

    for right in ("Bearer", "bearer", "BEARER", "bEARER "):
        assert client.get("/api/v1/surveys", headers={"Authorization": f"{right} {token}"}).status_code == 200
    more = ("Bearer ", f"Bearer {token} x", "\u00e9")
    for wrong in (f"Bearer {token}x", token, f"Basic {token}", f"Bearer{token}", *more):
        reply = client.get("/api/v1/surveys", headers={"Authorization": wrong})
        assert (reply.status_code, reply.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert reply.json["detail"] == "a key is sent as: Authorization: Bearer KEY"


def test_login_sets_one_cookie_that_no_script_and_no_other_site_can_use(app: Flask) -> None:
    client, reply = log_in(app)
    cookie = reply.headers["Set-Cookie"]

    assert reply.status_code == 302
    assert cookie.startswith("__Host-sottovoce=")
    assert all(word in cookie for word in ("Secure", "HttpOnly", "SameSite=Strict", "Path=/"))
    assert client.get("/dashboard/", base_url="https://survey.example.org").status_code == 200


def test_sign_in_link_works_once_and_only_where_its_button_is_pressed(app: Flask) -> None:
    storage, base = app.extensions["storage"], "https://survey.example.org"
    ann = storage.access.add_owner("ann")
    path = sign_in_link(storage.access, "", ann.id, day_of(app.extensions["clock"]()))
    client = app.test_client()
    own: dict[str, Any] = {"base_url": base, "headers": {"Sec-Fetch-Site": "same-origin"}, "data": {"pressed": ""}}
    elsewhere = {**own, "headers": {"Sec-Fetch-Site": "cross-site"}}
    assert "sottovoce-key-" not in client.get(path, base_url=base).text
    assert client.post(path, **elsewhere).status_code == 403
    assert client.post(path[:-1], **own).status_code == 401
    reply = client.post(path, **own)
    token = re.search(r"sottovoce-key-[\w-]+", reply.text)

    assert token
    assert reply.status_code == 200
    assert client.get("/dashboard/", base_url=base).status_code == 200
    assert app.test_client().get("/api/v1/surveys", headers={"Authorization": f"Bearer {token[0]}"}).status_code == 200
    again = client.post(path, **own)
    assert (again.status_code, "Set-Cookie" in again.headers) == (401, False)
    assert not re.search(r"sottovoce-key-[\w-]", again.text)
    assert storage.access.accounts() == [ann]


def test_whoever_guesses_writes_nothing(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong token or link is only looked up: a write would make reports wait for whoever tries many."""
    storage, here = app.extensions["storage"], threading.current_thread()
    tables = storage.access

    def guarded(write: Callable[..., Any]) -> Callable[..., Any]:
        def attempt(*words: object, **options: object) -> Any:
            # The writer's thread notes by itself that the program runs.
            assert threading.current_thread() is not here, "written"
            return write(*words, **options)

        return attempt

    for name in ("start_session_by_key", "start_session_by_link"):
        monkeypatch.setattr(tables, name, guarded(getattr(tables, name)))
    monkeypatch.setattr(storage, "write", guarded(storage.write))
    asked: dict[str, Any] = {"data": {"token": "sottovoce-key-wrong"}, "headers": {"Sec-Fetch-Site": "same-origin"}}
    for path in ("/dashboard/login", "/dashboard/sign-in?link=wrong"):
        assert app.test_client().post(path, **asked).status_code == 401
    # Closing the database writes.
    monkeypatch.undo()


def test_login_from_another_site_is_refused(app: Flask) -> None:
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert log_in(app, **headers)[1].status_code == 403
    assert app.test_client().post("/dashboard/login", data={"token": "x"}).status_code == 403


def test_logout_needs_the_form_token_and_ends_the_session_on_the_server(app: Flask) -> None:
    client, reply = log_in(app)
    base = {"base_url": "https://survey.example.org", "headers": {"Sec-Fetch-Site": "same-origin"}}
    page = client.get("/dashboard/", **base).text
    form_token = re.search(r'name="form_token" value="([0-9a-f]+)"', page)
    assert form_token is not None

    # A client that kept cookies of its own would send none but those.
    thief, copied = app.test_client(use_cookies=False), {"Cookie": reply.headers["Set-Cookie"].split(";")[0]}
    assert thief.get("/dashboard/", headers=copied).status_code == 200
    assert client.post("/dashboard/logout", data={"form_token": ""}, **base).status_code == 403
    assert client.get("/dashboard/", **base).status_code == 200
    assert client.post("/dashboard/logout", data={"form_token": form_token[1]}, **base).status_code == 302
    assert thief.get("/dashboard/", headers=copied).status_code == 302


def test_form_from_another_site_is_refused_even_with_its_token(app: Flask) -> None:
    """A browser says where a form came from; neither the token alone nor a neighbouring site is enough."""
    client, _ = log_in(app)
    base = "https://survey.example.org"
    form_token = re.search(r'name="form_token" value="([0-9a-f]+)"', client.get("/dashboard/", base_url=base).text)
    assert form_token is not None
    elsewhere = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"}, {"Origin": "https://evil.example"}, {}]
    for headers in elsewhere:
        data = {"form_token": form_token[1]}
        assert client.post("/dashboard/logout", data=data, base_url=base, headers=headers).status_code == 403
    assert client.get("/dashboard/", base_url=base).status_code == 200


def test_headers_say_what_pages_may_do() -> None:
    """Word by word: nothing but the site's own parts, no frame, no copy in a cache, no address to other sites."""
    headers = dict(security_headers(secure=False))
    own = dict(directive.split(" ", 1) for directive in headers["Content-Security-Policy"].split("; "))

    assert own == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self' data:",
        "connect-src": "'self'", "base-uri": "'none'", "form-action": "'self'", "frame-ancestors": "'none'",
        "font-src": "'self'",
    }  # fmt: skip
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Strict-Transport-Security" not in headers
    assert dict(security_headers(secure=True))["Strict-Transport-Security"] == "max-age=31536000"


def test_data_may_load_nothing_and_a_service_worker_what_the_site_may() -> None:
    """Neither says anything of windows and cameras, which only pages have."""
    standing = security_headers(secure=True)
    sent = {kind: dict(add_headers([("Content-Type", kind)], standing))
            for kind in ("application/json", "text/javascript; charset=utf-8", "text/html; charset=utf-8")}  # fmt: skip
    data, worker, page = sent.values()

    assert data["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert "connect-src 'self'" in worker["Content-Security-Policy"]
    assert page == {"Content-Type": "text/html; charset=utf-8", **dict(standing)}
    for reply in (data, worker):
        assert page.keys() - reply.keys() == {"Cross-Origin-Opener-Policy", "Permissions-Policy"}
    assert dict(add_headers([], standing)) == dict(standing)


def test_respondents_page_may_do_even_less() -> None:
    own = dict(directive.split(" ", 1) for directive in form_policy("'sha256-x'").split("; "))

    assert own == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'sha256-x'", "img-src": "data:",
        "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip


def test_session_cookie_does_not_open_the_api(app: Flask) -> None:
    """Programs use tokens, so no foreign page can ride on a cookie."""
    client, _ = log_in(app)

    assert client.get("/api/v1/surveys", base_url="https://survey.example.org").status_code == 401


def test_survey_texts_are_escaped_on_the_pages(app: Flask) -> None:
    payload = "<script>alert(1)</script>'\""
    app.extensions["storage"].publish(survey(name="xss", title={"en": payload}))
    client, _ = log_in(app)
    page = client.get("/dashboard/surveys/xss/results", base_url="https://survey.example.org").text

    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard?a=b", "/dashboard/", "//dashboard", "/dashboard//login"])
def test_redirects_stay_here(storage: SQLiteStorage, clock: FakeClock, path: str) -> None:
    """Whatever Host is asked for, where any is accepted, and however a path is spelt: no reply names one."""
    reply = create_app(Settings(), storage, clock, {}).test_client().get("http://sentinel.example" + path)

    assert "sentinel" not in f"{reply.headers}{reply.text}"
    assert reply.headers.get("Location", "/dashboard/login") == "/dashboard/login"
    assert reply.status_code in (302, 404)


def test_closed_door_lets_no_key_in(storage: SQLiteStorage, clock: FakeClock) -> None:
    settings = Settings(public_url="https://survey.example.org", sign_in_methods="passkey")
    _, reply = log_in(create_app(settings, storage, clock, {}))

    assert reply.status_code == 401
    assert "Set-Cookie" not in reply.headers


OPENED = {"Sec-Fetch-Site": "none"}


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("http://127.0.0.1:8000", OPENED, 302),
        ("http://127.0.0.1:8000", {"Sec-Fetch-Site": "cross-site"}, 200),
        ("http://127.0.0.1:8000", {**OPENED, "Sec-Purpose": "prefetch"}, 200),
        ("http://127.0.0.1:8000", {}, 200),
        ("https://survey.example.org", OPENED, 200),
    ],
)
def test_a_link_signs_in_by_itself_on_ones_own_machine_only(
    storage: SQLiteStorage, clock: FakeClock, address: str, headers: dict[str, str], status: int
) -> None:
    """Elsewhere, or unless a person opened it, it asks and stays good: nobody is signed in as another unasked."""
    app = create_app(Settings(public_url=address), storage, clock, {})
    account = storage.access.add_owner("ann")
    link = sign_in_link(storage.access, address, account.id, int(clock().timestamp()) // 86400, at_once=True)
    client = app.test_client()

    reply = client.get(link.removeprefix(address), base_url=address, headers=headers)
    opens = status == 302
    assert (reply.status_code, "Set-Cookie" in reply.headers) == (status, opens)
    assert (client.get("/dashboard/", base_url=address).status_code == 200) is opens
    assert bool(storage.access.invitations()) is not opens
    assert storage.access.list_keys(account.id) == []
