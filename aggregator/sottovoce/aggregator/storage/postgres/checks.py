"""The tables of a PostgreSQL database as the server itself describes them."""

from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.aggregator.storage.table_catalogue import Column

_KINDS = {"bigint": "numbers", "integer": "numbers", "smallint": "numbers", "text": "text", "bytea": "bytes"}
_COLUMNS = """
    SELECT relname, attname, format_type(atttypid, atttypmod), coalesce(attnum = ANY (indkey), false), NOT attnotnull
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    LEFT JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
    ORDER BY relname, attnum
"""


def described(db: Handle) -> dict[str, dict[str, Column]]:
    """Return the tables that this program sees, by column; ``settled`` as ``reports``, its view."""
    tables: dict[str, dict[str, Column]] = {}
    for table, name, of, in_key, may_be_empty in db.execute(_COLUMNS):
        tables.setdefault("reports" if table == "settled" else table, {})[name] = Column(
            _KINDS.get(of, "something else"), in_key, may_be_empty
        )
    return tables
