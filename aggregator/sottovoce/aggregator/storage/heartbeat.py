"""
The one row that tells when the program last ran on a database, to the minute, and how long forgetting waits.

Where the clock has left out a week, or went back, nobody can say which of the two times was right: a backup may have
been restored, a machine slept, or its clock be wrong by a year. Then what is forgotten by date waits until somebody
says that the clock is right, or for a day of running.
"""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from sottovoce.aggregator.storage.sql_statements import Handle

LONG = 7 * 86400
"""Seconds that the program may have been away."""

BACK = 60
"""Seconds by which the clock may have gone back."""

ROUND = 300
"""Seconds between two rounds of housekeeping; if there are more, it did not run in between."""

WAIT = 86400
"""Seconds of running for which forgetting waits then."""

MARK_PAUSE = "UPDATE pulse SET waits = 86400 WHERE EXISTS (SELECT 1 FROM surveys)"
"""Of a database of before there was this row, which may be an old backup: nobody knows how long it lay."""

_NOTE = "UPDATE pulse SET seen = ?, waits = ?"


class PulseStorage(ABC):
    """The part of ``Storage`` that is about this row."""

    @abstractmethod
    def _read(self) -> AbstractContextManager[Handle]:
        """A transaction that sees one state of the database."""

    @abstractmethod
    def _write(self) -> AbstractContextManager[Handle]:
        """A transaction that is durable once it has ended without an error."""

    def note_running(self, now: int) -> int:
        """Note that the program runs; returns for how many more seconds of that forgetting waits."""
        with self._write() as db:
            waits = _still_waits(db, now)
            db.execute(_NOTE, [now, waits])
        return waits

    def forgetting_waits(self, now: int) -> int:
        """The same without noting anything."""
        with self._read() as db:
            return _still_waits(db, now)

    def trust_clock(self, now: int) -> None:
        """Somebody says that this is the right time: forgetting waits no longer."""
        with self._write() as db:
            db.execute(_NOTE, [now, 0])


def _still_waits(db: Handle, now: int) -> int:
    seen, waits = db.execute("SELECT seen, waits FROM pulse").fetchone()
    if seen is None:
        return int(waits)
    ran = now - seen
    if not -BACK <= ran <= LONG:
        return WAIT
    return max(0, waits - ran) if 0 < ran <= ROUND else int(waits)
