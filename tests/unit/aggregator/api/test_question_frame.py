"""The frame of a single question: its headers, and that nothing about a question reaches the server."""

from pathlib import Path

import pytest
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.question_page import question_assets, question_page


@pytest.fixture
def storage(tmp_path: Path) -> SQLiteStorage:
    """Return an empty database."""
    return SQLiteStorage(tmp_path / "sottovoce.sqlite")


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
    storage.close()


def test_without_a_frame_there_is_none(storage: SQLiteStorage) -> None:
    """A server that was given no assets answers as for any other page that it lacks."""
    client = create_app(Settings(), storage, now, {}).test_client()
    assert client.get("/q/1/").status_code == 404
    assert client.get("/q/1/element.js").status_code == 404
    storage.close()
