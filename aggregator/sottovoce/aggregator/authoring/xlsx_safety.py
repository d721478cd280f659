"""
What a workbook declares of itself, looked at before any library opens it.

A workbook is a zip of XML files. Its sizes, its parts and the cells that it names are checked here, since a few bytes
may declare gigabytes, a single cell far down makes a reader reserve room for all cells above it, and one long text may
be that of every cell.
"""

import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.parsers import expat

from sottovoce.shared.errors import SpecError
from sottovoce.shared.sentence import Sentence

MAX_BYTES = 4 * 1024 * 1024
MAX_UNPACKED = 32 * 1024 * 1024
MAX_PARTS = 1000
MAX_CELLS = 1_000_000
"""Of one sheet, counted as rows times columns up to its last cell."""

_CELL = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_LONGEST_NUMBER = 8
_NOT_XLSX = "this is no .xlsx workbook, whatever its name; save it as one in the spreadsheet program"
_BROKEN = "the workbook is damaged: open it in a spreadsheet program and save it again"


@dataclass(frozen=True)
class Facts:
    """
    What the check found.

    Attributes:
        formulas: cells that hold a formula: sheet's name, row, letters of the column.
    """

    formulas: frozenset[tuple[str, int, str]]


def check_workbook(data: bytes) -> Facts:
    """
    Refuse what is no .xlsx, or is larger than any survey.

    Raises:
        SpecError: says what to do.
    """
    if len(data) > MAX_BYTES:
        raise SpecError("the workbook is larger than 4 MiB; leave out pictures and sheets that are no part of the form")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_parts(archive)
            parts = {info.filename: archive.read(info) for info in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise SpecError(_NOT_XLSX) from None
    read = {name: _read(name, content) for name, content in parts.items()}
    _check_texts(read.values())
    sheets = _sheet_names(parts)
    return Facts(frozenset((sheets.get(name, ""), *cell) for name, cells in read.items() for cell in cells.formulas))


def _check_parts(archive: zipfile.ZipFile) -> None:
    """Sizes as declared; reading gives no more than that, and a part that holds more fails its checksum."""
    parts = archive.infolist()
    names = {info.filename for info in parts}
    if len(parts) > MAX_PARTS or sum(info.file_size for info in parts) > MAX_UNPACKED:
        raise SpecError("the workbook unpacks to more than 32 MiB or 1,000 parts: no survey is as large")
    if any(name.lower().endswith("vbaproject.bin") for name in names):
        raise SpecError("the workbook holds macros; save it as .xlsx without them")
    if "xl/workbook.xml" not in names or len(names) != len(parts):
        raise SpecError(_NOT_XLSX)


def _read(name: str, content: bytes) -> "_Cells":
    """What a part holds in cells; one that reaches too far is refused."""
    reader = _Cells()
    if name.endswith((".xml", ".rels", ".vml")):
        reader.read(content)
    elif b"sheetData" in content:
        raise SpecError(_BROKEN)
    if reader.rows * reader.columns > MAX_CELLS:
        far = "a sheet reaches to row {row} and column {column}; delete what stands outside the form, empty rows too"
        raise SpecError(Sentence(far, row=reader.rows, column=reader.columns))
    return reader


def _check_texts(parts: Iterable["_Cells"]) -> None:
    """Cells name texts of one common list by their number, and each of them becomes a text of its own."""
    found = list(parts)
    lists = [part.lengths for part in found if part.lengths]
    if len(lists) > 1:
        raise SpecError(_BROKEN)
    lengths = lists[0] if lists else []
    used = Counter[int]()
    for part in found:
        used.update(part.used)
    if sum(lengths[index] * times for index, times in used.items() if index < len(lengths)) > MAX_UNPACKED:
        raise SpecError("the cells hold more than 32 million letters together: no survey is as long")


class _Cells:
    """Reads a part for how far its cells reach, and for which texts they name; nothing else of it is kept."""

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self.formulas: set[tuple[int, str]] = set()
        self.used = Counter[int]()
        self.lengths: list[int] = []
        self._row = self._column = 0
        self._shared = False
        self._within = ""
        self._text = ""

    def read(self, content: bytes) -> None:
        """
        Go through the whole part.

        Raises:
            SpecError: no XML, or cells that stand nowhere.
        """
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
        elif plain == "f":
            self.formulas.add((self._row, _letters(self._column)))
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
        """A cell says where it stands, or stands beside the one before."""
        found = _CELL.fullmatch(place)
        self._column += 1
        if found:
            self._column = _column(found[1])
            self._row = int(found[2])
        elif place:
            raise SpecError(_BROKEN)
        # Spreadsheet programs write empty rows down to the last one, which cost a reader nothing.
        self.rows, self.columns = max(self.rows, self._row), max(self.columns, self._column)


def _parser() -> expat.XMLParserType:
    """Without document types, and so without entities that grow."""
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


def _letters(column: int) -> str:
    """A, B, ..., Z, AA, ..."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _sheet_names(parts: dict[str, bytes]) -> dict[str, str]:
    """The name that people read, by the part of each sheet."""
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


def _elements(content: bytes, name: str) -> Iterator[dict[str, str]]:
    """The attributes of every element of this name."""
    found: list[dict[str, str]] = []
    parser = _parser()

    def start(each: str, attributes: dict[str, str]) -> None:
        if each.rpartition(":")[2] == name:
            found.append(attributes)

    parser.StartElementHandler = start
    _parse(parser, content)
    return iter(found)
