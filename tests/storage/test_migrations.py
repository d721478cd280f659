"""Migrations: every schema that was released opens, and a migration that fails leaves the old one."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sottovoce.aggregator.storage import Cell
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.postgres.schema import EARLIEST, VERSION
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite import schema
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.recount import recount
from tests.storage.test_contract import arrival

FOLDER = Path(__file__).parent / "schemas"
SCHEMAS, SHARED_SCHEMAS = (
    sorted(FOLDER.glob(f"{kind}-*.sql"), key=lambda path: int(path.stem.rpartition("-")[2]))
    for kind in ("sqlite", "postgres")
)
KEPT = {0: {1: 3}, 1: {2: 3}, 2: {0: 3}}
"""The counts in each of them."""

SHOWN_BESIDE = """
    INSERT INTO cells VALUES (1, 1, -1, 60, 3, 9, 50, 2), (1, 1, 0, 40, 3, 15, 26, 2), (1, 1, 1, 20, 0, 20, 0, 0);
    INSERT INTO counts VALUES (1, 1, -1, 0, 0, 40, 30), (1, 1, -1, 0, 1, 20, 20), (1, 1, 0, 0, 0, 40, 26),
        (1, 1, 1, 0, 1, 20, 0);
    INSERT INTO cells VALUES (1, 2, -1, 49, 1, 24, 25, 1);
    INSERT INTO counts VALUES (1, 2, -1, 0, 1, 49, 25);
    INSERT INTO surveys SELECT 2, 'over', 1, 'another', document, 20000, 0 FROM surveys WHERE key = 1;
    INSERT INTO cells VALUES (2, 0, -1, 7, 1, 0, 7, 1), (2, 0, 0, 4, 1, 0, 4, 1), (2, 0, 1, 3, 0, 0, 3, 0);
    INSERT INTO counts VALUES (2, 0, -1, 0, 0, 4, 4), (2, 0, -1, 0, 1, 3, 3), (2, 0, 0, 0, 0, 4, 4),
        (2, 0, 1, 0, 1, 3, 3);
"""
"""Counts as they were kept before what is shown had tables of its own: of cohorts, of none, and of a closed survey."""

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

for last in range(1, 1000):
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
"""Opens a copy of a database again and again, each time killed one statement later, until it comes to the end."""


def made(path: Path) -> list[tuple[str, ...]]:
    """Every statement that made the tables of a file."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


def number_of(path: Path) -> int:
    """The number of a file's schema."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def database_of(kept: Path, path: Path) -> None:
    """Make the database of an earlier version."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(kept.read_text())


def described(url: str) -> list[Any]:
    """The same of a PostgreSQL database."""
    with psycopg.connect(url) as connection:
        return connection.execute(DESCRIBED).fetchall()


def test_every_schema_is_kept() -> None:
    """One file for each version, the present one among them."""
    assert [path.stem for path in SCHEMAS] == [f"sqlite-{number + 1}" for number in range(schema.VERSION)]
    assert [path.stem for path in SHARED_SCHEMAS] == [f"postgres-{number}" for number in range(EARLIEST, VERSION + 1)]


@pytest.mark.parametrize("kept", SCHEMAS, ids=lambda path: path.stem)
def test_database_of_an_earlier_version_opens_with_equal_counts(tmp_path: Path, kept: Path) -> None:
    """It has the present schema afterwards, and its counts are still those of its rows."""
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
    """The same on the shared back end."""
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


def test_what_was_shown_is_kept_and_nothing_else_is_shown(tmp_path: Path) -> None:
    """Cohorts keep their figures; the whole becomes their sum, which is less where some was shown of the whole only."""
    database_of(SCHEMAS[1], tmp_path / "old.sqlite")
    with closing(sqlite3.connect(tmp_path / "old.sqlite")) as connection:
        connection.executescript(SHOWN_BESIDE)
    storage = SQLiteStorage(tmp_path / "old.sqlite")
    divided = Cell(1, 0, 26, 2, {0: {0: 26}})
    undivided = Cell(2, ALL, 25, 1, {0: {1: 25}})

    assert storage.verify() == []
    assert storage.cells(1) == [replace(divided, cohort=ALL), divided, undivided]
    assert storage.cells(2) == [Cell(0, ALL, 7, 1, {0: {0: 4, 1: 3}}, 7), Cell(0, 0, 4, 1, {0: {0: 4}}, 4),
                                Cell(0, 1, 3, 0, {0: {1: 3}}, 3)]  # fmt: skip
    assert [row.reports for row in storage.surveys()] == [3 + 60 + 49, 7]
    assert storage.live_counts(1)[0] == {0: 40, 1: 3 + 20 + 49}
    # What is missing to a batch is missing to it as before, and one report more is shown with all that came since.
    storage.store([replace(arrival(1, 90 + number, (1, 0, 1)), wave=1) for number in range(4)])
    assert storage.cells(1)[1:] == [divided, undivided]
    storage.store([replace(arrival(1, 99, (1, 0, 1)), wave=1)])
    assert [(cell.wave, cell.cohort, cell.reports) for cell in storage.cells(1)] == [
        (1, ALL, 51), (1, 0, 26), (1, 1, 25), (2, ALL, 25)
    ]  # fmt: skip
    storage.close()


