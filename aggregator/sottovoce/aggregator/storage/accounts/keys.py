"""Tables of accounts with their grants, and of keys and sessions.

Transactions that change accounts or grants run one at a time across all nodes; starting a session locks the rows that
revoking access changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sottovoce.aggregator.storage.accounts.models import AccessKey, AccessRefused, Account, StaffSession
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.back_end import BackEnd, Tables
from sottovoce.aggregator.storage.models import SESSION_IDLE, SESSION_MOST
from sottovoce.aggregator.storage.sql_statements import Handle, insert

_ACCOUNTS = "SELECT account, name, admin, subject, disabled_on FROM accounts"
_ACCOUNT = f"{_ACCOUNTS} WHERE account = ?"
_ACCOUNT_OF_SUBJECT = f"{_ACCOUNTS} WHERE subject = ?"
_BY_NAME = f"{_ACCOUNTS} ORDER BY name, account"
_OTHER_ADMIN = "SELECT 1 FROM accounts WHERE admin = 1 AND disabled_on IS NULL AND account <> ? LIMIT 1"
_OTHER_OWNER = """
    SELECT 1 FROM grants JOIN accounts ON accounts.account = grants.account
    WHERE role = 'owner' AND survey IN (?, '*') AND disabled_on IS NULL AND grants.account <> ? LIMIT 1
