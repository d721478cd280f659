"""Data of tokens that storage exchanges with its callers: counts and requests."""

from collections.abc import Sequence
from typing import NamedTuple

from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR


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
