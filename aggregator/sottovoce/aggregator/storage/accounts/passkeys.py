"""Tables of passkeys (WebAuthn credentials) and used challenges; a sign-in checks the challenge and starts the session
in one transaction.

Challenges have times to the second, as sessions have; they are deleted once they have expired.
"""

from dataclasses import astuple, dataclass

from sottovoce.aggregator.storage.accounts.keys import KeyTables
from sottovoce.aggregator.storage.accounts.models import AccessRefused, Account
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sql_statements import UNLESS_KNOWN, insert

MOST = 20
"""Maximum number of passkeys of an account."""

_PASSKEYS = "SELECT credential_id, account, public_key, sign_count, label, added_on FROM passkeys"
_OF_NAME = f"{_PASSKEYS} WHERE credential_id = ?"
_OF_ACCOUNT = f"{_PASSKEYS} WHERE account = ? ORDER BY label, credential_id"
# A counter that did not grow suggests a cloned passkey; devices without a counter always send 0 (WebAuthn 2, 6.1.1).
_COUNT_ON = """
    UPDATE passkeys SET sign_count = ?
    WHERE credential_id = ? AND (sign_count < ? OR (sign_count = 0 AND ? = 0)) RETURNING account
"""


@dataclass(frozen=True)
class Passkey:
    """Public part of a passkey; its private key never leaves the device.

    Attributes:
        credential_id: id that the device chose.
        public_key: COSE key.
        sign_count: signature counter of the device; always 0 if the device does not count.
        label: name that its owner chose.
        added_on: day, counted from 1970-01-01.
    """

    credential_id: bytes
    account: bytes
    public_key: bytes
    sign_count: int
    label: str
    added_on: int


@dataclass(frozen=True)
class PasskeyUse:
    """Verified assertion of a passkey, for one sign-in.

    Attributes:
        sign_count: signature counter in the assertion.
        challenge_hash: hash of the answered challenge, which cannot be used again.
        expires: time after which the challenge is invalid anyway, in seconds since 1970.
    """

    credential_id: bytes
    sign_count: int
    challenge_hash: bytes
    expires: int


class PasskeyTables(KeyTables):
    """Part of ``AccessTables`` about passkeys."""

    def challenge_key(self, drawn: bytes) -> bytes:
        """Return the secret that authenticates challenges, the same on all nodes; ``drawn`` if there is none yet."""
        query = "SELECT secret FROM challenge_key"
        row = self._back_end.row_of(query)
        if row is None:
            with self._back_end.write() as db:
                # Two nodes may start at once: the first secret wins, and both read it back.
                insert(db, "challenge_key", [1, drawn], UNLESS_KNOWN)
                row = db.execute(query).fetchone()
        return bytes(row[0])

    def add_passkey(self, passkey: Passkey) -> None:
        """Add a passkey to an account.

        Raises AccessRefused if the passkey is known, or the account is disabled or has ``MOST`` passkeys.
        """
        with self._alone() as db:
            # Locks the account's row, so that disabling it waits and finds this passkey.
            self._hold_account(db, passkey.account)
            if db.execute("SELECT count(*) FROM passkeys WHERE account = ?", [passkey.account]).fetchone()[0] >= MOST:
                raise AccessRefused(f"an account has at most {MOST} passkeys; remove one first", "passkeys", most=MOST)
            if insert(db, "passkeys", astuple(passkey), UNLESS_KNOWN) != 1:
                raise AccessRefused("this passkey is known here already", "known_passkey")
            self._note(db, words.PASSKEY_ADDED, passkey.account.hex())

    def passkey(self, credential_id: bytes) -> Passkey | None:
        """Return the passkey with this id, even if its account is disabled, or None."""
        return self._back_end.one_of(Passkey, _OF_NAME, [credential_id])

    def passkeys(self, account_id: bytes) -> list[Passkey]:
        """Return an account's passkeys, ordered by label."""
        return [Passkey(*row) for row in self._back_end.rows_of(_OF_ACCOUNT, [account_id])]

    def remove_passkey(self, account_id: bytes, credential_id: bytes) -> bool:
        """Delete a passkey and end the account's sessions that began with a passkey; return True if it existed.

        A session that another transaction is starting ends as well.
        """
        with self._back_end.deleting() as db:
            query = "DELETE FROM passkeys WHERE account = ? AND credential_id = ?"
            removed = db.execute(query, [account_id, credential_id]).rowcount == 1
            if removed:
                # A lost device must be shut out at once; which session it began is not stored, so all of that kind end.
                db.execute("DELETE FROM staff_sessions WHERE account = ? AND door = 'passkey'", [account_id])
                self._note(db, words.PASSKEY_REMOVED, account_id.hex())
        return removed

    def start_session_by_passkey(self, session_hash: bytes, use: PasskeyUse, now: int) -> Account | None:
        """Start a session with a passkey, at ``now`` in seconds since 1970, or return None.

        None if the challenge was used before, the passkey was removed, its counter suggests a clone, or its account is
        disabled.
        """
        with self._back_end.write() as db:
            # Expired challenges are refused by their own time, so their rows protect nothing any more.
            db.execute("DELETE FROM spent_challenges WHERE expires < ?", [now])
            # A unique row per challenge: of two replays on two nodes only one insert succeeds.
            if insert(db, "spent_challenges", [use.challenge_hash, use.expires], UNLESS_KNOWN) != 1:
                return None
            row = db.execute(_COUNT_ON, [use.sign_count, use.credential_id, use.sign_count, use.sign_count]).fetchone()
            account = None if row is None else self._lock_account(db, bytes(row[0]))
            return self._begin(db, session_hash, account, "passkey", now)
