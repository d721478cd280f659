"""Functions and SQL that the tables of staff, drafts and releases need from a back end."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from sottovoce.aggregator.storage.sql_statements import Handle


class BackEnd(NamedTuple):
    """
    Functions and SQL fragments of a back end.

    Attributes:
        read: begins a transaction that sees one state of the database.
        write: begins a transaction that is durable once it has ended.
        lock_accounts: statement that locks accounts and grants; empty if there is one writer.
        until_end: suffix of a query that locks its rows until the transaction ends; empty if there is one writer.
        new_id: query that returns sixteen random bytes.
        after_deletion: removes traces of deleted rows from the files as far as that is fast.
        today: returns the present day, counted from 1970-01-01, by the database's own clock.
    """

    read: Callable[[], AbstractContextManager[Handle]]
    write: Callable[[], AbstractContextManager[Handle]]
    lock_accounts: str
    until_end: str
    new_id: str
    after_deletion: Callable[[], None]
    today: Callable[[Handle], int]
