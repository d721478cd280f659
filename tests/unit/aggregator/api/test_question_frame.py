"""What browsers get: parts of the page, the frame of a question, questions by a link; no answer reaches a server."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.survey_file import write_published
from sottovoce.client import question_page as question_page_module
from sottovoce.client.page import PageFile
from sottovoce.client.question_page import link_page, question_assets, question_page, question_scripts
from sottovoce.shared import canonical
from sottovoce.shared.by_link.link_question import parse_link, published_page
from sottovoce.shared.single_question import element_name

from tests.conftest import FakeClock
from tests.unit.aggregator.api.test_results import ask
from tests.unit.shared.by_link.test_link_question import LINK
from tests.vectors.cases import named

COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Ever?"}, "mechanism": named("coin_flip")}


def test_frame_may_be_held_by_any_site_and_opens_nothing(storage: SQLiteStorage) -> None:
    """Its own script and style by hash, no connection, no window; no cookie, and without signing in."""
    client = create_app(Settings(), storage, now, question_assets()).test_client()
    reply = client.get("/q/1/")
    policy = reply.headers["Content-Security-Policy"]

    assert reply.data == question_page().body
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'none'" in policy
    assert policy.endswith("frame-ancestors *; sandbox allow-scripts allow-same-origin allow-modals")
    assert "unsafe" not in policy
    assert reply.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert reply.headers["Origin-Agent-Cluster"] == "?1"
    assert reply.headers["Cross-Origin-Opener-Policy"] == "unsafe-none"
    assert "Set-Cookie" not in reply.headers
    for path in ("/q/1/element.js", "/q/1/frame.js"):
        assert client.get(path).headers["Access-Control-Allow-Origin"] == "*"
    element = client.get("/q/1/element.js", headers={"Origin": "https://host.example"})
    assert element.headers["Access-Control-Allow-Origin"] == "*"


def test_element_of_a_former_release_is_served_by_its_hash(
    storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And this release's, for a year; one that was never there is not found, and none comes in its place."""
    former = b"export {};\n"
    monkeypatch.setattr(question_page_module, "former_elements", lambda: [former])
    client = create_app(Settings(), storage, now, question_assets()).test_client()
    for script in (former, question_scripts()["element.js"].encode()):
        reply = client.get(f"/q/1/{element_name(script)}")
        assert reply.data == script
        assert reply.headers["Access-Control-Allow-Origin"] == "*"
        assert "immutable" in reply.headers["Cache-Control"]
    missing = client.get("/q/1/element-0123456789abcdef.js")
    assert missing.status_code == 404
    assert "immutable" not in missing.headers["Cache-Control"]


def test_without_a_frame_there_is_none(storage: SQLiteStorage) -> None:
    """A server that was given no assets answers as for any other page that it lacks."""
    client = create_app(Settings(), storage, now, {}).test_client()
    assert client.get("/q/1/").status_code == 404
    assert client.get("/q/1/element.js").status_code == 404


def test_published_question_has_a_page_that_nothing_lies_around(storage: SQLiteStorage, tmp_path: Path) -> None:
    """With the institution's name; no site may hold it in a frame, and its process is its own."""
    link = parse_link({**COIN, "then": "https://forms.example.org/s", "code": "entry.1"})
    write_published(tmp_path, link)
    (tmp_path / "institution.json").write_text('{"name": "A University"}')
    settings = Settings(data=tmp_path, institution=str(tmp_path / "institution.json"))
    client = create_app(settings, storage, now, question_assets()).test_client()
    reply = client.get(f"/q/1/{link.digest}?token=a")

    assert reply.status_code == 200
    assert reply.data == published_page(link_page().body, link.canonical, "A University")
    policy = reply.headers["Content-Security-Policy"]
    assert policy == f"{link_page().policy}; frame-ancestors 'none'"
    assert "unsafe" not in policy
    assert reply.headers["Origin-Agent-Cluster"] == "?1"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert reply.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Set-Cookie" not in reply.headers


def test_nothing_else_is_served_below_it(storage: SQLiteStorage, tmp_path: Path) -> None:
    link = parse_link({**COIN, "then": "https://forms.example.org/s", "code": "entry.1"})
    write_published(tmp_path, link)
    (tmp_path / "questions" / ("0" * 64)).write_bytes(link.canonical)
    client = create_app(Settings(data=tmp_path), storage, now, {"question_link.html": link_page()}).test_client()
    names = ["0" * 64, "..%2fsottovoce.sqlite", "A" * 64, "questions", ""]
    assert [client.get(f"/q/1/{name}").status_code for name in names] == [404] * 5


