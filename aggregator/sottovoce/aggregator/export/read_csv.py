"""Read reports from CSV in chunks: with or without a byte order mark, with LF or CR LF line ends, of any size."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn
from sottovoce.aggregator.analysis.tables.small_groups import FEW
from sottovoce.aggregator.export.own_units import step_of, values_in_words
from sottovoce.aggregator.export.row_validation import LEFT_OUT, Expected, Values
from sottovoce.aggregator.file_formats.csv_lines import DelimitedFile
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
        with path.open("rb") as file:
            source = DelimitedFile(file, path.name, ",")
            place = f"{path.name}, line"
            for number, comment in enumerate(source.comments, 1):
                expected.check_digest(comment, f"{place} {number}")
            if len(source.names) == 1 and ";" in source.names[0]:
                raise SpecError(f"{place} {source.line}: the cells must be separated by commas")
            header = expected.plain_header(source.names)
            expected.check_header(header, f"{place} {source.line}")
            blocks = list(_blocks(source, header, expected, expected.grids(source.names)))
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None
    if not blocks:
        raise SpecError(f"{path.name}: there are no reports below the header")
    return joined(blocks)


def joined(blocks: Sequence[Read]) -> Read:
    """Concatenate the rows of all blocks."""
    columns, waves, revisions = zip(*blocks, strict=True)
    whole = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    return whole, np.concatenate(waves), np.concatenate(revisions)


def _blocks(source: DelimitedFile, header: list[str], expected: Expected, grids: Mapping[str, Grid]) -> Iterator[Read]:
    known: list[dict[str, int]] = [{} for _ in header]
    for lines, rows in source.blocks():
        columns = zip(header, zip(*rows, strict=True), known, strict=True)
        # No cell of a report has two lines, so the rows stand on consecutive lines.
        block = {
            key: numbers(cells, texts, Place(f"{source.name}, line", lines[0], key), grids.get(key))
            for key, cells, texts in columns
        }
        yield expected.checked(block, lines[0], f"{source.name}, line")


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
