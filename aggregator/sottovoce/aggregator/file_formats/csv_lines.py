"""Read lines of untrusted CSV files, with a limit on their length."""

from collections.abc import Iterator
from typing import TextIO

from sottovoce.shared.errors import SpecError

CHUNK = 1 << 15


LONGEST_LINE = 1 << 16


def check_lengths(rows: list[list[str]], expected: int, row: str, first: int) -> None:
    """Check that every row has as many cells as the header.

    Args:
        rows: rows of cells.
        expected: number of cells in the header.
        row: name of the file and word for its rows, for the message.
        first: number of the first of these rows, for the message.

    Raises:
        SpecError: a row is empty, or has more or fewer cells.
    """
    lengths = [*map(len, rows)]
    if lengths.count(expected) != len(rows):
        index = next(index for index, length in enumerate(lengths) if length != expected)
        message = f"{lengths[index]} cells where the header has {expected}" if lengths[index] else "is empty"
        raise SpecError(f"{row} {first + index}: {message}")


def lines(file: TextIO, name: str) -> Iterator[str]:
    """Yield the lines of a file.

    Args:
        file: the open file.
        name: name of the file, for the message.

    Raises:
        SpecError: a line is not UTF-8, is too long or contains a NUL; the message has its number and the file's name.
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
