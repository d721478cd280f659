"""Tables written anew, so that old pages go with their files; nobody waits for that behind who waits here."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg import errors, sql

_PAUSE = 2.0
"""Seconds between two tries to have a table alone: whoever reads all of them for a backup has it until the end."""


def write_anew(connection: psycopg.Connection[Any], tables: Sequence[str], is_over: Callable[[], bool]) -> None:
    """
    Write these tables anew, each as soon as it can be had alone.

    Reports need some of them, and stand in line behind whoever wants one alone: so that is tried for a moment only,
    again and again, and not waited for.

    Args:
        connection: in no transaction.
        tables: by their names.
        is_over: whether to give up, as this process ends.
    """
    connection.execute("SET lock_timeout = '200ms'")
    try:
        for table in tables:
            while not is_over() and not _done(connection, table):
                time.sleep(_PAUSE)
    finally:
        connection.execute("RESET lock_timeout")


def _done(connection: psycopg.Connection[Any], table: str) -> bool:
    try:
        connection.execute(sql.SQL("VACUUM FULL {}").format(sql.Identifier(table)))
    except errors.LockNotAvailable:
        return False
    return True
