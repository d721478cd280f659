"""
Invitations written anew in the order of random keys: neither old places nor the old transactions' numbers come along.

The new table is filled beside the old one while people redeem; then the two change names, in a moment in which what was
redeemed meanwhile is taken over. What comes over in that moment can be told from the rest until the next time: it was
redeemed within the seconds of this one. Whoever reads the whole table at one moment must hold it, as it is another one
afterwards; then nobody is made to wait behind who waits here, and it is left for the next time.
"""

import time
from typing import Any

import psycopg
from psycopg import errors
from sottovoce.aggregator.storage.postgres.migrate import LOCK

_TRIES = 20
_PAUSE = 0.5
"""Seconds; others read the table, and redeem."""

_OLDEST = "SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint % 4294967296)::text::xid"
_FILL = (
    "CREATE TABLE blind_invitations_sorted (LIKE blind_invitations INCLUDING ALL) WITH (fillfactor = 50)",
    # The planner's statistics would keep samples.
    "ALTER TABLE blind_invitations_sorted ALTER invitation_hash SET STATISTICS 0",
    "ALTER TABLE blind_invitations_sorted ALTER blinded_hash SET STATISTICS 0",
    "INSERT INTO blind_invitations_sorted SELECT * FROM blind_invitations ORDER BY 1, 2",
)
_HOLD = "LOCK TABLE blind_invitations IN ACCESS EXCLUSIVE MODE"
# Of whatever has changed since before the new table was filled; what did not is the same there.
_TAKE_OVER = """
    INSERT INTO blind_invitations_sorted AS sorted SELECT * FROM blind_invitations
    WHERE age(xmin) <= age(%s::xid) ORDER BY 1, 2
    ON CONFLICT (survey, invitation_hash) DO UPDATE SET blinded_hash = excluded.blinded_hash
    WHERE sorted.blinded_hash IS DISTINCT FROM excluded.blinded_hash
"""
_COUNTS = "SELECT (SELECT count(*) FROM blind_invitations), (SELECT count(*) FROM blind_invitations_sorted)"
_TAKE_BACK = """
    DELETE FROM blind_invitations_sorted AS sorted WHERE NOT EXISTS (
        SELECT FROM blind_invitations AS old
        WHERE (old.survey, old.invitation_hash) = (sorted.survey, sorted.invitation_hash)
    )
"""
_CHANGE_NAMES = (
    "DROP TABLE blind_invitations",
    "ALTER TABLE blind_invitations_sorted RENAME TO blind_invitations",
    "ALTER INDEX blind_invitations_sorted_pkey RENAME TO blind_invitations_pkey",
)


def sort_invitations(connection: psycopg.Connection[Any]) -> None:
    """Write invitations anew, unless another node is at it or somebody reads them all for long."""
    with connection.transaction():
        if connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK]).fetchone() == (False,):
            return
        ((oldest,),) = connection.execute(_OLDEST).fetchall()
        for statement in _FILL:
            connection.execute(statement)
        if not _held(connection):
            raise psycopg.Rollback
        connection.execute(_TAKE_OVER, [oldest])
        ((before, after),) = connection.execute(_COUNTS).fetchall()
        if before != after:
            connection.execute(_TAKE_BACK)
        for statement in _CHANGE_NAMES:
            connection.execute(statement)


def _held(connection: psycopg.Connection[Any]) -> bool:
    """Return True if the old table was locked; a redemption waits behind this for 200 ms at most."""
    for _ in range(_TRIES):
        try:
            with connection.transaction():
                connection.execute("SET LOCAL lock_timeout = '200ms'")
                connection.execute(_HOLD)
                return True
        except errors.LockNotAvailable:
            time.sleep(_PAUSE)
    return False
