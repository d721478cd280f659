"""Read reports from CSV in chunks: with or without a byte order mark, with LF or CR LF line ends, of any size."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn
from sottovoce.aggregator.analysis.tables.small_groups import FEW
from sottovoce.aggregator.export.own_units import step_of, values_in_words
from sottovoce.aggregator.export.row_validation import LEFT_OUT, Expected, Values
from sottovoce.aggregator.file_formats.csv_lines import CHUNK, check_lengths, lines
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import SpecError, cannot_read

_WHOLE = re.compile(r"[0-9]{1,16}")
_MOST_REMEMBERED = 1 << 16

Read = tuple[dict[str, ReportedColumn], np.ndarray, np.ndarray]
"""Columns by question name, waves, revisions."""


def read_csv(path: Path, expected: Expected) -> Read:
    """Read the reports in a CSV file, by the validation rules ``expected`` of the survey.

    Raises SpecError, which names the line, and the column if there is one, if the file is invalid.
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
    plain = expected.plain_header(header)
    expected.check_header(plain, f"{name}, line {number}")
    blocks = list(_blocks(read, plain, number + 1, name, expected, expected.grids(header)))
    if not blocks:
        raise SpecError(f"{name}: there are no reports below the header")
    return joined(blocks)


def joined(blocks: Sequence[Read]) -> Read:
    """Concatenate the rows of all blocks."""
    columns, waves, revisions = zip(*blocks, strict=True)
    whole = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    return whole, np.concatenate(waves), np.concatenate(revisions)


def _blocks(
    read: Iterator[str], header: list[str], first: int, name: str, expected: Expected, grids: Mapping[str, Grid]
) -> Iterator[Read]:
    reader = csv.reader(read, strict=True)
    known: list[dict[str, int]] = [{} for _ in header]
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
            key: numbers(cells, known[place], Place(f"{name}, line", first, key), grids.get(key))
            for place, (key, cells) in enumerate(zip(header, columns, strict=True))
        }
        yield expected.checked(block, first, f"{name}, line")
        first += len(rows)


_WORDS = {"": -1, FEW: LEFT_OUT}


class Place(NamedTuple):
    """Position of cells, for error messages: prefix of a row number, number of the first row, name of the column."""

    row: str
    first: int
    column: str


def numbers(cells: Sequence[str], known: dict[str, int], place: Place, grid: Grid | None) -> Values:
    """Parse the cells of a column, -1 for empty ones, ``LEFT_OUT`` for rare answers.

    They are steps of its ``grid`` if it has one, else whole numbers; ``known`` are texts parsed so far.
    """
    # Columns have few distinct values, so a cache of parsed texts saves most of the work.
    # Bound the cache, in case a column has mostly distinct values.
    if len(known) > _MOST_REMEMBERED:
        known.clear()
    known |= _WORDS
    for text in set(cells).difference(known):
        value = _value(text, grid)
        if value is None:
            where = f"{place.row} {place.first + cells.index(text)}, column '{place.column}'"
            allowed = values_in_words(grid) if grid else "a whole number from 0, written in digits"
            raise SpecError(f"{where}: must be {allowed}, or empty where not asked")
        known[text] = value
    return np.array([*map(known.__getitem__, cells)], dtype=np.int64)


def _value(text: str, grid: Grid | None) -> int | None:
    if grid is None:
        return int(text) if _WHOLE.fullmatch(text) else None
    try:
        return step_of(text, grid)
    except ValueError:
        return None
