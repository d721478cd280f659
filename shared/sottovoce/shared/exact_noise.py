"""Draw uniform integers and noise on the integers exactly: no floating point, and the same bytes give the same numbers.

A uniform integer is drawn by rejection: the one place where randomness becomes a number, on devices and elsewhere.

    below(m)                 read ceil(bits(m - 1) / 8) bytes, big-endian; keep the low bits(m - 1) bits; reject if >= m

Noise is only where a curator is trusted; what leaves a device is a finite channel.

    bernoulli(n, d)          below(d) < n
    bernoulli_exp(n, d)      true with probability e^(-n/d): whole units first, each of them a bernoulli_exp of 1/1;
                             then k = 1, 2, .. while bernoulli(n, d k); true if the k that fails is odd
    geometric(n, d)          P(k) ~ e^(-k n/d): U = below(d) until bernoulli_exp(U, d), V successes of
                             bernoulli_exp(1, 1), floor((V d + U) / n)
    discrete_laplace(n, d)   P(x) ~ e^(-|x| n/d): a sign, a geometric size; a negative zero is drawn anew
    discrete_gaussian(p, q)  P(x) ~ e^(-x^2 / (2 p/q)): y of discrete_laplace(1, t), t = floor(sqrt(p/q)) + 1, kept
                             with probability e^(-(|y| t q - p)^2 / (2 t^2 p q))

Numerators and denominators are taken as they are given: 2/2 and 1/1 have one distribution, and not the same bytes.
Bytes depend on the noise drawn and never on what it is added to: draw first, add afterwards.
Source: Canonne, Kamath and Steinke 2020.
"""

import math
from collections.abc import Callable

ReadBytes = Callable[[int], bytes]
"""A source that gives exactly as many fresh random bytes as are asked for."""


def uniform_below(read: ReadBytes, bound: int) -> int:
    """Draw a uniform integer in 0 .. bound - 1, for any bound of at least 1.

    Raises ValueError if the source gave fewer bytes than it was asked for, or more.
    """
    bits = (bound - 1).bit_length()
    if bits == 0:
        return 0
    count, mask = (bits + 7) // 8, (1 << bits) - 1
    while True:
        value = int.from_bytes(exactly(read, count)) & mask
        if value < bound:
            return value


def exactly(read: ReadBytes, count: int) -> bytes:
    """Read so many bytes of the source; raise ValueError if it gave fewer or more."""
    data = read(count)
    if len(data) != count:
        # A short read would make zeros of the missing bits, and the noise predictable.
        raise ValueError("the source of randomness gave too few bytes")
    return data


class ExactNoise:
    """A source of noise from random bytes; a stand-in that branches replaces ``below``, ``bernoulli`` and ``until``."""

    def __init__(self, read: ReadBytes) -> None:
        self._read = read

    def below(self, bound: int) -> int:
        """Draw a uniform integer in 0 .. bound - 1, however large the bound."""
        if bound < 1:
            raise ValueError("a draw needs a bound of at least 1")
        return uniform_below(self._read, bound)

    def bernoulli(self, n: int, d: int) -> bool:
        """Return True with probability n/d."""
        return self.below(d) < n

    def bernoulli_exp(self, n: int, d: int) -> bool:
        """Return True with probability e^(-n/d), n and d whole numbers, n >= 0, d >= 1."""
        while n > d:
            if not self.bernoulli_exp(1, 1):
                return False
            n -= d
        k = 1
        while self.bernoulli(n, d * k):
            k += 1
        return k % 2 == 1

    def geometric(self, n: int, d: int) -> int:
        """Draw a whole number k >= 0 with probability proportional to e^(-k n/d)."""
        rest = self.until(self.rest_attempt, d)
        units = 0
        while self.bernoulli_exp(1, 1):
            units += 1
        return (units * d + rest) // n

    def rest_attempt(self, d: int) -> int | None:
        """Make one attempt at what a geometric number has beyond whole units of d."""
        rest = self.below(d)
        return rest if self.bernoulli_exp(rest, d) else None

    def discrete_laplace(self, n: int, d: int) -> int:
        """Draw an integer x with probability proportional to e^(-|x| n/d); n/d is epsilon over the sensitivity."""
        if n < 1 or d < 1:
            raise ValueError("the rate of noise is a fraction above 0")
        return self.until(self.laplace_attempt, n, d)

    def laplace_attempt(self, n: int, d: int) -> int | None:
        """Make one attempt of ``discrete_laplace``; None for a negative zero, or zero would have two ways to come."""
        negative = not self.bernoulli(1, 2)
        size = self.geometric(n, d)
        if negative and size == 0:
            return None
        return -size if negative else size

    def discrete_gaussian(self, p: int, q: int) -> int:
        """Draw an integer x with probability proportional to e^(-x^2 / (2 p/q)); p/q is the variance of the formula."""
        if p < 1 or q < 1:
            raise ValueError("the variance of noise is a fraction above 0")
        return self.until(self.gaussian_attempt, p, q)

    def gaussian_attempt(self, p: int, q: int) -> int | None:
        """Make one attempt of ``discrete_gaussian``; None if it is rejected."""
        t = math.isqrt(p // q) + 1
        y = self.discrete_laplace(1, t)
        return y if self.bernoulli_exp((abs(y) * t * q - p) ** 2, 2 * t * t * q * p) else None

    def until(self, attempt: Callable[..., int | None], *arguments: int) -> int:
        """Return the first attempt that gives something."""
        while True:
            found = attempt(*arguments)
            if found is not None:
                return found
