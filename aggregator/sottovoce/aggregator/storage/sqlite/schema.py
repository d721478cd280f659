"""Make the tables of a SQLite database from the catalogue, migrate them from release 0.4.0, and check a file: its
integrity, and its tables compared with those of a new database.

``user_version`` is the number of the schema. A migration makes every table anew and fills it from the former one, in
one transaction. Only ``settled`` keeps its pages, since it may be large.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sottovoce.aggregator.storage.define_tables import INDEX, SQLITE, VIEW, definition
from sottovoce.aggregator.storage.incomplete_copy import known_version, refuse_older
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE, Column, TableColumns, refill
from sottovoce.shared.errors import StorageError
from sqlite_utils import Database
from sqlite_utils.db import Table

VERSION = 10
"""Number of the present schema."""

EARLIEST = 8
"""Number of the schema of release 0.4.0, the earliest that can be migrated."""

# Privacy: a random key without rowid, time or sequence, so that the order of arrival is not stored.
# Named and spaced as it was first made: databases keep this table, and a new one does not differ from them.
_SETTLED = (
    """CREATE TABLE reports (
            survey INTEGER NOT NULL,
            report_id BLOB NOT NULL,
            wave INTEGER NOT NULL,
            "values" BLOB NOT NULL,
            PRIMARY KEY (survey, report_id)
        ) STRICT, WITHOUT ROWID
        """,
    "ALTER TABLE reports RENAME TO settled",
)

_KINDS = {"INTEGER": "numbers", "TEXT": "text", "BLOB": "bytes"}


def version(db: Database) -> int:
    """Return the number of a database's schema, the mark of an unfinished copy included."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: Database, unfinished: bool = False) -> bool:
    """Migrate a database to the current schema, all or nothing; return True if it had an earlier version.

    Needs a write transaction; ``unfinished`` accepts an unfinished copy.

    Raises:
        StorageError: the schema is newer than this program, the file is another program's, or its copy unfinished.
    """
    written = version(db)
    former = known_version(written, VERSION, unfinished)
    if former or db.table_names():
        check_ours(db)
    refuse_older(former, EARLIEST)
    if former < VERSION:
        if former:
            _take_over(db)
        else:
            for statement in (*_SETTLED, *_others(), VIEW, INDEX, "INSERT INTO pulse (beat) VALUES (0)"):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION + written - former:d}")
    return 0 < former < VERSION


def check_ours(db: Database) -> None:
    """Raise StorageError if a file has no schema version, or no table ``surveys``, which each of this program's has."""
    if version(db) == 0 or "surveys" not in db.table_names():
        raise StorageError("the file is no database of this program")


def _others() -> tuple[str, ...]:
    """Return the statements that make all tables but ``settled``."""
    tables = [definition(table, SQLITE) for table in EVERY_TABLE if table != "reports"]
    return definition("reports", SQLITE, "fresh"), *tables


def _take_over(db: Database) -> None:
    """Replace the tables of an earlier release by those of this one, with all rows."""
    found = {table.name: [column.name for column in table.columns] for table in db.tables if table.name != "settled"}
    for statement in (
        "DROP VIEW reports",
        "DROP INDEX IF EXISTS journal_days",
        *(f"ALTER TABLE {table} RENAME TO former_{table}" for table in found),
        *_others(),
        VIEW,
        INDEX,
        *(refill(table, columns) for table, columns in found.items() if table == "fresh" or table in EVERY_TABLE),
        # The one that others refer to goes last.
        *(f"DROP TABLE former_{table}" for table in sorted(found, key=lambda table: table == "surveys")),
    ):
        db.execute(statement)


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
