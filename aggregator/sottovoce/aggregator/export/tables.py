"""Write reports as CSV and Parquet: one row per report, question names as header, empty cells where not asked, and
the word ``few`` where a rare answer is left out, so that such a column of Parquet has texts.

Numbers and dates are in the question's own unit: an age of 40 is written 40. Stored values are steps above the least
value. Files written before release 0.4.0 have these steps; they are recognized by the columns ``wave`` and
``revision``, which are called ``_wave`` and ``_revision`` since, as no question can be. Options, sets and codes of
mechanisms are whole numbers in both.
"""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, ReportedColumn, is_few
from sottovoce.aggregator.file_formats.csv_cells import first_lines
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.pack_values import few, null
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.answers import Grid
from sottovoce.shared.spec import Question
from sottovoce.shared.types.base import DayGrid

WAVE, REVISION = "_wave", "_revision"
"""Names of the additional columns in files of reports."""

_CODE = re.compile(r"(minus_)?\d{1,9}")
_NEAR = Fraction(1, 10**6)
"""Tolerance of programs that write .1 + .2, in steps."""
_LARGEST = 2**53
"""Limit of any report."""


def unit_grid(question: Question) -> Grid | None:
    """Return the grid of a question whose reported values are numbers or dates in its own unit, else None."""
    is_one = question.mechanism is None or question.mechanism.report_kind == "number"
    return question.domain.grid if is_one else None


def as_texts(column: NDArray[np.unsignedinteger], grid: Grid) -> list[str | None]:
    """Return the values as texts, None where not asked, ``few`` where left out."""
    known = {step: grid.text(step) for step in np.unique(column[~is_null(column) & ~is_few(column)]).tolist()}
    known[few(column.itemsize)] = FEW
    return [known.get(step) for step in column.tolist()]


def as_sql(name: str, grid: Grid | None) -> str:
    """Return an SQL expression for the values of a column of steps, itself an expression, for DuckDB.

    ``grid`` is None for a column without a unit.
    """
    if grid is None:
        return name
    if isinstance(grid, DayGrid):
        # Steps are stored in as few bytes as fit, too few for days.
        return f"DATE '{grid.text(0)}' + CAST(CAST({name} AS BIGINT) * {int(grid.step)} AS INTEGER)"
    common = _common(grid)
    value = f"CAST({name} AS BIGINT) * {grid.step * common} + {grid.low * common}"
    return value if common == 1 else f"({value}) / CAST({common} AS DOUBLE)"


def as_sql_text(name: str, grid: Grid | None) -> str:
    """Return an SQL expression for the texts of these values as CSV files have them: 2 where DuckDB writes 2.0."""
    value, parts = as_sql(name, grid), 1 if grid is None or isinstance(grid, DayGrid) else _common(grid)
    if parts == 1:
        return f"CAST({value} AS VARCHAR)"
    decimals = next(count for count in range(1, parts.bit_length() + 1) if 10**count % parts == 0)
    return f"rtrim(rtrim(printf('%.{decimals}f', {value}), '0'), '.')"


def _common(grid: Grid) -> int:
    return math.lcm(grid.low.denominator, grid.step.denominator)


def as_numbers(column: NDArray[np.unsignedinteger], grid: Grid) -> NDArray[np.generic]:
    """Return the values as floats with NaN, or as days with NaT, for statistics programs."""
    values = column.astype(np.float64)
    if isinstance(grid, DayGrid):
        days = np.where(is_null(column), np.iinfo(np.int64).min, float(grid.low) + values * float(grid.step))
        days[is_few(column)] = float(grid.low) - 1
        return days.astype("datetime64[D]").astype("datetime64[ns]")
    # One division of whole numbers gives the float that programs read from the text: -0.1, not -0.0999999999999999.
    common = _common(grid)
    values = (values * int(grid.step * common) + int(grid.low * common)) / common
    values[is_null(column)] = np.nan
    values[is_few(column)] = math.floor(grid.low) - 1
    return values


def few_code(question: Question) -> int | datetime:
    """Return what stands for a rare answer in statistics programs, below the least value; -1 for most options."""
    grid = unit_grid(question)
    if isinstance(grid, DayGrid):
        return datetime.fromisoformat(grid.text(0)) - timedelta(days=1)
    return min((0, *option_codes(question))) - 1 if grid is None else math.floor(grid.low) - 1


def option_codes(question: Question) -> tuple[int, ...]:
    """Return the code of each option in statistics programs if the options' names are numbers; else none.

    ``minus_99`` is -99, as the import of a form writes it; no answer has the number after the largest.
    """
    kind = "option" if question.mechanism is None else question.mechanism.report_kind
    names = [*question.domain.places]
    if kind != "option" or unit_grid(question) or not names or not all(map(_CODE.fullmatch, names)):
        return ()
    codes = [int(name.replace("minus_", "-")) for name in names]
    return (*codes, *[max(codes) + 1] * question.domain.absent) if len(set(codes)) == len(codes) else ()


def step_of(text: str, grid: Grid) -> int:
    """Return the step of a number or date as a text. Upper limits belong to the mechanism, and are checked with it.

    Raises ValueError if the text is no number or date, is below the least one, or lies between two steps.
    """
    steps = (grid.read(text) - grid.low) / grid.step
    whole = round(steps)
    if abs(steps - whole) > _NEAR or not 0 <= whole < _LARGEST:
        raise ValueError("is not on the grid")
    return whole


def values_in_words(grid: Grid) -> str:
    """Describe the values for an error message."""
    return f"a {grid.noun} from {grid.text(0)} to {grid.text(grid.steps)} in steps of {Fraction(grid.step)}"


CHUNK = 1 << 16
"""Number of rows converted to text at a time."""

ROW_GROUP = 1 << 20


def named_columns(reports: ReportColumns) -> dict[str, ReportedColumn]:
    """Return all columns by their names in a file: the questions, then wave and revision."""
    return {
        **reports.columns,
        extra_name("wave", reports.columns): reports.wave,
        extra_name("revision", reports.columns): reports.revision,
    }


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
    # Codes are small: half as many bytes hold them exactly.
    values = np.where(is_few(column), -1.0, column.astype(np.float32 if column.itemsize < 4 else np.float64))
    values[is_null(column)] = np.nan
    return values
