"""Moving of fresh reports, and rewriting of tables with used secrets, in the order of random keys.

Privacy: within a page, SQLite places a new row below the others, and leaves pointers to deleted rows behind the valid
ones. After settling, both tell the order of the keys. Each transaction leaves every row in one place, so that a process
may be killed at any moment; the next run begins anew.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.aggregator.storage.table_catalogue import clear, fill, select

MOVED_ROWS = 2000
"""Reports a transaction: those that arrive meanwhile wait for some ten milliseconds."""

PAUSE_SECONDS = 0.002
"""Pause between two parts, in which a thread that waits to store a report can begin."""

CHECKPOINTED_ROWS = 10_000
"""Reports after which the log is copied into the file, lest a commit have to copy all of it while others wait."""

REWRITTEN_ROWS = 200_000
"""Rows up to which a table is rewritten in one transaction; a larger one waits for the daily scrub."""

Write = Callable[[], AbstractContextManager[Handle]]
"""Begins a write transaction."""

_LAST_OF_PART = """
    SELECT survey, report_id FROM (
        SELECT survey, report_id FROM fresh WHERE (survey, report_id) > (?, ?) ORDER BY survey, report_id LIMIT ?
    ) ORDER BY survey DESC, report_id DESC LIMIT 1
"""
_PART = "FROM fresh WHERE (survey, report_id) > (?, ?) AND (survey, report_id) <= (?, ?)"
_MOVE = (f"INSERT INTO settled SELECT * {_PART} ORDER BY survey, report_id", f"DELETE {_PART}")
_BEFORE_ALL = (-1, b"")


def settle(write: Write, copy_log: Callable[[], None]) -> None:
    """Move the rows of ``fresh`` to ``settled``, in the order of their ids.

    Args:
        write: begins a write transaction.
        copy_log: copies the log into the file while other threads write.
    """
    last: Sequence[Any] | None = _BEFORE_ALL
    for part in count(1):
        if last is None:
            return
        if part * MOVED_ROWS % CHECKPOINTED_ROWS == 0:
            copy_log()
        # A lock goes to the thread that asks first, which else would be this one again.
        time.sleep(PAUSE_SECONDS)
        with write() as db:
            after, last = last, db.execute(_LAST_OF_PART, [*last, MOVED_ROWS]).fetchone()
            if last is not None:
                for statement in _MOVE:
                    db.execute(statement, [*after, *last])
            elif db.execute("SELECT 1 FROM fresh LIMIT 1").fetchone() is None:
                # Without a condition, SQLite overwrites the whole page, pointers included.
                db.execute("DELETE FROM fresh")


def rewrite(write: Write, table: str) -> None:
    """Delete all rows of a table and insert them again in the order of the key, unless there are too many."""
    with write() as db:
        rows = db.execute(select(table)).fetchmany(REWRITTEN_ROWS + 1)
        if len(rows) <= REWRITTEN_ROWS:
            db.execute(clear(table))
            db.executemany(fill(table, table), rows)
