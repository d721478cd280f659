"""Keep the audit log, ``storage.journal``, the same on every back end; each method is a transaction."""

from collections.abc import Iterator
from typing import Any

from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.table import OF_SURVEY, of_survey
from sottovoce.aggregator.storage.back_end import Tables
from sottovoce.aggregator.storage.hash_chain import AuditEntry, ChainHead

ALWAYS = 10**9
"""Day number larger than any entry's."""


class Journal(Tables):
    """Audit log of staff: a hash chain of entries. Days count from 1970-01-01."""

    def append(self, what: str, who: str, about: str = "") -> None:
        """Record an action outside of the database before it is done, so that a crash cannot leave it unrecorded.

        The arguments are those of ``events.check_words``.
        """
        with self._back_end.write() as db:
            self._back_end.note(db, what, who, about)

    def append_once(self, what: str, who: str, about: str, *, per_survey: bool = False) -> int:
        """Record an action unless an equal entry was recorded today; return the day. Arguments as for ``append``.

        With ``per_survey``, entries about the same survey, the first word of ``about``, count as equal.
        """
        same = f"{about.partition(' ')[0]} " if per_survey else about
        with self._back_end.read() as db:
            day = self._back_end.today(db)
            if table.has(db, day, what, who, same, begins=per_survey):
                return day
        with self._back_end.write() as db:
            # Another node may have recorded it since the read: look again under the lock.
            table.wait_for_others(db)
            if not table.has(db, day, what, who, same, begins=per_survey):
                table.append(db, day, what, who, about)
        return day

    def entries(self, survey: str | None = None, since: int = 0, until: int = ALWAYS) -> Iterator[AuditEntry]:
        """Yield entries from ``since`` to ``until``, oldest first; with ``survey`` only those that concern it."""
        condition, parameters = _where(survey)
        with self._back_end.read() as db:
            order = f"{condition} AND day BETWEEN ? AND ? ORDER BY number"
            yield from table.entries(db, order, [*parameters, since, until])

    def latest(
        self, most: int, survey: str | None = None, before: int | None = None, until: int = ALWAYS
    ) -> list[AuditEntry]:
        """Return at most ``most`` last entries, newest first.

        They concern ``survey``, have numbers smaller than ``before``, unless these are None, and days up to ``until``.
        """
        condition, parameters = _where(survey)
        with self._back_end.read() as db:
            last = table.head(db).number + 1 if before is None else before
            order = f"{condition} AND number < ? AND day <= ? ORDER BY number DESC LIMIT ?"
            return list(table.entries(db, order, [*parameters, last, until, most]))

    def last_day(self, what: str) -> int | None:
        """Return the day of the last entry of this kind, or None."""
        (day,) = self._back_end.row_of("SELECT max(day) FROM journal WHERE what = ?", [what])
        return None if day is None else int(day)

    def head(self) -> ChainHead:
        """Return number and hash of the last entry."""
        with self._back_end.read() as db:
            return table.head(db)

    def is_known(self, noted: ChainHead) -> bool | None:
        """Return True if an entry with this number and hash exists or existed; None if it is too old to tell."""
        with self._back_end.read() as db:
            return table.is_known(db, noted)

    def problems(self) -> list[str]:
        """Describe breaks of the hash chain; empty if there are none."""
        with self._back_end.read() as db:
            return list(table.problems(db))

    def cut(self) -> None:
        """Delete entries older than ``table.RETENTION_DAYS`` days; write nothing if there are none."""
        with self._back_end.read() as db:
            is_due = table.last_due(db, self._back_end.today(db)) is not None
        if is_due:
            with self._back_end.write() as db:
                table.cut(db, self._back_end.today(db))


def _where(survey: str | None) -> tuple[str, list[Any]]:
    return ("WHERE number > 0", []) if survey is None else (f"WHERE {OF_SURVEY}", of_survey(survey))
