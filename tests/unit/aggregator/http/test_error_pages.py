"""People see a page in their language; programs get the problem document, byte for byte."""

import re
from datetime import date
from html.parser import HTMLParser

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.http import error_pages, problems
from sottovoce.aggregator.i18n import translator
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client import page
from werkzeug.test import TestResponse

from tests.conftest import FakeClock
from tests.surveys import survey
from tests.unit.aggregator.accounts.test_authentication import log_in

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
SENTINEL = "sentinel-value"
SITE = "https://survey.example.org"
REQUESTS: list[tuple[str, str, str, dict[str, object]]] = [
    ("not_found", "GET", f"/{SENTINEL}?x={SENTINEL}", {}),
    ("not_found", "GET", f"/assets/{SENTINEL}", {}),
    ("unknown_survey", "GET", f"/api/v1/surveys/{SENTINEL}", {}),
    ("method_not_allowed", "PUT", "/api/v1/surveys/exam", {"json": {SENTINEL: 1}}),
    ("too_large", "POST", "/api/v1/surveys/exam/reports", {"json": SENTINEL * 9000}),
    ("malformed", "POST", "/api/v1/surveys/exam/reports", {"json": {SENTINEL: 1}}),
    ("forbidden", "POST", "/dashboard/login", {"data": {"token": SENTINEL}}),
    ("unauthorized", "GET", f"/api/v1/surveys/exam/export?cohort={SENTINEL}", {}),
]
RESEARCHERS = [("unknown_survey", f"/dashboard/surveys/{SENTINEL}/results"),
               ("not_found", f"/dashboard/{SENTINEL}"),
               ("still_open", "/dashboard/surveys/exam/files/reports.csv"),
               ("malformed", f"/dashboard/surveys/exam/files?wave={SENTINEL}"),
               ("estimate_impossible", f"/dashboard/surveys/exam/results?cohort={SENTINEL}")]  # fmt: skip


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    storage.publish(survey())
    return create_app(Settings(public_url=SITE), storage, clock, {})


