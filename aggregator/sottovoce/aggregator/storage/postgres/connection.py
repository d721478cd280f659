"""Run the SQL that both back ends share over a PostgreSQL connection."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg

NOW = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"
"""Seconds since 1970, by the server's clock."""

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

    @property
    def slot(self) -> int:
        """Slot in the tables of counts; connections with equal slots wait for each other's rows, and count right."""
        return self._connection.info.backend_pid % 32

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Run one statement and return its cursor."""
        return self._connection.execute(_marks(statement), list(parameters) or None)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each row; return how many rows changed."""
        cursor = self._connection.cursor()
        cursor.executemany(_marks(statement), rows)
        return max(cursor.rowcount, 0)

    def hold_ids(self, report_ids: Sequence[bytes]) -> None:
        """Lock these ids against other writers until the transaction ends; those with the same first byte wait too."""
        self._connection.execute(_HOLD_IDS, [sorted({each[0] for each in report_ids})])

    def stream(self, statement: str, parameters: Sequence[Any], size: int) -> Iterator[list[Any]]:
        """Yield the rows of a statement in chunks of ``size``, from a server-side cursor."""
        with self._connection.cursor("stream", binary=True) as cursor:
            cursor.execute(_marks(statement), list(parameters))
            while rows := cursor.fetchmany(size):
                yield rows


def _marks(statement: str) -> Any:  # noqa: ANN401 - the library wants literal text, which this is
    return statement.replace("?", "%s")
