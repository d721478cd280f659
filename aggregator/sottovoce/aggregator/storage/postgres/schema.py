"""Make the tables of a PostgreSQL database from the catalogue, and migrate them from release 0.4.0.

``schema_version`` is one row: the number of the schema; the earliest schema whose programs can work with it, which
nodes of 0.3.0 ask for; and True while ``settled`` is in the order of the random ids.
"""

from collections.abc import Collection
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier
from sottovoce.aggregator.storage.define_tables import INDEX, POSTGRES, VIEW, definition
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE, TABLES_OF_REPORTS, refill

VERSION = 13
"""Number of the present schema."""

EARLIEST = 11
"""Number of the schema of release 0.4.0, the earliest that can be migrated."""

VERSION_TABLE = (
    "CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)",
    "ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS usable_from bigint NOT NULL DEFAULT 0",
    "ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS is_sorted boolean NOT NULL DEFAULT false",
    "INSERT INTO schema_version (version) SELECT 0 WHERE NOT EXISTS (SELECT FROM schema_version)",
)

# Numbers of four bytes, and before the bytes: a report of ten answers takes 68, and 36 more in the index.
_REPORTS = """
    CREATE TABLE {} (
        survey integer NOT NULL,
        wave integer NOT NULL,
        report_id bytea NOT NULL,
        "values" bytea NOT NULL,
        PRIMARY KEY (survey, report_id)
    )
"""
_BYTES = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND atttypid IN ('bytea'::regtype, 'text'::regtype)
"""
_TABLES = """
    SELECT relname, array_agg(attname::text) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
    GROUP BY relname
"""


def make(connection: psycopg.Connection[Any], table: str, name: str = "") -> None:
    """Make a table, named ``name`` if that is not empty; ``settled`` and ``fresh`` are the tables of reports."""
    name = name or table
    is_of_reports = table in TABLES_OF_REPORTS
    connection.execute((_REPORTS.format(name) if is_of_reports else definition(table, POSTGRES, name)).encode())
    if table == "fresh":
        # Settling empties its file; the server would only get into its way.
        connection.execute("ALTER TABLE fresh SET (autovacuum_enabled = off)")
    for (column,) in connection.execute(_BYTES, [name]).fetchall():
        # Privacy: the planner's statistics would keep samples of ids, hashes and names beyond their rows.
        connection.execute(SQL("ALTER TABLE {} ALTER {} SET STATISTICS 0").format(Identifier(name), Identifier(column)))


def make_all(connection: psycopg.Connection[Any], kept: Collection[str] = ()) -> None:
    """Make all tables, but those that are kept since they exist already."""
    for table in (*TABLES_OF_REPORTS, *(table for table in EVERY_TABLE if table != "reports")):
        if table not in kept:
            make(connection, table)
    for statement in (VIEW, INDEX):
        connection.execute(statement.encode())


def take_over(connection: psycopg.Connection[Any]) -> None:
    """Replace the tables of an earlier schema by those of this one, with all rows.

    ``settled`` may be large, and is kept. Needs a transaction, and that no node uses the database.
    """
    found = dict(connection.execute(_TABLES).fetchall())
    connection.execute("DROP VIEW reports")
    former = {table: columns for table, columns in found.items() if table in EVERY_TABLE}
    for table in former:
        # Under another name, since the indexes of the new table have the names of the old ones.
        kept = f"CREATE TEMPORARY TABLE former_{table} ON COMMIT DROP AS SELECT * FROM {table}"  # noqa: S608 - names
        connection.execute(kept.encode())
        # With the tables that inherited from it.
        connection.execute(f"DROP TABLE {table} CASCADE".encode())
    make_all(connection, TABLES_OF_REPORTS)
    for table, columns in former.items():
        connection.execute(refill(table, columns).encode())
