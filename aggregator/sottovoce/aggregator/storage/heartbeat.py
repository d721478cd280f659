"""Record when the program last ran on a database (one row), and pause deletions by date.

If the clock jumps by more than a week or goes back, the program cannot tell which of the two times is right: a backup
may have been restored, the machine may have slept, or its clock may be wrong by a year. A wrong clock would delete data
for good. So deletions by date pause until an operator confirms the clock, or the program has run for a day.
"""

from sottovoce.aggregator.storage.back_end import BackEnd
from sottovoce.aggregator.storage.sql_statements import Handle

LONG = 7 * 86400
"""Seconds between two heartbeats beyond which deletions by date pause."""

BACK = 60
"""Seconds by which the clock may go back without a pause."""

RUNNING = 90
"""Age of a heartbeat, in seconds, up to which a node may be running: housekeeping notes one each minute."""

ROUND = 300
"""Longest interval between two heartbeats that counts as running, in seconds."""

WAIT = 86400
"""Length of a pause, in seconds of running."""

_NOTE = "UPDATE pulse SET seen = ?, waits = ?"


class PulseStorage(BackEnd):
    """Part of ``Storage`` that reads and writes the heartbeat."""

    def note_running(self, now: int) -> int:
        """Record a heartbeat, in seconds since 1970; return for how many seconds deletions by date are still paused."""
        with self.write() as db:
            waits = _still_waits(db, now)
            db.execute(_NOTE, [now, waits])
        return waits

    def last_heartbeat(self) -> int:
        """Return when a node last ran, in seconds since 1970; 0 if none has."""
        return int(self.row_of("SELECT seen FROM pulse")[0] or 0)

    def forgetting_waits(self, now: int) -> int:
        """Return for how many seconds of running deletions by date are paused; record nothing."""
        with self.read() as db:
            return _still_waits(db, now)

    def trust_clock(self, now: int) -> None:
        """End the pause, since an operator confirmed that ``now`` is the right time."""
        with self.write() as db:
            db.execute(_NOTE, [now, 0])


def _still_waits(db: Handle, now: int) -> int:
    seen, waits = db.execute("SELECT seen, waits FROM pulse").fetchone()
    if seen is None:
        return int(waits)
    ran = now - seen
    # Small steps back are usual when NTP corrects a clock; a week forward is not.
    if not -BACK <= ran <= LONG:
        return WAIT
    # Only time spent running counts: a machine that was off has given the operator no chance to notice.
    return max(0, waits - ran) if 0 < ran <= ROUND else int(waits)
