"""Read a table of answers from CSV, TSV, XLSX, ODS, Parquet, SPSS, Stata or SAS, none in a survey's own format.

Each column is kept as its different values with one code for each row, so that a column of few values stays small. A
cell that is empty, NA or a missing value of the program is missing. Messages name column and line, never a cell.

The layouts of survey platforms are recognized: lines below the header, and names of a question's columns.
"""

import io
import os
import re
import struct
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from functools import partial, reduce
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.file_formats.cell_columns import CodedCells, array_cells, cell_text, hours_text, text_cells
from sottovoce.aggregator.file_formats.csv_lines import CHUNK, DelimitedFile, wrong_at
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.file_formats.table_source import open_table
from sottovoce.shared.errors import Sentence, SpecError

QUALTRICS = "{file} is an export of Qualtrics: the two lines below the names, of texts and ImportIds, are skipped."
SURVEY_MONKEY = "{file} is an export of SurveyMonkey: its names are in two lines, the second one in brackets."

_SUBQUESTION = re.compile(r"(.+?)(?: *\[|_|\.)(value|channel|once|state)[\].]?")
_EMBEDDED = "__js_"
_ANSWER = {"", "Response", "Open-Ended Response"}

ExportLayout = tuple[list[str], int, list[str]]
"""Names of columns, number of rows to skip, notes."""


def platform_layout(names: Sequence[str], rows: Sequence[Sequence[str]]) -> ExportLayout:
    """Return the layout of a table by its header and its first two rows."""
    plain = [name.strip() for name in names]
    if len(rows) > 1 and all(cell.startswith('{"ImportId"') for cell in rows[1]):
        return _one_question(plain), 2, [QUALTRICS]
    if rows and plain[0].lower() in {"respondent id", "respondent_id"} and not rows[0][0].strip():
        return _one_question(_in_two_lines(plain, rows[0])), 1, [SURVEY_MONKEY]
    return _one_question(plain), 0, []


def _in_two_lines(names: Sequence[str], below: Sequence[str]) -> list[str]:
    """Return the names of SurveyMonkey, which writes a question's text above the first of its columns only."""
    found, text = list[str](), ""
    for place, (name, more) in enumerate(zip(names, map(str.strip, below), strict=True)):
        text = name or text
        alone = bool(name) and (place + 1 == len(names) or bool(names[place + 1]))
        found.append(text if more in _ANSWER and alone else f"{text} [{more}]")
    return found


def _one_question(names: Sequence[str]) -> list[str]:
    """Return names in which the columns of one question are called as its snippet does: ``x_channel`` beside ``x``.

    LimeSurvey has ``x[value]`` and ``x[channel]``, or ``x_value`` or ``x.value.`` in its files for R, Qualtrics
    ``__js_x``.
    """
    shorter = [name.removeprefix(_EMBEDDED) for name in names]
    parts = [_SUBQUESTION.fullmatch(name) for name in shorter]
    values, channels = ({part[1] for part in parts if part and part[2] == kind} for kind in ("value", "channel"))
    asked = values & channels
    renamed = [
        name if part is None or part[1] not in asked else part[1] if part[2] == "value" else f"{part[1]}_{part[2]}"
        for name, part in zip(shorter, parts, strict=True)
    ]
    return renamed if len(set(renamed)) == len(renamed) else [*names]


WEIGHTED = (
    "{file} is weighted by {variable}. Figures here are not, unless you ask for weights (in the terminal: --weights"
    " {variable})."
)
FAR_DATES = "{file} has a date after the year 9999: all its dates are read as the program's numbers."
COMMAS = (
    "{file}: {variable} has cells such as 1,2 and is read as categories: the comma may separate two options. If it is "
    "a decimal comma, write a point."
)
_SAV_HEADER = 176
_DAY = 86_400
_FARTHEST = 1 << 40
"""Limit of the codes of days: SPSS counts seconds from 1582, Stata and SAS days from 1960."""

_PERIODS = re.compile(r"%-?t[mqhw]|MOYR|QYR|WKYR")
_OF_A_YEAR = {"q": 4, "w": 52, "h": 2, "m": 12}
"""Formats of months, quarters, halves and weeks: of Stata, which counts them from 1960, and of SPSS (YR)."""

