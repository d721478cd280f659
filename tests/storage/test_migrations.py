"""Migrations: every schema that was released opens, and a migration that fails leaves the old one."""

import sqlite3
from pathlib import Path

import pytest
from sottovoce.aggregator.recount import recount
from sottovoce.aggregator.storage import sqlite
from sottovoce.aggregator.storage.schema import MIGRATIONS
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.shared.errors import StorageError

SCHEMAS = sorted((Path(__file__).parent / "schemas").glob("*.sql"))


def schema(path: Path) -> list[tuple[str, ...]]:
    """Every statement that made the tables of a file."""
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_every_schema_is_kept() -> None:
    """One file for each version, the present one among them."""
    assert [path.stem for path in SCHEMAS] == [f"sqlite-{number + 1}" for number in range(len(MIGRATIONS))]


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
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0]) == {0: {1: 3}, 1: {2: 3}, 2: {0: 3}}
    storage.close()


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
