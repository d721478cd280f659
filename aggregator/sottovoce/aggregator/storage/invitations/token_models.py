"""Tokens as numbers and as a request: what both back ends and their callers say of them."""

from collections.abc import Sequence
from typing import NamedTuple

from sottovoce.aggregator.storage.audit_log.events import NOBODY


class TokenCounts(NamedTuple):
    """
    How many tokens there are of each kind.

    Attributes:
        created: were made.
        spent: were used for a report, or redeemed if they are invitations.
        revoked: were taken back.
        unspent: are good.
        held: invitations of which nobody knows that, since a backup was put back.
        held_since: the day of that, in days since 1970; None if none are held.
    """

    created: int
    spent: int
    revoked: int
    unspent: int
    held: int = 0
    held_since: int | None = None


class Held(NamedTuple):
    """Invitations that were good in a backup when it was put back: how many, and since which day (since 1970)."""

    number: int
    since: int


class TokenBatch(NamedTuple):
    """
    Tokens that are made once, however often they are asked for.

    Attributes:
        survey: key of the first revision, under which tokens lie.
        name: the survey's.
        hashes: of the tokens.
        request: a fingerprint of who asks, and of the name that the request was given.
        body: a fingerprint of what is asked for.
        who: asks, for the journal.
        blind: they are invitations to be redeemed.
    """

    survey: int
    name: str
    hashes: Sequence[bytes]
    request: str
    body: str
    who: str = NOBODY
    blind: bool = False
