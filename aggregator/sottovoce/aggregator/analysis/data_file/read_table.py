"""
Read a table of answers from CSV, TSV, XLSX, Parquet, SPSS or Stata; nothing of it is a survey's own format.

Each column is kept as its different values with one code for each row, so that a column of few values stays small. A
cell that is empty, NA or a missing value of the program is missing. Messages name column and line, never a cell.
"""

import csv
import io
import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.file_formats.csv_lines import LONGEST_LINE
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import SpecError

MOST_BYTES = 2 << 30
"""Largest file."""

MOST_COLUMNS = 2000
MISSING = frozenset({"", "NA"})

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
STATISTICS = {".sav": "read_sav", ".zsav": "read_sav", ".dta": "read_dta"}
FORMATS = (*DELIMITED, ".xlsx", ".parquet", *STATISTICS)
"""Ends of the names of files that can be read."""


@dataclass
class TableColumn:
    """
    A column.

    Attributes:
        values: its different texts, in the order of the file.
        firsts: index of the first row with each of them.
        codes: index into ``values`` of each row; -1 if missing.
    """

    values: list[str] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    codes: "array[int]" = field(default_factory=lambda: array("i"))
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> None:
        """Add the text of a cell."""
        place = self._places.get(text)
        if place is None:
            place = -1 if text in MISSING else len(self.values)
            self._places[text] = place
            if place >= 0:
                self.values.append(text)
                self.firsts.append(len(self.codes))
        self.codes.append(place)

    @property
    def rows(self) -> NDArray[np.int32]:
        """Codes of all rows, shape (n,)."""
        return np.frombuffer(self.codes, dtype=np.int32)


@dataclass(frozen=True)
class FileTable:
    """
    A table as it is in a file.

    Attributes:
        file: name of the file, for messages.
        columns: the columns by name, in the order of the file.
        unit: word for a row's place in messages, "line" or "row".
        lines: line of each row, for messages.
    """

    file: str
    columns: dict[str, TableColumn]
    unit: str = "line"
    lines: "array[int]" = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def add(self, line: int, cells: Iterable[str]) -> None:
        """Add a row of cells, one for each column."""
        for column, cell in zip(self.columns.values(), cells, strict=True):
            column.add(cell)
        self.lines.append(line)

    def place(self, column: str, row: int) -> str:
        """Return the place of a cell in words."""
        return f"{self.file}, {self.unit} {self.lines[row]}, column '{column}'"


def read_table(path: Path) -> FileTable:
    """
    Read the table in a file.

    Raises:
        SpecError: the file cannot be read; the message names line and column.
        EstimateError: an optional library is not installed.
    """
    kind = path.suffix.lower()
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SpecError(f"{path.name} is larger than 2 GB; remove columns that you do not need, or split it")
        if kind in DELIMITED:
            with path.open("rb") as file:
                return read_delimited(file, path.name)
        if kind == ".xlsx":
            return read_workbook(path.read_bytes(), path.name)
    except OSError:
        raise SpecError(f"{path.name} cannot be read") from None
    if kind == ".parquet":
        return _read_parquet(path)
    if kind in STATISTICS:
        return _read_statistics(path)
    raise SpecError(f"{path.name}: the name must end in one of {', '.join(FORMATS)}")


def read_delimited(file: BinaryIO, name: str) -> FileTable:
    """
    Read CSV or TSV in UTF-8; the header tells whether commas, semicolons or tabs separate cells.

    Args:
        file: the open file.
        name: its name; ``.tsv`` means tabs.

    Raises:
        SpecError: the file is empty or invalid; the message names line and column.
    """
    source = _Lines(file, name)
    first = next((line for line in source if line.strip() and not line.startswith("#")), None)
    if first is None:
        raise SpecError(f"{name}: the file is empty")
    source.delimiter = _delimiter(first, name)
    source.header = _cells(first, source.delimiter)
    names = [cell.strip() for cell in source.header]
    table = FileTable(name, {each: TableColumn() for each in _checked_names(names, name, f"line {source.number}")})
    _read_rows(table, source)
    return _not_empty(table)


def _read_rows(table: FileTable, source: "_Lines") -> None:
    above = source.number
    reader = csv.reader(source, delimiter=source.delimiter, strict=True)
    comma = source.delimiter == ";"
    while True:
        line = above + reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error:
            raise SpecError(f"{table.file}, line {line}: cannot be read as CSV; check the quotation marks") from None
        if cells is None:
            return
        if cells and (len(cells) > 1 or cells[0].strip()):
            _check_length(cells, len(table.columns), f"{table.file}, line {line}")
            table.add(line, (_decimal_point(cell.strip()) if comma else cell.strip() for cell in cells))