"""

_DISABLED = ("there is no such account, or it is disabled", "disabled")
_DELETE_OF_ACCOUNT = (
    "DELETE FROM keys WHERE account = ?",
    "DELETE FROM passkeys WHERE account = ?",
    "DELETE FROM grants WHERE account = ?",
)


class AccountTables(Tables):
    """Part of ``AccessTables`` about accounts and grants.

    ``who`` is the account that acts, for the audit log; sign-ins and sign-outs are recorded under their own account.
    """

    def __init__(self, back_end: BackEnd, who: str = words.NO_ACTOR) -> None:
        super().__init__(back_end)
        self._who = who

    def _note(self, db: Handle, what: str, about: str = "", who: bytes | None = None) -> None:
        """Add an audit log entry, as the last step of a transaction; without ``who``, by the tables' own actor."""
        self._back_end.note(db, what, self._who if who is None else who.hex(), about)

    @contextmanager
    def _alone(self, deletes: bool = False) -> Iterator[Handle]:
        """Begin a write transaction with the lock: without it two admins could disable each other, leaving none."""
        with self._back_end.deleting() if deletes else self._back_end.write() as db:
            _ = self._back_end.LOCK_ACCOUNTS and db.execute(self._back_end.LOCK_ACCOUNTS)
            yield db

    def has_accounts(self) -> bool:
        """Return True if there is any account."""
        return self._back_end.row_of("SELECT 1 FROM accounts LIMIT 1") is not None

    def add_account(self, account: Account) -> None:
        """Add an account for a member of staff; raise AccessRefused if another account has this subject."""
        with self._alone() as db:
            insert_account(db, account)
            self._note(db, words.ACCOUNT_ADDED, account.id.hex())

    def account(self, account_id: bytes) -> Account | None:
        """Return the account with this id, even if it is disabled, or None."""
        return self._back_end.one_of(account_of, _ACCOUNT, [account_id])

    def account_of_subject(self, subject: str) -> Account | None:
        """Return the account with this subject at the institution's identity provider, or None."""
        return self._back_end.one_of(account_of, _ACCOUNT_OF_SUBJECT, [subject])

    def accounts(self) -> list[Account]:
        """Return all accounts ordered by name, disabled ones included."""
        return [account_of(*row) for row in self._back_end.rows_of(_BY_NAME)]

    def disable(self, account_id: bytes, day: int) -> None:
        """Disable an account and end its sessions, including one that another transaction is starting.

        Raises AccessRefused if it is the last admin.
        """
        with self._alone(deletes=True) as db:
            _check_other_admin(db, account_id)
            # A transaction that starts a session locks this row, so the update waits for it and its session is deleted.
            query = "UPDATE accounts SET disabled_on = ? WHERE account = ? AND disabled_on IS NULL"
            changed = db.execute(query, [day, account_id]).rowcount
            forget_doors(db, account_id)
            if changed:
                self._note(db, words.ACCOUNT_DISABLED, account_id.hex())

    def enable(self, account_id: bytes) -> None:
        """Enable an account again; its keys work again, its sessions stay ended."""
        with self._alone() as db:
            query = "UPDATE accounts SET disabled_on = NULL WHERE account = ? AND disabled_on IS NOT NULL"
            if db.execute(query, [account_id]).rowcount:
                self._note(db, words.ACCOUNT_ENABLED, account_id.hex())

    def delete(self, account_id: bytes) -> bool:
        """Delete an account with everything that lets it in; return False if there is none.

        Its id stays in the audit log, whose entries are chained, as a pseudonym without a name. Raises AccessRefused if
        it is the last admin, or the last owner of a survey.
        """
        with self._alone(deletes=True) as db:
            _check_other_admin(db, account_id)
            for (survey,) in db.execute("SELECT survey FROM grants WHERE account = ?", [account_id]).fetchall():
                _check_other_owner(db, account_id, survey)
            # First, since a transaction that starts a session locks this row: its session is deleted below.
            is_there = db.execute("DELETE FROM accounts WHERE account = ?", [account_id]).rowcount > 0
            forget_doors(db, account_id)
            for statement in _DELETE_OF_ACCOUNT:
                db.execute(statement, [account_id])
            if is_there:
                self._note(db, words.ACCOUNT_DELETED, account_id.hex())
        return is_there

    def set_admin(self, account_id: bytes, admin: bool) -> None:
        """Give or take the admin right of an account; raise AccessRefused if it is the last admin."""
        with self._alone() as db:
            if not admin:
                _check_other_admin(db, account_id)
            query = "UPDATE accounts SET admin = ? WHERE account = ? AND admin <> ?"
            if db.execute(query, [int(admin), account_id, int(admin)]).rowcount:
                self._note(db, words.ACCOUNT_CHANGED, account_id.hex())

    def set_subject(self, account_id: bytes, subject: str | None) -> None:
        """Store an account's subject at the institution's identity provider; None removes it.

        Raises AccessRefused if another account has this subject.
        """
        with self._alone() as db:
            # Checked under the lock: two accounts must never share a subject, which would let one person act as both.
            _check_subject(db, subject)
            if db.execute("UPDATE accounts SET subject = ? WHERE account = ?", [subject, account_id]).rowcount:
                self._note(db, words.ACCOUNT_CHANGED, account_id.hex())

    def grant(self, account_id: bytes, survey: str, role: str) -> None:
        """Grant an account one of ``ROLES`` on a survey, or ``EVERY_SURVEY``, replacing its former role.

        Raises AccessRefused if the account is the survey's last owner.
        """
        with self._alone() as db:
            # Under the lock, or two owners could give up their roles at once and leave a survey without one.
            if role != "owner":
                _check_other_owner(db, account_id, survey)
            insert_grant(db, account_id, survey, role)
            self._note(db, words.GRANTED, f"{survey} {role} {account_id.hex()}")

    def claim(self, account_id: bytes, survey: str) -> bool:
        """Make an account the owner of a survey without grants; return False without writing if it has grants."""
        with self._alone() as db:
            # Check and grant in one transaction: two people who publish the same name must not both own it.
            is_free = db.execute("SELECT 1 FROM grants WHERE survey = ?", [survey]).fetchone() is None
            if is_free:
                insert_grant(db, account_id, survey, "owner")
                self._note(db, words.GRANTED, f"{survey} owner {account_id.hex()}")
        return is_free

    def unclaim(self, account_id: bytes, survey: str) -> None:
        """Undo ``claim`` if the survey was not published after all."""
        with self._alone() as db:
            # The survey may have been published by a second request meanwhile; then its owner stays.
            query = "DELETE FROM grants WHERE account = ? AND survey = ? AND survey NOT IN (SELECT name FROM surveys)"
            if db.execute(query, [account_id, survey]).rowcount:
                self._note(db, words.GRANT_REVOKED, f"{survey} {account_id.hex()}")

    def revoke_grant(self, account_id: bytes, survey: str) -> None:
        """Revoke an account's role on a survey; raise AccessRefused if it is the survey's last owner."""
        with self._alone() as db:
            _check_other_owner(db, account_id, survey)
            if db.execute("DELETE FROM grants WHERE account = ? AND survey = ?", [account_id, survey]).rowcount:
                self._note(db, words.GRANT_REVOKED, f"{survey} {account_id.hex()}")

    def grants(self, account_id: bytes) -> dict[str, str]:
        """Return the account's roles by name of the survey, which may be ``EVERY_SURVEY``."""
        query = "SELECT survey, role FROM grants WHERE account = ? ORDER BY survey"
        return {str(survey): str(role) for survey, role in self._back_end.rows_of(query, [account_id])}

    def granted(self, survey: str) -> list[tuple[Account, str]]:
        """Return accounts with a role on this survey itself, ordered by name; ``EVERY_SURVEY`` is not included."""
        query = """
            SELECT accounts.account, name, admin, subject, disabled_on, role FROM grants
            JOIN accounts ON accounts.account = grants.account WHERE survey = ? ORDER BY name, accounts.account
        """
        return [(account_of(*row), str(row[5])) for row in self._back_end.rows_of(query, [survey])]


def account_of(account: bytes, name: str, admin: int, *rest: Any) -> Account:  # noqa: ANN401 - a row
    """Return the account in a row of ``account, name, admin, subject, disabled_on``, and more."""
    return Account(bytes(account), name, bool(admin), *rest[:2])


def insert_account(db: Handle, account: Account) -> None:
    """Add an account, within a transaction that holds the lock of accounts."""
    _check_subject(db, account.subject)
    insert(db, "accounts", [account.id, account.name, int(account.admin), account.subject, account.disabled_on])