# Formats of SAS 9.4 for days from 1960, for seconds from 1960 (``s_``) and for hours, by what is shown of them.
_SAS = re.compile(
    r"SAS:(?:(?P<day>DATE|DAY|DOWNAME|(?:DDMM|MMDD)YY[BCDNPS]?|YYMMDD[BCDNPS]?|JULDAY|JULIAN|PDJUL[GI]|MINGUO|NENGO"
    r"|H(?:EB)?DATE|MONNAME|MONTH|QTRR?|WEEKDA(?:Y|T[EX])|WEEK[UVW]|WORDDAT[EX]|(?:E|B|IS)8601DA|NLDATE[A-Z]*"
    r"|EURDF(?:D[DEN]|DWN|MN|W[DK]X))|(?P<m>MMYY[CDNPS]?|MONYY|YYMM[CDNPS]?|YYMON|EURDFMY)|(?P<q>YYQ[RZ]?[CDNPS]?)"
    r"|(?P<year>YEAR)|(?P<s_day>DATETIME|(?:DATE|MDY)AMPM|DTDATE|DTWKDATX|NLDATM[A-Z]*|EURDFDT|(?:E|B|IS)8601(?:D[NTXZ]|LX))"
    r"|(?P<s_m>DTMONYY)|(?P<s_q>DTYYQC)|(?P<s_year>DTYEAR)"
    r"|(?P<hours>TIME(?:AMPM)?|HHMM|HOUR|MMSS|TOD|NLTIM[A-Z]+|(?:E|B|IS)8601(?:T[MXZ]|LZ)))[0-9.]*"
)

MOST_BYTES = 2 << 30
MOST_COLUMNS = 2000
MOST_CELLS = 1 << 26
_REFERENCE = re.compile(rb' r="([A-Z]{1,3})([0-9]{1,7})"')
_LONGEST_REFERENCE, _BATCH_BYTES = 16, 1 << 20
MISSING = frozenset({"", "NA"})
ROW = "row"
"""Name of a first column without one: R and pandas write the names of rows there."""

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
WORKBOOKS = (".xlsx", ".ods")
STATISTICS = {
    ".sav": ("read_sav", "SPSS"),
    ".zsav": ("read_sav", "SPSS"),
    ".por": ("read_por", "SPSS"),
    ".dta": ("read_dta", "Stata"),
    ".sas7bdat": ("read_sas7bdat", "SAS"),
    ".xpt": ("read_xport", "SAS"),
}
"""Function of the library, and name of the program, by the end of the name."""
ON_DISK = (".parquet", *STATISTICS)
FORMATS = (*DELIMITED, *WORKBOOKS, *ON_DISK)
"""Ends of the names of files that can be read."""

IN_MEMORY = FORMATS if hasattr(os, "memfd_create") else (*DELIMITED, *WORKBOOKS)
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

    def add(self, cells: CodedCells) -> None:
        """Add cells; spaces around their texts do not count."""
        known, before = self._places, len(self.codes)
        if not known.keys() >= {*cells.texts}:
            for text, first in zip(cells.texts, cells.firsts, strict=True):
                if text not in known:
                    self._add_value(text, before + first)
        self.codes.frombytes(np.array([*map(known.__getitem__, cells.texts)], np.int32)[cells.codes].tobytes())

    def _add_value(self, text: str, row: int) -> None:
        plain = text.strip()
        place = -1 if plain in MISSING else self._places.get(plain)
        if place is None:
            place = len(self.values)
            self.values.append(plain)
            self.firsts.append(row)
            self._places[plain] = place
        self._places[text] = place

    def rewrite(self, change: Callable[[str], str]) -> None:
        """Change the texts; values whose texts become equal become one."""
        known: dict[str, int] = {}
        codes = [known.setdefault(change(text), len(known)) for text in self.values]
        firsts = dict(zip(codes[::-1], self.firsts[::-1], strict=True))
        self.firsts = [firsts[code] for code in range(len(known))]
        self.codes = array("i", np.array([*codes, -1], np.int32)[self.rows].tobytes())
        self.values, self._places = [*known], known

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

    def add(self, lines: Iterable[int], block: Iterable[CodedCells]) -> None:
        """Add rows: their lines, and their cells in each column."""
        self.lines.extend(lines)
        for column, cells in zip(self.columns.values(), block, strict=False):
            column.add(cells)

    def column(self, name: str) -> TableColumn:
        """Return the column of this name; raise SpecError, which names all columns, if there is none."""
        if name not in self.columns:
            raise SpecError(Sentence(NO_COLUMN, file=self.file, name=name, names=", ".join(self.columns)))
        return self.columns[name]

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
        if kind in {*DELIMITED, *WORKBOOKS}:
            with path.open("rb") as file:
                return _read_open(file, path.name)
    except OSError:
        raise SpecError(f"{path.name} cannot be read") from None
    if kind in ON_DISK:
        return _read_on_disk(path, path.name)
    raise SpecError(f"{path.name}: the name must end in one of {', '.join(FORMATS)}")