@pytest.mark.parametrize("kept", SCHEMAS[:-1], ids=lambda path: path.stem)
def test_migration_that_fails_leaves_the_old_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Path
) -> None:
    """Half of a migration is none; once it is right, it begins anew, and an earlier program refuses the file."""
    path = tmp_path / "db.sqlite"
    database_of(kept, path)
    before = made(path), number_of(path)
    monkeypatch.setattr(schema, "COMPLETED", (*schema.COMPLETED, (schema.VERSION, ("nonsense",))))
    with pytest.raises(StorageError):
        SQLiteStorage(path)
    assert (made(path), number_of(path)) == before
    monkeypatch.undo()
    SQLiteStorage(path).close()

    assert number_of(path) == schema.VERSION
    monkeypatch.setattr(schema, "VERSION", schema.VERSION - 1)
    with pytest.raises(StorageError, match="newer version"):
        SQLiteStorage(path)


@pytest.mark.parametrize(
    "kept",
    [None, SCHEMAS[0], *(pytest.param(path, marks=pytest.mark.slow) for path in SCHEMAS[1:])],
    ids=lambda path: path.stem if path else "new",
)
def test_two_processes_that_start_at_once_make_one_migration(tmp_path: Path, kept: Path | None) -> None:
    """Each waits for the other, and neither is refused."""
    path = tmp_path / "db.sqlite"
    if kept is not None:
        database_of(kept, path)
    command = [sys.executable, "-c", OPEN_AT_ONCE, str(path)]
    starting = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for process in starting:
        assert process.stdout is not None
        process.stdout.readline()
    for process in starting:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in starting:
        process.communicate(timeout=60)

    assert [process.returncode for process in starting] == [0, 0]
    assert number_of(path) == schema.VERSION


def test_migration_that_is_killed_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """At whichever statement the process dies: all of the old schema or all of the new one, and every row."""
    old, folder = tmp_path / "old.sqlite", tmp_path / "killed"
    folder.mkdir()
    database_of(SCHEMAS[0], old)
    subprocess.run([sys.executable, "-c", KILLED_AT_EACH_STATEMENT, str(old), str(folder)], check=True)
    paths = sorted(folder.glob("*.sqlite"), key=lambda path: int(path.stem))
    schemas = [made(path) for path in paths]
    whole = [made(old), schemas[-1]]
    for path in paths:
        storage = SQLiteStorage(path)
        assert storage.verify() == []
        assert storage.live_counts(1) == recount(storage, storage.surveys()[0]) == KEPT
        storage.close()

    assert len(paths) > len(EVERY_TABLE)
    assert all(one in whole for one in schemas)
    assert schemas.count(whole[0]) > len(EVERY_TABLE)


@pytest.mark.parametrize("back_end", ["sqlite", "postgres"])
def test_researchers_of_before_have_accounts_and_their_keys(tmp_path: Path, back_end: str) -> None:
    """One account a name, which may what its researcher might, and one key a token, for a year from then on."""
    tokens = "INSERT INTO researchers (token_hash, name) VALUES ('{0}1', 'Ann'), ('{0}2', 'Ann'), ('{0}3', 'Ben');"
    if back_end == "sqlite":
        database_of(SCHEMAS[4], tmp_path / "old.sqlite")
        with closing(sqlite3.connect(tmp_path / "old.sqlite")) as connection:
            connection.executescript(tokens.replace("'{0}", "X'0"))
        storage: Any = SQLiteStorage(tmp_path / "old.sqlite")
    else:
        url = postgres.fresh()
        with psycopg.connect(url) as shared:
            shared.execute(SHARED_SCHEMAS[0].read_bytes() + tokens.replace("{0}", "\\x0").encode())
        storage = PostgresStorage(url, stopped=True)
    access, today = storage.access, int(datetime.now(UTC).timestamp()) // 86400
    ann, ben = access.accounts()

    assert [(who.name, who.admin, access.grants(who.id)) for who in (ann, ben)] == [
        ("Ann", True, {"*": "owner"}), ("Ben", True, {"*": "owner"}),
    ]  # fmt: skip
    assert [access.key(bytes([number]), today)[0] for number in (1, 2, 3)] == [ann, ann, ben]
    assert all(key.signs_in and today + 365 <= key.expires_on <= today + 367 for key in access.list_keys())
    assert storage.verify() == []
    storage.close()
