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
from dataclasses import dataclass, field
from html import unescape
from itertools import islice, pairwise
from xml.parsers import expat

from sottovoce.shared.errors import Sentence, SpecError

MAX_BYTES = 4 * 1024 * 1024
MAX_UNPACKED = 32 * 1024 * 1024
MAX_PARTS = 1000
MAX_CELLS = 1_000_000
"""Largest size of one sheet: rows times columns up to its last cell."""

_CELL = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_WITHIN_TAG = r"""((?:[^<>"']|"[^<"]*"|'[^<']*')*)"""
_ATTRIBUTE = re.compile(r"""([^\s=/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_LONGEST_NUMBER = 8
_BUILT_IN = {"2": "0.00", "4": "#,##0.00", "9": "0%", "10": "0.00%"}
_FIXED = re.compile(r"[#,]*0(\.0{1,9} ?%?| ?%)(;.*)?")
_NOT_XLSX = (
    "this is not an .xlsx workbook, whatever its name; save it as .xlsx in your spreadsheet program; "
    "files of other survey systems are not read"
)
_BROKEN = "the workbook is damaged: open it in a spreadsheet program and save it again"


@dataclass(frozen=True)
class Facts:
    """Result of the checks.

    Attributes:
        formulas: cells with a formula, as (name of the sheet, row, column), both from 1.
        formats: number formats with a percent sign or fixed decimals, by the same places.
    """

    formulas: frozenset[tuple[str, int, int]]
    formats: Mapping[tuple[str, int, int], str]


def check_workbook(data: bytes) -> Facts:
    """Check that a file is a safe .xlsx workbook.

    Raises SpecError, which says how to fix it, if it is not one, is damaged, has macros, or is larger than any survey.
    """
    if len(data) > MAX_BYTES:
        raise SpecError("the workbook is larger than 4 MiB; remove pictures and sheets outside the form")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_parts(archive)
            contents = {info.filename: archive.read(info) for info in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise SpecError(_NOT_XLSX) from None
    parts = {name: _text(name, content) for name, content in contents.items()}
    read = {name: _read(text) for name, text in parts.items()}
    # A reader copies a shared string for every cell that refers to it.
    lists = [part.lengths for part in read.values() if part.lengths]
    if len(lists) > 1:
        raise SpecError(_BROKEN)
    lengths = dict(enumerate(lists[0] if lists else []))
    used = (use for part in read.values() for use in part.used.items())
    if sum(lengths.get(index, 0) * times for index, times in used) > MAX_UNPACKED:
        raise SpecError("the cells hold more than 32 million letters together: no survey is as long")
    sheets, formats = _sheet_names(parts), _number_formats(parts.get("xl/styles.xml", ""))
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


def _text(name: str, content: bytes) -> str:
    """Return the text of a part of XML; SpecError if it is not well-formed XML in UTF-8, or has a document type.

    Document types are refused because of entity expansion attacks ("billion laughs").
    """
    if not name.endswith((".xml", ".rels", ".vml")):
        if b"sheetData" in content:
            raise SpecError(_BROKEN)
        return ""
    parser, types = expat.ParserCreate(), list[str]()
    parser.StartDoctypeDeclHandler = lambda *names: types.append(names[0])
    try:
        parser.Parse(content, True)
        text = content.decode()
    except (expat.ExpatError, ValueError, LookupError):
        raise SpecError(_BROKEN) from None
    if types:
        raise SpecError(_BROKEN)
    return text


def _tags(text: str, names: str) -> Iterator[tuple[str, dict[str, str], str, int]]:
    """Yield name without prefix, attributes, following text and place of these tags of well-formed XML.

    No match holds a second "<", so that no comment can hide a tag.
    """
    for tag in re.finditer(rf"<(?:[^\s<>/:]+:)?({names})(?=[\s/>]){_WITHIN_TAG}>([^<]*)", text):
        values = {key: unescape(one or other) for key, one, other in _ATTRIBUTE.findall(tag[2])}
        yield tag[1], values, tag[3], tag.start()


@dataclass
class _Cells:
    """Cells of one part: with a formula, styles by cell, uses of shared strings, and lengths of those strings."""

    formulas: set[tuple[int, int]] = field(default_factory=set)
    styles: dict[tuple[int, int], str] = field(default_factory=dict)
    used: Counter[int] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)


def _read(text: str) -> _Cells:
    """Read the cells of one part; raise SpecError if the sheet is too large, or a cell has an invalid reference."""
    cells, row, column, rows, columns, is_shared = _Cells(), 0, 0, 0, 0, False
    for name, values, content, _ in _tags(text, "row|c|f|v"):
        if name == "row":
            row, column = _number(values.get("r", str(row + 1))), 0
        elif name == "c":
            row, column = _place(values["r"]) if values.get("r") else (row, column + 1)
            # Only cells count: spreadsheet programs write empty rows down to the last one, which cost a reader nothing.
            rows, columns, is_shared = max(rows, row), max(columns, column), values.get("t") == "s"
            if values.get("t", "n") == "n" and "s" in values:
                cells.styles[row, column] = values["s"]
        elif name == "f":
            cells.formulas.add((row, column))
        elif is_shared:
            cells.used[_number(content.strip() or "0")] += 1
    if rows * columns > MAX_CELLS:
        far = "a sheet reaches to row {row} and column {column}; delete cells outside the form, empty rows too"
        raise SpecError(Sentence(far, row=rows, column=columns))
    places = [place for *_, place in _tags(text, "si")]
    cells.lengths = [end - start for start, end in pairwise([*places, len(text)])]
    return cells


def _place(reference: str) -> tuple[int, int]:
    """Return row and column of a cell's reference such as B3."""
    found = _CELL.fullmatch(reference)
    if not found:
        raise SpecError(_BROKEN)
    column = 0
    for letter in found[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(found[2]), column


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
        raise SpecError(_BROKEN)
    return int(text)


def column_letters(column: int) -> str:
    """Return the letters of a column by its number, from 1."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _sheet_names(parts: Mapping[str, str]) -> dict[str, str]:
    """Return the displayed name of each sheet, by the name of its part."""
    targets = {
        values.get("Id", ""): posixpath.normpath(posixpath.join("/xl", values.get("Target", "")))[1:]
        for _, values, *_ in _tags(parts.get("xl/_rels/workbook.xml.rels", ""), "Relationship")
    }
    return {
        targets.get(value, ""): values.get("name", "")
        for _, values, *_ in _tags(parts["xl/workbook.xml"], "sheet")
        for key, value in values.items()
        if key.rpartition(":")[2] == "id"
    }


def _number_formats(styles: str) -> dict[str, str]:
    """Return number formats with a percent sign or fixed decimals by the index of a cell's style."""
    found = [(name, values) for name, values, *_ in _tags(styles, "numFmt|cellStyleXfs|xf")]
    codes = _BUILT_IN | {
        each.get("numFmtId", ""): each.get("formatCode", "") for name, each in found if name == "numFmt"
    }
    # The styles of cells follow those of named styles, which cells do not refer to.
    named = sum(_number(each.get("count", "0")) for name, each in found if name == "cellStyleXfs")
    used = (codes.get(each.get("numFmtId", ""), "") for name, each in found if name == "xf")
    return {str(index): code for index, code in enumerate(islice(used, named, None)) if _FIXED.fullmatch(code)}
