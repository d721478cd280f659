"""Create one-time tokens and redeemable invitations, of one format; each is shown once and stored as a hash.

A program that lost the reply repeats its request and must get the same tokens: otherwise valid tokens would exist
without a holder. The server stores only hashes and cannot show tokens again. For a request with ``Idempotency-Key``, it
therefore derives them by HMAC from the researcher's secret (at least 192 random bits) and that key. The log keeps only
fingerprints, which reveal nothing. Without a key, tokens are random and cannot be recovered.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.storage import Held, Storage, StoredSurvey, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR, REISSUED
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.errors import StorageError
from sottovoce.shared.redemption import BITS, print_token, spell_token, token_hash

MOST = 1_000_000
"""Maximum number of tokens for one call."""


class KeyReused(Exception):
    """Error for an ``Idempotency-Key`` that was used for two different requests."""


class TokenRequest(NamedTuple):
    """Request that can be repeated (idempotent).

    Attributes:
        researcher: secret of the researcher: the API key or the session secret.
        key: ``Idempotency-Key`` of the request.
        body: content of the request, in canonical form.
        who: actor for the audit log; ``NO_ACTOR`` without an account.
    """

    researcher: str
    survey: str
    key: str
    body: bytes
    who: str = NO_ACTOR

    @property
    def asked_for(self) -> str:
        """Fingerprint of the body, in hexadecimal."""
        return self.derive(b"body " + self.body).hex()

    def derive(self, purpose: bytes) -> bytes:
        """Derive 32 pseudorandom bytes from the researcher's secret by HMAC-SHA-256 (RFC 2104)."""
        data = b" ".join([b"sottovoce-tokens/1", self.survey.encode(), self.key.encode(), purpose])
        return hmac.digest(self.researcher.encode(), data, hashlib.sha256)


def new_request_key() -> str:
    """Make a unique key for a request."""
    return secrets.token_urlsafe(16)


def create_tokens(storage: Storage, name: str, count: int, who: str = NO_ACTOR) -> list[str]:
    """Create at most ``MOST`` random tokens, with check letters; only the return value contains them.

    Raises StorageError if there is no such survey, or it asks for no token.
    """
    drawn = draw_tokens(count)
    add_tokens(storage, name, drawn, who)
    return [*print_tokens(drawn, name)]


def draw_tokens(count: int) -> list[int]:
    """Draw random tokens, as numbers, since a million texts take 40 MB more."""
    return [secrets.randbits(BITS) for _ in range(count)]


def print_tokens(drawn: Iterable[int], name: str) -> Iterator[str]:
    """Yield drawn tokens with check letters."""
    return (print_token(spell_token(number), name) for number in drawn)


def add_tokens(storage: Storage, name: str, drawn: Iterable[int], who: str) -> None:
    """Store drawn tokens; raises as ``create_tokens``."""
    first = _first_revision(storage, name)
    hashes = [token_hash(spell_token(number), name) for number in drawn]
    storage.add_tokens(first.key, hashes, who, survey_of(first.document).is_blind)


def create_tokens_once(storage: Storage, name: str, count: int, request: TokenRequest) -> list[str]:
    """Create the tokens of a request, at most ``MOST``; a repeated request returns the same tokens.

    Tokens spent or revoked in the meantime stay so.

    Raises:
        StorageError: no such survey.
        KeyReused: the key was used with a different body.
    """
    made = [spell_token(int.from_bytes(request.derive(b"token %d" % number)[: BITS // 8])) for number in range(count)]
    hashes = [token_hash(token, name) for token in made]
    request_hash = request.derive(b"request").hex()
    first = _first_revision(storage, name)
    blind = survey_of(first.document).is_blind
    batch = TokenBatch(first.key, name, hashes, request_hash, request.asked_for, request.who, blind)
    if storage.add_tokens_once(batch) != request.asked_for:
        raise KeyReused
    return [print_token(token, name) for token in made]


def revoke_tokens(storage: Storage, name: str, tokens: list[str], who: str = NO_ACTOR) -> int:
    """Revoke tokens, with or without check letters, and return how many were valid; invalid ones are ignored.

    Raises StorageError if there is no such survey.
    """
    return storage.revoke_tokens(_first_revision(storage, name).key, [token_hash(token, name) for token in tokens], who)


def reissue_after_restore(storage: Storage, name: str, who: str = NO_ACTOR) -> int:
    """Release the invitations on hold after a restore; return their number, which bounds how many people report twice.

    Raises StorageError if there is no such survey.
    """
    return storage.reissue_invitations(_first_revision(storage, name).key, who)


def possibly_twice(storage: Storage, name: str) -> int:
    """Return an upper bound on the people who reported twice because a restore released their invitations.

    It covers entries that the audit log still keeps.
    """
    return sum(int(each.about.rpartition(" ")[2]) for each in storage.journal.entries(name) if each.what == REISSUED)


def token_counts(storage: Storage, name: str) -> TokenCounts:
    """Count the tokens of a survey by state; raise StorageError if there is no such survey.

    While it is open, spent and unspent tokens move in steps of ``release_batch``, as shown reports do; otherwise the
    counts would reveal each arrival.
    """
    counts = storage.token_counts(_first_revision(storage, name).key)
    last = storage.revisions(name)[-1]
    batch = 1 if last.closed else survey_of(last.document).release_batch
    spent = counts.spent // batch * batch
    return counts._replace(spent=spent, unspent=counts.unspent + counts.spent - spent)


def held_of(counts: TokenCounts) -> Held | None:
    """Return the number and day of invitations on hold after a restore; None if there are none."""
    return Held(counts.held, counts.held_since) if counts.held_since is not None else None


def as_document(counts: TokenCounts) -> dict[str, int | str | None]:
    """Convert the counts to JSON, with the day as an ISO date."""
    since = counts.held_since
    return {**counts._asdict(), "held_since": None if since is None else date_of(since).isoformat()}


def _first_revision(storage: Storage, name: str) -> StoredSurvey:
    """Return the first revision, which tokens belong to: they stay valid after a correction."""
    revisions: list[StoredSurvey] = storage.revisions(name)
    if not revisions:
        raise StorageError("there is no survey of this name")
    return revisions[0]
