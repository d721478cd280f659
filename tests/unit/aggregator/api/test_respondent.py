"""What of the page may be kept for ever, and what may not."""

import pytest
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.page import PageFile

from tests.conftest import FakeClock

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
    """Any device."""
    return create_app(Settings(), storage, clock, ASSETS).test_client()


@pytest.mark.parametrize("name", ["respondent.js", "catalogues/en.json"])
def test_part_is_kept_for_ever_under_the_digest_of_its_set(client: FlaskClient, name: str) -> None:
    """In every coding; nobody asks for it twice."""
    for coding in ("br", "identity"):
        reply = client.get(f"/assets/{FOLDER}/{name}", headers={"Accept-Encoding": coding})
        assert reply.status_code == 200
        assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("path", ["/s/exam", "/s/sw.js", "/assets/saved.json", f"/assets/{FOLDER}/respondent.html"])
def test_what_names_the_parts_is_not_kept(client: FlaskClient, path: str) -> None:
    """The page, its worker and the pieces of a page in one file are asked for at every visit."""
    reply = client.get(path)
    assert reply.status_code == 200
    assert reply.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/assets/fedcba9876543210/respondent.js", "/assets/respondent.js", "/assets/catalogues/en.json"]
)
def test_page_of_another_release_is_not_given_our_parts(client: FlaskClient, path: str) -> None:
    """Not there, and that is not kept: the same name may be found at the next node."""
    reply = client.get(path)
    assert reply.status_code == 404
    assert reply.headers["Cache-Control"] == "no-store"
