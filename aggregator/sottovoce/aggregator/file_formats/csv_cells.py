"""Tables as CSV: UTF-8, a line a row, and no cell that a spreadsheet would compute."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from sottovoce.aggregator.file_formats.provenance import About

_COMPUTED = ("=", "+", "-", "@", "\t", "\r")


def harmless(cell: object) -> object:
    """The cell, a text that a spreadsheet would take for a formula with an apostrophe before it; numbers stay."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_COMPUTED) else cell


def first_lines(about: About) -> str:
    """What stands above the header: nothing, or of a try-out or a rehearsal the comment that it is one."""
    return f"# {'; '.join(about.lines)}\n" if about.warning else ""


def write_csv(path: Path, about: About, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """
    Write a table, row by row.

    Args:
        path: of the file.
        about: says whether it is a try-out's.
        header: names of the columns.
        rows: None is an empty cell.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, about, header, rows)


def write_rows(file: TextIO, about: About, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """
    Write a table into an open file.

    Args:
        file: that takes line ends as they are.
        about: says whether it is a try-out's.
        header: names of the columns.
        rows: None is an empty cell.
    """
    file.write(first_lines(about))
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(harmless, header))
    writer.writerows([harmless(cell) for cell in row] for row in rows)
