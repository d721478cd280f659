"""Secrets of staff: keys, links that are good once, cookies. Each is shown once; only its hash is stored."""

import hashlib
import secrets

KEY_DAYS, MOST_KEY_DAYS = 90, 366
"""Days for which a key lets in: unless something else is asked for, and at most."""

VIEW_DAYS, MOST_VIEW_DAYS = 30, 366
"""Days for which a link for an ethics board is good: unless something else is asked for, and at most."""

KEY_PREFIX = "sottovoce-key-"
"""By which a key is known for one wherever it turns up, to people and to programs that look for lost secrets."""


def new_key() -> tuple[str, bytes]:
    """A key, to be shown once, and its hash, to be stored."""
    key = KEY_PREFIX + secrets.token_urlsafe(24)
    return key, key_hash(key)


def key_hash(secret: str) -> bytes:
    """192 random bits need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def new_link() -> tuple[str, bytes]:
    """
    The secret of a link that is good once, and its hash.

    It is hashed in another way than a key, so that neither is ever good for the other.
    """
    secret = secrets.token_urlsafe(24)
    return secret, link_hash(secret)


def link_hash(secret: str) -> bytes:
    """What is stored of a link."""
    given = secret.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(given, digest_size=32, person=b"sign-in link").digest()


def new_cookie() -> tuple[str, bytes]:
    """The secret of a session, and its hash."""
    secret = secrets.token_urlsafe(32)
    return secret, key_hash(secret)


def new_id() -> bytes:
    """The id of an account."""
    return secrets.token_bytes(16)