QUESTIONS = "/api/v1/questions"
DIGEST = parse_link(LINK).digest


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock, tmp_path: Path) -> Flask:
    settings = Settings(public_url="https://survey.example.org", data=tmp_path)
    return create_app(settings, storage, clock, question_assets())


def test_question_is_published_served_and_withdrawn(app: Flask, researcher: FlaskClient) -> None:
    described = {"digest": DIGEST, "address": f"https://survey.example.org/q/1/{DIGEST}", "then": LINK["then"]}
    for _ in range(2):
        assert ask(researcher, "POST", QUESTIONS, canonical.dump(LINK)) == (200, described)
    assert ask(researcher, "GET", QUESTIONS) == (200, {"questions": [described]})
    page = app.test_client().get(f"/q/1/{DIGEST}")
    assert (page.status_code, canonical.dump(LINK["label"]) in page.data) == (200, True)

    for withdrawn in (True, False):
        reply = ask(researcher, "DELETE", f"{QUESTIONS}/{DIGEST}")
        assert reply == (200, {"digest": DIGEST, "withdrawn": withdrawn})
    assert ask(researcher, "DELETE", f"{QUESTIONS}/no-digest")[0] == 404
    assert app.test_client().get(f"/q/1/{DIGEST}").status_code == 404


def test_question_in_the_data_folder_stays_served(app: Flask, researcher: FlaskClient, tmp_path: Path) -> None:
    """Where the machine's administrator has put it, no account withdraws it."""
    write_published(tmp_path, parse_link(LINK))
    ask(researcher, "POST", QUESTIONS, canonical.dump(LINK))
    ask(researcher, "DELETE", f"{QUESTIONS}/{DIGEST}")
    assert app.test_client().get(f"/q/1/{DIGEST}").status_code == 200


def test_what_is_no_question_by_a_link_is_refused(researcher: FlaskClient) -> None:
    status, refused = ask(researcher, "POST", QUESTIONS, canonical.dump({**COIN, "then": "http://forms.example.org/"}))
    assert (status, refused["code"], refused["problems"][0]["pointer"]) == (422, "spec_invalid", "/then")
    assert ask(researcher, "POST", QUESTIONS, b"{")[0] == 422
    assert ask(researcher, "GET", QUESTIONS) == (200, {"questions": []})


def test_only_those_who_may_publish_do(app: Flask, storage: SQLiteStorage) -> None:
    client = app.test_client()
    assert ask(client, "POST", QUESTIONS, canonical.dump(LINK))[0] == 401
    assert storage.link_questions.all() == []


FOLDER = "0123456789abcdef"
ASSETS = {
    "catalogues/en.json": PageFile(b"{}", "application/json", folder=FOLDER),
    "respondent.html": PageFile(b"<p>", "text/html; charset=utf-8", "'x'", FOLDER),
    "respondent.js": PageFile(b"start();", "text/javascript; charset=utf-8", folder=FOLDER),
    "saved.json": PageFile(b"[]", "application/json"),
    "sw.js": PageFile(b"keep();", "text/javascript; charset=utf-8"),
}


@pytest.fixture
def client(storage: SQLiteStorage, clock: FakeClock) -> FlaskClient:
    return create_app(Settings(), storage, clock, ASSETS).test_client()


@pytest.mark.parametrize("name", ["respondent.js", "catalogues/en.json"])
def test_part_is_kept_for_ever_under_the_digest_of_its_set(client: FlaskClient, name: str) -> None:
    for coding in ("br", "identity"):
        reply = client.get(f"/assets/{FOLDER}/{name}", headers={"Accept-Encoding": coding})
        assert reply.status_code == 200
        assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"


NAMES_THE_PARTS = ["/s/exam", "/s/sw.js", "/assets/saved.json", f"/assets/{FOLDER}/respondent.html"]
OF_ANOTHER_RELEASE = ["/assets/fedcba9876543210/respondent.js", "/assets/respondent.js", "/assets/catalogues/en.json"]


@pytest.mark.parametrize("path", [*NAMES_THE_PARTS, *OF_ANOTHER_RELEASE])
def test_what_names_the_parts_and_parts_of_another_release_are_not_kept(client: FlaskClient, path: str) -> None:
    """The former is asked for at every visit; a part that is not there may be found at the next node."""
    reply = client.get(path)
    assert reply.status_code == (200 if path in NAMES_THE_PARTS else 404)
    assert reply.headers["Cache-Control"] == "no-store"
