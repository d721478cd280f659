"""Who is let in to the results, and the sessions that were begun: each step within a transaction."""

from typing import NamedTuple

from sottovoce.aggregator.storage.base import SESSION_IDLE, SESSION_MOST
from sottovoce.aggregator.storage.statements import Handle

PRECISION = 60
"""Seconds within which the use of a session is noted once."""


class Session(NamedTuple):
    """A live session: whose, and when it was used last, in seconds since 1970."""

    researcher: str
    used: int


def start_session(db: Handle, session_hash: bytes, let_in: tuple[str] | None, now: int) -> str | None:
    """
    Remember a session; those that have ended are forgotten on the way.

    Args:
        db: within a transaction in which nobody revokes the token that ``let_in`` was found by.
        session_hash: of the cookie's secret.
        let_in: the row with the researcher's name; None for nobody.
        now: seconds since 1970.
    """
    if let_in is None:
        return None
    db.execute("DELETE FROM sessions WHERE used < ? OR started < ?", [now - SESSION_IDLE, now - SESSION_MOST])
    db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", [session_hash, let_in[0], now, now])
    return let_in[0]


def session(db: Handle, session_hash: bytes, now: int) -> Session | None:
    """
    The live session, or None.

    Args:
        db: within a transaction.
        session_hash: of the cookie's secret.
        now: seconds since 1970.
    """
    row = db.execute(
        "SELECT researcher, used FROM sessions WHERE session_hash = ? AND used >= ? AND started >= ?",
        [session_hash, now - SESSION_IDLE, now - SESSION_MOST],
    ).fetchone()
    return None if row is None else Session(*row)


def is_use_to_be_noted(found: Session, now: int) -> bool:
    """Whether the last note is so old that this use is worth a write."""
    return found.used < now - PRECISION


def note_use(db: Handle, session_hash: bytes, now: int) -> None:
    """
    Let the session live on from now; one that was ended meanwhile stays so.

    Args:
        db: within a transaction.
        session_hash: of the cookie's secret.
        now: seconds since 1970.
    """
    db.execute("UPDATE sessions SET used = ? WHERE session_hash = ?", [now, session_hash])


def revoke(db: Handle, name: str) -> int:
    """Take all of a researcher's tokens and sessions out, within a transaction beside which nobody is let in."""
    revoked = db.execute("DELETE FROM researchers WHERE name = ?", [name]).rowcount
    db.execute("DELETE FROM sessions WHERE researcher = ?", [name])
    return int(revoked)


def exchange(db: Handle, spent: bytes, token_hash: bytes) -> str | None:
    """
    Put a token in the place of another one, of which two at the same moment find only one; None if it is not there.

    Args:
        db: within a transaction.
        spent: the hash that goes.
        token_hash: the one that comes.
    """
    row = db.execute("DELETE FROM researchers WHERE token_hash = ? RETURNING name", [spent]).fetchone()
    if row is None:
        return None
    db.execute("INSERT INTO researchers (token_hash, name) VALUES (?, ?)", [token_hash, row[0]])
    return str(row[0])
