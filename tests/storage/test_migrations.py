"""Migrations: a database of the last release opens, and a migration that fails leaves the old one."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import SystemRandom
from typing import Any

import psycopg
import pytest
from sottovoce.aggregator.storage.postgres.schema import EARLIEST
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite import schema
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.recount import recount

FOLDER = Path(__file__).parent / "schemas"
SCHEMAS, SHARED_SCHEMAS = (
    sorted(FOLDER.glob(f"{kind}-*.sql"), key=lambda path: int(path.stem.rpartition("-")[2]))
    for kind in ("sqlite", "postgres")
)
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


OPEN_AT_ONCE = """
import sys
from pathlib import Path
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
print(flush=True)
sys.stdin.readline()
SQLiteStorage(Path(sys.argv[1])).check()
"""
"""A process that opens a database as soon as it is told to."""

KILLED_AT_EACH_STATEMENT = """
import os, shutil, signal, sqlite3, sys
from pathlib import Path
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

old, folder, connect = Path(sys.argv[1]), Path(sys.argv[2]), sqlite3.connect

def killed_at(last):
    def fatal(*arguments, **options):
        left, connection = [last], connect(*arguments, **options)
        def trace(statement):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        connection.set_trace_callback(trace)
        return connection
    return fatal

for last in range(int(sys.argv[3]), 1000, int(sys.argv[4])):
    path = folder / f"{last}.sqlite"
    shutil.copy(old, path)
    child = os.fork()
    if child == 0:
        sqlite3.connect = killed_at(last)
        SQLiteStorage(path).close()
        os._exit(0)
    if os.waitpid(child, 0)[1] != signal.SIGKILL:
        break
"""
"""Opens a copy of a database again and again, each time killed some statements later, until it comes to the end."""


def made(path: Path) -> list[tuple[str, ...]]:
    """Every statement that made the tables of a file."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


def whole(path: Path) -> list[str]:
    """Every statement that would make the file anew, with its rows; the number of its schema."""
    with closing(sqlite3.connect(path)) as connection:
        return [*connection.iterdump(), str(number_of(path))]


def number_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def database_of(kept: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(kept.read_text())


def described(url: str) -> list[Any]:
    """The same of a PostgreSQL database."""
    with psycopg.connect(url) as connection:
        return connection.execute(DESCRIBED).fetchall()


def test_schema_of_each_release_that_is_read_is_kept() -> None:
    """A file each; what stood between two releases no database has."""
    assert [path.stem for path in SCHEMAS] == [f"sqlite-{schema.EARLIEST}"]
    assert [path.stem for path in SHARED_SCHEMAS] == [f"postgres-{EARLIEST}"]


@pytest.mark.parametrize("kept", SCHEMAS, ids=lambda path: path.stem)
def test_database_of_an_earlier_version_opens_with_equal_counts(tmp_path: Path, kept: Path) -> None:
    old, new = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    database_of(kept, old)
    storage = SQLiteStorage(old)
    SQLiteStorage(new).close()
    storage.check()

    assert storage.verify() == []
    assert made(old) == made(new)
    assert number_of(old) == number_of(new) == schema.VERSION
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0]) == KEPT
    storage.close()


@pytest.mark.parametrize("kept", SHARED_SCHEMAS, ids=lambda path: path.stem)
def test_postgresql_of_an_earlier_version_opens_with_equal_counts(kept: Path) -> None:
    old, new = postgres.fresh(), postgres.fresh()
    with psycopg.connect(old) as connection:
        connection.execute(kept.read_bytes())
    storage = PostgresStorage(old, stopped=True)
    PostgresStorage(new).close()
    storage.check()

    assert storage.verify() == []
    assert described(old) == described(new)
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0]) == KEPT
    storage.close()


def test_database_of_before_the_last_release_names_the_way(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite"
    database_of(SCHEMAS[0], path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.EARLIEST - 1}")
    before = made(path)
    with pytest.raises(StorageError, match=r"a release before 0\.4; upgrade through 0\.4"):
        SQLiteStorage(path)

    assert (made(path), number_of(path)) == (before, schema.EARLIEST - 1)


def test_migration_that_fails_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "db.sqlite"
    database_of(SCHEMAS[0], path)
    before = made(path), number_of(path)
    monkeypatch.setattr(schema, "INDEX", "nonsense")
    with pytest.raises(StorageError):
        SQLiteStorage(path)
    assert (made(path), number_of(path)) == before
    monkeypatch.undo()
    SQLiteStorage(path).close()

    assert number_of(path) == schema.VERSION
    monkeypatch.setattr(schema, "VERSION", schema.VERSION - 1)
    with pytest.raises(StorageError, match="newer version"):
        SQLiteStorage(path)


@pytest.mark.parametrize("kept", [None, SCHEMAS[0]], ids=lambda path: path.stem if path else "new")
def test_two_processes_that_start_at_once_make_one_migration(tmp_path: Path, kept: Path | None) -> None:
    path = tmp_path / "db.sqlite"
    if kept is not None:
        database_of(kept, path)
    command = [sys.executable, "-c", OPEN_AT_ONCE, str(path)]
    starting = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for process in starting:
        process.stdout.readline()
    for process in starting:
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in starting:
        process.communicate(timeout=60)

    assert [process.returncode for process in starting] == [0, 0]
    assert number_of(path) == schema.VERSION


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_migration_that_is_killed_leaves_the_old_or_the_new(tmp_path: Path, every: int) -> None:
    """All of the old schema or all of the new one, and every row; a failure names the first statement it died at."""
    first = SystemRandom().randint(1, every)
    print(f"killed at statement {first}, and {every} later each time")
    old, folder = tmp_path / "old.sqlite", tmp_path / "killed"
    folder.mkdir()
    database_of(SCHEMAS[0], old)
    subprocess.run(
        [sys.executable, "-c", KILLED_AT_EACH_STATEMENT, str(old), str(folder), str(first), str(every)], check=True
    )
    paths = sorted(folder.glob("*.sqlite"), key=lambda path: int(path.stem))
    states = [whole(path) for path in paths]
    # What is equal to the old one opens as that does.
    for path in (paths[0], paths[-2], paths[-1]):
        storage = SQLiteStorage(path)
        assert storage.verify() == []
        assert storage.live_counts(1) == recount(storage, storage.surveys()[0]) == KEPT
        storage.close()

    assert all(state in (whole(old), states[-1]) for state in states)
    assert states.count(whole(old)) > len(EVERY_TABLE) // every
