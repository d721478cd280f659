"""Format entries of the audit log, and record reading of results and refused sign-ins."""

import threading
from collections.abc import Mapping
from typing import Any

from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.storage import AuditEntry, Storage
from sottovoce.aggregator.storage.audit_log import events as words

_MINUTE, _DAY = 60, 86400

MOST = 10**9
"""Cap on recorded numbers of refusals."""


def names_of(storage: Storage) -> dict[str, str]:
    """Map the ids of all accounts, in hexadecimal, to names; the audit log itself contains no names."""
    return {account.id.hex(): account.name for account in storage.access.accounts()}


def format_entry(entry: AuditEntry, names: Mapping[str, str]) -> str:
    """Format an entry as one line of text; ``names`` is from ``names_of``."""
    about = " ".join(names.get(word, word) for word in entry.about.split())
    text = f"{format_day(entry.day)}  {format_actor(entry.who, names)}: {entry.what}"
    return f"{text} {about}".rstrip()


def format_actor(who: str, names: Mapping[str, str]) -> str:
    """Format the actor of an entry: an account id, ``MACHINE``, or "" for the program itself."""
    if who == words.MACHINE:
        return "the machine's administrator"
    return names.get(who, who) or "the program"


def format_day(day: int) -> str:
    """Format a day since 1970-01-01 as an ISO date, such as 2026-11-22."""
    return date_of(day).isoformat()


def entry_document(entry: AuditEntry) -> dict[str, Any]:
    """Convert an entry to JSON, with everything that its hash covers, and the hash."""
    fields = entry._asdict() | {"previous": entry.previous.hex()}
    return {**fields, "date": format_day(entry.day), "hash": entry.hash.hex()}


class ReadResults:
    """A recorder of the accounts that read results or a file: once a day for each, however often snapshots change."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._noted: set[tuple[str, str, str]] = set()
        self._day = 0

    def note(self, who: str, name: str, snapshot: str, today: int) -> None:
        """Record a reading of results, durably and before anything is shown: the first snapshot of a day alone.

        Args:
            who: account id in hexadecimal; "" without an account.
            snapshot: result of ``snapshot_of``.
            today: days since 1970-01-01.
        """
        self._note(words.RESULTS_READ, who, name, snapshot, today)

    def note_file(self, who: str, name: str, kind: str, today: int) -> None:
        """Record a download of the file ``kind`` as ``note`` records a reading."""
        self._note(words.EXPORTED, who, name, kind, today)

    def _note(self, what: str, who: str, name: str, detail: str, today: int) -> None:
        if self._day != today:
            self._noted, self._day = set(), today
        per_survey = what == words.RESULTS_READ
        noted = (what, who, name if per_survey else f"{name} {detail}")
        if noted not in self._noted:
            self._storage.journal.append_once(what, who, f"{name} {detail}", per_survey=per_survey)
            self._noted.add(noted)


class RefusedLogins:
    """A counter of refused sign-ins of this node, in memory: the total of a day, and the maximum in one minute.

    A refusal writes nothing, or an attacker who guesses could fill the disk. The entry of a day is written after its
    end. If the process ends, the counts since midnight are lost.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._day = self._minute = self._number = self._in_minute = self._most = 0
        self._over: list[str] = []

    def count(self, now: int) -> None:
        """Count a refusal at ``now``, in seconds since 1970."""
        with self._lock:
            self._end_day(now)
            if self._minute != now // _MINUTE:
                self._minute, self._in_minute = now // _MINUTE, 0
            self._number, self._in_minute = self._number + 1, self._in_minute + 1
            self._most = max(self._most, self._in_minute)

    def write(self, now: int) -> None:
        """Write the entries of days before ``now`` (seconds since 1970); after a StorageError the next call retries."""
        with self._lock:
            self._end_day(now)
        while self._over:
            self._storage.journal.append(words.REFUSED, words.NO_ACTOR, self._over[0])
            self._over.pop(0)

    def _end_day(self, now: int) -> None:
        if self._day != now // _DAY:
            if self._number:
                self._over.append(f"{format_day(self._day)} {min(self._number, MOST)} {min(self._most, MOST)}")
            self._day, self._number, self._in_minute, self._most = now // _DAY, 0, 0, 0