def read_bytes(data: bytes, name: str) -> FileTable:
    """Read the table in the bytes of a file, none of which reaches a disk; raise as ``read_table`` does."""
    if Path(name).suffix.lower() not in ON_DISK:
        return _read_open(io.BytesIO(data), name)
    # The libraries open files by name: Linux has files that are in memory only.
    with open(os.memfd_create("upload"), "wb") as file:  # noqa: PTH123 - a number
        file.write(data)
        file.flush()
        return _read_on_disk(Path(f"/proc/self/fd/{file.fileno()}"), name)


def _read_open(file: BinaryIO, name: str) -> FileTable:
    """Read a table of commas, tabs or cells of a workbook; raise as ``read_table`` does."""
    return read_workbook(file.read(), name) if name.lower().endswith(WORKBOOKS) else read_delimited(file, name)


def _read_on_disk(path: Path, name: str) -> FileTable:
    """Read a table, one of ``ON_DISK``, whose library opens the file itself; raise as ``read_table`` does."""
    return _read_parquet(path, name) if name.lower().endswith(".parquet") else _read_statistics(path, name)


def read_delimited(file: BinaryIO, name: str) -> FileTable:
    """Read CSV or TSV in UTF-8, whose cells are separated by what the header shows, and by tabs in ``.tsv``.

    Raises SpecError if the file is empty or invalid; the message names line and column.
    """
    source = DelimitedFile(file, name, DELIMITED.get(Path(name).suffix.lower(), "").strip(","), skip_blank=True)
    if not source.names:
        raise wrong_at(name, "the file is empty")
    table: FileTable | None = None
    for lines, rows in source.blocks():
        skipped = 0
        if table is None:
            names, skipped, notes = platform_layout(source.names, rows[:2])
            table = _empty_table(name, names, f"line {source.line}", "line", notes)
        table.add(lines[skipped:], map(text_cells, zip(*rows[skipped:], strict=True)))
    table = table or _empty_table(name, source.names, f"line {source.line}", "line")
    _read_numbers(table, source.delimiter == ";")
    return _not_empty(table)


def _empty_table(name: str, names: Sequence[str], header: str, unit: str, notes: Sequence[str] = ()) -> FileTable:
    plain = [re.sub(r"\s*\n\s*", " ", each.strip()) for each in names]
    if len(plain) > 1 and not plain[0] and ROW not in plain:
        plain[0] = ROW
    if len(plain) > MOST_COLUMNS:
        reason = Sentence("there are more than {most} columns; remove those you do not need", most=MOST_COLUMNS)
        raise wrong_at(f"{name}, {header}", reason)
    first: dict[str, int] = {}
    for number, each in enumerate(plain, 1):
        if not each:
            raise wrong_at(f"{name}, {header}", Sentence("column {count} has no name", count=str(number)))
        if first.setdefault(each, number) < number:
            twice = {"first": str(first[each]), "second": str(number), "name": each}
            raise wrong_at(f"{name}, {header}", Sentence(TWICE, **twice))
    columns = {each: TableColumn() for each in plain}
    return FileTable(name, columns, unit, notes=[Sentence(note, file=name) for note in notes])


TWICE = "columns {first} and {second} are both named '{name}'; rename one"
NO_COLUMN = "{file} has no column '{name}'; it has: {names}"
_NO_OPTIONS = re.compile(r"-.*,.*|0,.*|.*,0.*")
"""Numbers such as -1,2 and 0,5 and 1,05, which are no two options."""
_NUMBERS = {",": re.compile(r"-?\d+(,\d+)?"), ".": re.compile(r"-?\d+(\.\d+)?")}


