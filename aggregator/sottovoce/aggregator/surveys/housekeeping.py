"""Do periodic work: show grown counts, close surveys, delete ids and surveys by date, empty the database's log."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

from sottovoce.aggregator.clock import Clock, day_of, present
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.errors import StorageError


class Housekeeping:
    """Periodic work on the database; each call does what is due.

    Args:
        storage: the database, whose clock decides what is due, if it has one.
        clock: returns the present moment by this machine.
        is_sure: returns True if the clock is reliable, see ``SteadyClock``; closing and deleting wait until it is.
        check_ready: raises ``StorageError`` if this node must not use the database; then the call does nothing.
        write_refused: writes audit log entries on refused sign-ins; called with seconds since 1970.
        note_mark: stores the age mark of the database outside of it; called with seconds since 1970.
    """

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        is_sure: Callable[[], bool],
        check_ready: Callable[[], None] = lambda: None,
        write_refused: Callable[[int], None] = lambda _: None,
        note_mark: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._is_sure = is_sure
        self._check_ready = check_ready
        self._write_refused = write_refused
        self._note_mark = note_mark
        self._scrubbed_on: int | None = None

    def __call__(self) -> None:
        """Show grown cells, close, delete and purge surveys that are due, and scrub the files once a day."""
        self._check_ready()
        now = present(self._storage, self._clock)
        self._note_mark(int(now.timestamp()))
        waits = self._storage.note_running(int(now.timestamp()))
        self._write_refused(int(now.timestamp()))
        self._storage.show_grown(batches(self._storage))
        if self._is_sure():
            close_due(self._storage, now)
            if not waits:
                delete_due(self._storage, now)
                purge_due(self._storage, now)
                self._storage.journal.cut()
        if self._scrubbed_on != day_of(now):
            self._storage.tidy()
            self._scrubbed_on = day_of(now)


def batches(storage: Storage) -> dict[int, int]:
    """Return ``release_batch`` of every revision, by its key."""
    return {stored.key: survey_of(stored.document).release_batch for stored in storage.surveys()}


def waiting_words(seconds: int) -> str:
    """Return the message that deletions by date are paused, why, and until when."""
    hours = -(-seconds // 3600)
    return (
        "forgetting waits, since nothing ran here for more than a week, the clock went back, or an earlier release ran"
        f" last: for {hours} more hour{'s' if hours > 1 else ''} of running, or until you say that the clock is right:"
        " sottovoce db purge --clock-ok"
    )


def delete_due(storage: Storage, now: datetime, who: str = NO_ACTOR) -> list[str]:
    """Delete every survey whose ``delete_on`` has come, open or closed; return their names."""
    newest = {stored.name: survey_of(stored.document) for stored in storage.surveys()}
    today = now.astimezone(UTC).date()
    due = [name for name, survey in newest.items() if survey.delete_on is not None and today >= survey.delete_on]
    for name in due:
        storage.delete_survey(name, who)
    return due


def close_due(storage: Storage, now: datetime) -> None:
    """Close every survey whose newest revision has ended; the close also shows its last counts."""
    for stored in {stored.name: stored for stored in storage.surveys()}.values():
        closes = survey_of(stored.document).closes
        if not stored.closed and closes is not None and now >= closes:
            storage.close_survey(stored.name, day_of(closes))


def purge_due(storage: Storage, now: datetime, who: str = NO_ACTOR) -> list[StoredSurvey]:
    """Purge every revision whose retention time of report ids has passed; return those revisions."""
    surveys = storage.surveys()
    due = [stored for stored in surveys if _is_due(stored, _retention_end(stored, surveys), day_of(now))]
    for stored in due:
        storage.purge(stored.key, who)
    return due


def forget_ahead(copy: Storage, now: datetime, days: int) -> list[str]:
    """Delete from a backup what the database will have deleted by its last day; return names of deleted surveys.

    ``days`` is the retention time of the backup. Raises StorageError if an open survey, which may close at any moment,
    has a shorter retention time for report ids.
    """
    last = now + timedelta(days=days)
    deleted = delete_due(copy, last)
    purge_due(copy, last)
    still_open = [survey_of(stored.document) for stored in copy.surveys() if not stored.closed]
    shortest = min((survey.ids_days for survey in still_open), default=days)
    if shortest < days:
        raise StorageError(
            f"a survey forgets its report ids {shortest} days after it closes; no backup may be kept for longer"
        )
    return deleted


def first_due(storage: Storage, now: datetime) -> date | None:
    """Return the first day on which the database deletes a survey or report ids, at the earliest; None if it has none.

    An open survey may close today.
    """
    surveys = storage.surveys()
    named = {row.name: survey_of(row.document).delete_on for row in surveys}
    ends = {row: _retention_end(row, surveys) for row in surveys if not row.purged}
    kept = [(day_of(now) if end is None else end) + survey_of(row.document).ids_days for row, end in ends.items()]
    due = [date(1970, 1, 1) + timedelta(days=days + 1) for days in kept]
    return min([*due, *(day for day in named.values() if day is not None)], default=None)


def _retention_end(stored: StoredSurvey, surveys: Sequence[StoredSurvey]) -> int | None:
    """Return the day from which a revision's report ids are not needed; None while they are.

    Signed ids are needed until the last revision is closed, since an id may have one report across all revisions.
    """
    if not survey_of(stored.document).is_blind:
        return stored.closed_on
    days = [each.closed_on for each in surveys if each.name == stored.name]
    return None if None in days else max(day for day in days if day is not None)


def _is_due(stored: StoredSurvey, over: int | None, today: int) -> bool:
    if over is None or stored.purged:
        return False
    # Strictly greater: the closing day had begun, so ``ids_days`` whole days pass first.
    return today > over + survey_of(stored.document).ids_days
