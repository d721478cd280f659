"""Reports as CSV and as Parquet: one row a report, the header the questions' names, an empty cell where not asked."""

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
"""So many rows become text at a time."""

ROW_GROUP = 1 << 20


def named_columns(reports: ReportColumns) -> dict[str, Column]:
    """All columns by their names in a file: the questions', then wave and revision, whose names no question has."""
    more = {"wave": reports.wave, "revision": reports.revision}
    return {**reports.columns, **{extra_name(name, reports.columns): column for name, column in more.items()}}


def extra_name(name: str, questions: Mapping[str, object] | Sequence[str]) -> str:
    """What a column is called that is no question's: a line before it where a question has its name."""
    return f"_{name}" if name in questions else name


def write_reports_csv(path: Path, reports: ReportColumns, about: About) -> None:
    """
    Write reports in the order that they have.

    Args:
        path: of the file.
        reports: in an order drawn anew.
        about: says whether it is a try-out's.
    """
    columns = named_columns(reports)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(first_lines(about))
        # Numbers and the names of questions: nothing of it can be taken for a formula.
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for start in range(0, len(reports), CHUNK):
            writer.writerows(zip(*[_cells(each[start : start + CHUNK]) for each in columns.values()], strict=True))


def write_reports_parquet(path: Path, reports: ReportColumns, about: About) -> None:
    """
    Write reports sorted, so that the file follows from the set of reports alone: the same reports, the same bytes.

    Args:
        path: of the file.
        reports: in any order.
        about: becomes the file's key-value metadata.
    """
    pandas, duckdb = needed("pandas"), needed("duckdb")
    columns = named_columns(reports)
    chosen = ", ".join(f'nullif("{name}", {null(values.itemsize)}) AS "{name}"' for name, values in columns.items())
    about_it = ", ".join(f"{quoted(key)}: {quoted(value)}" for key, value in about.pairs.items())
    # DuckDB cannot leave out each column's least and largest value. They follow from the rows of the file, as do their
    # order and their groups, so that they tell nothing that these do not.
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}, KV_METADATA {{{about_it}}}"
    with duckdb.connect() as connection:
        connection.register("reports", pandas.DataFrame(columns, copy=False))
        # Names of questions are small letters, digits and lines; nothing else of a survey is in this statement.
        rows = f"SELECT {chosen} FROM reports ORDER BY ALL"  # noqa: S608
        connection.sql(f"COPY ({rows}) TO {quoted(str(path))} ({options})")


def _cells(column: Column) -> list[object]:
    found: list[object] = column.tolist()
    missing = is_null(column)
    if missing.any():
        found = [None if empty else cell for cell, empty in zip(found, missing.tolist(), strict=True)]
    return found


def quoted(text: str) -> str:
    """A text as DuckDB's statements have it."""
    return "'" + text.replace("'", "''") + "'"


def missing_as_nan(column: Column) -> np.ndarray:
    """The column as numbers that statistics programs read: NaN where not asked."""
    values = column.astype(np.float64)
    values[is_null(column)] = np.nan
    return values
