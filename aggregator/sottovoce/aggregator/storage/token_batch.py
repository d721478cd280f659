"""Tokens as numbers and as a request: what both back ends and their callers say of them."""

from collections.abc import Sequence
from typing import NamedTuple

from sottovoce.aggregator.storage.journal_words import NOBODY


class TokenCounts(NamedTuple):
    """How many tokens were made, used (for a report, as an invitation redeemed), taken back, and are still good."""

    created: int
    spent: int
    revoked: int
    unspent: int


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
