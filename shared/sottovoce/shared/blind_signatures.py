"""Have a number signed that the signer never sees: blind signatures (RFC 9474, RSABSSA-SHA384-PSS).

The signer's key is a modulus ``n``, a product of two primes that only the signer knows, and the exponent 65537. A
signature of a message is the one number ``s`` with ``s^65537 = m (mod n)``, where ``m`` is the message encoded as PSS
does it (RFC 8017, 9.1): SHA-384, MGF1 with SHA-384, a salt, and ``bits(n) - 1`` bits. RFC 9474 4.2 says ``bits(n)``
there; its own test vectors need one less.

The device draws ``r`` below ``n`` and sends ``z = m * r^65537``, which is uniform whatever the message is, so that the
signer learns nothing of it. The signer answers ``z^d = m^d * r``; divided by ``r`` that is the signature of ``m``. A
signature is a function of message and salt, so that the signer cannot leave a mark in it, and a signature shown later
fits every blinded number equally: for each there is exactly one ``r`` that leads from it to that message.

The exponent is a constant and is never read from anywhere: a modulus for which it divides ``phi(n)`` makes nearly every
blinded number have no root at all, so that ``finalize`` fails at once in place of leaking a part of ``r``.

Here is what devices do: with public numbers, and with ``r``, which is used once. What the signer does needs arithmetic
whose time tells nothing of the key, and is not here.

Sources: RFC 9474 (with its test vectors of all four variants), RFC 8017 9.1.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

EXPONENT = 65537
SALT = 48
"""Bytes of salt, as many as SHA-384 has."""
SIZES = (2048, 3072)
"""Bits of a modulus that a survey may name."""

_HASH = hashlib.sha384
_HASH_BYTES = 48
_TRAILER = b"\xbc"


@dataclass(frozen=True)
class Blinded:
    """A message on its way to the signer.

    Attributes:
        sent: what the signer gets, ``bits(n) / 8`` bytes, big-endian.
        inverse: of the blinding factor, modulo ``n``; known to this device only.
        encoded: the encoded message, a number below ``n``.
    """

    sent: bytes
    inverse: int
    encoded: int


def encode(message: bytes, salt: bytes, bits: int) -> int:
    """Return the number that is signed for a message, EMSA-PSS with SHA-384.

    ``salt`` is random, or empty; ``bits`` are those of the modulus, a multiple of 8.
    """
    length = bits // 8
    # What is hashed begins with eight zero bytes, so that no plain digest of anything can stand for it.
    digest = _HASH(bytes(8) + _HASH(message).digest() + salt).digest()
    padded = bytes(length - len(salt) - _HASH_BYTES - 2) + b"\x01" + salt
    masked = int.from_bytes(padded) ^ int.from_bytes(_mask(digest, length - _HASH_BYTES - 1))
    # One bit less than the modulus has: the encoded number is below it.
    masked &= (1 << (8 * (length - _HASH_BYTES - 1) - 1)) - 1
    return (masked << (8 * (_HASH_BYTES + 1))) | int.from_bytes(digest + _TRAILER)


def blind(message: bytes, modulus: int, salt: bytes, factor: int) -> Blinded:
    """Blind a message for the signer, with ``SALT`` random bytes and a factor uniform below the modulus, never used
    again.

    Raises ValueError if the factor has no inverse; for a random factor the probability of that is negligible.
    """
    encoded = encode(message, salt, modulus.bit_length())
    inverse = pow(factor, -1, modulus)
    hidden = encoded * pow(factor, EXPONENT, modulus) % modulus
    return Blinded(hidden.to_bytes(modulus.bit_length() // 8), inverse, encoded)


def finalize(blinded: Blinded, answer: bytes, modulus: int) -> bytes:
    """Return the signature in the signer's answer; raise ValueError if it is no signature of what was sent."""
    length = modulus.bit_length() // 8
    signature = int.from_bytes(answer) * blinded.inverse % modulus
    if len(answer) != length or pow(signature, EXPONENT, modulus) != blinded.encoded:
        raise ValueError("the answer is no signature of what was sent")
    return signature.to_bytes(length)


def verify(message: bytes, signature: bytes, modulus: int, salt_bytes: int = SALT) -> bool:
    """Return True if the signature, ``bits(n) / 8`` bytes, is valid for this message under this modulus."""
    number = int.from_bytes(signature)
    if len(signature) != modulus.bit_length() // 8 or number >= modulus:
        return False
    return matches(message, pow(number, EXPONENT, modulus), modulus.bit_length(), salt_bytes)


def matches(message: bytes, opened: int, bits: int, salt_bytes: int = SALT) -> bool:
    """Return True if ``opened`` is an encoding of this message, with any salt, for a modulus of ``bits`` bits."""
    if opened.bit_length() > bits - 1:
        return False
    length = bits // 8 - _HASH_BYTES - 1
    digest = (opened >> 8).to_bytes(bits // 8)[-_HASH_BYTES:]
    padded = ((opened >> (8 * (_HASH_BYTES + 1))) ^ int.from_bytes(_mask(digest, length))).to_bytes(length)
    # Encoding anew judges every byte: padding, mark, trailer and the bit that must be clear.
    return encode(message, padded[length - salt_bytes :], bits) == opened


def draw_factor(modulus: int, read: Callable[[int], bytes]) -> int:
    """Draw a uniform number from 1 to ``modulus - 1``: ``bits(n) / 8`` bytes at a time, until they are one.

    ``read`` gives exactly as many fresh random bytes as it is asked for.
    """
    while True:
        drawn = int.from_bytes(read(modulus.bit_length() // 8))
        if 0 < drawn < modulus:
            return drawn


def _mask(seed: bytes, length: int) -> bytes:
    """Return the mask that MGF1 derives from a seed, with SHA-384 (RFC 8017, B.2.1)."""
    return b"".join(_HASH(seed + block.to_bytes(4)).digest() for block in range(-(-length // _HASH_BYTES)))[:length]
