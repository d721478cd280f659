"""Store invitations of surveys with ``access: blind``: hashes, and fingerprints of the messages they were redeemed for.

No row links to a report. The time of a redemption is not stored, and rows are in the order of random hashes.

After a restore, the database cannot tell which unredeemed invitations were redeemed after the backup. They are held:
the server signs nothing for them until an operator releases them.

The counts and requests that storage exchanges with its callers are those of one-time tokens, too.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR, REISSUED, RESTORED
from sottovoce.aggregator.storage.back_end import BackEnd
from sottovoce.aggregator.storage.models import Outcome
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.shared.errors import StorageError

_REDEEM = """
    UPDATE blind_invitations SET blinded_hash = ?
    WHERE survey = ? AND invitation_hash = ? AND blinded_hash IS NULL
"""
_REDEEMED = "SELECT blinded_hash FROM blind_invitations WHERE survey = ? AND invitation_hash = ?"
_REVOKE = "DELETE FROM blind_invitations WHERE survey = ? AND invitation_hash = ? AND blinded_hash IS NULL"
_REVOKE_HELD = "DELETE FROM blind_invitations WHERE survey = ? AND invitation_hash = ? AND blinded_hash = ?"
_FEWER_HELD = """
    UPDATE token_counts SET held = held - ?, held_since = CASE WHEN held > ? THEN held_since END WHERE survey = ?
"""
HELD = b"held"
"""Fingerprint of a held invitation: unredeemed in the backup, possibly redeemed after it."""
_HOLD = "UPDATE blind_invitations SET blinded_hash = ? WHERE blinded_hash IS NULL"
_COUNT_HELD = """
    UPDATE token_counts SET held_since = coalesce(held_since, ?), held = (
        SELECT count(*) FROM blind_invitations WHERE survey = token_counts.survey AND blinded_hash = ?
    ) WHERE survey IN (SELECT survey FROM blind_invitations WHERE blinded_hash = ?)
"""
_RELEASE = "UPDATE blind_invitations SET blinded_hash = NULL WHERE survey = ? AND blinded_hash = ?"
_COUNT_RELEASED = "UPDATE token_counts SET held = 0, held_since = NULL WHERE survey = ?"
_NAME = "SELECT name FROM surveys WHERE key = ?"
_MARK = "SELECT mark FROM pulse"
# An update without a change locks the row, so that a second node waits and then sees the new mark.
_TAKE_MARK = "UPDATE pulse SET mark = mark"
_RAISE_MARK = "UPDATE pulse SET mark = ? WHERE mark < ?"
# Any revision, since invitations refer to the first one, which stays closed if a correction follows a close.
_ANY_OPEN = "SELECT 1 FROM surveys WHERE closed_on IS NULL AND name = (SELECT name FROM surveys WHERE key = ?)"
_HELD_OF_OPEN = """
    SELECT name, held, held_since FROM token_counts JOIN surveys AS first ON key = survey
    WHERE held > 0 AND EXISTS (SELECT 1 FROM surveys WHERE name = first.name AND closed_on IS NULL)
    ORDER BY name
