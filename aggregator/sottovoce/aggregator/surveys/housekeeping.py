"""What falls due with time: showing, closing a survey, forgetting its report ids, deleting it, emptying the log."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from sottovoce.aggregator.clock import Clock, day_of
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.aggregator.storage.audit_log.events import NOBODY
from sottovoce.aggregator.surveys.database_clock import present
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.errors import StorageError


class Housekeeping:
    """
    Does what is due each time that it is called.

    Args:
        storage: the database, by whose clock things fall due, if it has one.
        clock: the present moment, as this machine tells it.
        is_sure: whether the time may decide what cannot be undone, see ``SteadyClock``; until it may, that waits.
        check_ready: raises ``StorageError`` if this node may not work on the database at all; then nothing is done.
        write_refused: writes what is to be noted of sign-ins that were refused, given seconds since 1970.
        note_mark: notes how new the database is, where a copy that is put back cannot reach; given the same.
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
        # Not at the start: on a large shared database every restart would hold the other nodes up.
        self._scrubbed_on = day_of(clock())

    def __call__(self) -> None:
        """Show what was left, close what is over, delete and purge what is kept no longer, and scrub once a day."""
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
    """``release_batch`` of every revision, by its key."""
    return {stored.key: survey_of(stored.document).release_batch for stored in storage.surveys()}


def waiting_words(seconds: int) -> str:
    """Why nothing is forgotten by date, and until when."""
    hours = -(-seconds // 3600)
    return (
        "forgetting waits, since nothing ran here for more than a week, the clock went back, or an earlier release ran"
        f" last: for {hours} more hour{'s' if hours > 1 else ''} of running, or until you say that the clock is right:"
        " sottovoce purge --clock-ok"
    )


def delete_due(storage: Storage, now: datetime, who: str = NOBODY) -> list[str]:
    """
    Delete every survey whose day has come, open or closed; returns their names.

    Args:
        storage: the database.
        now: the present moment.
        who: asks for it, for the journal.
    """
    newest = {stored.name: survey_of(stored.document) for stored in storage.surveys()}
    today = now.astimezone(UTC).date()
    due = [name for name, survey in newest.items() if survey.delete_on is not None and today >= survey.delete_on]
    for name in due:
        storage.delete_survey(name, who)
    return due


def close_due(storage: Storage, now: datetime) -> None:
    """Close every survey whose newest revision has come to its end; until then its last counts are not shown."""
    newest = {stored.name: stored for stored in storage.surveys()}
    for stored in newest.values():
        closes = survey_of(stored.document).closes
        if not stored.closed and closes is not None and now >= closes:
            storage.close_survey(stored.name, day_of(closes))


def purge_due(storage: Storage, now: datetime, who: str = NOBODY) -> list[StoredSurvey]:
    """
    Forget the report ids of every survey that has been closed for as long as it said; returns those surveys.

    Args:
        storage: the database.
        now: the present moment.
        who: asks for it, for the journal.
    """
    surveys = storage.surveys()
    due = [stored for stored in surveys if _is_due(stored, _over(stored, surveys), day_of(now))]
    for stored in due:
        storage.purge(stored.key, who)
    return due


def forget_ahead(copy: Storage, now: datetime, days: int) -> list[str]:
    """
    Take out of a copy, which is deleted after so many days, whatever the database itself has forgotten by then.

    Args:
        copy: of the database; changed.
        now: when it was made.
        days: until its last day.

    Returns:
        Names of the surveys that are not in the copy any more, since they are deleted by then.

    Raises:
        StorageError: a survey that may close at any moment forgets its ids sooner after that.
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


def _over(stored: StoredSurvey, surveys: Sequence[StoredSurvey]) -> int | None:
    """
    The day from which on a revision's ids are not needed; None while they are.

    Where ids are signed, one is good for one report of all revisions, until the last of them is closed.
    """
    if not survey_of(stored.document).is_blind:
        return stored.closed_on
    days = [each.closed_on for each in surveys if each.name == stored.name]
    return None if None in days else max(day for day in days if day is not None)


def _is_due(stored: StoredSurvey, over: int | None, today: int) -> bool:
    if over is None or stored.purged:
        return False
    # A day is added because the closing day had begun.
    return today > over + survey_of(stored.document).ids_days