def _read_numbers(table: FileTable, semicolons: bool) -> None:
    """Write numbers as other kinds of files have them: 1 for 1.0, and 2.5 for 2,5 in a file of semicolons.

    Such a comma is a decimal point where all numbers of a column have equally many decimals, one is no pair of options,
    or several columns of numbers have commas; else 1,2 may stand for two options, as most platforms write them.
    """
    commas = {name: column for name, column in table.columns.items() if semicolons and _decimals(column, ",")}
    for name, column in commas.items():
        sure = len(commas) > 1 or any(map(_NO_OPTIONS.fullmatch, column.values))
        if sure or len(_decimals(column, ",")) == 1:
            column.rewrite(lambda text: text.replace(",", "."))
        else:
            table.notes.append(Sentence(COMMAS, file=table.file, variable=name))
    for column in table.columns.values():
        if any(text.endswith("0") and "." in text for text in column.values) and _decimals(column, "."):
            column.rewrite(without_zeros)


def without_zeros(text: str) -> str:
    """Return a number as a table has it, 1 for 1.0 and 2.5 for 2.50."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimals(column: TableColumn, point: str) -> set[int]:
    """Return the numbers of decimals in a column of numbers; empty if it has another text, or no decimals at all."""
    numbers = any(point in text for text in column.values) and all(map(_NUMBERS[point].fullmatch, column.values))
    return {len(text.partition(point)[2]) for text in column.values if numbers}


def _not_empty(table: FileTable) -> FileTable:
    if not table.columns or not len(table):
        raise wrong_at(table.file, "there are no rows below the names of the columns")
    return table


def read_workbook(data: bytes, name: str) -> FileTable:
    """Read the first sheet of an Excel workbook; raise SpecError, which names row and column, if there is no table."""
    import python_calamine as calamine

    try:
        if _area(data) > MOST_CELLS:
            raise wrong_at(name, "a sheet reaches too far; delete cells outside the table, or save it as CSV")
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (calamine.CalamineError, zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        raise wrong_at(name, "the workbook cannot be read; save it again without a password") from None
    filled = [(number, row) for number, row in enumerate(rows, 1) if any(cell_text(cell).strip() for cell in row)]
    if not filled:
        raise wrong_at(name, "the file is empty")
    (number, header), *rest = filled
    names, skipped, notes = platform_layout([*map(cell_text, header)], [[*map(cell_text, row)] for _, row in rest[:2]])
    table = _empty_table(name, names, f"row {number}", "row", notes)
    for start in range(skipped, len(rest), CHUNK):
        lines, found = zip(*rest[start : start + CHUNK], strict=True)
        table.add(lines, (text_cells([*map(cell_text, cells)]) for cells in zip(*found, strict=True)))
    return _not_empty(table)


def _area(workbook: bytes) -> int:
    """Return the cells that a reader of a workbook makes room for, of the largest sheet; all if it unpacks to too much.

    A single cell far down needs room for all above it.
    """
    largest = 0
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        if sum(part.file_size for part in archive.infolist()) > MOST_BYTES:
            return MOST_CELLS + 1
        for part in [each for each in archive.infolist() if each.filename.startswith("xl/worksheets/")]:
            rows, columns, rest = 0, set[bytes](), b""
            with archive.open(part) as file:
                while chunk := file.read(_BATCH_BYTES):
                    found = _REFERENCE.findall(rest + chunk)
                    columns.update(column for column, _ in found)
                    rows = max((rows, *{int(row) for _, row in found}))
                    rest = chunk[-_LONGEST_REFERENCE:]
            width = max((len(column), column) for column in columns or {b"A"})[1]
            largest = max(largest, rows * reduce(lambda number, letter: number * 26 + letter - 64, width, 0))
    return largest


def _read_parquet(path: Path, name: str) -> FileTable:
    with open_table(path, name) as source:
        table = _empty_table(name, platform_layout(source.names, ())[0], "the header", "row")
        for rows, block in source.columns(source.names):
            table.add(rows, block)
    return _not_empty(table)


def _read_statistics(path: Path, name: str) -> FileTable:
    pyreadstat, kind = needed("pyreadstat"), Path(name).suffix.lower()
    read, program = partial(getattr(pyreadstat, STATISTICS[kind][0]), str(path)), STATISTICS[kind][1]
    notes: list[Sentence] = []
    try:
        try:
            # The library knows some formats of SAS, and takes the seconds of DTDATE for days.
            frame, meta = read(disable_datetime_conversion=program == "SAS")
        except OverflowError:
            # Python's dates end in the year 9999.
            frame, meta = read(disable_datetime_conversion=True)
            notes = [Sentence(FAR_DATES, file=name)]
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError, OverflowError):
        raise SpecError(f"{name} cannot be read as a file of {program}") from None
    # In a file of ours, a rare number or date that is left out is declared missing, and its label is the only one.
    left_out = [each for each in frame if [*meta.variable_value_labels.get(each, {}).values()] == [FEW]]
    if left_out and kind != ".por":
        # As a frame, blanks beside Stata's .a would be arbitrary numbers in a column that Stata made whole.
        frame = frame.assign(**read(usecols=left_out, user_missing=True, output_format="dict")[0])
    if program == "SPSS":
        _write_long_times(frame, read)
    names, labels, types = [*map(str, frame.columns)], meta.variable_value_labels, meta.original_variable_types
    table = _empty_table(name, platform_layout(names, ())[0], "the header", "row")
    cells = (_labelled(array_cells(frame.pop(each).to_numpy()), labels.get(each, {}),
                       "SAS:" * (program == "SAS") + (types[each] or "")) for each in [*frame.columns])  # fmt: skip
    table.add(range(1, len(frame) + 1), cells)
    weights = {_weight_in_use(path, names) if kind in {".sav", ".zsav"} else ""} - {""}
    table.notes.extend([*notes, *(Sentence(WEIGHTED, file=name, variable=each) for each in weights)])
    return _not_empty(table)


def _write_long_times(frame: Any, read: Callable[..., Any]) -> None:  # noqa: ANN401 - pandas is optional
    """Write times from 24 hours on, and below 0, as their program shows them; the library takes whole days away."""
    clocks = [name for name in frame if frame[name].dtype == object
              and isinstance(frame[name].get(frame[name].first_valid_index()), time)]  # fmt: skip
    raw = read(usecols=clocks, disable_datetime_conversion=True)[0] if clocks else frame
    for name in clocks:
        long = ~raw[name].between(0, _DAY, inclusive="left") & raw[name].notna()
        frame.loc[long, name] = raw.loc[long, name].map(hours_text)


def _labelled(cells: CodedCells, labels: Mapping[Any, str], form: str) -> CodedCells:
    """Return cells with their labels, which people chose, for the program's codes; two codes never have one text."""
    known = {cell_text(code): label for code, label in labels.items()}
    if "DATE" in form or form.startswith("%td"):
        first, unit = ("1960-01-01", 1) if form.startswith("%") else ("1582-10-14", _DAY)
        known |= {str(np.datetime64(first) + int(code) // unit): label for code, label in labels.items()
                  if not isinstance(code, str) and abs(code) < _FARTHEST}  # fmt: skip
    texts = [(known.get(code) or _period(code, form)).strip() for code in cells.texts]
    often = Counter(texts if labels else ())
    shown = [f"{text} ({code})" if often[text] > 1 else text for text, code in zip(texts, cells.texts, strict=True)]
    return CodedCells(shown, cells.codes)


def _period(code: str, form: str) -> str:
    """Return a month, quarter, half or week as Stata names it, so that they sort, 2026m04; days and hours of SAS as all
    others are; other codes as they are.
    """
    found = _SAS.fullmatch(form) or _PERIODS.match(form)
    if found is None or not code.lstrip("-").replace(".", "", 1).isdigit() or abs(float(code)) >= _FARTHEST:
        return code
    kind = found.lastgroup or next(each for each in _OF_A_YEAR if each in found[0].lower())
    if kind == "hours":
        return hours_text(float(code) % _DAY if "TOD" in form else float(code))
    is_spss = found[0].endswith("YR")
    first, unit = "1582-10-14" if is_spss else "1960-01-01", _DAY if is_spss or kind.startswith("s_") else 1
    day = np.datetime64(first) + int(float(code) // unit)
    year, letter = day.astype("M8[Y]"), kind.removeprefix("s_")
    if letter in {"day", "year"}:
        return str(day if letter == "day" else year)
    many = _OF_A_YEAR[letter]
    place = (day - year).astype(int) // 7 if letter == "w" else (day.astype("M8[M]") - year).astype(int) * many // 12
    if form.startswith("%"):
        year, place = divmod(1960 * many + int(code), many)
    return f"{year}{letter}{place + 1:0{len(str(many))}}"


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
