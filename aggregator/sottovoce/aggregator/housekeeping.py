"""What falls due with time: closing a survey, forgetting its report ids, emptying the log."""

from datetime import datetime

from sottovoce.aggregator.clock import Clock, day_of
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.aggregator.surveys import survey_of


class Housekeeping:
    """
    Does what is due each time that it is called.

    Args:
        storage: the database.
        clock: the present moment. A clock that is set back delays, and undoes nothing.
    """

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        # Not at the start: on a large shared database every restart would hold the other nodes up.
        self._scrubbed_on = day_of(clock())

    def __call__(self) -> None:
        """Close what has reached its end, purge what is kept no longer, and scrub once a day."""
        now = self._clock()
        close_due(self._storage, now)
        purge_due(self._storage, now)
        if self._scrubbed_on != day_of(now):
            self._storage.scrub()
            self._scrubbed_on = day_of(now)


def close_due(storage: Storage, now: datetime) -> None:
    """Close every survey whose newest revision has come to its end; until then its last counts are not shown."""
    newest = {stored.name: stored for stored in storage.surveys()}
    for stored in newest.values():
        closes = survey_of(stored.document).closes
        if not stored.closed and closes is not None and now >= closes:
            storage.close_survey(stored.name, day_of(closes))


def purge_due(storage: Storage, now: datetime) -> list[StoredSurvey]:
    """Forget the report ids of every survey that has been closed for as long as it said; returns those surveys."""
    due = [stored for stored in storage.surveys() if _is_due(stored, day_of(now))]
    for stored in due:
        storage.purge(stored.key)
    return due


def _is_due(stored: StoredSurvey, today: int) -> bool:
    if stored.closed_on is None or stored.purged:
        return False
    # A day is added because the closing day had begun.
    return today > stored.closed_on + survey_of(stored.document).ids_days
