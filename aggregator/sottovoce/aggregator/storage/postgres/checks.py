"""Tables and indexes of a PostgreSQL database as the server itself describes them."""

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
# Keys have indexes of their own, which belong to their constraints.
_FOREIGN_INDEXES = """
    SELECT indrelid::regclass::text, indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = current_schema()::regnamespace AND relname <> 'journal_days'
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY 1, 2
"""

OLD_SECONDS = 300
"""Age from which a snapshot is named: no report is to be told from its neighbours for longer."""

_OLD_SNAPSHOTS = """
    SELECT 'the session ' || pid || ' has a transaction', 'select pg_terminate_backend(' || pid || ')'
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < now() - make_interval(secs => ?)
    UNION ALL SELECT 'there is a prepared transaction', 'rollback prepared ' || quote_literal(gid)
    FROM pg_prepared_xacts WHERE database = current_database() AND prepared < now() - make_interval(secs => ?)
    UNION ALL SELECT 'there is a replication slot',
    'select pg_drop_replication_slot(' || quote_literal(slot_name) || ')'
    FROM pg_replication_slots WHERE xmin IS NOT NULL ORDER BY 1, 2
"""


def old_snapshots(db: Handle) -> list[str]:
    """Describe what has kept the server from removing rows in the order of arrival for more than five minutes."""
    return [
        f"{what} that is old, so that files keep the order of arrival; if nothing needs it, run in psql: {remedy}"
        for what, remedy in db.execute(_OLD_SNAPSHOTS, [OLD_SECONDS, OLD_SECONDS])
    ]


def foreign_indexes(db: Handle) -> list[str]:
    """Describe indexes that this program did not make: one could keep reports in another order."""
    return [
        f"the table {table} has an index {name}, which is none of this program's; remove it with psql: "
        f"drop index {name}"
        for table, name in db.execute(_FOREIGN_INDEXES)
    ]


def described(db: Handle) -> dict[str, dict[str, Column]]:
    """Return the tables that this program sees, by column; ``settled`` as ``reports``, its view."""
    tables: dict[str, dict[str, Column]] = {}
    for table, name, of, in_key, may_be_empty in db.execute(_COLUMNS):
        tables.setdefault("reports" if table == "settled" else table, {})[name] = Column(
            _KINDS.get(of, "something else"), in_key, may_be_empty
        )
    return tables
