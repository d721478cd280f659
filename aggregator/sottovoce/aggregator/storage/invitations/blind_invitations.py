"""
The invitations of surveys with ``access: blind``: hashes, and for those that were redeemed a fingerprint of what was.

Nothing in a row leads to a report. When somebody redeemed is not kept: rows lie in the order of random hashes.

After a backup was put back nobody knows which of those that were good in it were redeemed since it was made. They are
held, and counted as such: nothing is signed for them until somebody has said so.
"""

from collections.abc import Sequence

from sottovoce.aggregator.storage.invitations.token_models import Held
from sottovoce.aggregator.storage.models import Outcome
from sottovoce.aggregator.storage.sql_statements import Handle

_MAKE = """
    CREATE TABLE blind_invitations (
        survey {survey},
        invitation_hash {bytes} NOT NULL,
        blinded_hash {bytes},
        PRIMARY KEY (survey, invitation_hash)
    ){end}
"""
# The release before noted at the purge how many were spent; what was neither that nor revoked was dropped.
_DROPPED_BEFORE = """
    UPDATE token_counts SET dropped = created - revoked - spent
    - (SELECT count(*) FROM tokens WHERE survey = token_counts.survey)
    WHERE survey IN (SELECT key FROM surveys WHERE purged = 1)
"""
MAKE_BLIND = (
    _MAKE.format(survey="INTEGER NOT NULL REFERENCES surveys (key)", bytes="BLOB", end=" STRICT, WITHOUT ROWID"),
    "ALTER TABLE token_counts ADD COLUMN held INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE token_counts ADD COLUMN held_since INTEGER",
    "ALTER TABLE token_counts ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0",
    _DROPPED_BEFORE,
    "ALTER TABLE pulse ADD COLUMN mark INTEGER NOT NULL DEFAULT 0",
)
MAKE_BLIND_SHARED = (
    # Half of each page is free, so that a row that was redeemed stays where it is.
    _MAKE.format(survey="bigint NOT NULL", bytes="bytea", end=" WITH (fillfactor = 50)"),
    # The planner's statistics would keep samples.
    "ALTER TABLE blind_invitations ALTER invitation_hash SET STATISTICS 0",
    "ALTER TABLE blind_invitations ALTER blinded_hash SET STATISTICS 0",
    "ALTER TABLE token_counts ADD COLUMN held bigint NOT NULL DEFAULT 0, ADD COLUMN held_since bigint",
    "ALTER TABLE token_counts ADD COLUMN dropped bigint NOT NULL DEFAULT 0",
    _DROPPED_BEFORE,
    "ALTER TABLE pulse ADD COLUMN mark bigint NOT NULL DEFAULT 0",
)

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
"""In the place of a fingerprint: good when a backup was made, and since then perhaps redeemed; nobody knows."""
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
# First, so that of two nodes one waits for what the other finds.
_TAKE_MARK = "UPDATE pulse SET mark = mark"
_RAISE_MARK = "UPDATE pulse SET mark = ? WHERE mark < ?"
_HELD_OF_OPEN = """
    SELECT name, held, held_since FROM token_counts JOIN surveys AS first ON key = survey
    WHERE held > 0 AND EXISTS (SELECT 1 FROM surveys WHERE name = first.name AND closed_on IS NULL)
    ORDER BY name
"""


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


def hold(db: Handle, day: int) -> None:
    """
    After a backup was put back: what is good in it may have been redeemed since, and is not until somebody has said so.

    Args:
        db: within a transaction.
        day: today, in days since 1970.
    """
    if db.execute(_HOLD, [HELD]).rowcount:
        db.execute(_COUNT_HELD, [day, HELD, HELD])


def release(db: Handle, survey: int) -> int:
    """
    Let what is held be redeemed again; returns how many, each of which may be redeemed a second time by that.

    Args:
        db: within a transaction.
        survey: key of the first revision.
    """
    released = db.execute(_RELEASE, [survey, HELD]).rowcount
    db.execute(_COUNT_RELEASED, [survey])
    return released


def mark(db: Handle) -> int:
    """How new the database is: seconds since 1970 when a node with keys ran last, or a restore held invitations."""
    return int(db.execute(_MARK).fetchone()[0])


def take_mark(db: Handle) -> int:
    """The same, such that nobody else raises it until the end of the transaction."""
    db.execute(_TAKE_MARK)
    return mark(db)


def raise_mark(db: Handle, to: int) -> None:
    """It only grows."""
    db.execute(_RAISE_MARK, [to, to])


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
    held = db.executemany(_REVOKE_HELD, [(survey, each, HELD) for each in hashes])
    if held:
        db.execute(_FEWER_HELD, [held, held, survey])
    return held + db.executemany(_REVOKE, [(survey, each) for each in hashes])


def count(db: Handle, survey: int) -> tuple[int, int]:
    """How many there are, and how many of them cannot be redeemed: they were, or are held."""
    there, used = db.execute(_COUNT, [survey]).fetchone() or (0, 0)
    return int(there), int(used)


def held_of_open(db: Handle) -> dict[str, Held]:
    """What is held of surveys that are open, by their names."""
    return {name: Held(number, since) for name, number, since in db.execute(_HELD_OF_OPEN).fetchall()}
