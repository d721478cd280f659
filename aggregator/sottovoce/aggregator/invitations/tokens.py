"""
Making one-time tokens, and invitations to be redeemed, which are spelt alike: random, many at once, shown once, stored
as hashes.

A program whose request was answered, and who did not get the answer, asks again; it must get the same tokens, for more
of them would be good than anybody has. They cannot be kept to be shown again, since only hashes are. So the tokens of a
request that has an ``Idempotency-Key`` are computed from what only the researcher holds, his token of 192 random bits,
and from that key: whoever asks with both gets them again, and the aggregator keeps fingerprints in its record, of which
nothing follows. Without such a key they are random, and can be had again by nobody.
"""

import hashlib
import hmac
import secrets
from typing import NamedTuple

from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.storage import Held, Storage, StoredSurvey, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.audit_log.events import NOBODY, REISSUED
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.errors import StorageError
from sottovoce.shared.tokens import BITS, print_token, spell_token, token_hash

MOST = 1_000_000
"""Tokens that one call makes."""


class KeyReused(Exception):
    """One ``Idempotency-Key`` came with two bodies."""


class TokenRequest(NamedTuple):
    """
    A request that may come again.

    Attributes:
        researcher: the token that it came with, which only its holder has.
        survey: name of the survey.
        key: the name that the researcher's program gave it.
        body: what it asks for, in one spelling.
        who: asks, for the journal.
    """

    researcher: str
    survey: str
    key: str
    body: bytes
    who: str = NOBODY

    @property
    def asked_for(self) -> str:
        """A fingerprint of the body."""
        return self.derive(b"body " + self.body).hex()

    def derive(self, purpose: bytes) -> bytes:
        """32 bytes that nobody can tell from random ones without the researcher's token (RFC 2104)."""
        told = b" ".join([b"sottovoce-tokens/1", self.survey.encode(), self.key.encode(), purpose])
        return hmac.digest(self.researcher.encode(), told, hashlib.sha256)


def new_request_key() -> str:
    """A name for a request that nobody else gives."""
    return secrets.token_urlsafe(16)


def create_tokens(storage: Storage, name: str, count: int, who: str = NOBODY) -> list[str]:
    """
    New tokens for a survey, with their check letters; after this they are nowhere but in what is returned.

    Args:
        storage: where their hashes go.
        name: the survey's.
        count: how many, at most ``MOST``.
        who: asks, for the journal.

    Raises:
        StorageError: no such survey, or it asks for no token.
    """
    first = _first_revision(storage, name)
    made = [spell_token(secrets.randbits(BITS)) for _ in range(count)]
    blind = survey_of(first.document).is_blind
    storage.add_tokens(first.key, [token_hash(token, name) for token in made], who, blind)
    return [print_token(token, name) for token in made]


def create_tokens_once(storage: Storage, name: str, count: int, request: TokenRequest) -> list[str]:
    """
    The tokens of a request, made at the first time and the same ones whenever it comes again. What was spent or taken
    back meanwhile stays so.

    Args:
        storage: where their hashes go.
        name: the survey's.
        count: how many, at most ``MOST``.
        request: that asks for them.

    Raises:
        StorageError: no such survey.
        KeyReused: the key was used for something else.
    """
    made = [spell_token(int.from_bytes(request.derive(b"token %d" % number)[: BITS // 8])) for number in range(count)]
    hashes = [token_hash(token, name) for token in made]
    told = request.derive(b"request").hex()
    first = _first_revision(storage, name)
    blind = survey_of(first.document).is_blind
    batch = TokenBatch(first.key, name, hashes, told, request.asked_for, request.who, blind)
    if storage.add_tokens_once(batch) != request.asked_for:
        raise KeyReused
    return [print_token(token, name) for token in made]


def revoke_tokens(storage: Storage, name: str, tokens: list[str], who: str = NOBODY) -> int:
    """
    Take tokens back; returns how many of them were still good.

    Args:
        storage: where their hashes are.
        name: the survey's.
        tokens: as they were handed out, or without check letters; those that are not good are passed over.
        who: asks, for the journal.

    Raises:
        StorageError: no such survey.
    """
    return storage.revoke_tokens(_first_revision(storage, name).key, [token_hash(token, name) for token in tokens], who)


def reissue_after_restore(storage: Storage, name: str, who: str = NOBODY) -> int:
    """
    Let the invitations be redeemed that a restore holds back; returns how many: so many people may report twice.

    Args:
        storage: where they are.
        name: the survey's.
        who: does it, for the journal.

    Raises:
        StorageError: no such survey.
    """
    return storage.reissue_invitations(_first_revision(storage, name).key, who)


def possibly_twice(storage: Storage, name: str) -> int:
    """
    How many people may have reported twice, since invitations were let be redeemed again after a restore.

    Args:
        storage: whose journal says so, for as long as it keeps its entries.
        name: the survey's.
    """
    return sum(int(each.about.rpartition(" ")[2]) for each in storage.journal.entries(name) if each.what == REISSUED)


def token_counts(storage: Storage, name: str) -> TokenCounts:
    """
    Counters, which name no token. While the survey is open those that were spent move in steps of ``release_batch``,
    as the reports do that they let in, and with them those that are good still.

    Raises:
        StorageError: no such survey.
    """
    counts = storage.token_counts(_first_revision(storage, name).key)
    last = storage.revisions(name)[-1]
    batch = 1 if last.closed else survey_of(last.document).release_batch
    spent = counts.spent // batch * batch
    return counts._replace(spent=spent, unspent=counts.unspent + counts.spent - spent)


def held_of(counts: TokenCounts) -> Held | None:
    """What is held after a restore, if anything."""
    return Held(counts.held, counts.held_since) if counts.held_since is not None else None


def as_document(counts: TokenCounts) -> dict[str, int | str | None]:
    """The counts as they are told to programs: the day as a date."""
    since = counts.held_since
    return {**counts._asdict(), "held_since": None if since is None else date_of(since).isoformat()}


def _first_revision(storage: Storage, name: str) -> StoredSurvey:
    """The one that tokens lie under: they outlive a correction, which may not change who may answer."""
    revisions: list[StoredSurvey] = storage.revisions(name)
    if not revisions:
        raise StorageError("there is no survey of this name")
    return revisions[0]
