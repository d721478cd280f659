"""A curator's Parquet file: texts of the chosen columns, each combination once with its number of records."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import SpecError

_NESTED = ("LIST", "STRUCT", "MAP", "UNION", "ARRAY", "[", "BLOB", "BIT")


def read_grouped(
    path: Path, names: Sequence[str], check_header: Callable[[Sequence[str]], None]
) -> tuple[Mapping[str, Sequence[str]], NDArray[np.int64]]:
    """
    The different combinations of some columns' texts, "" where there is none, and how many records have each.

    The library counts, over all cores, so that a table of ten million records costs little more than a plain count.

    Args:
        path: of the file.
        names: of the columns.
        check_header: raises for a header that is not the declared one.

    Raises:
        SpecError: the file cannot be read as Parquet, to its end; or a column holds no single values.
        EstimateError: the extra that reads it is not installed.
    """
    duckdb = needed("duckdb")
    column, function = duckdb.ColumnExpression, duckdb.FunctionExpression
    with duckdb.connect() as connection:
        try:
            table = connection.read_parquet(str(path))
            check_header(table.columns)
            _check_types(table.columns, [str(kind) for kind in table.types], names, path.name)
            # Expressions, not text: no name of a column is ever part of a statement.
            wanted = [column(name).cast("VARCHAR").alias(f"c{at}") for at, name in enumerate(names)]
            found = table.aggregate([*wanted, function("count_star").alias("times")]).fetchnumpy()
        except duckdb.Error:
            raise SpecError(f"{path.name} cannot be read as Parquet: it is damaged, cut off or another kind") from None
    texts = {name: _texts(found[f"c{at}"]) for at, name in enumerate(names)}
    return texts, np.asarray(found["times"], dtype=np.int64)


def _check_types(columns: Sequence[str], types: Sequence[str], names: Sequence[str], file: str) -> None:
    for number, (name, kind) in enumerate(zip(columns, types, strict=True), start=1):
        if name in names and any(word in kind for word in _NESTED):
            raise SpecError(f"{file}, column {number}: holds lists or bytes; text and numbers are read")


def _texts(found: np.ndarray) -> Sequence[str]:
    missing = np.ma.getmaskarray(found)
    return ["" if empty else text for text, empty in zip(np.ma.getdata(found).tolist(), missing.tolist(), strict=True)]
