"""Read reports from Parquet in chunks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.export.own_units import steps_of, values_in_words
from sottovoce.aggregator.export.read_csv import Read, joined
from sottovoce.aggregator.export.row_validation import Expected, Values
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import SpecError

_WHOLE = frozenset({"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"})

_MEASURED = _WHOLE | {"FLOAT", "DOUBLE", "DECIMAL", "DATE"}

CHUNK = 1 << 20


def read_parquet(path: Path, expected: Expected) -> Read:
    """Read the reports in a Parquet file.

    Args:
        path: path of the file.
        expected: validation rules of the survey.

    Raises:
        SpecError: the file is invalid; the message names the row, and the column if there is one.
        EstimateError: an optional library is not installed.
    """
    duckdb = needed("duckdb")
    with duckdb.connect() as connection:
        try:
            table = connection.read_parquet(str(path))
            pairs = connection.sql(
                "SELECT value FROM parquet_kv_metadata($file)", params={"file": str(path)}
            ).fetchall()
        except duckdb.Error:
            raise SpecError(f"{path.name} cannot be read as Parquet") from None
        for (value,) in pairs:
            expected.check_digest(value.decode("utf-8", "replace"), path.name)
        expected.check_header(expected.plain_header(table.columns), path.name)
        blocks = list(_blocks(table, path.name, expected))
    if not blocks:
        raise SpecError(f"{path.name}: there are no reports")
    return joined(blocks)


def _blocks(table: Any, file: str, expected: Expected) -> Iterator[Read]:  # noqa: ANN401 - the library's relation
    grids = expected.grids(table.columns)
    for name, kind in zip(table.columns, table.types, strict=True):
        allowed = _MEASURED if name in grids else _WHOLE
        if str(kind).partition("(")[0] not in allowed:
            required = "numbers or dates" if name in grids else "whole numbers"
            raise SpecError(f"{file}, column '{name}': must be of a type of {required}")
    for start in range(0, len(table), CHUNK):
        found = table.limit(CHUNK, start).fetchnumpy()
        named = zip(expected.plain_header(list(found)), found.values(), strict=True)
        block = {
            name: _steps(values, start + 1, f"{file}, row", name, grids[name])
            if name in grids
            else _whole(values, start + 1, f"column '{name}'", file)
            for name, values in named
        }
        yield expected.checked(block, start + 1, f"{file}, row")


def _steps(found: np.ndarray, first: int, row: str, column: str, grid: Grid) -> Values:
    """Return the steps of values in a question's own unit, -1 where not asked.

    Args:
        found: masked values.
        first: number of the first row.
        row: prefix of a row number, for error messages.
        column: name of the column, for error messages.
        grid: the question's grid.
    """
    missing = np.ma.getmaskarray(found)
    steps = np.full(len(found), -1, dtype=np.int64)
    steps[~missing] = steps_of(np.ma.getdata(found)[~missing], grid)
    wrong = ~missing & (steps < 0)
    if wrong.any():
        where = f"{row} {first + int(np.argmax(wrong))}, column '{column}'"
        raise SpecError(f"{where}: must be {values_in_words(grid)}, or empty where not asked")
    return steps


def _whole(found: np.ndarray, first: int, column: str, file: str) -> Values:
    missing = np.ma.getmaskarray(found)
    values = np.ma.getdata(found)
    # Values above 2^53 exceed any report, and might not fit the signed type below.
    large = ~missing & ((values < 0) | (values > np.uint64(2**53)) if values.dtype.kind == "u" else values < 0)
    if large.any():
        raise SpecError(f"{file}, row {first + int(np.argmax(large))}, {column}: is out of range")
    return np.where(missing, -1, np.where(missing, 0, values).astype(np.int64))
