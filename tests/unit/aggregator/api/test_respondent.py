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
    return create_app(Settings(), storage, clock, ASSETS).test_client()


@pytest.mark.parametrize("name", ["respondent.js", "catalogues/en.json"])
def test_part_is_kept_for_ever_under_the_digest_of_its_set(client: FlaskClient, name: str) -> None:
    """In every coding; nobody asks for it twice."""
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
