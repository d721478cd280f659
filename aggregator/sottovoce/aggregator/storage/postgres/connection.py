"""A PostgreSQL connection that speaks the SQL that both back ends share."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from sottovoce.aggregator.storage.models import ID, ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import cut

NOW = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"
"""Seconds since 1970, by the server's clock."""

_INSERT = """
    INSERT INTO reports
    SELECT ?, substring(?::bytea FROM 16 * n + 1 FOR 16), ?, substring(?::bytea FROM ? * n + 1 FOR ?)
    FROM generate_series(0, ? - 1) AS n
    ON CONFLICT DO NOTHING
"""
"""Many reports of one shape, cut apart by the server; how many rows there are then tells whether all were new."""

# One lock for each first byte of an id, in their order: few, however large a group is. The number is 0x50773, then that
# byte.
_HOLD_IDS = """
    SELECT pg_advisory_xact_lock((329587::bigint << 32) + byte) FROM (
        SELECT byte FROM unnest(%s::bigint[]) AS byte ORDER BY byte
    ) AS sorted
"""


class PostgresHandle:
    """A connection that speaks the SQL that both back ends share."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Run one statement and return its cursor."""
        return self._connection.execute(_marks(statement), list(parameters) or None)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each row; returns how many rows changed."""
        cursor = self._connection.cursor()
        cursor.executemany(_marks(statement), rows)
        return max(cursor.rowcount, 0)

    def insert(self, arrivals: Sequence[ReportBatch]) -> int:
        """Add the reports whose ids are not there yet; returns how many those are."""
        return sum(
            self.execute(
                _INSERT, [each.plan.survey, each.report_ids, each.wave, each.packed, each.size, each.size, len(each)]
            ).rowcount
            for each in arrivals
        )

    def known(self, survey: int, report_ids: Sequence[bytes]) -> psycopg.Cursor[Any]:
        """(id, wave, packed values) of those of these reports that are stored, wherever they lie."""
        return self._connection.execute("SELECT * FROM sottovoce_known_9(%s, %s::bytea[])", [survey, list(report_ids)])

    def is_any_settled(self, arrivals: Sequence[ReportBatch]) -> bool:
        """Return True if one of these reports has left the table for new reports."""
        query = "SELECT EXISTS (SELECT FROM sottovoce_settled_9(%s, %s::bytea[]))"
        return any(
            self._connection.execute(query, [each.plan.survey, cut(each.report_ids, ID)]).fetchone() == (True,)
            for each in arrivals
        )

    def hold_ids(self, report_ids: Sequence[bytes]) -> None:
        """Lock these ids against other writers until the transaction ends; those with the same first byte wait too."""
        self._connection.execute(_HOLD_IDS, [sorted({each[0] for each in report_ids})])

    def take_out(self, survey: int, report_id: bytes) -> bool:
        """Delete a report, wherever it lies; returns whether it was there, and no other node was faster."""
        return self._connection.execute("SELECT sottovoce_take_9(%s, %s)", [survey, report_id]).fetchone() == (True,)

    def stream(self, statement: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """
        The rows of a statement, so many at a time.

        Args:
            statement: one, with ``?`` for bound values.
            parameters: what is bound to its marks.
            size: rows at a time.
        """
        with self._connection.cursor("stream", binary=True) as cursor:
            cursor.execute(_marks(statement), list(parameters))
            while rows := cursor.fetchmany(size):
                yield rows


def _marks(statement: str) -> Any:  # noqa: ANN401 - the library wants literal text, which this is
    return statement.replace("?", "%s")
