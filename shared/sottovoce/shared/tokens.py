"""
Tokens: 80 random bits that let one person send one report.

Written in Crockford's base 32, which has no I, L, O and U, and which people may write in lower case, with hyphens,
or with the letters that look like 0 and 1.
"""

import hashlib
import re

BITS = 80

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = BITS // 5
_CANONICAL = re.compile(f"[{_ALPHABET}]{{{_LENGTH}}}")
_FORGIVEN = str.maketrans("OIL", "011", "-")


def spell_token(number: int) -> str:
    """The token that stands for a number of 80 bits."""
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(BITS - 5, -5, -5))


def parse_token(text: str) -> str:
    """
    The token's one spelling.

    Raises:
        ValueError: not a token; the message repeats nothing.
    """
    token = text.upper().translate(_FORGIVEN)
    if not _CANONICAL.fullmatch(token):
        raise ValueError("is not a token of 16 letters and digits")
    return token


def token_hash(text: str) -> bytes:
    """What is stored of a token: 80 random bits need no slow hash. What is no token has the hash of nothing."""
    try:
        return hashlib.sha256(parse_token(text).encode()).digest()
    except ValueError:
        return b""
