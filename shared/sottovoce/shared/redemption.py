"""Redeem an invitation, and spell, read and check tokens: 80 random bits that let one person send one report.

For each wave the device has the id of its coming report signed, blinded. What is signed names the modulus and the
report's id, and so the survey's wave and one report. The request carries all waves at once; both messages have one
spelling, keys in the order below and no spaces, as reports have.

Tokens are written in Crockford's base 32, which has no I, L, O and U, and which people may write in lower case, with
hyphens, or with the letters that look like 0 and 1. A token is handed out with two check letters over the survey's name
and the token, so that the client finds typing errors without a request; they are no secret, and are never stored or
sent.

The check is the number that ``survey/token`` spells to the base 37, modulo 1021: prime, and less than 32 squared.
Exchanging one letter, or two neighbours, moves it by a product of numbers that 1021 does not divide, so every such
fault is found.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.shared import canonical
from sottovoce.shared.blind_signatures import SIZES
from sottovoce.shared.errors import ReportRejected

REQUEST = "sottovoce-redeem/1"
REPLY = "sottovoce-redemption/1"
ID_BYTES = 16

_LABEL = b"sottovoce-blind/1\0"
_REQUEST_KEYS = ("format", "digest", "invitation", "blinded")
_REPLY_KEYS = ("format", "survey", "signed")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_INVITATION = re.compile(r"[0-9A-Za-z-]{1,64}")
_SPELT = re.compile(r"[0-9A-Za-z_-]+")
_LENGTHS = tuple(bits // 8 for bits in SIZES)

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


@dataclass(frozen=True)
class RedeemRequest:
    """A device's request for blind signatures.

    Attributes:
        digest: of the survey that it shows, 64 hexadecimal digits.
        invitation: as the link spells it.
        blinded: for each wave, as many bytes as its modulus has.
    """

    digest: str
    invitation: str
    blinded: tuple[bytes, ...]


@dataclass(frozen=True)
class Redemption:
    """The aggregator's reply, the same for every copy of a request.

    ``signed``: for each wave, as many bytes as its modulus has.
    """

    survey: str
    signed: tuple[bytes, ...]


def message(modulus: int, report_id: bytes) -> bytes:
    """Return what a signature signs: the survey's wave, by its modulus, and a report id; ValueError if not 16 bytes."""
    if len(report_id) != ID_BYTES:
        raise ValueError("a report's id has 16 bytes")
    return _LABEL + hashlib.sha256(modulus.to_bytes(modulus.bit_length() // 8)).digest() + report_id


def spell(number: bytes) -> str:
    """Return base64url without padding, as moduli, blinded ids and signatures are written."""
    return base64.urlsafe_b64encode(number).rstrip(b"=").decode()


def read_number(text: object) -> bytes:
    """Return the bytes of a modulus, blinded id or signature; ValueError for another spelling or number of bytes."""
    if not isinstance(text, str) or not _SPELT.fullmatch(text):
        raise ValueError("is not base64url without padding")
    # Any rest by 4 can be padded, but the one of 1, which no length of ours has.
    number = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if len(text) % 4 != 1 else b""
    if len(number) not in _LENGTHS or spell(number) != text:
        raise ValueError("is not a number of 256 or 384 bytes in its one spelling")
    return number


def read_modulus(text: object) -> int:
    """Return a modulus that a survey may name: 2048 or 3072 bits exactly, and odd; a ValueError says what is wrong."""
    modulus = int.from_bytes(read_number(text))
    if modulus.bit_length() not in SIZES or modulus % 2 == 0:
        raise ValueError("is not an odd number of 2048 or 3072 bits")
    return modulus


def spell_modulus(modulus: int) -> str:
    """Spell a modulus as a survey names it."""
    return spell(modulus.to_bytes(modulus.bit_length() // 8))


def fits(number: bytes, modulus: int) -> bool:
    """Return True if a number can be a blinded id or a signature: as long as the modulus, above 0, below it."""
    return len(number) == modulus.bit_length() // 8 and 0 < int.from_bytes(number) < modulus


def dump_request(request: RedeemRequest) -> bytes:
    """Return the canonical bytes of a request."""
    blinded = [spell(each) for each in request.blinded]
    return _dump(_REQUEST_KEYS, (REQUEST, request.digest, request.invitation, blinded))


def parse_request(body: bytes) -> RedeemRequest:
    """Parse a request exactly as ``dump_request`` wrote it; ReportRejected, ``malformed``, repeats nothing."""
    try:
        document = _load(body, _REQUEST_KEYS, REQUEST)
        digest, invitation = (
            _text(document[key], form) for key, form in (("digest", _DIGEST), ("invitation", _INVITATION))
        )
        request = RedeemRequest(digest, invitation, _numbers(document["blinded"]))
        if dump_request(request) != body:
            raise ValueError("is not in canonical form")
    except ValueError as error:
        raise ReportRejected("malformed", f"the request {error}") from None
    return request


def dump_reply(reply: Redemption) -> bytes:
    """Return the canonical bytes of a reply."""
    return _dump(_REPLY_KEYS, (REPLY, reply.survey, [spell(each) for each in reply.signed]))


def parse_reply(body: bytes) -> Redemption:
    """Parse the reply in ``body``, exactly as ``dump_reply`` wrote it; a ValueError repeats nothing."""
    document = _load(body, _REPLY_KEYS, REPLY)
    reply = Redemption(str(document["survey"]), _numbers(document["signed"]))
    if dump_reply(reply) != body:
        raise ValueError("is not in canonical form")
    return reply


def _dump(keys: Sequence[str], values: Sequence[object]) -> bytes:
    return json.dumps(dict(zip(keys, values, strict=True)), ensure_ascii=False, separators=(",", ":")).encode()


def _load(body: bytes, keys: tuple[str, ...], form: str) -> dict[str, object]:
    document = canonical.load(body)
    if tuple(document) != keys or document["format"] != form:
        raise ValueError("does not have the keys that it must have")
    return document


def _text(value: object, form: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError("does not name its survey and invitation")
    return value


def _numbers(value: object) -> tuple[bytes, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError("does not carry a list of numbers")
    return tuple(read_number(each) for each in value)
