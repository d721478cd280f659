"""
The invitations of surveys with ``access: blind``: hashes, and for those that were redeemed a fingerprint of what was.

Nothing in a row leads to a report. When somebody redeemed is not kept: rows lie in the order of random hashes.
"""

from collections.abc import Sequence

from sottovoce.aggregator.storage.base import Outcome
from sottovoce.aggregator.storage.statements import Handle

_MAKE = """
    CREATE TABLE blind_invitations (
        survey {survey},
        invitation_hash {bytes} NOT NULL,
        blinded_hash {bytes},
        PRIMARY KEY (survey, invitation_hash)
    ){end}
"""
MAKE_BLIND = (
    _MAKE.format(survey="INTEGER NOT NULL REFERENCES surveys (key)", bytes="BLOB", end=" STRICT, WITHOUT ROWID"),
)
MAKE_BLIND_SHARED = (
    # Half of each page is free, so that a row that was redeemed stays where it is.
    _MAKE.format(survey="bigint NOT NULL", bytes="bytea", end=" WITH (fillfactor = 50)"),
    # The planner's statistics would keep samples.
    "ALTER TABLE blind_invitations ALTER invitation_hash SET STATISTICS 0",
    "ALTER TABLE blind_invitations ALTER blinded_hash SET STATISTICS 0",
)

_REDEEM = """
    UPDATE blind_invitations SET blinded_hash = ?
    WHERE survey = ? AND invitation_hash = ? AND blinded_hash IS NULL
"""
_REDEEMED = "SELECT blinded_hash FROM blind_invitations WHERE survey = ? AND invitation_hash = ?"
_REVOKE = """
    DELETE FROM blind_invitations
    WHERE survey = ? AND invitation_hash = ? AND (blinded_hash IS NULL OR blinded_hash = ?)
"""
HELD = b"held"
"""In the place of a fingerprint: good when a backup was made, and since then perhaps redeemed; nobody knows."""
_HOLD = "UPDATE blind_invitations SET blinded_hash = ? WHERE blinded_hash IS NULL"
_RELEASE = "UPDATE blind_invitations SET blinded_hash = NULL WHERE survey = ? AND blinded_hash = ?"
_COUNT = "SELECT count(*) FROM blind_invitations WHERE survey = ? AND blinded_hash IS NULL"


def invite(db: Handle, survey: int, hashes: Sequence[bytes]) -> None:
    """
    Make these invitations good.

    Args:
        db: within a transaction.
        survey: key of the first revision, under which they lie.
        hashes: of the invitations.
    """
    statement = "INSERT INTO blind_invitations (survey, invitation_hash) VALUES (?, ?)"
    # In the order of the hashes, which is not that of the list that people were given.
    db.executemany(statement, [(survey, each) for each in sorted(hashes)])


def redeem(db: Handle, survey: int, invitation: bytes, blinded: bytes) -> Outcome:
    """
    Use up an invitation; whoever asks with the same fingerprint again is owed the same reply.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        invitation: its hash.
        blinded: the fingerprint of what is to be signed.
    """
    # First of all: of two who ask at once the other one waits here, and then finds what this one wrote.
    if db.execute(_REDEEM, [blinded, survey, invitation]).rowcount == 1:
        return Outcome.NEW
    found = db.execute(_REDEEMED, [survey, invitation]).fetchone()
    if found is None:
        return Outcome.TOKEN_INVALID
    if bytes(found[0]) == HELD:
        return Outcome.UNKNOWN
    return Outcome.SAME if bytes(found[0]) == blinded else Outcome.CONFLICT


def hold(db: Handle) -> None:
    """
    After a backup was restored: what is good in it may have been redeemed since, and is not until somebody has said so.

    Args:
        db: within a transaction.
    """
    db.execute(_HOLD, [HELD])


def release(db: Handle, survey: int) -> int:
    """
    Let what is held be redeemed again; returns how many, each of which may be redeemed a second time by that.

    Args:
        db: within a transaction.
        survey: key of the first revision.
    """
    return db.execute(_RELEASE, [survey, HELD]).rowcount


def is_unredeemed(db: Handle, survey: int, invitation: bytes) -> bool:
    """
    Whether an invitation can be redeemed still.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        invitation: its hash.
    """
    found = db.execute(_REDEEMED, [survey, invitation]).fetchone()
    return found is not None and found[0] is None


def revoke(db: Handle, survey: int, hashes: Sequence[bytes]) -> int:
    """
    Take back those that were not redeemed; returns how many they were.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        hashes: of the invitations.
    """
    return db.executemany(_REVOKE, [(survey, each, HELD) for each in hashes])


def count(db: Handle, survey: int) -> int:
    """How many can be redeemed still."""
    return int((db.execute(_COUNT, [survey]).fetchone() or (0,))[0])
