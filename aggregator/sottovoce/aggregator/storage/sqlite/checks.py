"""Check a SQLite file: its integrity, and its tables compared with those of a new database."""

from collections.abc import Callable, Iterator
from typing import Any

from sottovoce.aggregator.storage.sqlite.schema import migrate
from sottovoce.aggregator.storage.table_catalogue import Column, TableColumns
from sqlite_utils import Database
from sqlite_utils.db import Table

_KINDS = {"INTEGER": "numbers", "TEXT": "text", "BLOB": "bytes"}


def described(db: Database) -> dict[str, TableColumns]:
    """Return the tables of a file, with kind and constraints of their columns; ``settled`` as ``reports``, its view."""
    tables = {table.name: {column.name: _column(*column) for column in table.columns} for table in db.tables}
    return {"reports" if name == "settled" else name: columns for name, columns in tables.items()}


def problems(db: Database) -> list[str]:
    """Describe damage that SQLite finds, and differences from a new database; empty if there are none."""
    with Database(memory=True) as fresh:
        migrate(fresh)
        return damage(db) + list(_schema_differences(db, fresh))


def foreign_indexes(db: Database) -> list[str]:
    """Describe indexes that a new database does not have: one could keep reports in another order."""
    with Database(memory=True) as fresh:
        migrate(fresh)
        foreign = sorted(_indexes(db) - _indexes(fresh))
    return [
        f"the table {table} has an index {name}, which is none of this program's; stop the nodes, then remove it with "
        f"sqlite3: drop index {name}; vacuum"
        for table, name in foreign
    ]


def _indexes(db: Database) -> set[tuple[str, str]]:
    rows = db.query("SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    return {(row["tbl_name"], row["name"]) for row in rows}


def damage(db: Database) -> list[str]:
    """Return the messages of SQLite's integrity check; empty if the file is sound."""
    return [text for row in db.query("PRAGMA integrity_check") for text in row.values() if text != "ok"]


def _schema_differences(db: Database, fresh: Database) -> Iterator[str]:
    usual = {table.name: table for table in fresh.tables}
    for table in db.tables:
        if table.name in usual:
            wrong = [words for words, trait in _TRAITS.items() if trait(table) != trait(usual[table.name])]
            yield from (f"the table {table.name} {words}" for words in wrong)
        elif not table.name.startswith("sqlite_"):
            yield f"there is a table {table.name}, which is none of this program's"


def _column(_place: int, name: str, of: str, not_null: int, _default: object, key: int) -> Column:  # noqa: ARG001
    return Column(_KINDS.get(of, "something else"), bool(key), not (not_null or key))


def _keeps_order(table: Table) -> bool:
    """Return True if a table has rowids, which reveal the order of its inserts."""
    return next(bool(one["wr"] == 0) for one in table.db.query("PRAGMA table_list") if one["name"] == table.name)


_TRAITS: dict[str, Callable[[Table], Any]] = {
    "takes values of any kind": lambda table: table.strict,
    "keeps the order in which its rows were written": _keeps_order,
    "fills in other values than it should": lambda table: table.default_values,
    "tells rows apart in another way than it should": lambda table: {
        tuple(index.columns) for index in table.indexes if index.unique
    },
    "refers to other tables than it should": lambda table: table.foreign_keys,
    "has triggers, which this program never sets": lambda table: table.triggers,
}
"""Traits of a table to compare, other than its columns, each with the words for a difference."""
