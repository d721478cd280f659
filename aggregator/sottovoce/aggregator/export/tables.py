"""Write reports as CSV and Parquet: one row per report, question names as header, empty cells where not asked."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import Column, ReportColumns
from sottovoce.aggregator.file_formats.csv_cells import first_lines
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.aggregator.storage.reports.batch_columns import is_null

CHUNK = 1 << 16
"""Number of rows converted to text at a time."""

ROW_GROUP = 1 << 20


def named_columns(reports: ReportColumns) -> dict[str, Column]:
    """Return all columns by their names in a file: the questions, then wave and revision."""
    more = {"wave": reports.wave, "revision": reports.revision}
    return {**reports.columns, **{extra_name(name, reports.columns): column for name, column in more.items()}}


def extra_name(name: str, questions: Mapping[str, object] | Sequence[str]) -> str:
    """Return the name of an additional column, with a leading underscore if a question has that name."""
    return f"_{name}" if name in questions else name


def write_reports_csv(path: Path, reports: ReportColumns, about: About) -> None:
    """
    Write reports as CSV, in the given order.

    Args:
        path: path of the file.
        reports: the reports, already in a new random order.
        about: provenance; marks test runs and simulations in the first lines.
    """
    columns = named_columns(reports)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(first_lines(about))
        # The file contains only numbers and question names, so no cell can be taken for a formula.
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for start in range(0, len(reports), CHUNK):
            writer.writerows(zip(*[_cells(each[start : start + CHUNK]) for each in columns.values()], strict=True))


def write_reports_parquet(path: Path, reports: ReportColumns, about: About) -> None:
    """
    Write reports as Parquet, sorted, so that the file depends on the multiset of reports only.

    Args:
        path: path of the file.
        reports: the reports, in any order.
        about: provenance; becomes the file's key-value metadata.
    """
    pandas, duckdb = needed("pandas"), needed("duckdb")
    columns = named_columns(reports)
    chosen = ", ".join(f'nullif("{name}", {null(values.itemsize)}) AS "{name}"' for name, values in columns.items())
    about_it = ", ".join(f"{quoted(key)}: {quoted(value)}" for key, value in about.pairs.items())
    # DuckDB always writes the minimum and maximum of each column. They follow from the rows of the file, as do their
    # order and row groups, so they reveal nothing more.
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}, KV_METADATA {{{about_it}}}"
    with duckdb.connect() as connection:
        connection.register("reports", pandas.DataFrame(columns, copy=False))
        # Question names consist of a-z, 0-9 and _; no other text of a survey is in this statement.
        # Sorting removes any order that could link rows to arrival times.
        rows = f"SELECT {chosen} FROM reports ORDER BY ALL"  # noqa: S608
        connection.sql(f"COPY ({rows}) TO {quoted(str(path))} ({options})")


def _cells(column: Column) -> list[object]:
    found: list[object] = column.tolist()
    missing = is_null(column)
    if missing.any():
        found = [None if empty else cell for cell, empty in zip(found, missing.tolist(), strict=True)]
    return found


def quoted(text: str) -> str:
    """Quote a text as an SQL string literal of DuckDB."""
    return "'" + text.replace("'", "''") + "'"


def missing_as_nan(column: Column) -> np.ndarray:
    """Return the column as floats for statistics programs, NaN where not asked."""
    values = column.astype(np.float64)
    values[is_null(column)] = np.nan
    return values