"""


class TokenCounts(NamedTuple):
    """Numbers of tokens by state.

    Attributes:
        created: all tokens that were ever created.
        spent: used for a report, or redeemed if they are invitations.
        held: invitations that cannot be redeemed after a restore, since they may have been redeemed before it.
        held_since: day of the restore, in days since 1970; None if none are held.
    """

    created: int
    spent: int
    revoked: int
    unspent: int
    held: int = 0
    held_since: int | None = None


class Held(NamedTuple):
    """Number of invitations held after a restore, and the day of the restore, in days since 1970."""

    number: int
    since: int


class TokenBatch(NamedTuple):
    """Idempotent request for tokens (or, if ``blind``, invitations): repeating it creates nothing.

    Attributes:
        survey: key of the first revision, which all tokens of a survey refer to.
        request: fingerprint of the requesting account and its idempotency key.
        body: fingerprint of the request's content.
    """

    survey: int
    name: str
    hashes: Sequence[bytes]
    request: str
    body: str
    who: str = NO_ACTOR
    blind: bool = False


class InvitationStorage(BackEnd):
    """Part of ``Storage`` that handles invitations to be redeemed; ``survey`` is the key of the first revision."""

    def redeem_invitation(self, survey: int, invitation: bytes, blinded: bytes) -> Outcome:
        """Redeem an invitation (its hash), durably, for the fingerprint of the blinded message to be signed.

        Returns NEW; SAME if it was redeemed for this fingerprint, which gets the same signature again, CONFLICT if for
        another; TOKEN_INVALID if it does not exist; UNKNOWN while it is held after a restore; CLOSED.
        """
        with self.write() as db:
            if db.execute(_ANY_OPEN + self.UNTIL_END, [survey]).fetchone() is None:
                return Outcome.CLOSED
            # The update comes first: a concurrent request waits for its row lock, and then finds it redeemed.
            is_new = db.execute(_REDEEM, [blinded, survey, invitation]).rowcount == 1
            row = None if is_new else db.execute(_REDEEMED, [survey, invitation]).fetchone()
        if is_new:
            self._note_redeemed()
            return Outcome.NEW
        if row is None:
            return Outcome.TOKEN_INVALID
        if bytes(row[0]) == HELD:
            return Outcome.UNKNOWN
        return Outcome.SAME if bytes(row[0]) == blinded else Outcome.CONFLICT

    def hold_invitations(self, now: int = 0) -> None:
        """Hold all unredeemed invitations after a restore, until ``reissue_invitations``.

        They may have been redeemed after the backup. ``now`` is the new mark, in seconds since 1970, so that nodes with
        an older mark do not hold them again.
        """
        with self.write() as db:
            db.execute(_RAISE_MARK, [now, now])
            self._hold_unredeemed(db)

    def mark(self) -> int:
        """Return the age mark: seconds since 1970 of the last run of a node with signing keys, or of a restore."""
        return int(self.row_of(_MARK)[0])

    def note_mark(self, now: int, known: int) -> tuple[int, bool]:
        """Raise the age mark to ``now``; hold invitations if it shows that an older copy of the database was restored.

        Return the new mark, and True if the stored one was below ``known``, the last that this node saw (0: none).
        """
        with self.write() as db:
            db.execute(_TAKE_MARK)
            mark = int(db.execute(_MARK).fetchone()[0])
            if known > mark:
                self._hold_unredeemed(db)
                self.note(db, RESTORED, NO_ACTOR)
            # By one at least, so that the mark grows even if it was once raised by a clock that was ahead.
            new = max(mark + 1, now, known)
            db.execute(_RAISE_MARK, [new, new])
        return new, known > mark

    def held_invitations(self) -> dict[str, Held]:
        """Return the invitations held after a restore, by the name of each open survey."""
        return {name: Held(number, since) for name, number, since in self.rows_of(_HELD_OF_OPEN)}

    def reissue_invitations(self, survey: int, who: str = NO_ACTOR) -> int:
        """Make held invitations valid again, and return their number.

        Each of them may have been redeemed after the backup, and can then be redeemed a second time.
        """
        with self.write() as db:
            name = self._lock_survey(db, survey)
            held = db.execute(_RELEASE, [survey, HELD]).rowcount
            db.execute(_COUNT_RELEASED, [survey])
            if held:
                self.note(db, REISSUED, who, f"{name} {held}")
        return held

    def _hold_unredeemed(self, db: Handle) -> None:
        if db.execute(_HOLD, [HELD]).rowcount:
            db.execute(_COUNT_HELD, [self.today(db), HELD, HELD])

    def _lock_survey(self, db: Handle, survey: int) -> str:
        """Return the survey's name and lock its row, since a concurrent deletion would miss tokens added here."""
        row = db.execute(_NAME + self.UNTIL_END, [survey]).fetchone()
        if row is None:
            raise StorageError("there is no survey of this name")
        return str(row[0])


def revoke(db: Handle, survey: int, hashes: Sequence[bytes]) -> int:
    """Revoke invitations, by hash, that were not redeemed, held ones included; return their number."""
    held = db.executemany(_REVOKE_HELD, [(survey, each, HELD) for each in hashes])
    if held:
        db.execute(_FEWER_HELD, [held, held, survey])
    return held + db.executemany(_REVOKE, [(survey, each) for each in hashes])
