"""Read a table of answers from CSV, TSV, XLSX, Parquet, SPSS or Stata; nothing of it is a survey's own format.

Each column is kept as its different values with one code for each row, so that a column of few values stays small. A
cell that is empty, NA or a missing value of the program is missing. Messages name column and line, never a cell.
"""

import csv
import io
import math
import os
import struct
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.file_formats.csv_lines import CHUNK, LONGEST_LINE
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import Sentence, SpecError

WEIGHTED = (
    "{file} is weighted by {variable}. Figures here are not, unless you ask for weights (in the terminal: --weights"
    " {variable})."
)
_SAV_HEADER = 176

MOST_BYTES = 2 << 30
"""Size of the largest file."""

MOST_COLUMNS = 2000
MISSING = frozenset({"", "NA"})
_BATCH_BYTES = 1 << 20

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
STATISTICS = {".sav": "read_sav", ".zsav": "read_sav", ".dta": "read_dta"}
ON_DISK = (".parquet", *STATISTICS)
FORMATS = (*DELIMITED, ".xlsx", *ON_DISK)
"""Ends of the names of files that can be read."""

IN_MEMORY = FORMATS if hasattr(os, "memfd_create") else (*DELIMITED, ".xlsx")
"""Ends of the names of files that can be read from their bytes on this system."""


@dataclass
class TableColumn:
    """A column of a table.

    Attributes:
        values: its different texts, in the order of the file.
        firsts: index of the first row with each of them.
        codes: index into ``values`` of each row; -1 if missing.
    """

    values: list[str] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    codes: "array[int]" = field(default_factory=lambda: array("i"))
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, cells: Sequence[str]) -> None:
        """Add the texts of cells; spaces around them do not count."""
        known = self._places
        # Most columns have few values, so that looking all cells up at once is enough after the first rows.
        if not known.keys() >= set(cells):
            for offset, text in enumerate(cells, len(self.codes)):
                if text not in known:
                    self._add_value(text, offset)
        self.codes.extend(map(known.__getitem__, cells))

    def _add_value(self, text: str, row: int) -> None:
        plain = text.strip()
        place = -1 if plain in MISSING else self._places.get(plain)
        if place is None:
            place = len(self.values)
            self.values.append(plain)
            self.firsts.append(row)
            self._places[plain] = place
        self._places[text] = place

    @property
    def rows(self) -> NDArray[np.int32]:
        """Codes of all rows, shape (n,)."""
        return np.frombuffer(self.codes, dtype=np.int32)


@dataclass(frozen=True)
class FileTable:
    """A table as it is in a file; ``lines`` and ``unit`` ("line" or "row") name the rows in messages, and ``notes`` say
    what a reader of the results must know of the file.
    """

    file: str
    columns: dict[str, TableColumn]
    unit: str = "line"
    lines: "array[int]" = field(default_factory=lambda: array("i"))
    notes: list[Sentence] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def add(self, lines: Iterable[int], rows: Iterable[Sequence[str]]) -> None:
        """Add rows of cells, each with one for each column, and their lines."""
        self.lines.extend(lines)
        for column, cells in zip(self.columns.values(), zip(*rows, strict=True), strict=False):
            column.add(cells)

    def place(self, column: str, row: int) -> str:
        """Return the place of a cell in words."""
        return f"{self.file}, {self.unit} {self.lines[row]}, column '{column}'"


