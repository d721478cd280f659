"""Encode a report's values as bytes for one column of the database.

The first byte is the width of each value in bytes (1, 2, 4 or 8, the smallest that fits). The values follow in
big-endian order; all bits set mean null. So most reports of a survey have the same length, and their concatenation is a
matrix that numpy counts column by column.
"""

import struct

Values = tuple[int | None, ...]

LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""Format character of the struct module for each width in bytes."""


def pack(values: Values) -> bytes:
    """Encode one report's values; raise OverflowError if one is negative or does not fit into 8 bytes."""
    given = [value for value in values if value is not None]
    most = max(given, default=0)
    # ``<`` and not ``<=``: the largest number of each width encodes null.
    width = next((width for width in LETTERS if most < null(width)), None)
    if width is None or min(given, default=0) < 0:
        raise OverflowError("a value does not fit its column")
    numbers = [null(width) if value is None else value for value in values]
    return struct.pack(f">B{len(values)}{LETTERS[width]}", width, *numbers)


def unpack(packed: bytes) -> Values:
    """Decode the values of one report."""
    width = packed[0]
    values = struct.unpack(f">{(len(packed) - 1) // width}{LETTERS[width]}", packed[1:])
    # Most reports have no null; testing once is faster than replacing in each.
    return tuple([None if value == null(width) else value for value in values]) if null(width) in values else values


def null(width: int) -> int:
    """Return the number that encodes null in values of this width in bytes."""
    return int(256**width - 1)


def few(width: int) -> int:
    """Return the number that stands for a rare answer in files of reports, which leave it out, in such values."""
    return null(width) - 1
