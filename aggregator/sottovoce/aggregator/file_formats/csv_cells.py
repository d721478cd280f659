"""Write tables as CSV: UTF-8, LF line ends, and no cell that a spreadsheet would run as a formula."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from sottovoce.aggregator.file_formats.provenance import About

# Against CSV injection; the list follows OWASP, "CSV Injection".
_COMPUTED = re.compile(r"[=+@\t\r]|-(?!\d+(\.\d+)?\Z)")


def harmless(cell: object) -> object:
    """Prefix a text that a spreadsheet would run as a formula with an apostrophe; return other cells and -1.5 as is."""
    return f"'{cell}" if isinstance(cell, str) and _COMPUTED.match(cell) else cell


def first_lines(about: About) -> str:
    """Return the comment line above the header of a test run's or simulation's file; "" for other files."""
    return f"# {'; '.join(about.lines)}\n" if about.warning else ""


def write_csv(path: Path, about: About, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table to a file, row by row, below a warning for a test run or simulation; None is an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, about, header, rows)


def write_rows(file: TextIO, about: About, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as ``write_csv`` does to a file that was opened with ``newline=""``."""
    file.write(first_lines(about))
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(harmless, header))
    writer.writerows([harmless(cell) for cell in row] for row in rows)
