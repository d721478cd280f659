"""Check a database's tables and rows against the catalogue, the same on every back end."""

from collections.abc import Iterator, Mapping

from sottovoce.aggregator.storage import survey_log
from sottovoce.aggregator.storage.audit_log import table as journal_table
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.aggregator.storage.table_catalogue import EVERY_TABLE, OF_SURVEYS, TableColumns

_OF_ACCOUNTS = [table for table, columns in EVERY_TABLE.items() if "account" in columns]
_OF_NO_SURVEY = "SELECT count(*) FROM {} WHERE survey NOT IN (SELECT key FROM surveys)"
_OF_NO_ACCOUNT = "SELECT count(*) FROM {} WHERE account NOT IN (SELECT account FROM accounts)"


def problems(db: Handle, tables: Mapping[str, TableColumns]) -> list[str]:
    """Describe tables (as the back end sees them) unlike the catalogue, orphaned rows, and broken hash chains."""
    # Rows are checked only if all columns exist, since the queries would fail without them.
    return list(_differences(tables)) or [*_lost_rows(db), *survey_log.problems(db), *journal_table.problems(db)]


def _differences(tables: Mapping[str, TableColumns]) -> Iterator[str]:
    for table, columns in EVERY_TABLE.items():
        actual = tables.get(table)
        if actual is None:
            yield f"there is no table {table}"
            continue
        yield from (f"the table {table} has no column {name}" for name in columns if name not in actual)
        yield from (f"the table {table} has a column {name} too many" for name in actual if name not in columns)
        for name in columns:
            if name in actual and actual[name] != columns[name]:
                yield f"the column {name} of the table {table} is for {actual[name]}; it should be for {columns[name]}"


def _lost_rows(db: Handle) -> Iterator[str]:
    surveys = [(table, _OF_NO_SURVEY.format(table), "no survey") for table in OF_SURVEYS]
    accounts = [(table, _OF_NO_ACCOUNT.format(table), "no account") for table in _OF_ACCOUNTS]
    for table, query, nothing in surveys + accounts:
        number = db.execute(query).fetchone()[0]
        if number:
            yield f"rows of the table {table} that belong to {nothing}: {number}"
