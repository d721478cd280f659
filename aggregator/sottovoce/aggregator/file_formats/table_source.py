"""Open a table of CSV or Parquet, one way for answers, a curator's records, and reports."""

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sottovoce.aggregator.file_formats.cell_columns import CodedCells, array_cells
from sottovoce.aggregator.file_formats.csv_lines import DelimitedFile
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import SpecError, cannot_read

ROWS = 1 << 20
"""Rows of a block of Parquet."""

_DIGITS_OF_FLOATS = 15


class ParquetFile:
    """A table in Parquet, with the attributes and methods of ``DelimitedFile`` that read columns."""

    def __init__(self, path: Path, name: str, connection: Any) -> None:  # noqa: ANN401 - of DuckDB, open while in use
        self.name, self.header, self.row = name, name, f"{name}, row"
        self._table = connection.read_parquet(str(path))
        self.names: list[str] = self._table.columns
        about = connection.sql("SELECT value FROM parquet_kv_metadata($file)", params={"file": str(path)})
        self.comments = [(name, value.decode("utf-8", "replace")) for (value,) in about.fetchall()]

    def columns(self, names: Sequence[str]) -> Iterator[tuple[Sequence[int], list[CodedCells]]]:
        """Yield the numbers of rows, from 1, and their cells in these columns."""
        # Expressions instead of SQL text, so that no column name can inject SQL.
        table = self._table.select(*map(self._expression, names))
        for start in range(0, len(table), ROWS):
            cells = [*map(array_cells, table.limit(ROWS, start).fetchnumpy().values())]
            yield range(start + 1, start + 1 + len(cells[0].codes)), cells

    def counted(self, names: Sequence[str]) -> Iterator[tuple[NDArray[Any], list[CodedCells]]]:
        """Yield how many rows have the same cells in these columns, and these cells.

        DuckDB counts on all cores, so that ten million rows take little longer than a plain count.
        """
        duckdb = needed("duckdb")
        found = self._table.aggregate([*map(self._expression, names), duckdb.FunctionExpression("count_star")])
        *cells, times = found.fetchnumpy().values()
        if len(times):
            yield times, [*map(array_cells, cells)]

    def _expression(self, name: str) -> Any:  # noqa: ANN401 - of DuckDB
        """Return the cells of a column; decimals of more digits than a float has as texts without zeros at the end."""
        duckdb, kind = needed("duckdb"), self._table.types[self.names.index(name)]
        cells = duckdb.ColumnExpression(name)
        if kind.id != "decimal" or kind.children[0][1] <= _DIGITS_OF_FLOATS:
            return cells
        cells = cells.cast("VARCHAR")
        for zeros in ("0", ".") if kind.children[1][1] else ():
            cells = duckdb.FunctionExpression("rtrim", cells, duckdb.ConstantExpression(zeros))
        return cells.alias(name)


TableSource = DelimitedFile | ParquetFile


def check_names(header: Sequence[str], known: Container[str], place: str, unknown: str) -> None:
    """Check that a header has no column twice, and none but the ``known``; messages never repeat an unknown name.

    Raises SpecError, which begins with ``place``, and says ``unknown`` of a column that is not known.
    """
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if name not in known:
            raise SpecError(f"{place}, column {number}: {unknown}")
        if name in seen:
            raise SpecError(f"{place}, column {number}: the column '{name}' stands there twice")
        seen.add(name)


@contextmanager
def open_table(path: Path, name: str = "", **csv: bool) -> Iterator[TableSource]:
    """Open a file of commas, or of Parquet by the end of its name.

    Args:
        name: for messages, if it is not the path's.
        csv: as ``DelimitedFile`` takes them.

    Raises:
        SpecError: it cannot be read; the message names line and column.
        EstimateError: the extra that reads Parquet is not installed.
    """
    name = name or path.name
    if not name.lower().endswith(".parquet"):
        try:
            with path.open("rb") as file:
                yield DelimitedFile(file, name, ",", **csv)
        except OSError as error:
            raise SpecError(cannot_read(path, error)) from None
        return
    duckdb = needed("duckdb")
    try:
        with duckdb.connect() as connection:
            yield ParquetFile(path, name, connection)
    except duckdb.Error:
        raise SpecError(f"{name} cannot be read as Parquet: it is damaged, cut off or another kind") from None
