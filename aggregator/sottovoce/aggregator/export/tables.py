"""Write reports as CSV and Parquet: one row per report, question names as header, empty cells where not asked, and
the word ``few`` where a rare answer is left out, so that such a column of Parquet has texts.

Numbers and dates are in the question's own unit, see ``own_units``.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, ReportedColumn, is_few
from sottovoce.aggregator.export.own_units import REVISION, WAVE, as_numbers, as_sql, as_sql_text, as_texts, unit_grid
from sottovoce.aggregator.file_formats.csv_cells import first_lines
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.pack_values import few, null
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.answers import Grid

CHUNK = 1 << 16
"""Number of rows converted to text at a time."""

ROW_GROUP = 1 << 20


def named_columns(reports: ReportColumns) -> dict[str, ReportedColumn]:
    """Return all columns by their names in a file: the questions, then wave and revision."""
    more = {"wave": reports.wave, "revision": reports.revision}
    return {**reports.columns, **{extra_name(name, reports.columns): column for name, column in more.items()}}


def file_columns(reports: ReportColumns) -> dict[str, ReportedColumn]:
    """Return all columns of CSV and Parquet files by their names."""
    return {**reports.columns, WAVE: reports.wave, REVISION: reports.revision}


def _grids(about: About) -> dict[str, Grid | None]:
    return {question.name: unit_grid(question) for question in about.survey.questions}


def extra_name(name: str, questions: Mapping[str, object] | Sequence[str]) -> str:
    """Return the name of an additional column, with a leading underscore if a question has that name."""
    return f"_{name}" if name in questions else name


def write_reports_csv(path: Path, reports: ReportColumns, about: About) -> None:
    """Write reports as CSV in the given, random order; a test run or simulation is marked in the first lines."""
    columns, grids = file_columns(reports), _grids(about)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(first_lines(about))
        # The file contains only numbers, dates, one word and question names, so no cell can be taken for a formula.
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for start in range(0, len(reports), CHUNK):
            block = {name: each[start : start + CHUNK] for name, each in columns.items()}
            writer.writerows(zip(*[_cells(each, grids.get(name)) for name, each in block.items()], strict=True))


def write_reports_parquet(path: Path, reports: ReportColumns, about: About) -> None:
    """Write reports as Parquet, sorted, so that the file depends on their multiset only; provenance is its metadata."""
    pandas, duckdb = needed("pandas"), needed("duckdb")
    columns, grids = file_columns(reports), _grids(about)
    asked = {name: f'nullif("{name}", {null(values.itemsize)})' for name, values in columns.items()}
    cells = {name: as_sql(steps, grids.get(name)) for name, steps in asked.items()}
    for name in cells.keys() & {name for name, values in columns.items() if is_few(values).any()}:
        number = few(columns[name].itemsize)
        text = as_sql_text(asked[name], grids.get(name))
        cells[name] = f'CASE WHEN "{name}" = {number} THEN {quoted(FEW)} ELSE {text} END'
    projection = ", ".join(f'{cell} AS "{name}"' for name, cell in cells.items())
    with duckdb.connect() as connection:
        connection.register("reports", pandas.DataFrame(columns, copy=False))
        # Question names consist of a-z, 0-9 and _; no other text of a survey is in this statement.
        # Sorting removes any order that could link rows to arrival times.
        rows = f"SELECT {projection} FROM reports ORDER BY ALL"  # noqa: S608
        connection.sql(f"COPY ({rows}) TO {quoted(str(path))} ({parquet_options(about)})")


def parquet_options(about: About) -> str:
    """Return the options of DuckDB's COPY for a file with this provenance."""
    pairs = ", ".join(f"{quoted(key)}: {quoted(value)}" for key, value in about.pairs.items())
    # DuckDB always writes the minimum and maximum of each column. They follow from the rows of the file, as do their
    # order and row groups, so they reveal nothing more.
    return f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}, KV_METADATA {{{pairs}}}"


def _cells(column: ReportedColumn, grid: Grid | None) -> list[object]:
    if grid is not None:
        return list(as_texts(column, grid))
    found: list[object] = column.tolist()
    for instead, places in ((None, is_null(column)), (FEW, is_few(column))):
        if places.any():
            found = [instead if here else cell for cell, here in zip(found, places.tolist(), strict=True)]
    return found


def quoted(text: str) -> str:
    """Quote a text as an SQL string literal of DuckDB."""
    return "'" + text.replace("'", "''") + "'"


def missing_as_nan(column: ReportedColumn, grid: Grid | None = None) -> np.ndarray:
    """Return a column for statistics programs: floats, NaN where not asked; dates for a question of dates.

    A rare answer that is left out is a number below the least value, -1 for an option.
    """
    if grid is not None:
        return as_numbers(column, grid)
    values = np.where(is_few(column), -1.0, column.astype(np.float64))
    values[is_null(column)] = np.nan
    return values