class Outline(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.closed: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.closed.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += [] if self.opened[-1:] and self.opened[-1][0] == "style" else data.split()


def check_page(reply: TestResponse, language: str, way: str, links: tuple[str, ...] = ()) -> Outline:
    """A whole page in this language, without script or form, that nothing else has to be fetched for; and its links."""
    assert reply.content_type == "text/html; charset=utf-8"
    assert reply.headers["Content-Language"] == language
    assert reply.headers["Content-Security-Policy"] == error_pages.POLICY
    outline = Outline(reply.text)
    tags = [tag for tag, _ in outline.opened]
    assert outline.opened[0] == ("html", {"lang": language, "dir": way})
    assert {"script", "form", "img"}.isdisjoint(tags)
    assert tuple(attributes["href"] for tag, attributes in outline.opened if tag == "a") == links
    assert [attributes["href"] for tag, attributes in outline.opened if tag == "link"] == ["data:,"]
    assert sorted(outline.closed) == sorted(tag for tag in tags if tag not in {"meta", "link"})
    assert (tags.count("h1"), tags.count("main")) == (1, 1)
    return outline


def test_pages_speak_the_forms_languages():
    kinds = {*error_pages.KINDS.values(), *error_pages.KINDS_OF_STAFF.values(), "malformed", "staff_malformed", "about"}

    assert translator.LANGUAGES[0] == "en"
    assert sorted(translator.LANGUAGES) == sorted(path[11:-5] for path in page.catalogues())
    for language in translator.LANGUAGES:
        told = error_pages.sentences(language)
        lengths = {**dict.fromkeys(kinds, 2), "about": 3, "staff_home": 1, "sign_in": 1}
        assert {kind: len(texts) for kind, texts in told.items()} == lengths
        assert all(text.strip() for texts in told.values() for text in texts)
    assert {*error_pages.KINDS, *error_pages.KINDS_OF_STAFF} <= set(problems.STATUS)


def test_no_sentence_is_left_in_english() -> None:
    english = error_pages.sentences("en")
    for language in translator.LANGUAGES[1:]:
        told = error_pages.sentences(language)
        assert [kind for kind in english if set(english[kind]) & set(told[kind])] == [], language


def test_only_who_names_html_gets_a_page() -> None:
    """The form's own requests and programs accept anything, and go on as they were."""
    pages = (BROWSER, "text/html", "TEXT/HTML;q=0.5", "text/html, application/json;q=0.9")
    others = (
        "text/html;q=0.8, application/json;q=0.9", "text/html, application/problem+json", "text/html;q=0",
        "text/html;q=much", "application/json", "*/*", "text/*", "",
    )  # fmt: skip
    assert [accept for accept in pages if not error_pages.wants_page(accept)] == []
    assert [accept for accept in others if error_pages.wants_page(accept)] == []


def test_page_is_in_the_first_language_that_it_has() -> None:
    expected = {
        "": "en", "de": "de", "de-AT, en;q=0.9": "de", "sw, fr;q=0.4, es;q=0.7": "es", "pt-BR": "pt",
        "zh-CN,zh;q=0.9": "zh-Hans", "AR-eg": "ar", "de;q=0, hi;q=0.1": "hi", "*": "en", f"{SENTINEL};q=x,,;": "en",
    }  # fmt: skip
    assert {accepted: translator.language_of(accepted) for accepted in expected} == expected


def ask(client: FlaskClient, method: str, path: str, accept: str, **more: object) -> TestResponse:
    headers = {"Accept": accept, "Accept-Language": "ar"}
    return client.open(path, method=method, headers=headers, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("code", "method", "path", "more"), REQUESTS, ids=[each[0] for each in REQUESTS])
def test_error_is_a_page_for_people_and_a_document_for_programs(app, code, method, path, more):
    client = app.test_client()
    shown, told = (ask(client, method, path, accept, **more) for accept in (BROWSER, "*/*"))
    outline = check_page(shown, "ar", "rtl")

    assert shown.status_code == told.status_code == problems.STATUS[code]
    assert told.content_type == "application/problem+json"
    assert told.data == problems.document(code, told.json.get("detail", ""))
    assert SENTINEL not in shown.text + told.text
    heading, advice = error_pages.sentences("ar")[error_pages.KINDS.get(code, "malformed")]
    assert " ".join(outline.words) == f"{heading} {heading} {advice}"
    assert not re.search(rf"{code}|{problems.STATUS[code]}", " ".join(outline.words))


@pytest.mark.parametrize(("code", "path"), RESEARCHERS)
def test_dashboard_says_what_is_wrong_on_a_page(app, code, path):
    reply = log_in(app)[0].get(path, headers={"Accept": BROWSER, "Accept-Language": "fr"}, base_url=SITE)

    check_page(reply, "fr", "ltr", ("/dashboard/",))
    assert reply.status_code == problems.STATUS[code]
    assert SENTINEL not in reply.text
    assert "le lien" not in reply.text
    assert "Toutes les enquêtes" in reply.text


def test_bug_is_a_page_that_tells_nothing(app):
    def fail(*_: object) -> None:
        raise RuntimeError(SENTINEL)

    app.extensions["storage"].revisions = fail
    reply = ask(app.test_client(), "GET", "/api/v1/surveys/exam", BROWSER)

    check_page(reply, "ar", "rtl")
    assert reply.status_code == 500
    assert SENTINEL not in reply.text


def test_bare_address_says_what_this_is(app):
    """To people, and leads researchers to where they sign in; a program finds nothing there, as before."""
    client = app.test_client()
    shown, told = (client.get("/", headers={"Accept": accept}) for accept in (BROWSER, "*/*"))

    check_page(shown, "en", "ltr", ("/dashboard/",))
    assert shown.status_code == 200
    assert "open the complete link" in shown.text
    assert "exam" not in shown.text
    assert (told.status_code, told.data) == (404, problems.document("not_found"))


@pytest.mark.parametrize("code", ["too_many", "busy", "storage", "unauthorized"])
def test_page_says_when_to_come_back_as_the_document_does(code):
    shown, told = (
        problems.reply(code, lambda name, accept=accept: accept if name == "accept" else "")
        for accept in (BROWSER, "*/*")
    )
    further = {"Retry-After", "WWW-Authenticate"}

    assert [pair for pair in shown[1] if pair[0] in further] == [pair for pair in told[1] if pair[0] in further] != []


def test_request_for_another_site_is_refused(storage, clock):
    """Where names are set, with or without a port; programs that watch ask each node at its address."""
    client = create_app(Settings(trusted_hosts="a.example .b.example"), storage, clock, {}).test_client()
    hosts = ["a.example", "a.example:8000", "x.b.example", "evil.example", "xa.example"]
    shown = [client.get("/", headers={"Host": host, "Accept": BROWSER}).status_code for host in hosts]

    assert shown == [200, 200, 200, 400, 400]
    assert client.get("/readyz", headers={"Host": "10.0.0.7:8000"}).status_code == 200
    assert client.get("/", headers={"Host": "a.example"}).status_code == 404


OWN = ["survey.example.org", "survey.example.org:8443", "localhost:8000", "10.0.0.7:8000", "[::1]:8000"]
OTHERS = ["evil.example", "survey.example.org.evil.example", "7", "[::1", "10.0.0.7.evil.example"]


@pytest.mark.parametrize(("host", "is_let_in"), [*((host, True) for host in OWN), *((host, False) for host in OTHERS)])
def test_staff_come_by_the_name_in_the_public_url_or_by_address(app, host, is_let_in):
    """Where no names are set: pages, signing in and programs; another name gets nothing."""
    client = app.test_client()
    own = {"Host": host, "Origin": f"https://{host}", "Sec-Fetch-Site": "same-origin", "Accept": BROWSER}
    asked = [("GET", "/dashboard/login"), ("POST", "/dashboard/login"), ("GET", "/api/v1/surveys")]

    told = ["names another site" in client.open(path, method=method, headers=own | {"Accept": "*/*"}).text
            for method, path in asked]  # fmt: skip
    assert told == [not is_let_in] * 3
    assert (client.get("/dashboard/login", headers=own).status_code == 200) is is_let_in


def test_respondents_and_monitoring_come_by_any_name(app):
    """Where none are set: saved pages, other names of the form and health checks are as they were."""
    other = {"Host": "alias.example", "Origin": "https://elsewhere.example"}
    paths = ["/api/v1/surveys/exam", "/api/v1/surveys/exam/status", "/healthz", "/readyz", "/calendar", "/empty"]

    assert {app.test_client().get(path, headers=other).status_code for path in paths} == {200}


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, []),
        ({"public_url": "https://[2001:db8::1]:8"}, ["[2001:db8::1]"]),
        ({"public_url": SITE, "trusted_hosts": "a.example"}, ["a.example"]),
    ],
)
def test_names_that_are_set_stand_before_the_one_in_the_public_url(settings, names):
    """Without either, any name is accepted."""
    assert Settings(**settings).hosts == names


@pytest.mark.parametrize(("language", "title"), [("en", "July 2026"), ("de", "Juli 2026"), ("zh-Hans", "2026年7月")])
def test_exit_leads_to_a_page_as_on_any_wall(language, title):
    """The days of this month, in the reader's language; it says nothing of surveys or leaving."""
    page = error_pages.calendar_page(language, date(2026, 7, 26)).decode()
    assert re.findall(r"<(?:title|h1)>([^<]+)", page) == [title, title]
    assert len(re.findall(r"<th[^>]*>([^<]+)", page)) == 7
    assert [int(day) for day in re.findall(r"<td>(\d+)", page)] == list(range(1, 32))
