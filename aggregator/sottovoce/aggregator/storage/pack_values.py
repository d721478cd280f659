"""
The values of a report as the bytes of one column.

The first byte says how many bytes each value takes (1, 2, 4 or 8: as few as the largest needs), then they follow, most
significant byte first; all bits set stand for null. So the reports of a survey have mostly one length, and a million
of them, put one after the other, are a matrix that can be counted column by column.
"""

import json
import struct

Values = tuple[int | None, ...]

LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""The struct module's letter for each width in bytes."""


def pack(values: Values) -> bytes:
    """
    The bytes of one report.

    Raises:
        OverflowError: a value is negative or does not fit into 8 bytes.
    """
    given = [value for value in values if value is not None]
    most = max(given, default=0)
    width = next((width for width in LETTERS if most < null(width)), None)
    if width is None or min(given, default=0) < 0:
        raise OverflowError("a value does not fit its column")
    numbers = [null(width) if value is None else value for value in values]
    return struct.pack(f">B{len(values)}{LETTERS[width]}", width, *numbers)


def unpack(packed: bytes) -> Values:
    """The values again."""
    width = packed[0]
    values = struct.unpack(f">{(len(packed) - 1) // width}{LETTERS[width]}", packed[1:])
    return tuple([None if value == null(width) else value for value in values]) if null(width) in values else values


def null(width: int) -> int:
    """The number that stands for null among values of so many bytes."""
    return int(256**width - 1)


def pack_text(text: str) -> bytes:
    """The bytes for a report as schema 1 kept it, ``[1,null,12]``."""
    return pack(tuple(json.loads(text)))
