"""
The signer's half of blind signatures (RFC 9474): arithmetic whose time tells nothing of the key.

GMP's ``powmod_sec`` is used for every power with a private exponent, on a number that was masked first: whoever chooses
what is signed does not choose what is computed. The result is raised to the public exponent and compared before it
leaves: one faulty signature by the Chinese remainder theorem would give the key away.
"""

import secrets
from dataclasses import dataclass
from functools import cached_property

from gmpy2 import invert, is_prime, mpz, powmod, powmod_sec
from sottovoce.shared.blind_signatures import EXPONENT, matches
from sottovoce.shared.redemption import fits

_ROUNDS = 40
"""Of Miller and Rabin's test: what is no prime passes with a chance of at most 4^-40."""


@dataclass(frozen=True, repr=False)
class SigningKey:
    """
    A private key.

    Attributes:
        p, q: its primes; they stand in no message and no text.
    """

    p: int
    q: int

    @cached_property
    def modulus(self) -> int:
        """What everybody may know."""
        return self.p * self.q

    @cached_property
    def _exponents(self) -> tuple[mpz, mpz, mpz]:
        """Modulo p - 1 and q - 1, and the inverse of q modulo p."""
        return invert(EXPONENT, self.p - 1), invert(EXPONENT, self.q - 1), invert(self.q, self.p)

    def sign(self, blinded: bytes) -> bytes:
        """
        The root of what a device sent, in as many bytes.

        Raises:
            ValueError: not a number below the modulus, or of another length.
            ArithmeticError: the machine has made a fault; nothing of it is told.
        """
        if not fits(blinded, self.modulus):
            raise ValueError("is no number that this key can sign")
        sent, factor = int.from_bytes(blinded), _factor(self.modulus)
        masked = sent * powmod(factor, EXPONENT, self.modulus) % self.modulus
        root = self._root(masked) * invert(factor, self.modulus) % self.modulus
        if powmod(root, EXPONENT, self.modulus) != sent:
            raise ArithmeticError("a signature came out wrong")
        return int(root).to_bytes(len(blinded))

    def _root(self, number: mpz) -> mpz:
        to_p, to_q, inverse = self._exponents
        by_p, by_q = powmod_sec(number % self.p, to_p, self.p), powmod_sec(number % self.q, to_q, self.q)
        return by_q + (by_p - by_q) * inverse % self.p * self.q


def make_key(bits: int) -> SigningKey:
    """A new key whose modulus has exactly so many bits."""
    p = _prime(bits // 2)
    q = _prime(bits // 2)
    while q == p:
        q = _prime(bits // 2)
    return SigningKey(p, q)


def is_signature(message: bytes, signature: bytes, modulus: int) -> bool:
    """
    Whether this is a signature of the message; the fast twin of ``sottovoce.shared.blind_signatures.verify``.

    Args:
        message: that was signed.
        signature: as many bytes as the modulus has.
        modulus: the signer's.
    """
    if not fits(signature, modulus):
        return False
    opened = int(powmod(int.from_bytes(signature), EXPONENT, modulus))
    return matches(message, opened, modulus.bit_length())


def _prime(bits: int) -> int:
    """
    A random prime whose two highest bits are set, so that two of them make a modulus of full length.

    One that the public exponent divides after subtracting 1 is passed over: nearly no number would have a root.
    """
    while True:
        found = secrets.randbits(bits) | 3 << (bits - 2) | 1
        if found % EXPONENT != 1 and is_prime(found, _ROUNDS):
            return found


def _factor(modulus: int) -> mpz:
    """Uniform from 1 on below the modulus; that it has an inverse fails only for who has found a prime of it."""
    return mpz(1 + secrets.randbelow(modulus - 1))
