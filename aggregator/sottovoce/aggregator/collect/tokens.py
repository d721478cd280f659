"""Making one-time tokens: random, many at once, shown once, stored as hashes."""

import secrets

from sottovoce.aggregator.storage import Storage, StoredSurvey, TokenCounts
from sottovoce.shared.errors import StorageError
from sottovoce.shared.tokens import BITS, print_token, spell_token, token_hash

MOST = 1_000_000
"""Tokens that one call makes."""


def create_tokens(storage: Storage, name: str, count: int) -> list[str]:
    """
    New tokens for a survey, with their check letters; after this they are nowhere but in what is returned.

    Args:
        storage: where their hashes go.
        name: the survey's.
        count: how many, at most ``MOST``.

    Raises:
        StorageError: no such survey, or it asks for no token.
    """
    key = _token_key(storage, name)
    made = [spell_token(secrets.randbits(BITS)) for _ in range(count)]
    storage.add_tokens(key, [token_hash(token, name) for token in made])
    return [print_token(token, name) for token in made]


def revoke_tokens(storage: Storage, name: str, tokens: list[str]) -> int:
    """
    Take tokens back; returns how many of them were still good.

    Args:
        storage: where their hashes are.
        name: the survey's.
        tokens: as they were handed out, or without check letters; those that are not good are passed over.

    Raises:
        StorageError: no such survey.
    """
    return storage.revoke_tokens(_token_key(storage, name), [token_hash(token, name) for token in tokens])


def token_counts(storage: Storage, name: str) -> TokenCounts:
    """
    Counters, which name no token.

    Raises:
        StorageError: no such survey.
    """
    return storage.token_counts(_token_key(storage, name))


def _token_key(storage: Storage, name: str) -> int:
    """Tokens lie under a survey's first revision: they outlive a correction."""
    revisions: list[StoredSurvey] = storage.revisions(name)
    if not revisions:
        raise StorageError("there is no survey of this name")
    return revisions[0].key
