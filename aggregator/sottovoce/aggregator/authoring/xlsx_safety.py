"""Check an .xlsx workbook for safety before a library opens it.

A workbook is a zip archive of XML files. Sizes, parts and cell references are checked here against decompression bombs:
a few bytes may unpack to gigabytes, a single cell far down makes a reader allocate all cells above it, and every cell
may refer to one long shared text.
"""

import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from xml.parsers import expat

from sottovoce.shared.errors import Sentence, SpecError

MAX_BYTES = 4 * 1024 * 1024
MAX_UNPACKED = 32 * 1024 * 1024
MAX_PARTS = 1000
MAX_CELLS = 1_000_000
"""Largest size of one sheet: rows times columns up to its last cell."""

_CELL = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_LONGEST_NUMBER = 8
_BUILT_IN = {"2": "0.00", "4": "#,##0.00", "9": "0%", "10": "0.00%"}
_FIXED = re.compile(r"[#,]*0(\.0{1,9} ?%?| ?%)(;.*)?")
_NOT_XLSX = "this is not an .xlsx workbook, despite its name; save it as .xlsx in your spreadsheet program"
_BROKEN = "the workbook is damaged: open it in a spreadsheet program and save it again"


@dataclass(frozen=True)
class Facts:
    """Result of the checks.

    Attributes:
        formulas: cells with a formula, as (name of the sheet, row, letters of the column).
        formats: number formats with a percent sign or fixed decimals, by the same places.
    """

    formulas: frozenset[tuple[str, int, str]]
    formats: Mapping[tuple[str, int, str], str]


