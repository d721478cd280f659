"""Every table of both back ends has its line in the documentation, and that line is true where it can be held."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.table_catalogue import NOT_COPIED, TABLES

from tests import postgres

ROOT = Path(__file__).parents[2]
LINES = [line for line in (ROOT / "docs" / "tables.md").read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
TOLD = {cells[0]: cells[1:] for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in LINES[2:])}
"""What the documentation says of each table."""

OWN = {"schema_version", "reports", "fresh", "settled"}
"""Where each back end notes its schema, and where reports are."""


def embedded(path: Path) -> set[str]:
    SQLiteStorage(path).close()
    with closing(sqlite3.connect(path)) as connection:
        return {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        }


def shared() -> set[str]:
    url = postgres.with_tables()
    PostgresStorage(url).close()
    with psycopg.connect(url) as connection:
        return {
            name
            for (name,) in connection.execute(
                "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace"
            )
        }


def test_no_table_is_without_a_line(tmp_path: Path) -> None:
    assert len(TOLD) == len(LINES) - 2
    assert embedded(tmp_path / "db.sqlite") | shared() == set(TOLD)
    assert embedded(tmp_path / "again.sqlite") - OWN == shared() - OWN == {*TABLES, *NOT_COPIED} - OWN


def test_every_line_says_all_that_is_asked() -> None:
    """Who writes it, when its rows go, backup, copy, what a thief learns, which search: nothing is left open."""
    assert all(len(cells) == 6 and all(cells) for cells in TOLD.values())
    assert {table for table, cells in TOLD.items() if cells[3] == "yes"} == set(TABLES)


def test_backup_holds_what_its_column_says(tmp_path: Path) -> None:
    tables = embedded(tmp_path / "db.sqlite")
    storage = SQLiteStorage(tmp_path / "db.sqlite")
    storage.backup(tmp_path / "saved.sqlite")
    storage.close()

    assert embedded(tmp_path / "saved.sqlite") == tables
    assert all(TOLD[table][2] in ("yes", "with `reports`") for table in tables)


def test_every_disk_search_that_is_named_exists() -> None:
    """A table without one is the number of a schema alone."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for table, cells in TOLD.items():
        named = re.findall(r"`(test_\w+)`", cells[5])
        assert named or table == "schema_version"
        assert all(f"def {test}(" in sources for test in named)
