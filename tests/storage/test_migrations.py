"""Migrations: every schema that was released opens, and a migration that fails leaves the old one."""

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sottovoce.aggregator.storage import postgres_schema, sqlite
from sottovoce.aggregator.storage.postgres import PostgresStorage
from sottovoce.aggregator.storage.schema import MIGRATIONS
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import recount
from sottovoce.shared.errors import StorageError

from tests import postgres

FOLDER = Path(__file__).parent / "schemas"
SCHEMAS = sorted(FOLDER.glob("sqlite-*.sql"))
SHARED_SCHEMAS = sorted(FOLDER.glob("postgres-*.sql"))
KEPT = {0: {1: 3}, 1: {2: 3}, 2: {0: 3}}
"""The counts in each of them."""

DESCRIBED = """
    SELECT table_name, column_name, data_type || is_nullable || coalesce(column_default, '')
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT relname, '', array_to_string(reloptions, ',') FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT proname, '', pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ORDER BY 1, 2, 3
"""
"""Everything that makes up a PostgreSQL schema."""


def schema(path: Path) -> list[tuple[str, ...]]:
    """Every statement that made the tables of a file."""
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


def described(url: str) -> list[Any]:
    """The same of a PostgreSQL database."""
    with psycopg.connect(url) as connection:
        return connection.execute(DESCRIBED).fetchall()


def test_every_schema_is_kept() -> None:
    """One file for each version, the present one among them."""
    shared = len(postgres_schema.MIGRATIONS)
    assert [path.stem for path in SCHEMAS] == [f"sqlite-{number + 1}" for number in range(len(MIGRATIONS))]
    assert [path.stem for path in SHARED_SCHEMAS] == [f"postgres-{number + 1}" for number in range(shared)]


@pytest.mark.parametrize("kept", SCHEMAS, ids=lambda path: path.stem)
def test_database_of_an_earlier_version_opens_with_equal_counts(tmp_path: Path, kept: Path) -> None:
    """It has the present schema afterwards, and its counts are still those of its rows."""
    old, new = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    with sqlite3.connect(old) as connection:
        connection.executescript(kept.read_text())
    storage = SQLiteStorage(old)
    SQLiteStorage(new).close()
    storage.check()

    assert storage.verify() == []
    assert schema(old) == schema(new)
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0]) == KEPT
    storage.close()


@pytest.mark.parametrize("kept", SHARED_SCHEMAS, ids=lambda path: path.stem)
def test_postgresql_of_an_earlier_version_opens_with_equal_counts(kept: Path) -> None:
    """The same on the shared back end."""
    old, new = postgres.fresh(), postgres.fresh()
    with psycopg.connect(old) as connection:
        connection.execute(kept.read_bytes())
    storage = PostgresStorage(old)
    PostgresStorage(new).close()
    storage.check()

    assert described(old) == described(new)
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0]) == KEPT
    storage.close()


def test_migration_of_postgresql_that_fails_leaves_the_old_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a migration is none."""
    url = postgres.fresh()
    PostgresStorage(url).close()
    before = described(url)
    good, name = "CREATE TABLE more (x bigint)", "sottovoce.aggregator.storage.postgres.MIGRATIONS"
    monkeypatch.setattr(name, (*postgres_schema.MIGRATIONS, (good, "nonsense")))
    with pytest.raises(psycopg.ProgrammingError):
        PostgresStorage(url)
    assert described(url) == before
    monkeypatch.setattr(name, (*postgres_schema.MIGRATIONS, (good,)))
    PostgresStorage(url).close()

    assert len(described(url)) == len(before) + 2


def test_migration_that_fails_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a migration is none; once it is right, it goes on from there."""
    path = tmp_path / "db.sqlite"
    SQLiteStorage(path).close()
    before = schema(path)
    good = "CREATE TABLE more (x INTEGER) STRICT"
    monkeypatch.setattr(sqlite, "MIGRATIONS", (*MIGRATIONS, (good, "nonsense")))
    with pytest.raises(StorageError):
        SQLiteStorage(path)
    assert schema(path) == before
    monkeypatch.setattr(sqlite, "MIGRATIONS", (*MIGRATIONS, (good,)))
    SQLiteStorage(path).close()

    assert len(schema(path)) == len(before) + 1
    monkeypatch.undo()
    with pytest.raises(StorageError, match="newer version"):
        SQLiteStorage(path)
