"""Interface of the audit log, the same on every back end."""

from collections.abc import Iterator
from typing import Protocol

from sottovoce.aggregator.storage.hash_chain import AuditEntry, ChainHead

ALWAYS = 10**9
"""Day number larger than any entry's."""


class Journal(Protocol):
    """Audit log of staff: a hash chain of entries, available as ``storage.journal``."""

    def append(self, what: str, who: str, about: str = "") -> None:
        """
        Record an action outside of the database before it is done, so that a crash cannot leave it unrecorded.

        Args:
            what: one of ``events.WHAT``.
            who: an account's id in hexadecimal digits, ``events.MACHINE`` or ``events.NO_ACTOR``.
            about: subject in the form of ``what``.
        """

    def append_once(self, what: str, who: str, about: str, *, per_survey: bool = False) -> int:
        """
        Record an action unless an equal entry was recorded today; return the day, counted from 1970-01-01.

        Args:
            what: as for ``append``.
            who: as for ``append``.
            about: as for ``append``.
            per_survey: entries about the same survey, the first word of ``about``, count as equal.
        """

    def entries(self, survey: str | None = None, since: int = 0, until: int = ALWAYS) -> Iterator[AuditEntry]:
        """
        Yield entries, oldest first.

        Args:
            survey: only entries that concern this survey; None for all.
            since: first day, counted from 1970-01-01.
            until: last day.
        """

    def latest(
        self, most: int, survey: str | None = None, before: int | None = None, until: int = ALWAYS
    ) -> list[AuditEntry]:
        """
        Return the last entries, newest first.

        Args:
            most: maximum number of entries.
            survey: only entries that concern this survey; None for all.
            before: only entries with smaller numbers; None for all.
            until: last day, counted from 1970-01-01.
        """

    def last_day(self, what: str) -> int | None:
        """Return the day of the last entry of this kind; None if there is none."""

    def head(self) -> ChainHead:
        """Return number and hash of the last entry."""

    def is_known(self, noted: ChainHead) -> bool | None:
        """Return True if an entry with this number and hash exists or existed; None if it is too old to tell."""

    def problems(self) -> list[str]:
        """Describe breaks of the hash chain; empty if there are none."""

    def cut(self) -> None:
        """Delete entries older than ``table.RETENTION_DAYS`` days."""
