"""A database that cannot be used ends the start in one sentence: no traceback, no address, nothing overwritten."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests import postgres
from tests.journey.test_own_survey import invoke

SECRET = "sentinel-7f3a"


def newer_file(data: Path) -> str:
    SQLiteStorage(data / FILE).close()
    with closing(sqlite3.connect(data / FILE)) as connection:
        connection.execute("PRAGMA user_version = 999")
    return ""


def newer_server(_: Path) -> str:
    url = postgres.fresh()
    PostgresStorage(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE schema_version SET version = 999, usable_from = 999")
    return url


def no_server(_: Path) -> str:
    return f"postgresql://user:{SECRET}@127.0.0.1:9/nothing?connect_timeout=1"


def no_database(data: Path) -> str:
    (data / FILE).write_bytes(SECRET.encode() * 1000)
    return ""


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (newer_file, "made by a newer version"),
        (newer_server, "made by a newer version"),
        (no_server, "the database is unavailable"),
        (no_database, "the database is unavailable"),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_unusable_database_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: Callable[[Path], str], words: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("SOTTOVOCE_DATABASE", prepare(data))
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    ended = invoke(tmp_path, "serve", "--data", "data", "--port", "1")

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert SECRET not in ended.stderr + ended.stdout
    assert words in ended.stderr.splitlines()[-1]
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before
