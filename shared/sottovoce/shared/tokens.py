"""Spell, read and check tokens: 80 random bits that let one person send one report.

Written in Crockford's base 32, which has no I, L, O and U, and which people may write in lower case, with hyphens, or
with the letters that look like 0 and 1. A token is handed out with two check letters over the survey's name and the
token, so that the client finds typing errors without a request; they are no secret, and are never stored or sent.

The check is the number that ``survey/token`` spells to the base 37, modulo 1021: prime, and less than 32 squared.
Exchanging one letter, or two neighbours, moves it by a product of numbers that 1021 does not divide, so every such
fault is found.
"""

import hashlib
import re

BITS = 80

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = BITS // 5
_BASE, _PRIME = 37, 1021
_TYPED = re.compile("[0-9A-Za-z-]*")
_CANONICAL = re.compile(f"([{_ALPHABET}]{{{_LENGTH}}})([{_ALPHABET}]{{2}})?")
_FORGIVEN = str.maketrans("OIL", "011", "-")


def spell_token(number: int) -> str:
    """Spell a number of 80 bits as a token."""
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(BITS - 5, -5, -5))


def print_token(token: str, survey: str) -> str:
    """Format a token as people are given it for the survey of this name: with its check letters."""
    return token + _check_letters(token, survey)


def parse_token(text: str, survey: str) -> str:
    """Return the token's one spelling, without check letters; tokens from before there were any are read as they are.

    Raises ValueError if it is no token for the survey of this name; the message repeats nothing.
    """
    match = _CANONICAL.fullmatch(text.upper().translate(_FORGIVEN)) if _TYPED.fullmatch(text) else None
    if match is None:
        raise ValueError("is not a token of 16 or 18 letters and digits: a part is missing or mistyped")
    token, check = match.groups()
    if check is not None and check != _check_letters(token, survey):
        raise ValueError("is mistyped, or is for another survey")
    return str(token)


def token_hash(text: str, survey: str) -> bytes:
    """Return the hash stored for a token (80 random bits need no slow hash); b"" for text that is no token."""
    try:
        return hashlib.sha256(parse_token(text, survey).encode()).digest()
    except ValueError:
        return b""


def _check_letters(token: str, survey: str) -> str:
    value = 0
    for character in f"{survey}/{token}":
        value = (value * _BASE + ord(character)) % _PRIME
    return _ALPHABET[value // 32] + _ALPHABET[value % 32]