def check_workbook(data: bytes) -> Facts:
    """Check that a file is a safe .xlsx workbook.

    Raises SpecError, which says how to fix it, if it is not one, is damaged, has macros, or is larger than any survey.
    """
    if len(data) > MAX_BYTES:
        raise SpecError("the workbook is larger than 4 MiB; remove pictures and sheets outside the form")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_parts(archive)
            parts = {info.filename: archive.read(info) for info in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise SpecError(_NOT_XLSX) from None
    read = {name: _read(name, content) for name, content in parts.items()}
    # A reader copies a shared string for every cell that refers to it.
    found = list(read.values())
    lists = [part.lengths for part in found if part.lengths]
    if len(lists) > 1:
        raise SpecError(_BROKEN)
    lengths = lists[0] if lists else []
    used = Counter[int]()
    for part in found:
        used.update(part.used)
    if sum(lengths[index] * times for index, times in used.items() if index < len(lengths)) > MAX_UNPACKED:
        raise SpecError("the cells hold more than 32 million letters together: no survey is as long")
    sheets = _sheet_names(parts)
    formats = _number_formats(parts.get("xl/styles.xml", b"<none/>"))
    formulas = frozenset((sheets.get(name, ""), *cell) for name, cells in read.items() for cell in cells.formulas)
    styled = {(sheets.get(name, ""), *cell): formats[style] for name, cells in read.items()
              for cell, style in cells.styles.items() if style in formats}  # fmt: skip
    return Facts(formulas, styled)


def _check_parts(archive: zipfile.ZipFile) -> None:
    """Check parts and declared sizes of the archive.

    Declared sizes suffice: ``zipfile`` reads no more than those, and a larger part fails its checksum.
    """
    parts = archive.infolist()
    names = {info.filename for info in parts}
    if len(parts) > MAX_PARTS or sum(info.file_size for info in parts) > MAX_UNPACKED:
        raise SpecError("the workbook unpacks to more than 32 MiB or 1,000 parts: no survey is as large")
    if any(name.lower().endswith("vbaproject.bin") for name in names):
        raise SpecError("the workbook holds macros; save it as .xlsx without them")
    if "xl/workbook.xml" not in names or len(names) != len(parts):
        raise SpecError(_NOT_XLSX)


def _read(name: str, content: bytes) -> "_Cells":
    """Read the cells of one part; raise SpecError if the sheet is too large."""
    reader = _Cells()
    if name.endswith((".xml", ".rels", ".vml")):
        reader.read(content)
    elif b"sheetData" in content:
        raise SpecError(_BROKEN)
    if reader.rows * reader.columns > MAX_CELLS:
        far = "a sheet reaches to row {row} and column {column}; delete cells outside the form, empty rows too"
        raise SpecError(Sentence(far, row=reader.rows, column=reader.columns))
    return reader


class _Cells:
    """XML handler that collects extent, formulas and shared string references of a part's cells."""

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self.formulas: set[tuple[int, str]] = set()
        self.styles: dict[tuple[int, str], str] = {}
        self.used = Counter[int]()
        self.lengths: list[int] = []
        self._row = self._column = 0
        self._shared = False
        self._within = ""
        self._text = ""

    def read(self, content: bytes) -> None:
        """Parse the whole part; SpecError if it is not well-formed XML, or a cell has an invalid reference."""
        parser = _parser()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        _parse(parser, content)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        plain = name.rpartition(":")[2]
        if plain == "row":
            self._row = _number(attributes.get("r"), self._row + 1)
            self._column = 0
        elif plain == "c":
            self._cell(attributes.get("r", ""))
            self._shared = attributes.get("t") == "s"
            if attributes.get("t", "n") == "n" and "s" in attributes:
                self.styles[self._row, column_letters(self._column)] = attributes["s"]
        elif plain == "f":
            self.formulas.add((self._row, column_letters(self._column)))
        elif plain == "si":
            self.lengths.append(0)
        self._within, self._text = plain, ""

    def _data(self, text: str) -> None:
        if self._within == "v":
            self._text += text[:_LONGEST_NUMBER]
        elif self.lengths:
            self.lengths[-1] += len(text)

    def _end(self, name: str) -> None:
        if name.rpartition(":")[2] == "v" and self._shared:
            self.used[_number(self._text.strip(), 0)] += 1
        self._within = ""

    def _cell(self, place: str) -> None:
        """Move to a cell's reference such as B3, or to the next column if it has none."""
        found = _CELL.fullmatch(place)
        self._column += 1
        if found:
            self._column = _column(found[1])
            self._row = int(found[2])
        elif place:
            raise SpecError(_BROKEN)
        # Only cells count: spreadsheet programs write empty rows down to the last one, which cost a reader nothing.
        self.rows, self.columns = max(self.rows, self._row), max(self.columns, self._column)


def _parser() -> expat.XMLParserType:
    """Return a parser that refuses document types, and so entity expansion attacks ("billion laughs")."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise SpecError(_BROKEN)

    parser.StartDoctypeDeclHandler = refuse
    return parser


def _parse(parser: expat.XMLParserType, content: bytes) -> None:
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise SpecError(_BROKEN) from None


def _number(text: str | None, usual: int) -> int:
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
        raise SpecError(_BROKEN)
    return int(text)


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def column_letters(column: int) -> str:
    """Return the letters of a column by its number, from 1."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _sheet_names(parts: dict[str, bytes]) -> dict[str, str]:
    """Return the displayed name of each sheet, by the name of its part."""
    targets = {
        found.get("Id", ""): posixpath.normpath(posixpath.join("/xl", found.get("Target", "")))[1:]
        for found in _elements(parts.get("xl/_rels/workbook.xml.rels", b"<none/>"), "Relationship")
    }
    return {
        targets.get(value, ""): found.get("name", "")
        for found in _elements(parts["xl/workbook.xml"], "sheet")
        for key, value in found.items()
        if key.rpartition(":")[2] == "id"
    }


def _number_formats(styles: bytes) -> dict[str, str]:
    """Return number formats with a percent sign or fixed decimals by the index of a cell's style."""
    codes = _BUILT_IN | {each.get("numFmtId", ""): each.get("formatCode", "") for each in _elements(styles, "numFmt")}
    # The styles of cells follow those of named styles, which cells do not refer to.
    named = sum(_number(each.get("count"), 0) for each in _elements(styles, "cellStyleXfs"))
    used = [codes.get(each.get("numFmtId", ""), "") for each in islice(_elements(styles, "xf"), named, None)]
    return {str(index): code for index, code in enumerate(used) if _FIXED.fullmatch(code)}


def _elements(content: bytes, name: str) -> Iterator[dict[str, str]]:
    found: list[dict[str, str]] = []
    parser = _parser()

    def start(each: str, attributes: dict[str, str]) -> None:
        if each.rpartition(":")[2] == name:
            found.append(attributes)

    parser.StartElementHandler = start
    _parse(parser, content)
    return iter(found)