def _check_length(cells: Sequence[str], expected: int, place: str) -> None:
    if len(cells) != expected:
        raise SpecError(f"{place}: {len(cells)} cells where the header has {expected}")


def _decimal_point(text: str) -> str:
    """Return a decimal comma as a point: files with semicolons write numbers so."""
    whole, comma, rest = text.partition(",")
    return f"{whole}.{rest}" if comma and rest.isdecimal() and whole.lstrip("-").isdecimal() else text


class _Lines:
    """Lines of a file in UTF-8; knows which column a wrong byte is in."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self.number = 0
        self.delimiter = ""
        self.header: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(LONGEST_LINE)
        self.number += 1
        if not line:
            raise StopIteration
        place = f"{self._name}, line {self.number}"
        if self.number == 1 and line[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise SpecError(f"{place}: the file is in UTF-16; save it as CSV in UTF-8")
        if len(line) == LONGEST_LINE:
            raise SpecError(f"{place}: is longer than {LONGEST_LINE - 1:,} bytes")
        if b"\0" in line:
            raise SpecError(f"{place}: cannot be read as CSV")
        try:
            return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            column = self._column(line[: error.start])
            raise SpecError(f"{place}{column}: is not UTF-8; save the whole file as CSV in UTF-8") from None

    def _column(self, before: bytes) -> str:
        place = len(_cells(before.decode("utf-8"), self.delimiter)) - 1 if self.delimiter and before else 0
        return f", column '{self.header[place]}'" if place < len(self.header) else ""


def _delimiter(first: str, name: str) -> str:
    if DELIMITED.get(Path(name).suffix.lower()) == "\t" or "\t" in first:
        return "\t"
    return ";" if first.count(";") > first.count(",") else ","


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _checked_names(names: Sequence[str], file: str, place: str) -> Sequence[str]:
    if len(names) > MOST_COLUMNS:
        raise SpecError(f"{file}, {place}: there are more than {MOST_COLUMNS:,} columns; remove those you do not need")
    first: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if not name:
            raise SpecError(f"{file}, {place}: column {number} has no name")
        if name in first:
            raise SpecError(f"{file}, {place}: columns {first[name]} and {number} are both named '{name}'; rename one")
        first[name] = number
    return names


def _not_empty(table: FileTable) -> FileTable:
    if not table.columns or not len(table):
        raise SpecError(f"{table.file}: there are no rows below the names of the columns")
    return table


def read_workbook(data: bytes, name: str) -> FileTable:
    """
    Read the first sheet of an Excel workbook.

    Raises:
        SpecError: it is no workbook, has a password, or holds no table; the message names row and column.
    """
    import python_calamine as calamine

    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError, ValueError):
        raise SpecError(f"{name}: the workbook cannot be read; save it again without a password") from None
    filled = [(number, row) for number, row in enumerate(rows, 1) if any(_text(cell) for cell in row)]
    if not filled:
        raise SpecError(f"{name}: the file is empty")
    (number, header), *rest = filled
    names = _checked_names([_text(cell) for cell in header], name, f"row {number}")
    return _filled(name, names, ((line, row) for line, row in rest))


def _filled(name: str, names: Sequence[str], rows: Iterable[tuple[int, Sequence[object]]]) -> FileTable:
    table = FileTable(name, {each: TableColumn() for each in names}, "row")
    for line, row in rows:
        table.add(line, map(_text, row))
    return _not_empty(table)


def _read_parquet(path: Path) -> FileTable:
    duckdb = needed("duckdb")
    with duckdb.connect() as connection:
        try:
            found = connection.read_parquet(str(path))
            names = _checked_names(found.columns, path.name, "the header")
            return _filled(path.name, names, enumerate(found.fetchall(), 1))
        except duckdb.Error:
            raise SpecError(f"{path.name} cannot be read as Parquet") from None


def _read_statistics(path: Path) -> FileTable:
    pyreadstat = needed("pyreadstat")
    try:
        # Labels of values are what people chose; the numbers behind them are the program's.
        frame, _ = getattr(pyreadstat, STATISTICS[path.suffix.lower()])(str(path), apply_value_formats=True)
    except (pyreadstat.ReadstatError, OSError, ValueError):
        raise SpecError(f"{path.name} cannot be read as a file of {_program(path)}") from None
    names = _checked_names([str(name) for name in frame.columns], path.name, "the header")
    return _filled(path.name, names, enumerate(frame.itertuples(index=False, name=None), 1))


def _program(path: Path) -> str:
    return "Stata" if path.suffix.lower() == ".dta" else "SPSS"


def _text(cell: Any) -> str:  # noqa: ANN401 - as a library reads it
    """Return a cell as people see it: 3, not 3.0."""
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN and NaT
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float) and math.isfinite(cell) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime | date):
        return cell.isoformat()[:10]
    return str(cell).strip()
