"""What the tables of staff need from a back end."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from sottovoce.aggregator.storage.sql_statements import Handle


class BackEnd(NamedTuple):
    """
    What a back end gives to these tables.

    Attributes:
        read: begins a transaction that sees one state.
        write: begins one that is durable once it has ended.
        lock_accounts: the statement that makes a transaction wait for all others that change accounts; may be empty.
        until_end: what makes a row that was looked up stay as it is until the end; may be empty.
        new_id: the statement that draws sixteen random bytes.
        after_deletion: what can be done at once about deleted rows.
        today: the present day, by the database's own clock.
    """

    read: Callable[[], AbstractContextManager[Handle]]
    write: Callable[[], AbstractContextManager[Handle]]
    lock_accounts: str
    until_end: str
    new_id: str
    after_deletion: Callable[[], None]
    today: Callable[[Handle], int]
