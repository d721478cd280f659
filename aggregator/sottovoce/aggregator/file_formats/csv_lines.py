"""Read lines of untrusted CSV files, with a limit on their length."""

from collections.abc import Iterator
from typing import TextIO

from sottovoce.shared.errors import SpecError

CHUNK = 1 << 15


LONGEST_LINE = 1 << 16


def check_lengths(rows: list[list[str]], expected: int, row: str, first: int) -> None:
    """Raise SpecError unless every row has ``expected`` cells; ``row`` and ``first`` say where the rows stand."""
    lengths = [*map(len, rows)]
    if lengths.count(expected) != len(rows):
        index = next(index for index, length in enumerate(lengths) if length != expected)
        message = f"{lengths[index]} cells where the header has {expected}" if lengths[index] else "is empty"
        raise SpecError(f"{row} {first + index}: {message}")


def lines(file: TextIO, name: str) -> Iterator[str]:
    """Yield the lines of a file.

    Raises SpecError, with the line's number and the file's name, if a line is not UTF-8, too long or contains a NUL.
    """
    number = 0
    while True:
        number += 1
        try:
            line = file.readline(LONGEST_LINE)
        except UnicodeDecodeError:
            raise SpecError(f"{name}, at or after line {number}: is not UTF-8") from None
        if not line:
            return
        if len(line) == LONGEST_LINE:
            raise SpecError(f"{name}, line {number}: is longer than {LONGEST_LINE - 1:,} letters")
        if "\0" in line:
            raise SpecError(f"{name}, line {number}: cannot be read as CSV")
        yield line
