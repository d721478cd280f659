"""What staff did, told to people; and what is noted of reading results and of refused sign-ins."""

import threading
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.storage import AuditEntry, Storage
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.interface import ALL

_FIRST_DAY = date(1970, 1, 1)
_MINUTE, _DAY = 60, 86400

MOST = 10**9
"""Larger numbers of refusals are not told apart."""


def names_of(storage: Storage) -> dict[str, str]:
    """The names of all accounts by their ids as the journal has them: there are no names in it."""
    return {account.id.hex(): account.name for account in storage.access.accounts()}


def in_words(entry: AuditEntry, names: Mapping[str, str]) -> str:
    """
    An entry as one line for people.

    Args:
        entry: of the journal.
        names: of accounts, from ``names_of``.
    """
    about = " ".join(names.get(word, word) for word in entry.about.split())
    told = f"{day_words(entry.day)}  {who_words(entry.who, names)}: {entry.what}"
    return f"{told} {about}".rstrip()


def who_words(who: str, names: Mapping[str, str]) -> str:
    """
    Who did it, for people.

    Args:
        who: as an entry has it.
        names: of accounts, from ``names_of``.
    """
    if who == words.MACHINE:
        return "the machine's administrator"
    return names.get(who, who) or "the program"


def day_words(day: int) -> str:
    """A day as 2026-11-22."""
    return (_FIRST_DAY + timedelta(day)).isoformat()


def entry_document(entry: AuditEntry) -> dict[str, Any]:
    """An entry with all that its hash is made of, and the hash."""
    told = entry._asdict() | {"previous": entry.previous.hex()}
    return {**told, "date": day_words(entry.day), "hash": entry.hash.hex()}


def snapshot_of(revisions: Sequence[RevisionCounts]) -> str:
    """
    Which snapshot a survey shows: the number of whole batches in it, which grows with each that is shown; or closed.

    Not the number of reports, and no digest of the results: who may read the journal may perhaps not read those, and
    could find few counts by trying them out.
    """
    last = revisions[-1]
    if last.stored.closed:
        return "closed"
    shown = sum(cell.reports for revision in revisions for cell in revision.cells if cell.cohort == ALL)
    return str(shown // last.survey.release_batch)


class ReadResults:
    """
    Notes who has read which snapshot or fetched which file: once a day, however often a page is loaded anew.

    Args:
        storage: the database, whose journal it goes to.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._noted: set[tuple[str, str, str]] = set()
        self._day = 0

    def note(self, who: str, name: str, snapshot: str, today: int) -> None:
        """
        Note it, durably, before anything is shown; what this process has noted today already costs nothing.

        Args:
            who: reads, as the journal has it.
            name: the survey's.
            snapshot: from ``snapshot_of``.
            today: the day.
        """
        self._note(words.RESULTS_READ, who, f"{name} {snapshot}", today)

    def note_file(self, who: str, name: str, kind: str, today: int) -> None:
        """
        The same of a file, as of what a page shows.

        Args:
            who: fetches it.
            name: the survey's.
            kind: the file's name.
            today: the day.
        """
        self._note(words.EXPORTED, who, f"{name} {kind}", today)

    def _note(self, what: str, who: str, about: str, today: int) -> None:
        if self._day != today:
            self._noted, self._day = set(), today
        if (what, who, about) not in self._noted:
            self._storage.journal.append_once(what, who, about)
            self._noted.add((what, who, about))


class RefusedLogins:
    """
    Counts refused sign-ins of one node, in memory: the number of a day, and the largest in one minute.

    Nothing is written at a refusal, or whoever guesses could fill the disk. The line of a day is written when it is
    over; what was counted since midnight is lost with the process.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._day = self._minute = self._number = self._in_minute = self._most = 0
        self._over: list[str] = []

    def count(self, now: int) -> None:
        """One more, at a moment in seconds since 1970."""
        with self._lock:
            self._end_day(now)
            if self._minute != now // _MINUTE:
                self._minute, self._in_minute = now // _MINUTE, 0
            self._number, self._in_minute = self._number + 1, self._in_minute + 1
            self._most = max(self._most, self._in_minute)

    def write(self, now: int) -> None:
        """
        Write the lines of days that are over, if anybody was refused on them; ``now`` is in seconds since 1970.

        Raises:
            StorageError: not written; the next call does.
        """
        with self._lock:
            self._end_day(now)
        while self._over:
            self._storage.journal.append(words.REFUSED, words.NOBODY, self._over[0])
            self._over.pop(0)

    def _end_day(self, now: int) -> None:
        if self._day != now // _DAY:
            if self._number:
                self._over.append(f"{day_words(self._day)} {min(self._number, MOST)} {min(self._most, MOST)}")
            self._day, self._number, self._in_minute, self._most = now // _DAY, 0, 0, 0
