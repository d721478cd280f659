"""Tables of keys and sessions; starting a session locks the rows that revoking access changes."""

from typing import Any

from sottovoce.aggregator.storage.accounts.account_rows import AccountTables, account_of
from sottovoce.aggregator.storage.accounts.models import AccessKey, AccessRefused, Account, StaffSession
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.models import SESSION_IDLE, SESSION_MOST
from sottovoce.aggregator.storage.sql_statements import Handle

DAY = 86400
PRECISION = 60
"""Seconds between two updates of a session's time of last use, so that most requests write nothing."""

_OWNER = "accounts.account, name, admin, subject, disabled_on"
_KEY = "key_hash, keys.account, label, scopes, keys.survey, expires_on, used_on"
_KEYS = f"SELECT {_KEY} FROM keys"  # noqa: S608 - constants
_ALL_KEYS = f"{_KEYS} ORDER BY label, key_hash"
_KEYS_OF = f"{_KEYS} WHERE account = ? ORDER BY label, key_hash"
_LET_IN = f"SELECT {_OWNER} FROM accounts WHERE account = ? AND disabled_on IS NULL"  # noqa: S608 - constants
# Rows are locked in the order of the tables, accounts first, as in the statements that revoke access: no deadlock.
_LET_IN_BY_KEY = f"""
    SELECT {_OWNER}, {_KEY} FROM accounts JOIN keys ON keys.account = accounts.account
    WHERE key_hash = ? AND expires_on >= ? AND disabled_on IS NULL
"""  # noqa: S608 - constants
_SESSIONS = f"""
    SELECT {_OWNER}, session_hash, door, started, used FROM staff_sessions
    JOIN accounts ON accounts.account = staff_sessions.account
    WHERE used >= ? AND started >= ? AND disabled_on IS NULL
"""  # noqa: S608 - constants


