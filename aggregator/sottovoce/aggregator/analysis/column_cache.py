"""Columns that are kept for the next question about the same reports, and forgotten soon."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic

from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.report_columns import Columns, Progress, read_columns
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.storage import Storage, StoredSurvey

IDLE = 15 * 60
"""Seconds without use after which columns are dropped."""

_Key = tuple[str, int | None]
_State = tuple[tuple[StoredSurvey, ...], tuple[int, ...]]


@dataclass
class _CachedColumns:
    columns: Columns
    state: _State
    used: float


class KeptColumns:
    """
    The columns of closed surveys and waves, each read once.

    Args:
        storage: the database.
        clock: the present moment, by which waves are closed.
        seconds: a clock that is never set, for idle times.
    """

    def __init__(self, storage: Storage, clock: Clock, seconds: Callable[[], float] = monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._seconds = seconds
        self._kept: dict[_Key, _CachedColumns] = {}
        self._reading = Lock()

    def __len__(self) -> int:
        """How many surveys and waves are kept."""
        return len(self._kept)

    def columns(self, name: str, wave: int | None = None, progress: Progress | None = None) -> Columns:
        """
        The columns of a survey; read anew if it was opened, corrected or answered since.

        Args:
            name: the survey's.
            wave: only this one; None for all.
            progress: told while they are read, never if they are kept.

        Raises:
            EstimateError: there is no such survey or wave, or it is open.
        """
        with self._reading:
            revisions = self._storage.revisions(name)
            check_closed(self._storage, revisions, wave, self._clock())
            state = self._state(name, revisions)
            kept = self._kept.get((name, wave))
            if kept is None or kept.state != state:
                columns = read_columns(self._storage, revisions, wave, progress)
                kept = self._kept[name, wave] = _CachedColumns(columns, state, self._seconds())
            kept.used = self._seconds()
            return kept.columns

    def drop(self) -> None:
        """Forget what has been idle, and surveys that are there no more."""
        with self._reading:
            there = {stored.name for stored in self._storage.surveys()}
            last = self._seconds() - IDLE
            self._kept = {key: kept for key, kept in self._kept.items() if key[0] in there and kept.used > last}

    def _state(self, name: str, revisions: list[StoredSurvey]) -> _State:
        """What changes with every report and every step of the survey's life."""
        steps = (line.number for line in self._storage.record() if line.about.split()[0] == name)
        return tuple(revisions), tuple(steps)
