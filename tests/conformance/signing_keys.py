"""Sign with the audit's own keys, for surveys whose reports are signed: an auditor has none of the aggregator's keys.

A survey of invited people is audited with these keys in the place of its own; nothing else of it changes. A modulus
here is a prime, so that the exponent which signs follows from it. That is no secret, and nothing is signed with it but
what an audit makes up.
"""

import hashlib
import io
from collections.abc import Callable, Sequence
from functools import cache, partial

from sottovoce.shared.blind_signatures import verify
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import Redemption, dump_reply, message, parse_request, read_number, spell_modulus
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

MODULI = tuple((1 << 2048) - less for less in (1557, 2543, 7437, 8507, 9443, 9509, 11339, 11837))
"""Primes; 65537 divides none of them less one, so that every number has one root."""

SCHEME = "Blind "
"""Beginning of the header that carries a signature."""

# As RFC 9474 and the wire's own papers have them: what a client is held against is not read from its own code.
_EXPONENT = 65537
_LABEL = b"sottovoce-blind/1\0"
_SALT, _ID, _HASH = 48, 16, 48


def with_test_keys(survey: Survey) -> Survey:
    """Return the survey with the audit's keys, of many waves the first ones; one without keys as it is."""
    if not survey.is_blind:
        return survey
    document = dict(survey.document)
    if "waves" in document:
        document["waves"] = document["waves"][: len(MODULI)]
    keys = MODULI[: len(document.get("waves", [{}]))]
    return parse_survey({**document, "access": {"blind": [spell_modulus(each) for each in keys]}})


def redeemed(survey: Survey, body: bytes) -> bytes:
    """Build the aggregator's reply to a request for signatures; it signs every blinded value. Raises ReportRejected if
    the body is no such request.
    """
    return dump_reply(Redemption(survey.name, signed(survey.moduli, parse_request(body).blinded)))


def signed(moduli: Sequence[int], blinded: Sequence[bytes]) -> tuple[bytes, ...]:
    """Sign a blinded number with each of the ``MODULI`` given; more numbers are passed over."""
    return tuple(_root(modulus, each) for modulus, each in zip(moduli, blinded, strict=False))


def is_signed(survey: Survey, report: Report, header: str) -> bool:
    """Return whether a header carries only the signature of a report's id, under the key of its wave."""
    modulus = survey.moduli[report.wave]
    try:
        signature = read_number(header.removeprefix(SCHEME))
    except ValueError:
        return False
    return header.startswith(SCHEME) and verify(message(modulus, bytes.fromhex(report.report_id)), signature, modulus)


def blinded_of(survey: Survey, tape: bytes) -> tuple[bytes, ...]:
    """Compute the blinded ids that a client must send, by wave, without its code, from ``tape_of_redemption``."""
    read = io.BytesIO(tape).read
    return tuple([_blinded(modulus, read) for modulus in survey.moduli])


def _blinded(modulus: int, read: Callable[[int], bytes]) -> bytes:
    """Blind an id: encoded as PSS does it with SHA-384 (RFC 8017, 9.1.1), times the factor to the power of the
    exponent.
    """
    length = modulus.bit_length() // 8
    own = _LABEL + hashlib.sha256(modulus.to_bytes(length)).digest() + read(_ID)
    salt = read(_SALT)
    drawn = (int.from_bytes(each) for each in iter(partial(read, length), b""))
    factor = next(each for each in drawn if 0 < each < modulus)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(own).digest() + salt).digest()
    size = length - _HASH - 1
    mask = b"".join(hashlib.sha384(digest + block.to_bytes(4)).digest() for block in range(size // _HASH + 1))[:size]
    masked = (int.from_bytes(b"\1" + salt) ^ int.from_bytes(mask)) % (1 << (8 * size - 1))
    encoded = int.from_bytes(masked.to_bytes(size) + digest + b"\xbc")
    return (encoded * pow(factor, _EXPONENT, modulus) % modulus).to_bytes(length)


def id_of_wave(identity: bytes, wave: int) -> bytes:
    """Return the id of one wave's report, from 0, by the first wave's: no two waves have the same."""
    return bytes(each ^ wave for each in identity)


def tape_of_redemption(survey: Survey, identity: bytes, number: int) -> bytes:
    """Return the random bytes that a redemption takes, for each wave the id of its report, the salt and the factor: in
    some vectors the second one, since the first is too large or none.

    ``identity`` is the 16 bytes of the first wave's id; the other bytes differ between vectors.
    """
    lengths = [modulus.bit_length() // 8 for modulus in survey.moduli]
    refused = (b"", b"\xff", b"\0")[number % 3]
    # A first byte below 255 keeps a factor below each modulus, and one above 0 keeps it from being none.
    digits = [(number + wave) % 250 for wave in range(len(lengths))]
    return b"".join(
        id_of_wave(identity, wave) + bytes([digit]) * _SALT + refused * length + bytes([1 + digit]) * length
        for wave, (digit, length) in enumerate(zip(digits, lengths, strict=True))
    )


# The same few numbers come again and again.
@cache
def _root(modulus: int, blinded: bytes) -> bytes:
    return pow(int.from_bytes(blinded), pow(_EXPONENT, -1, modulus - 1), modulus).to_bytes(modulus.bit_length() // 8)
