"""Secrets of staff: keys, links and session cookies. Each is shown once; the server stores only its hash."""

import hashlib
import secrets

KEY_DAYS, MOST_KEY_DAYS = 90, 366
"""Validity of a key in days: default and maximum."""

VIEW_DAYS, MOST_VIEW_DAYS = 30, 366
"""Validity of a link for an ethics board in days: default and maximum."""

KEY_PREFIX = "sottovoce-key-"
"""Prefix that lets people and secret scanners recognize a leaked key."""


def new_key() -> tuple[str, bytes]:
    """Make a key; return it, to be shown once, and its hash, to be stored."""
    key = KEY_PREFIX + secrets.token_urlsafe(24)
    return key, key_hash(key)


def key_hash(secret: str) -> bytes:
    """Hash a key or a session secret; SHA-256 suffices, since at least 192 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def new_link() -> tuple[str, bytes]:
    """Make the secret of a link; return it and its hash, unlike a key's, so that neither can be used as the other."""
    secret = secrets.token_urlsafe(24)
    return secret, link_hash(secret)


def link_hash(secret: str) -> bytes:
    """Hash the secret of a link."""
    return hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"sign-in link").digest()


def new_cookie() -> tuple[str, bytes]:
    """Make the secret of a session; return it and its hash."""
    secret = secrets.token_urlsafe(32)
    return secret, key_hash(secret)


def new_id() -> bytes:
    """Make a random id for an account."""
    return secrets.token_bytes(16)
