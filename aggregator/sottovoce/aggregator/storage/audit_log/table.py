"""
What staff did, in a chain of entries: each step within a transaction.

An entry is written in the transaction of what it tells, as its last step: whoever has changed the one row of the head
is alone with it until the end, so that numbers have no gap on any number of nodes, and nothing is waited for meanwhile.
Reports write nothing here.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sottovoce.aggregator.storage.audit_log.events import CUT, NOBODY, OF_SURVEYS, WHAT, check_words
from sottovoce.aggregator.storage.hash_chain import FIRST, AuditEntry, ChainHead, broken
from sottovoce.aggregator.storage.sql_statements import Handle

KEPT = 366
"""Days for which an entry is kept."""

_START = ChainHead(0, FIRST)

_CHUNK = 5_000
_ENTRIES = "SELECT number, day, what, who, about, previous FROM journal"
_NEXT = """
    INSERT INTO journal_head (place, number, hash) VALUES (0, ?, ?)
    ON CONFLICT (place) DO UPDATE SET number = journal_head.number + excluded.number RETURNING number, hash
"""
_SAME = "SELECT 1 FROM journal WHERE day = ? AND what = ? AND who = ? AND about = ? LIMIT 1"
_KEPT_FROM = "SELECT coalesce((SELECT min(number) FROM journal WHERE day >= ?), (SELECT max(number) + 1 FROM journal))"

OF_SURVEY = (
    f"what IN ({', '.join('?' * len(OF_SURVEYS))})"
    " AND (about = ? OR substr(about, 1, ?) = ? OR substr(about, 1, 2) = '* ')"
)
"""Entries that concern a survey, also those that concern all; ``of_survey`` gives what is bound to it."""


def of_survey(name: str) -> list[Any]:
    """What is bound to the marks of ``OF_SURVEY``."""
    return [*OF_SURVEYS, name, len(name) + 1, f"{name} "]


def append(db: Handle, day: int, what: str, who: str, about: str = "") -> None:
    """
    Add an entry: the last step of a transaction, since others wait for its end from here on.

    Args:
        db: within a transaction.
        day: today, by the database's own clock.
        what: one of ``journal_words.WHAT``.
        who: an account's id in hexadecimal digits, ``journal_words.MACHINE`` or ``journal_words.NOBODY``.
        about: as the form of ``what`` has it.

    Raises:
        ValueError: it has another form.
    """
    check_words(what, who, about)
    ((number, previous),) = db.execute(_NEXT, [1, FIRST]).fetchall()
    entry = AuditEntry(number, day, what, who, about, bytes(previous))
    db.execute("INSERT INTO journal (number, day, what, who, about, previous) VALUES (?, ?, ?, ?, ?, ?)", entry)
    db.execute("UPDATE journal_head SET hash = ?", [entry.hash])


def has(db: Handle, day: int, what: str, who: str, about: str) -> bool:
    """
    Whether there is such an entry.

    Args:
        db: within a transaction.
        day: of the entry.
        what: the same.
        who: the same.
        about: the same.
    """
    return db.execute(_SAME, [day, what, who, about]).fetchone() is not None


def wait_for_others(db: Handle) -> None:
    """Let no other transaction add an entry until this one ends."""
    db.execute(_NEXT, [0, FIRST]).fetchall()


def head(db: Handle) -> ChainHead:
    """The last entry's number and hash."""
    row = db.execute("SELECT number, hash FROM journal_head").fetchone()
    return _START if row is None else ChainHead(int(row[0]), bytes(row[1]))


def entries(db: Handle, condition: str = "", given: Sequence[Any] = ()) -> Iterator[AuditEntry]:
    """
    Entries, without holding all of them.

    Args:
        db: within a transaction.
        condition: in SQL, from ``WHERE`` or ``ORDER BY`` on; without, all entries in their order.
        given: what is bound to its marks.
    """
    for chunk in db.stream(f"{_ENTRIES} {condition or 'ORDER BY number'}", given, _CHUNK):
        yield from (_entry(*row) for row in chunk)


def last_due(db: Handle, today: int) -> AuditEntry | None:
    """
    The last of the entries that have been kept for ``KEPT`` days; None if nothing is to be cut off.

    Nor is anything where all of them are of cuts, or each cut would be the cause of another one.
    """
    kept_from = db.execute(_KEPT_FROM, [today - KEPT]).fetchone()[0]
    if _one(db, "WHERE number < ? AND what <> ?", [kept_from, CUT]) is None:
        return None
    return _one(db, "WHERE number < ? ORDER BY number DESC", [kept_from])


def cut(db: Handle, today: int) -> None:
    """Take out what has been kept for ``KEPT`` days; an entry keeps the hash at which the rest goes on."""
    wait_for_others(db)
    last = last_due(db, today)
    if last is not None:
        append(db, today, CUT, NOBODY, f"{last.number} {last.hash.hex()}")
        db.execute("DELETE FROM journal WHERE number <= ?", [last.number])


def problems(db: Handle) -> Iterator[str]:
    """Where entries do not follow from one another, or are not the last ones that there were."""
    changed = next(broken(entries(db), _last_cut(db)), None)
    last = _one(db, "ORDER BY number DESC")
    if changed is not None:
        yield f"the journal was changed at or before its entry {changed}"
    elif head(db) != (_START if last is None else ChainHead(last.number, last.hash)):
        yield "the journal does not end where it should: entries were changed, added or taken out at its end"


def is_known(db: Handle, noted: ChainHead) -> bool | None:
    """Whether an entry with this number and hash stands, or stood, in the chain; None if it was cut off since."""
    cut_off = _last_cut(db)
    if noted == cut_off:
        return True
    if noted.number < cut_off.number:
        return None
    found = _one(db, "WHERE number = ?", [noted.number])
    return found is not None and found.hash == noted.hash


def _last_cut(db: Handle) -> ChainHead:
    found = _one(db, "WHERE what = ? ORDER BY number DESC", [CUT])
    if found is None or WHAT[CUT].pattern.fullmatch(found.about) is None:
        return _START
    number, hashed = found.about.split()
    return ChainHead(int(number), bytes.fromhex(hashed))


def _one(db: Handle, condition: str, given: Sequence[Any] = ()) -> AuditEntry | None:
    query = f"{_ENTRIES} {condition} LIMIT 1"
    row = db.execute(query, given).fetchone()
    return None if row is None else _entry(*row)


def _entry(number: int, day: int, what: str, who: str, about: str, previous: bytes) -> AuditEntry:
    return AuditEntry(number, day, what, who, about, bytes(previous))
