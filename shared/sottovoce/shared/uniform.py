"""Turn bytes into a uniform integer, by rejection: the one place where randomness becomes a number, on devices and
elsewhere.

below(m)   read ceil(bits(m - 1) / 8) bytes, big-endian; keep the low bits(m - 1) bits; reject if >= m.
"""

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
