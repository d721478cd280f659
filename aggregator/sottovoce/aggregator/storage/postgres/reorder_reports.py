"""
Reports that came in the order of arrival are settled: in the order of random ids, in the partition of each survey.

No report that arrives waits for it for longer than the tables' names take to change. What settles does so a few
thousand rows at a time, each of which lies in one place at any moment; whoever is killed in between leaves a table that
the next one goes on with. At the end that table is emptied, and its file goes with the order of arrival. A partition is
written anew as a whole once its survey is closed, and where something was taken out of it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier
from sottovoce.aggregator.storage.postgres import migrate
from sottovoce.aggregator.storage.postgres.connection import PostgresHandle
from sottovoce.shared.errors import StorageError

LOCK = 0x50773
"""Number of the advisory lock under which one node at a time settles."""

ROWS = 2000
"""That move at once: whoever sends or withdraws one of them again waits for so many."""

TRIES = 600
PAUSE = 0.5
WAIT = 0.1
"""Seconds between two tries to lock all places, and how long each one waits for whoever reads a survey's reports: all
reports that come meanwhile wait behind it.
"""

_WAIT_BRIEFLY = f"SET LOCAL lock_timeout = {int(1000 * WAIT):d}"
_ALONE = "LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE"
# Whoever reads or writes any report has ``reports`` locked; a partition that the server vacuums is in nobody's way.
_ALL_PLACES = "LOCK TABLE ONLY reports, ONLY settling, ONLY settled IN ACCESS EXCLUSIVE MODE"
_SWAP = (
    "ALTER TABLE settling NO INHERIT reports",
    "ALTER TABLE settled NO INHERIT reports",
    "ALTER TABLE reports RENAME TO arrived",
    "ALTER TABLE settling RENAME TO reports",
    "ALTER TABLE arrived RENAME TO settling",
    "ALTER TABLE settling INHERIT reports",
    "ALTER TABLE settled INHERIT reports",
)
_WITHOUT_PARTITION = """
    SELECT key FROM surveys WHERE key NOT IN (SELECT survey FROM partitions)
    UNION SELECT survey FROM settling WHERE survey NOT IN (SELECT survey FROM partitions) ORDER BY 1
"""
_NOTE_ADDED = "UPDATE partitions SET added = 1 WHERE survey = %s AND added = 0"
_NOT_AS_WRITTEN = """
    SELECT survey FROM partitions LEFT JOIN surveys ON key = survey
    WHERE taken = 1 OR (added = 1 AND closed_on IS NOT NULL) ORDER BY survey
