"""Draw integers from random bytes, which are an argument.

The protocol is shared with the browser's client, byte for byte:
    below(m)       read ceil(bits(m - 1) / 8) bytes, big-endian; keep the low bits(m - 1) bits; reject if >= m.
    pick(weights)  u = below(sum of weights); the first index whose cumulative weight exceeds u.
    identity()     16 bytes, as hexadecimal digits.
Rejection makes every outcome exactly as likely as its integer weight says; a modulo or a float would not.
"""

import secrets
from collections.abc import Sequence

from sottovoce.shared.exact_noise import ReadBytes, exactly, uniform_below
from sottovoce.shared.rational import MAX_DENOMINATOR


class Draws:
    """A source of the draws that randomizers are made of, from random bytes."""

    def __init__(self, read: ReadBytes = secrets.token_bytes) -> None:
        self._read = read

    def below(self, bound: int) -> int:
        """Draw a uniform integer in 0 .. bound - 1; reads nothing when bound is 1. Raises ValueError if bound is not in
        1 .. 2^32 (a larger one would never be asked for by a valid survey).
        """
        if not 1 <= bound <= MAX_DENOMINATOR:
            raise ValueError("a draw needs a bound from 1 to 2^32")
        return uniform_below(self._read, bound)

    def pick(self, weights: Sequence[int]) -> int:
        """Draw an index, with probability proportional to its weight."""
        # Integers throughout: a float would round probabilities, and its low bits can reveal the input (Mironov 2012).
        remaining = self.below(sum(weights))
        for index, weight in enumerate(weights):
            if remaining < weight:
                return index
            remaining -= weight
        raise AssertionError("unreachable: the draw is below the sum of the weights")

    def identity(self) -> str:
        """Draw 128 random bits as 32 hexadecimal digits."""
        return self.exactly(16).hex()

    def exactly(self, count: int) -> bytes:
        """Return so many random bytes; a source that gives fewer is refused."""
        return exactly(self._read, count)
