"""A repeatable source of bytes that remembers what was read: SHA-256(seed || counter), so anyone can make it again."""

import hashlib

from sottovoce.client.draws import Draws


class Tape:
    """A source of bytes, as ``Draws`` takes it."""

    def __init__(self, seed: str) -> None:
        self.seed = seed.encode()
        self.taken = bytearray()

    def __call__(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            data += hashlib.sha256(self.seed + (len(self.taken) + len(data)).to_bytes(8)).digest()
        self.taken += data[:count]
        return data[:count]


def taped(seed: str) -> tuple[Tape, Draws]:
    tape = Tape(seed)
    return tape, Draws(tape)