"""
_MOVE = "SELECT sottovoce_move_9(%s, %s, %s)"
# Which no function may do.
_VACUUM = SQL("VACUUM (SKIP_LOCKED) {}")


class Ended(StorageError):
    """The process is ending, and another one goes on."""


class Reordering:
    """
    All that is to be done about the order of reports, by one node at a time.

    Args:
        connect: gives a connection outside a transaction.
    """

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self.ended = False

    def run(self) -> None:
        """
        Settle what has arrived until now, and write anew what has to be.

        Raises:
            StorageError: somebody has been reading reports, or settling them, for minutes; what was begun goes on the
                next time.
        """
        with self._connect() as connection:
            db = PostgresHandle(connection)
            try:
                migrate.check_known(db)
            except StorageError:
                return  # a newer program does it, which knows all columns
            with self._alone(connection):
                self._settle(connection)
                for (survey,) in connection.execute(_NOT_AS_WRITTEN).fetchall():
                    self._until_done(connection, partial(self._write_anew, survey))

    @contextmanager
    def _alone(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        for _ in self._tries():
            if connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone() == (True,):
                break
        try:
            yield
        finally:
            if not connection.closed:
                connection.execute("SELECT pg_advisory_unlock(%s)", [LOCK])

    def _tries(self) -> Iterator[None]:
        for _ in range(TRIES):
            if self.ended:
                raise Ended
            yield
            time.sleep(PAUSE)
        raise StorageError("reports could not be settled: somebody has been reading them for minutes")

    def _settle(self, connection: psycopg.Connection[Any]) -> None:
        # Whoever was at it before may have been killed.
        self._empty(connection)
        # Also where all that came was withdrawn: its bytes are in the file still.
        if connection.execute("SELECT pg_relation_size('reports') > 0").fetchone() == (True,):
            _make_partitions(connection)
            self._until_done(connection, _swap)
            self._empty(connection)

    def _empty(self, connection: psycopg.Connection[Any]) -> None:
        """Move all rows of ``settling`` to where they belong, and remove the file in which they lay."""
        if connection.execute("SELECT pg_relation_size('settling') > 0").fetchone() == (True,):

            def move_and_remove(connection: psycopg.Connection[Any]) -> bool:
                self._move_all(connection)
                return _remove_file(connection)

            self._until_done(connection, move_and_remove)

    def _until_done(self, connection: psycopg.Connection[Any], do: Callable[[Any], bool]) -> None:
        """Try something in short turns, between which others go on, for which nobody else may be at any report."""
        for _ in self._tries():
            with suppress(errors.LockNotAvailable):
                if do(connection):
                    return

    def _move_all(self, connection: psycopg.Connection[Any]) -> None:
        _make_partitions(connection)
        for (survey,) in connection.execute("SELECT DISTINCT survey FROM ONLY settling ORDER BY 1").fetchall():
            connection.execute(_NOTE_ADDED, [survey])
            last: bytes | None = b""
            while last is not None:
                if self.ended:
                    raise Ended
                (last,) = connection.execute(_MOVE, [survey, last, ROWS]).fetchone() or (None,)
            _mark_visible(connection, survey)

    def _write_anew(self, survey: int, connection: psycopg.Connection[Any]) -> bool:
        """
        Make a partition's file anew, in the order of ids and by one transaction; nothing is taken out of it meanwhile.

        Reading goes on until the new one takes the place of the old one.
        """
        with connection.transaction():
            connection.execute(_WAIT_BRIEFLY)
            if connection.execute("SELECT sottovoce_write_anew_9(%s)", [survey]).fetchone() == (True,):
                self._until_done(connection, partial(_replace, survey))
        _mark_visible(connection, survey)
        return True


def _make_partitions(connection: psycopg.Connection[Any]) -> None:
    """
    A partition for each survey that has none.

    Before the names change: whoever looks for one afterwards has waited for that, and knows what came before it.
    """
    for survey in connection.execute(_WITHOUT_PARTITION).fetchall():
        connection.execute("SELECT sottovoce_make_partition_9(%s)", survey)


def _mark_visible(connection: psycopg.Connection[Any], survey: int) -> None:
    """
    Have the server note at once that everybody sees these rows. Else it does so later, by itself or for whoever reads
    first, and its log then gets a copy of every page that a checkpoint came over since.
    """
    with suppress(errors.UndefinedTable):
        connection.execute(_VACUUM.format(Identifier(f"settled_{survey}")))


def _swap(connection: psycopg.Connection[Any]) -> bool:
    """An empty table takes the arrivals; what has arrived until now settles."""
    with connection.transaction():
        connection.execute(_WAIT_BRIEFLY)
        connection.execute(_ALL_PLACES)
        # Of a survey that was published a moment ago.
        _make_partitions(connection)
        for statement in _SWAP:
            connection.execute(statement)
    return True


def _remove_file(connection: psycopg.Connection[Any]) -> bool:
    """Remove the file of what has settled, unless there are rows in it."""
    with connection.transaction():
        connection.execute(_WAIT_BRIEFLY)
        # A purge that gives rows new ids may have them moved behind those that are moving.
        connection.execute(_ALONE)
        if connection.execute("SELECT EXISTS (SELECT FROM ONLY settling)").fetchone() == (True,):
            return False
        connection.execute(_ALL_PLACES)
        connection.execute("TRUNCATE ONLY settling")
    return True


def _replace(survey: int, connection: psycopg.Connection[Any]) -> bool:
    with connection.transaction():
        connection.execute("SELECT sottovoce_replace_9(%s)", [survey])
    return True
