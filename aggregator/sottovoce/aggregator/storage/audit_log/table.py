"""Tables of the audit log; each function works within the caller's transaction.

An entry is written in the transaction of the action that it records, as its last step. Updating the one row of
``journal_head`` locks the audit log until the transaction ends, so that numbers have no gaps on any number of nodes; as
the last step it holds the lock only briefly. Storing reports writes nothing here.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sottovoce.aggregator.storage.audit_log.events import CUT, NO_ACTOR, OF_SURVEYS, WHAT, check_words
from sottovoce.aggregator.storage.hash_chain import FIRST, AuditEntry, ChainHead, broken
from sottovoce.aggregator.storage.sql_statements import Handle, insert

RETENTION_DAYS = 366
"""Retention time of an entry, in days."""

_START = ChainHead(0, FIRST)

_CHUNK = 5_000
_ENTRIES = "SELECT number, day, what, who, about, previous FROM journal"
_NEXT = """
    INSERT INTO journal_head (place, number, hash) VALUES (0, ?, ?)
    ON CONFLICT (place) DO UPDATE SET number = journal_head.number + excluded.number RETURNING number, hash
"""
_SAME = "SELECT 1 FROM journal WHERE day = ? AND what = ? AND who = ? AND substr(about, 1, ?) = ? LIMIT 1"
_RETAINED_FROM = (
    "SELECT coalesce((SELECT min(number) FROM journal WHERE day >= ?), (SELECT max(number) + 1 FROM journal))"
)

OF_SURVEY = (
    f"what IN ({', '.join('?' * len(OF_SURVEYS))})"
    " AND (about = ? OR substr(about, 1, ?) = ? OR substr(about, 1, 2) = '* ')"
)
"""SQL condition for entries that concern a survey or all surveys; ``of_survey`` returns its parameters."""


def of_survey(name: str) -> list[Any]:
    """Return the parameters of ``OF_SURVEY``."""
    return [*OF_SURVEYS, name, len(name) + 1, f"{name} "]


def append(db: Handle, day: int, what: str, who: str, about: str = "") -> None:
    """Add an entry as the last step of a transaction, since other writers wait from here until its end.

    ``day`` is today by the database's own clock; the other arguments and errors are those of ``events.check_words``.
    """
    check_words(what, who, about)
    # Updating the head's row locks it, so numbers have no gaps, and each entry knows the hash before it.
    ((number, previous),) = db.execute(_NEXT, [1, FIRST]).fetchall()
    entry = AuditEntry(number, day, what, who, about, bytes(previous))
    insert(db, "journal", entry)
    # The head stands apart from the entries: deleting the last entries alone would be noticed.
    db.execute("UPDATE journal_head SET hash = ?", [entry.hash])


def has(db: Handle, day: int, what: str, who: str, about: str, *, begins: bool = False) -> bool:
    """Return True if there is an entry with these values; with ``begins``, ``about`` is how its subject begins."""
    return db.execute(_SAME, [day, what, who, len(about) + (not begins), about]).fetchone() is not None


def wait_for_others(db: Handle) -> None:
    """Lock the audit log: no other transaction can add an entry until this one ends."""
    db.execute(_NEXT, [0, FIRST]).fetchall()


def head(db: Handle) -> ChainHead:
    """Return number and hash of the last entry."""
    row = db.execute("SELECT number, hash FROM journal_head").fetchone()
    return _START if row is None else ChainHead(int(row[0]), bytes(row[1]))


def entries(db: Handle, condition: str = "", parameters: Sequence[Any] = ()) -> Iterator[AuditEntry]:
    """Yield entries without holding all of them in memory; within a transaction.

    ``condition`` is SQL from ``WHERE`` or ``ORDER BY`` on; empty for all entries, oldest first.
    """
    for chunk in db.stream(f"{_ENTRIES} {condition or 'ORDER BY number'}", parameters, _CHUNK):
        yield from (_entry(*row) for row in chunk)


def last_due(db: Handle, today: int) -> AuditEntry | None:
    """Return the newest entry older than ``RETENTION_DAYS`` days; None if no entry is due for deletion.

    Entries of kind ``CUT`` alone are not due: deleting them adds another such entry, every day.
    """
    retained_from = db.execute(_RETAINED_FROM, [today - RETENTION_DAYS]).fetchone()[0]
    if _first_entry(db, "WHERE number < ? AND what <> ?", [retained_from, CUT]) is None:
        return None
    return _first_entry(db, "WHERE number < ? ORDER BY number DESC", [retained_from])


def cut(db: Handle, today: int) -> None:
    """Delete entries older than ``RETENTION_DAYS`` days; a ``CUT`` entry records the hash that the rest begins with."""
    # Locked first: two nodes that cut at once would each add an entry.
    wait_for_others(db)
    last = last_due(db, today)
    if last is not None:
        # The hash of the last deleted entry anchors the rest, so that the chain stays verifiable.
        append(db, today, CUT, NO_ACTOR, f"{last.number} {last.hash.hex()}")
        db.execute("DELETE FROM journal WHERE number <= ?", [last.number])


def problems(db: Handle) -> Iterator[str]:
    """Describe entries that break the hash chain, and a chain that does not end at the stored head."""
    changed = next(broken(entries(db), _last_cut(db)), None)
    last = _first_entry(db, "ORDER BY number DESC")
    if changed is not None:
        yield f"the journal was changed at or before its entry {changed}"
    elif head(db) != (_START if last is None else ChainHead(last.number, last.hash)):
        yield "the journal does not end where it should: entries were changed, added or taken out at its end"


def is_known(db: Handle, noted: ChainHead) -> bool | None:
    """Return True if an entry with this number and hash exists or existed; None if it was deleted by age since."""
    cut_off = _last_cut(db)
    if noted == cut_off:
        return True
    # The entry was deleted by age: its hash can be neither confirmed nor refuted.
    if noted.number < cut_off.number:
        return None
    entry = _first_entry(db, "WHERE number = ?", [noted.number])
    return entry is not None and entry.hash == noted.hash


def _last_cut(db: Handle) -> ChainHead:
    entry = _first_entry(db, "WHERE what = ? ORDER BY number DESC", [CUT])
    if entry is None or WHAT[CUT].pattern.fullmatch(entry.about) is None:
        return _START
    number, hashed = entry.about.split()
    return ChainHead(int(number), bytes.fromhex(hashed))


def _first_entry(db: Handle, condition: str, parameters: Sequence[Any] = ()) -> AuditEntry | None:
    query = f"{_ENTRIES} {condition} LIMIT 1"
    row = db.execute(query, parameters).fetchone()
    return None if row is None else _entry(*row)


def _entry(number: int, day: int, what: str, who: str, about: str, previous: bytes) -> AuditEntry:
    return AuditEntry(number, day, what, who, about, bytes(previous))
