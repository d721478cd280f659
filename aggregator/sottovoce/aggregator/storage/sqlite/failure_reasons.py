"""Reasons for which SQLite cannot work on its file, in words for an operator."""

import sqlite3

_PRIMARY = 0xFF
"""Mask of the primary result code; SQLite's extended codes are in the bits above."""

_FULL = "its disk is full; make room on it, or stop the server, copy its folder to another disk and name that folder"

_REASONS = {
    sqlite3.SQLITE_FULL: _FULL,
    # The index of the log, beside the database, cannot be made: even a reader needs it.
    sqlite3.SQLITE_IOERR_SHMSIZE: _FULL,
    sqlite3.SQLITE_READONLY: "its file or folder is read-only; let the user of the aggregator write to both",
    sqlite3.SQLITE_CORRUPT: 'its file is damaged; "sottovoce db restore" restores a backup',
    sqlite3.SQLITE_NOTADB: 'its file is damaged, or no database; "sottovoce db restore" restores a backup',
    sqlite3.SQLITE_IOERR: "its disk cannot be read or written; look at the log of the machine",
    sqlite3.SQLITE_CANTOPEN: "its file cannot be opened; let the user of the aggregator read and write its folder",
    sqlite3.SQLITE_BUSY: "another process has locked its file; end what reads or writes it",
}


def failure_reason(error: sqlite3.Error) -> str:
    """Return why the database is unavailable, and what to do about it.

    Privacy: SQLite's own message may quote values of reports, so this uses nothing but its result code.
    """
    # Errors of Python's module itself have no code.
    code = getattr(error, "sqlite_errorcode", 0)
    reason = _REASONS.get(code) or _REASONS.get(code & _PRIMARY)
    return (
        f"the database is unavailable: {reason}" if reason else f"the database is unavailable ({type(error).__name__})"
    )