class KeyTables(AccountTables):
    """Part of ``AccessTables`` about keys and sessions, whose times are in seconds since 1970."""

    def add_key(self, key: AccessKey) -> None:
        """Add a key to an account; raise AccessRefused if there is no such account, or it is disabled."""
        with self._back_end.write() as db:
            if self._lock_account(db, key.account) is None:
                raise AccessRefused("there is no such account, or it is disabled", "disabled")
            insert_key(db, key)
            self._note(db, words.KEY_MADE, f"{key.survey} {key.account.hex()}")

    def list_keys(self, account_id: bytes | None = None) -> list[AccessKey]:
        """Return the keys of one account, or of all, ordered by label, expired ones included."""
        query, values = (_ALL_KEYS, []) if account_id is None else (_KEYS_OF, [account_id])
        return [_key(*row) for row in self._back_end.rows_of(query, values)]

    def key(self, key_hash: bytes, day: int) -> tuple[Account, AccessKey] | None:
        """Return a valid key with its account and record its use; None if key or account is not valid."""
        # Only hashes are stored: a copy of the database gives no usable key.
        owned_key = _with_owner(self._back_end.row_of(_LET_IN_BY_KEY, [key_hash, day]))
        # One write a day and key: the journal of use needs the day only, and times could show when staff works.
        if owned_key is not None and owned_key[1].used_on != day:
            with self._back_end.write() as db:
                # A key that was deleted meanwhile stays deleted.
                db.execute("UPDATE keys SET used_on = ? WHERE key_hash = ?", [day, key_hash])
        return owned_key

    def revoke_key(self, key_hash: bytes) -> bool:
        """Delete a key; return True if it existed.

        The sessions that its account started with a key end, including one that another transaction is starting.
        """
        with self._back_end.write() as db:
            # A sign-in with this key locks the row: the deletion waits for it, and the next statement ends its session.
            row = db.execute("DELETE FROM keys WHERE key_hash = ? RETURNING account, survey", [key_hash]).fetchone()
            if row is not None:
                db.execute("DELETE FROM staff_sessions WHERE account = ? AND door = 'key'", [bytes(row[0])])
                self._note(db, words.KEY_REVOKED, f"{row[1]} {bytes(row[0]).hex()}")
        self._back_end.after_deletion()
        return row is not None

    def start_session(self, session_hash: bytes, account_id: bytes, door: str, now: int) -> bool:
        """Start a session by a sign-in method; return False without writing if the account is unknown or disabled."""
        with self._back_end.write() as db:
            return self._begin(db, session_hash, self._lock_account(db, account_id), door, now) is not None

    def start_session_by_key(self, session_hash: bytes, key_hash: bytes, now: int) -> Account | None:
        """Start a session with a key; return None unless the key is valid, has every scope and is for every survey."""
        with self._back_end.write() as db:
            query = f"{_LET_IN_BY_KEY}{self._back_end.UNTIL_END}"
            owned_key = _with_owner(db.execute(query, [key_hash, now // DAY]).fetchone())
            if owned_key is None or not owned_key[1].signs_in:
                return None
            return self._begin(db, session_hash, owned_key[0], "key", now)

    def session(self, session_hash: bytes, now: int) -> StaffSession | None:
        """Return a session that has not expired, of an account that is not disabled, and record its use; or None."""
        query = f"{_SESSIONS} AND session_hash = ?"
        row = self._back_end.row_of(query, [now - SESSION_IDLE, now - SESSION_MOST, session_hash])
        session = None if row is None else _session(row)
        if session is not None and session.used < now - PRECISION:
            with self._back_end.write() as db:
                # UPDATE, not INSERT: a session that was ended since the read stays ended.
                db.execute("UPDATE staff_sessions SET used = ? WHERE session_hash = ?", [now, session_hash])
        return session

    def sessions(self, account_id: bytes, now: int) -> list[StaffSession]:
        """Return an account's sessions that have not expired, newest first."""
        query = f"{_SESSIONS} AND staff_sessions.account = ? ORDER BY started DESC, session_hash"
        values = [now - SESSION_IDLE, now - SESSION_MOST, account_id]
        return [_session(row) for row in self._back_end.rows_of(query, values)]

    def end_session(self, session_hash: bytes) -> None:
        """Delete a session, as at sign-out."""
        with self._back_end.write() as db:
            query = "DELETE FROM staff_sessions WHERE session_hash = ? RETURNING account"
            row = db.execute(query, [session_hash]).fetchone()
            if row is not None:
                self._note(db, words.LOGOUT, who=bytes(row[0]))

    def end_sessions(self, account_id: bytes) -> None:
        """Delete all sessions of an account."""
        with self._back_end.write() as db:
            if db.execute("DELETE FROM staff_sessions WHERE account = ?", [account_id]).rowcount:
                self._note(db, words.SESSIONS_ENDED, account_id.hex())

    def _lock_account(self, db: Handle, account_id: bytes) -> Account | None:
        """Return the account, or None if it is disabled; lock its row until the end of the transaction."""
        row = db.execute(_LET_IN + self._back_end.UNTIL_END, [account_id]).fetchone()
        return None if row is None else account_of(row)

    def _begin(self, db: Handle, session_hash: bytes, account: Account | None, door: str, now: int) -> Account | None:
        """Store a session and delete expired ones; do nothing without an account."""
        if account is not None:
            old = [now - SESSION_IDLE, now - SESSION_MOST]
            # Cleaned at sign-in, so no timer is needed and the table stays as small as the staff.
            db.execute("DELETE FROM staff_sessions WHERE used < ? OR started < ?", old)
            query = "INSERT INTO staff_sessions (session_hash, account, door, started, used) VALUES (?, ?, ?, ?, ?)"
            db.execute(query, [session_hash, account.id, door, now, now])
            self._note(db, words.LOGIN, door, account.id)
        return account


def insert_key(db: Handle, key: AccessKey) -> None:
    """Add a key, within a transaction that has checked its account."""
    db.execute(
        "INSERT INTO keys (key_hash, account, label, scopes, survey, expires_on, used_on) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [key.hash, key.account, key.label, " ".join(sorted(key.scopes)), key.survey, key.expires_on, key.used_on],
    )


def _with_owner(row: Any) -> tuple[Account, AccessKey] | None:  # noqa: ANN401 - a row, or None
    return None if row is None else (account_of(row), _key(*row[5:]))


def _key(key_hash: bytes, account: bytes, label: str, scopes: str, *rest: Any) -> AccessKey:  # noqa: ANN401 - a row
    return AccessKey(bytes(key_hash), bytes(account), label, frozenset(scopes.split()), *rest)


def _session(row: Any) -> StaffSession:  # noqa: ANN401 - a row
    return StaffSession(bytes(row[5]), account_of(row), *row[6:])
