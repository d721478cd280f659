"""
Invitations of surveys with ``access: blind``: their hashes, and a fingerprint of the message each was redeemed for.

No row links to a report. The time of a redemption is not stored, and rows are in the order of random hashes.

After a restore, the database cannot tell which unredeemed invitations were redeemed after the backup. They are held:
the server signs nothing for them until an operator releases them.
"""

from collections.abc import Sequence

from sottovoce.aggregator.storage.invitations.token_models import Held
from sottovoce.aggregator.storage.models import Outcome
from sottovoce.aggregator.storage.sql_statements import Handle

# Release 0.3.0 stored the number of spent tokens at the purge; all others but the revoked ones were dropped then.
COUNT_DROPPED = """
    UPDATE token_counts SET dropped = created - revoked - spent
    - (SELECT count(*) FROM tokens WHERE survey = token_counts.survey)
    WHERE survey IN (SELECT key FROM surveys WHERE purged = 1)
"""
"""Statement of the migration from 0.3.0."""

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
_COUNT = "SELECT count(*), count(blinded_hash) FROM blind_invitations WHERE survey = ?"
_MARK = "SELECT mark FROM pulse"
# An update without a change locks the row, so that a second node waits and then sees the new mark.
_TAKE_MARK = "UPDATE pulse SET mark = mark"
_RAISE_MARK = "UPDATE pulse SET mark = ? WHERE mark < ?"
_HELD_OF_OPEN = """
    SELECT name, held, held_since FROM token_counts JOIN surveys AS first ON key = survey
    WHERE held > 0 AND EXISTS (SELECT 1 FROM surveys WHERE name = first.name AND closed_on IS NULL)
    ORDER BY name
"""


def invite(db: Handle, survey: int, hashes: Sequence[bytes]) -> None:
    """
    Add invitations that can be redeemed once each.

    Args:
        db: within a transaction.
        survey: key of the first revision, which they refer to.
        hashes: of the invitations.
    """
    statement = "INSERT INTO blind_invitations (survey, invitation_hash) VALUES (?, ?)"
    # Privacy: in the order of the hashes, since the list may be sorted by people's names.
    db.executemany(statement, [(survey, each) for each in sorted(hashes)])


def redeem(db: Handle, survey: int, invitation: bytes, blinded: bytes) -> Outcome:
    """
    Redeem an invitation; a repeated request with the same fingerprint returns SAME and gets the same signature.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        invitation: hash of the invitation.
        blinded: fingerprint of the blinded message to be signed.
    """
    # The update comes first: a concurrent request waits for its row lock, and then finds it redeemed.
    if db.execute(_REDEEM, [blinded, survey, invitation]).rowcount == 1:
        return Outcome.NEW
    row = db.execute(_REDEEMED, [survey, invitation]).fetchone()
    if row is None:
        return Outcome.TOKEN_INVALID
    if bytes(row[0]) == HELD:
        return Outcome.UNKNOWN
    return Outcome.SAME if bytes(row[0]) == blinded else Outcome.CONFLICT


def hold(db: Handle, day: int) -> None:
    """
    Hold all unredeemed invitations after a restore, since they may have been redeemed after the backup.

    Args:
        db: within a transaction.
        day: today, in days since 1970.
    """
    if db.execute(_HOLD, [HELD]).rowcount:
        db.execute(_COUNT_HELD, [day, HELD, HELD])


def release(db: Handle, survey: int) -> int:
    """
    Make held invitations valid again, even though some may have been redeemed already; return their number.

    Args:
        db: within a transaction.
        survey: key of the first revision.
    """
    released = db.execute(_RELEASE, [survey, HELD]).rowcount
    db.execute(_COUNT_RELEASED, [survey])
    return released


def mark(db: Handle) -> int:
    """Return the age mark: seconds since 1970 of the last run of a node with signing keys, or of the last restore."""
    return int(db.execute(_MARK).fetchone()[0])


def take_mark(db: Handle) -> int:
    """Return the age mark and lock it until the end of the transaction."""
    db.execute(_TAKE_MARK)
    return mark(db)


def raise_mark(db: Handle, to: int) -> None:
    """Raise the age mark, or leave it if it is larger already."""
    db.execute(_RAISE_MARK, [to, to])


def is_unredeemed(db: Handle, survey: int, invitation: bytes) -> bool:
    """
    Return True if an invitation exists and is neither redeemed nor held.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        invitation: hash of the invitation.
    """
    row = db.execute(_REDEEMED, [survey, invitation]).fetchone()
    return row is not None and row[0] is None


def revoke(db: Handle, survey: int, hashes: Sequence[bytes]) -> int:
    """
    Revoke invitations that were not redeemed, held ones included; return their number.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        hashes: of the invitations.
    """
    held = db.executemany(_REVOKE_HELD, [(survey, each, HELD) for each in hashes])
    if held:
        db.execute(_FEWER_HELD, [held, held, survey])
    return held + db.executemany(_REVOKE, [(survey, each) for each in hashes])


def count(db: Handle, survey: int) -> tuple[int, int]:
    """Return the number of invitations, and how many of them are redeemed or held."""
    total, used = db.execute(_COUNT, [survey]).fetchone() or (0, 0)
    return int(total), int(used)


def held_of_open(db: Handle) -> dict[str, Held]:
    """Return the held invitations of open surveys, by name of the survey."""
    return {name: Held(number, since) for name, number, since in db.execute(_HELD_OF_OPEN).fetchall()}
