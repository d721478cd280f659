"""Define the catalogue's tables in the words of each back end."""

from collections.abc import Mapping
from typing import NamedTuple

from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE, UNIQUE, Column


class Dialect(NamedTuple):
    """Words of a back end: column types by their kind in the catalogue; options of every table, and of single ones."""

    kinds: Mapping[str, str]
    end: str
    ends: Mapping[str, str]


SQLITE = Dialect(
    {"numbers": "INTEGER", "text": "TEXT", "bytes": "BLOB"},
    # Privacy: without rowids, the order of inserts is not stored. Logs hold nothing about respondents.
    " STRICT, WITHOUT ROWID",
    dict.fromkeys(("record", "journal", "journal_head", "pulse"), " STRICT"),
)
# Half of each page stays free, so that an update stays on its page.
_UPDATED = ("cells", "counts", "shown_cells", "shown_counts", "blind_invitations")
POSTGRES = Dialect(
    {"numbers": "bigint", "text": "text", "bytes": "bytea"}, "", dict.fromkeys(_UPDATED, " WITH (fillfactor = 50)")
)

INDEX = "CREATE INDEX journal_days ON journal (day)"
VIEW = """
    CREATE VIEW reports AS
    SELECT survey, report_id, wave, "values" FROM settled
    UNION ALL SELECT survey, report_id, wave, "values" FROM fresh
"""


def definition(table: str, dialect: Dialect, name: str = "") -> str:
    """Return the statement that makes a table of the catalogue, under another ``name`` if one is given."""
    columns = EVERY_TABLE[table]
    lines = [f'"{column}" {_type(of, dialect)}' for column, of in columns.items()]
    lines += [
        f"PRIMARY KEY ({', '.join(key)})" for key in [[column for column, of in columns.items() if of.in_key]] if key
    ]
    lines += [f"UNIQUE ({names})" for names in UNIQUE.get(table, ())]
    return f"CREATE TABLE {name or table} ({', '.join(lines)}){dialect.ends.get(table, dialect.end)}"


def _type(column: Column, dialect: Dialect) -> str:
    is_counted = column.kind == "numbers" and not column.in_key
    return dialect.kinds[column.kind] + ("" if column.may_be_empty else " NOT NULL" + " DEFAULT 0" * is_counted)
