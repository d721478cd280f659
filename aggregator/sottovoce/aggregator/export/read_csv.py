"""Read reports from CSV and Parquet in blocks, of files of any size."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn
from sottovoce.aggregator.analysis.tables.small_groups import FEW
from sottovoce.aggregator.export.own_units import step_of, values_in_words
from sottovoce.aggregator.export.row_validation import LEFT_OUT, Expected, Values
from sottovoce.aggregator.file_formats.cell_columns import CodedCells
from sottovoce.aggregator.file_formats.table_source import TableSource, open_table
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import SpecError

_WHOLE = re.compile(r"[0-9]{1,16}")
_MOST_REMEMBERED = 1 << 16

Read = tuple[dict[str, ReportedColumn], np.ndarray, np.ndarray]
"""Columns by question name, waves, revisions."""


def read_reports(path: Path, expected: Expected) -> Read:
    """Read the reports in a file of CSV or Parquet, by the validation rules ``expected`` of the survey.

    Raises:
        SpecError: the file is invalid; the message names line or row, and the column if there is one.
        EstimateError: the extra that reads Parquet is not installed.
    """
    with open_table(path) as source:
        for place, comment in source.comments:
            expected.check_digest(comment, place)
        if len(source.names) == 1 and ";" in source.names[0]:
            raise SpecError(f"{source.header}: the cells must be separated by commas")
        header = expected.plain_header(source.names)
        expected.check_header(header, source.header)
        blocks = [*_blocks(source, header, expected)]
    if not blocks:
        raise SpecError(f"{path.name}: there are no reports below the header")
    return joined(blocks)


def joined(blocks: Sequence[Read]) -> Read:
    """Concatenate the rows of all blocks."""
    columns, waves, revisions = zip(*blocks, strict=True)
    whole = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    return whole, np.concatenate(waves), np.concatenate(revisions)


def _blocks(source: TableSource, header: list[str], expected: Expected) -> Iterator[Read]:
    grids, known = expected.grids(source.names), [dict[str, int]() for _ in header]
    for lines, block in source.columns(source.names):
        # No cell of a report has two lines, so the rows stand on consecutive lines.
        values = {
            key: numbers(cells, texts, Place(source.row, lines[0], key), grids.get(key))
            for key, cells, texts in zip(header, block, known, strict=True)
        }
        yield expected.checked(values, lines[0], source.row)


_WORDS = {"": -1, FEW: LEFT_OUT}


class Place(NamedTuple):
    """Position of cells, for error messages: prefix of a row number, number of the first row, name of the column."""

    row: str
    first: int
    column: str


def numbers(cells: CodedCells, known: dict[str, int], place: Place, grid: Grid | None) -> Values:
    """Parse the cells of a column, -1 for empty ones, ``LEFT_OUT`` for rare answers.

    They are steps of its ``grid`` if it has one, else whole numbers; ``known`` are texts parsed so far.
    """
    # Columns have few distinct values, so a cache of parsed texts saves most of the work.
    # Bound the cache, in case a column has mostly distinct values.
    if len(known) > _MOST_REMEMBERED:
        known.clear()
    known |= _WORDS
    for code, text in enumerate(cells.texts):
        if text in known:
            continue
        value = _value(text, grid)
        if value is None:
            where = f"{place.row} {place.first + cells.firsts[code]}, column '{place.column}'"
            allowed = values_in_words(grid) if grid else "a whole number from 0, written in digits"
            raise SpecError(f"{where}: must be {allowed}, or empty where not asked")
        known[text] = value
    values: Values = np.array([*map(known.__getitem__, cells.texts)], dtype=np.int64)[cells.codes]
    return values


def _value(text: str, grid: Grid | None) -> int | None:
    if grid is None:
        return int(text) if _WHOLE.fullmatch(text) else None
    try:
        return step_of(text, grid)
    except ValueError:
        return None
