"""Audit log as ``storage.journal`` offers it; each method is a transaction."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.interface import ALWAYS, Journal
from sottovoce.aggregator.storage.audit_log.table import OF_SURVEY, of_survey
from sottovoce.aggregator.storage.hash_chain import AuditEntry, ChainHead
from sottovoce.aggregator.storage.heartbeat import PulseStorage
from sottovoce.aggregator.storage.sql_statements import Handle

Transaction = Callable[[], AbstractContextManager[Handle]]
"""Function that returns a context manager around one transaction."""


class JournalStorage(PulseStorage):
    """The part of ``Storage`` that writes and reads the audit log."""

    NOW: ClassVar[str]
    """Query for seconds since 1970 by the database's own clock."""

    @property
    def journal(self) -> Journal:
        """Audit log of what staff did."""
        return _Journal(self._read, self._write, self._today)

    def _today(self, db: Handle) -> int:
        """Return days since 1970-01-01 by the database's own clock."""
        return int(db.execute(self.NOW).fetchone()[0]) // 86400


class _Journal:
    """Implementation of ``Journal`` for both back ends."""

    def __init__(self, read: Transaction, write: Transaction, today: Callable[[Handle], int]) -> None:
        self._read, self._write, self._today = read, write, today

    def append(self, what: str, who: str, about: str = "") -> None:
        """Record an action before it is done."""
        with self._write() as db:
            table.append(db, self._today(db), what, who, about)

    def append_once(self, what: str, who: str, about: str, *, per_survey: bool = False) -> int:
        """
        Record an action unless it was recorded today; return the day.

        Args:
            what: event.
            who: actor.
            about: subject.
            per_survey: entries about the same survey, the first word of ``about``, count as the same.
        """
        same = f"{about.partition(' ')[0]} " if per_survey else about
        with self._read() as db:
            day = self._today(db)
            if table.has(db, day, what, who, same, begins=per_survey):
                return day
        with self._write() as db:
            # Another node may have recorded it since the read: look again under the lock.
            table.wait_for_others(db)
            if not table.has(db, day, what, who, same, begins=per_survey):
                table.append(db, day, what, who, about)
        return day

    def entries(self, survey: str | None = None, since: int = 0, until: int = ALWAYS) -> Iterator[AuditEntry]:
        """Yield the selected entries, oldest first."""
        condition, parameters = _where(survey)
        with self._read() as db:
            order = f"{condition} AND day BETWEEN ? AND ? ORDER BY number"
            yield from table.entries(db, order, [*parameters, since, until])

    def latest(
        self, most: int, survey: str | None = None, before: int | None = None, until: int = ALWAYS
    ) -> list[AuditEntry]:
        """Return the last entries, newest first."""
        condition, parameters = _where(survey)
        with self._read() as db:
            last = table.head(db).number + 1 if before is None else before
            order = f"{condition} AND number < ? AND day <= ? ORDER BY number DESC LIMIT ?"
            return list(table.entries(db, order, [*parameters, last, until, most]))

    def last_day(self, what: str) -> int | None:
        """Return the day of the last entry of this kind, or None."""
        with self._read() as db:
            day = db.execute("SELECT max(day) FROM journal WHERE what = ?", [what]).fetchone()[0]
        return None if day is None else int(day)

    def head(self) -> ChainHead:
        """Return number and hash of the last entry."""
        with self._read() as db:
            return table.head(db)

    def is_known(self, noted: ChainHead) -> bool | None:
        """Return True if an entry with this number and hash exists or existed; None if it is too old to tell."""
        with self._read() as db:
            return table.is_known(db, noted)

    def problems(self) -> list[str]:
        """Describe breaks of the hash chain; empty if there are none."""
        with self._read() as db:
            return list(table.problems(db))

    def cut(self) -> None:
        """Delete entries older than the retention time; write nothing if there are none."""
        with self._read() as db:
            is_due = table.last_due(db, self._today(db)) is not None
        if is_due:
            with self._write() as db:
                table.cut(db, self._today(db))


def _where(survey: str | None) -> tuple[str, list[Any]]:
    return ("WHERE number > 0", []) if survey is None else (f"WHERE {OF_SURVEY}", of_survey(survey))
