"""What ``storage.journal`` does, on every back end."""

from collections.abc import Iterator
from typing import Protocol

from sottovoce.aggregator.storage.hash_chain import AuditEntry, ChainHead

ALWAYS = 10**9
"""A day that never comes."""


class Journal(Protocol):
    """What staff did, entry by entry; each follows from the one before it."""

    def append(self, what: str, who: str, about: str = "") -> None:
        """
        Note what was done outside of the database, before it is done: else it could be done and not be noted.

        Args:
            what: one of ``journal_words.WHAT``.
            who: an account's id in hexadecimal digits, ``journal_words.MACHINE`` or ``journal_words.NOBODY``.
            about: as the form of ``what`` has it.
        """

    def append_once(self, what: str, who: str, about: str) -> int:
        """
        Note it unless it was noted today; returns the day.

        Args:
            what: as for ``append``.
            who: the same.
            about: the same.
        """

    def entries(self, survey: str | None = None, since: int = 0, until: int = ALWAYS) -> Iterator[AuditEntry]:
        """
        Entries in their order.

        Args:
            survey: only those that concern this one; None for all.
            since: the first day, counted from 1970-01-01.
            until: the last day.
        """

    def latest(
        self, most: int, survey: str | None = None, before: int | None = None, until: int = ALWAYS
    ) -> list[AuditEntry]:
        """
        The last entries, newest first.

        Args:
            most: how many at most.
            survey: only those that concern this one; None for all.
            before: only those with smaller numbers.
            until: the last day, counted from 1970-01-01.
        """

    def last_day(self, what: str) -> int | None:
        """The day of the last entry of this kind; None if there is none."""

    def head(self) -> ChainHead:
        """The last entry's number and hash."""

    def is_known(self, noted: ChainHead) -> bool | None:
        """Whether there is, or was, an entry with this number and hash; None if it was cut off, and none can say."""

    def problems(self) -> list[str]:
        """Where entries do not follow from one another; empty if all do."""

    def cut(self) -> None:
        """Take out what has been kept for ``journal_table.KEPT`` days."""
