"""Read reports from CSV in chunks: with or without a byte order mark, with LF or CR LF line ends, of any size."""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import Column
from sottovoce.aggregator.export.row_validation import Expected, Values
from sottovoce.aggregator.file_formats.csv_lines import CHUNK, check_lengths, lines
from sottovoce.shared.errors import SpecError
from sottovoce.shared.file_errors import cannot_read

_WHOLE = re.compile(r"[0-9]{1,16}")
_MOST_REMEMBERED = 1 << 16

Read = tuple[dict[str, Column], np.ndarray, np.ndarray]
"""Columns by question name, waves, revisions."""


def read_csv(path: Path, expected: Expected) -> Read:
    """
    Read the reports in a CSV file.

    Args:
        path: path of the file.
        expected: validation rules of the survey.

    Raises:
        SpecError: the file is invalid; the message names the line, and the column if there is one.
    """
    try:
        # "utf-8-sig" drops a byte order mark, if there is one.
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _read(file, path.name, expected)
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None


def _read(file: TextIO, name: str, expected: Expected) -> Read:
    read = lines(file, name)
    first = next(read, "")
    number = 1
    if first.startswith("#"):
        expected.check_digest(first, f"{name}, line 1")
        first, number = next(read, ""), 2
    header = next(csv.reader([first]), [])
    if len(header) == 1 and ";" in first:
        raise SpecError(f"{name}, line {number}: the cells must be separated by commas")
    expected.check_header(header, f"{name}, line {number}")
    blocks = list(_blocks(read, header, number + 1, name, expected))
    if not blocks:
        raise SpecError(f"{name}: there are no reports below the header")
    return joined(blocks)


def joined(blocks: Sequence[Read]) -> Read:
    """Concatenate the rows of all blocks."""
    columns, waves, revisions = zip(*blocks, strict=True)
    whole = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    return whole, np.concatenate(waves), np.concatenate(revisions)


def _blocks(read: Iterator[str], header: list[str], first: int, name: str, expected: Expected) -> Iterator[Read]:
    reader = csv.reader(read, strict=True)
    known: list[dict[str, int]] = [{"": -1} for _ in header]
    above = first - 1
    while True:
        try:
            rows = list(islice(reader, CHUNK))
        except csv.Error:
            raise SpecError(f"{name}, line {above + reader.line_num}: cannot be read as CSV") from None
        if not rows:
            return
        check_lengths(rows, len(header), f"{name}, line", first)
        columns = zip(*rows, strict=True)
        block = {
            key: _numbers(cells, known[place], f"{name}, line", first, key)
            for place, (key, cells) in enumerate(zip(header, columns, strict=True))
        }
        yield expected.checked(block, first, f"{name}, line")
        first += len(rows)


def _numbers(cells: tuple[str, ...], known: dict[str, int], row: str, first: int, column: str) -> Values:
    """Parse whole numbers, -1 for empty cells."""
    # Columns have few distinct values, so a cache of parsed texts saves most of the work.
    # Bound the cache, in case a column has mostly distinct values.
    if len(known) > _MOST_REMEMBERED:
        known.clear()
        known[""] = -1
    for text in set(cells).difference(known):
        if not _WHOLE.fullmatch(text):
            where = f"{row} {first + cells.index(text)}, column '{column}'"
            raise SpecError(f"{where}: must be a whole number from 0, written in digits, or empty where not asked")
        known[text] = int(text)
    return np.array([*map(known.__getitem__, cells)], dtype=np.int64)
