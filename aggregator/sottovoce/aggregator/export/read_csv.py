"""Read reports from CSV and Parquet in blocks, of files of any size."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn
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
            key: _numbers(cells, texts, grids.get(key), (source.row, lines[0], key))
            for key, cells, texts in zip(header, block, known, strict=True)
        }
        yield expected.checked(values, lines[0], source.row)


_WORDS = {"": -1, FEW: LEFT_OUT}


def _numbers(cells: CodedCells, known: dict[str, int], grid: Grid | None, place: tuple[str, int, str]) -> Values:
    """Parse the cells of a column, -1 for empty ones, ``LEFT_OUT`` for rare answers.

    They are steps of its ``grid`` if it has one, else whole numbers; ``known`` are texts parsed so far. ``place`` is
    for messages: prefix of a row number, number of the first row, name of the column.
    """
    # Columns have few distinct values, so a cache of parsed texts saves most of the work.
    # Bound the cache, in case a column has mostly distinct values.
    if len(known) > _MOST_REMEMBERED:
        known.clear()
    known |= _WORDS
    for code, text in enumerate(cells.texts):
        if text in known:
            continue
        try:
            known[text] = _whole(text) if grid is None else step_of(text, grid)
        except ValueError:
            row, first, column = place
            allowed = values_in_words(grid) if grid else "a whole number from 0, written in digits"
            where = f"{row} {first + cells.firsts[code]}, column '{column}'"
            raise SpecError(f"{where}: must be {allowed}, or empty where not asked") from None
    values: Values = np.array([*map(known.__getitem__, cells.texts)], dtype=np.int64)[cells.codes]
    return values


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError
    return int(text)
