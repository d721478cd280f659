"""Sign blindly with RSA (RFC 9474), protected against timing and fault attacks.

Powers with a private exponent use GMP's constant-time ``powmod_sec``, on a masked number, so that an attacker who
chooses the message does not choose the operand. The result is verified before it is returned: a single faulty signature
computed by the Chinese remainder theorem would reveal the key.
"""

import secrets
from dataclasses import dataclass
from functools import cached_property

from gmpy2 import invert, is_prime, mpz, powmod, powmod_sec
from sottovoce.shared.blind_signatures import EXPONENT, matches
from sottovoce.shared.redemption import fits

_ROUNDS = 40
"""Rounds of the Miller-Rabin test; a composite number passes with probability at most 4^-40."""


@dataclass(frozen=True, repr=False)
class SigningKey:
    """Private RSA key with primes p and q; ``repr`` is disabled so that no log or message can contain them."""

    p: int
    q: int

    @cached_property
    def modulus(self) -> int:
        """Public modulus of the key."""
        return self.p * self.q

    @cached_property
    def _exponents(self) -> tuple[mpz, mpz, mpz]:
        """Private exponents modulo p - 1 and q - 1, and the inverse of q modulo p."""
        return invert(EXPONENT, self.p - 1), invert(EXPONENT, self.q - 1), invert(self.q, self.p)

    def sign(self, blinded: bytes) -> bytes:
        """Sign a blinded message: return its root modulo the modulus, with the same length.

        Raises:
            ValueError: the message is not below the modulus, or has the wrong length.
            ArithmeticError: the computation was faulty; the result is discarded, since it could reveal the key.
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
    """Make a key whose modulus has exactly ``bits`` bits."""
    p = _prime(bits // 2)
    q = _prime(bits // 2)
    while q == p:
        q = _prime(bits // 2)
    return SigningKey(p, q)


def is_signature(message: bytes, signature: bytes, modulus: int) -> bool:
    """Verify a signature, as long as the modulus; the fast twin of ``sottovoce.shared.blind_signatures.verify``."""
    if not fits(signature, modulus):
        return False
    return matches(message, int(powmod(int.from_bytes(signature), EXPONENT, modulus)), modulus.bit_length())


def _prime(bits: int) -> int:
    """Draw a random prime with the two highest bits set, so that the product of two has full length.

    Primes with p - 1 divisible by the public exponent are skipped: it would have no inverse modulo p - 1.
    """
    while True:
        found = secrets.randbits(bits) | 3 << (bits - 2) | 1
        if found % EXPONENT != 1 and is_prime(found, _ROUNDS):
            return found


def _factor(modulus: int) -> mpz:
    """Draw a mask, uniform in 1..modulus - 1; it lacks an inverse only if it is a multiple of p or q."""
    return mpz(1 + secrets.randbelow(modulus - 1))