def insert_grant(db: Handle, account_id: bytes, survey: str, role: str) -> None:
    """Grant a role as ``grant`` does, within a transaction that holds the lock of grants.

    Raises AccessRefused if there is no such account.
    """
    if db.execute(_ACCOUNT, [account_id]).fetchone() is None:
        raise AccessRefused(*_DISABLED)
    replaced = "ON CONFLICT (account, survey) DO UPDATE SET role = excluded.role"
    insert(db, "grants", [account_id, survey, role], replaced)


def forget_doors(db: Handle, account_id: bytes) -> None:
    """Delete an account's sessions and sign-in links."""
    db.execute("DELETE FROM staff_sessions WHERE account = ?", [account_id])
    # A sign-in link is as good as a session, so both end together.
    db.execute("DELETE FROM invitations WHERE account = ?", [account_id])


def _check_subject(db: Handle, subject: str | None) -> None:
    if subject is not None and db.execute("SELECT 1 FROM accounts WHERE subject = ?", [subject]).fetchone():
        raise AccessRefused("another account belongs to this person of the sign-in service", "taken")


def _check_other_admin(db: Handle, account_id: bytes) -> None:
    row = db.execute("SELECT 1 FROM accounts WHERE account = ? AND admin = 1", [account_id]).fetchone()
    if row is not None and db.execute(_OTHER_ADMIN, [account_id]).fetchone() is None:
        raise AccessRefused("this is the only admin; give another account that role first", "last_admin")


def _check_other_owner(db: Handle, account_id: bytes, survey: str) -> None:
    query = "SELECT 1 FROM grants WHERE account = ? AND survey = ? AND role = 'owner'"
    if db.execute(query, [account_id, survey]).fetchone() is None:
        return
    if db.execute(_OTHER_OWNER, [survey, account_id]).fetchone() is None:
        raise AccessRefused("this is the survey's only owner; give another account that role first", "last_owner")


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
            self._hold_account(db, key.account)
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
        with self._back_end.deleting() as db:
            # A sign-in with this key locks the row: the deletion waits for it, and the next statement ends its session.
            row = db.execute("DELETE FROM keys WHERE key_hash = ? RETURNING account, survey", [key_hash]).fetchone()
            if row is not None:
                db.execute("DELETE FROM staff_sessions WHERE account = ? AND door = 'key'", [bytes(row[0])])
                self._note(db, words.KEY_REVOKED, f"{row[1]} {bytes(row[0]).hex()}")
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
        found = self._back_end.rows_of(query, [now - SESSION_IDLE, now - SESSION_MOST, session_hash])
        session = next((StaffSession(row[5], account_of(*row), *row[6:]) for row in found), None)
        if session is not None and session.used < now - PRECISION:
            with self._back_end.write() as db:
                # UPDATE, not INSERT: a session that was ended since the read stays ended.
                db.execute("UPDATE staff_sessions SET used = ? WHERE session_hash = ?", [now, session_hash])
        return session

    def sessions(self, account_id: bytes, now: int) -> list[StaffSession]:
        """Return an account's sessions that have not expired, newest first."""
        query = f"{_SESSIONS} AND staff_sessions.account = ? ORDER BY started DESC, session_hash"
        values = [now - SESSION_IDLE, now - SESSION_MOST, account_id]
        return [StaffSession(row[5], account_of(*row), *row[6:]) for row in self._back_end.rows_of(query, values)]

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
        return None if row is None else account_of(*row)

    def _hold_account(self, db: Handle, account_id: bytes) -> None:
        """Lock the account as ``_lock_account``; raise AccessRefused if there is none, or it is disabled."""
        if self._lock_account(db, account_id) is None:
            raise AccessRefused(*_DISABLED)

    def _begin(self, db: Handle, session_hash: bytes, account: Account | None, door: str, now: int) -> Account | None:
        """Store a session and delete expired ones; do nothing without an account."""
        if account is not None:
            old = [now - SESSION_IDLE, now - SESSION_MOST]
            # Cleaned at sign-in, so no timer is needed and the table stays as small as the staff.
            db.execute("DELETE FROM staff_sessions WHERE used < ? OR started < ?", old)
            insert(db, "staff_sessions", [session_hash, account.id, door, now, now])
            self._note(db, words.LOGIN, door, account.id)
        return account


def insert_key(db: Handle, key: AccessKey) -> None:
    """Add a key, within a transaction that has checked its account."""
    values = [key.hash, key.account, key.label, " ".join(sorted(key.scopes)), key.survey, key.expires_on, key.used_on]
    insert(db, "keys", values)


def _with_owner(row: Any) -> tuple[Account, AccessKey] | None:  # noqa: ANN401 - a row, or None
    return None if row is None else (account_of(*row), _key(*row[5:]))


def _key(key_hash: bytes, account: bytes, label: str, scopes: str, *rest: Any) -> AccessKey:  # noqa: ANN401 - a row
    return AccessKey(bytes(key_hash), bytes(account), label, frozenset(scopes.split()), *rest)