def read_table(path: Path) -> FileTable:
    """Read the table in a file.

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
    if kind in ON_DISK:
        return read_on_disk(path, path.name)
    raise SpecError(f"{path.name}: the name must end in one of {', '.join(FORMATS)}")


def read_bytes(data: bytes, name: str) -> FileTable:
    """Read the table in the bytes of a file, none of which reaches a disk; raise as ``read_table`` does."""
    kind = Path(name).suffix.lower()
    if kind == ".xlsx":
        return read_workbook(data, name)
    if kind in DELIMITED:
        return read_delimited(io.BytesIO(data), name)
    # The libraries open files by name: Linux has files that are in memory only.
    with open(os.memfd_create("upload"), "wb") as file:  # noqa: PTH123 - a number
        file.write(data)
        file.flush()
        return read_on_disk(Path(f"/proc/self/fd/{file.fileno()}"), name)


def read_on_disk(path: Path, name: str) -> FileTable:
    """Read a table, one of ``ON_DISK``, whose library opens the file itself; raise as ``read_table`` does."""
    return _read_parquet(path, name) if name.lower().endswith(".parquet") else _read_statistics(path, name)


def read_delimited(file: BinaryIO, name: str) -> FileTable:
    """Read CSV or TSV in UTF-8, whose cells are separated by what the header shows, and by tabs in ``.tsv``.

    Raises SpecError if the file is empty or invalid; the message names line and column.
    """
    header = _Header(name)
    source = _lines(file, header)
    number, first = 0, ""
    while not first.strip() or first.startswith("#"):
        number, first = number + 1, next(source, "\0")
    if first == "\0":
        raise SpecError(f"{name}: the file is empty")
    header.delimiter = _delimiter(first, name)
    header.names = [cell.strip() for cell in _cells(first, header.delimiter)]
    table = FileTable(name, {each: TableColumn() for each in _checked_names(header.names, name, f"line {number}")})
    _read_rows(table, csv.reader(source, delimiter=header.delimiter, strict=True), number, header.delimiter == ";")
    return _not_empty(table)


def _read_rows(table: FileTable, reader: Any, above: int, comma: bool) -> None:  # noqa: ANN401 - of csv
    while True:
        first = above + reader.line_num + 1
        try:
            rows = list(islice(reader, CHUNK))
        except csv.Error:
            line = above + reader.line_num
            raise SpecError(f"{table.file}, line {line}: cannot be read as CSV; check the quotation marks") from None
        if not rows:
            return
        lines = _lines_of(rows, first, above + reader.line_num + 1)
        width = len(table.columns)
        if width == 1 or [*map(len, rows)].count(width) < len(rows):
            lines, rows = _without_blanks(table, lines, rows)
        table.add(lines, ([*map(_decimal_point, row)] for row in rows) if comma else rows)


def _without_blanks(
    table: FileTable, lines: Iterable[int], rows: Sequence[list[str]]
) -> tuple[list[int], list[list[str]]]:
    """Return the rows that have a cell, with their lines; refuse a row of another length."""
    filled = [(line, row) for line, row in zip(lines, rows, strict=True) if len(row) > 1 or any(map(str.strip, row))]
    for line, row in filled:
        if len(row) != len(table.columns):
            place = f"{table.file}, line {line}"
            raise SpecError(f"{place}: {len(row)} cells where the header has {len(table.columns)}")
    return [line for line, _ in filled], [row for _, row in filled]


def _lines_of(rows: Sequence[Sequence[str]], first: int, after: int) -> Iterable[int]:
    """Return the line of each row: one after the other, unless a cell has several lines."""
    if after - first == len(rows):
        return range(first, after)
    return accumulate((1 + sum(cell.count("\n") for cell in row) for row in rows[:-1]), initial=first)


def _decimal_point(text: str) -> str:
    """Return a decimal comma as a point: files with semicolons write numbers so."""
    whole, comma, rest = text.partition(",")
    return f"{whole}.{rest}" if comma and rest.isdecimal() and whole.lstrip("-").isdecimal() else text


@dataclass
class _Header:
    file: str
    delimiter: str = ""
    names: Sequence[str] = ()

    def column(self, before: bytes) -> str:
        """Return the column that a byte is in, in words, by the bytes before it in its line."""
        place = len(_cells(before.decode("utf-8"), self.delimiter)) - 1 if self.delimiter and before else 0
        return f", column '{self.names[place]}'" if place < len(self.names) else ""


def _lines(file: BinaryIO, header: _Header) -> Iterator[str]:
    """Yield the lines of a file in UTF-8, decoded many at once below the header."""
    number = 1
    while batch := file.readlines(_BATCH_BYTES if header.names else 1):
        yield from io.StringIO(_decoded(batch, number, header))
        number += len(batch)


def _decoded(batch: Sequence[bytes], first: int, header: _Header) -> str:
    joined = b"".join(batch)
    if first == 1 and joined[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise SpecError(f"{header.file}, line 1: the file is in UTF-16; save it as CSV in UTF-8")
    if max(map(len, batch)) >= LONGEST_LINE:
        number = first + next(place for place, line in enumerate(batch) if len(line) >= LONGEST_LINE)
        raise SpecError(f"{header.file}, line {number}: is longer than {LONGEST_LINE - 1:,} bytes")
    if b"\0" in joined:
        number = first + next(place for place, line in enumerate(batch) if b"\0" in line)
        raise SpecError(f"{header.file}, line {number}: cannot be read as CSV")
    try:
        return joined.decode("utf-8-sig" if first == 1 else "utf-8")
    except UnicodeDecodeError as error:
        ends = accumulate(map(len, batch))
        place = next(place for place, end in enumerate(ends) if end > error.start)
        before = joined[sum(map(len, batch[:place])) : error.start]
        where = f"{header.file}, line {first + place}{header.column(before)}"
        raise SpecError(f"{where}: is not UTF-8; save the whole file as CSV in UTF-8") from None


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
    """Read the first sheet of an Excel workbook; raise SpecError, which names row and column, if there is no table."""
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


def _filled(name: str, names: Sequence[str], rows: Iterator[tuple[int, Sequence[object]]]) -> FileTable:
    table = FileTable(name, {each: TableColumn() for each in names}, "row")
    while chunk := list(islice(rows, CHUNK)):
        table.add((line for line, _ in chunk), [[*map(_text, row)] for _, row in chunk])
    return _not_empty(table)


def _read_parquet(path: Path, name: str) -> FileTable:
    duckdb = needed("duckdb")
    with duckdb.connect() as connection:
        try:
            found = connection.read_parquet(str(path))
            names = _checked_names(found.columns, name, "the header")
            return _filled(name, names, enumerate(found.fetchall(), 1))
        except duckdb.Error:
            raise SpecError(f"{name} cannot be read as Parquet") from None


def _read_statistics(path: Path, name: str) -> FileTable:
    pyreadstat, kind = needed("pyreadstat"), Path(name).suffix.lower()
    try:
        frame, meta = getattr(pyreadstat, STATISTICS[kind])(str(path))
    except (pyreadstat.ReadstatError, OSError, ValueError):
        program = "Stata" if kind == ".dta" else "SPSS"
        raise SpecError(f"{name} cannot be read as a file of {program}") from None
    names = _checked_names([str(name) for name in frame.columns], name, "the header")
    # Labels of values are what people chose; the numbers behind them are the program's.
    for column, labels in meta.variable_value_labels.items():
        frame[column] = frame[column].map(_shown_values(frame[column].dropna().unique(), labels))
    table = _filled(name, names, enumerate(frame.itertuples(index=False, name=None), 1))
    weight = "" if kind == ".dta" else _weight_in_use(path, names)
    if weight:
        table.notes.append(Sentence(WEIGHTED, file=name, variable=weight))
    return table


def _shown_values(codes: Iterable[Any], labels: Mapping[Any, str]) -> dict[Any, str]:
    """Return the text of each code of a column: its label, or label and code where another code has the same text."""
    texts = {code: (labels.get(code) or _text(code)).strip() for code in codes}
    often = Counter(texts.values())
    return {code: f"{text} ({_text(code)})" if often[text] > 1 else text for code, text in texts.items()}


def _weight_in_use(path: Path, names: Sequence[str]) -> str:
    """Return the column by which a file of SPSS is weighted, "" if by none; the library does not tell."""
    with path.open("rb") as file:
        header = file.read(_SAV_HEADER)
        order = "<" if header[64:68] in {b"\2\0\0\0", b"\3\0\0\0"} else ">"
        (weight,) = struct.unpack(f"{order}i", header[76:80])
        column = 0
        # Long texts take several places, which count for the weight's number but are no columns.
        for _ in range(weight):
            _, width, has_label, missing = struct.unpack(f"{order}4i", file.read(16))
            column += width >= 0
            short = file.read(16)[8:]
            if has_label:
                (length,) = struct.unpack(f"{order}i", file.read(4))
                file.read(-(-length // 4) * 4)
            file.read(8 * abs(missing))
    found = [each for each in names if each.upper() == short.decode("latin-1").strip()] if weight else []
    return found[0] if found else names[min(column, len(names)) - 1] if weight else ""


def _text(cell: Any) -> str:  # noqa: ANN401 - as a library reads it
    """Return a cell as people see it: 3, not 3.0."""
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN and NaT
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float | Decimal) and math.isfinite(cell):
        return str(int(cell)) if cell == int(cell) else str(float(cell))
    if isinstance(cell, datetime | date):
        return cell.isoformat()[:10]
    return str(cell).strip()
