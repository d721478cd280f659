"""Read the sheets of a workbook as rows of text, with the places of cells for messages."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from python_calamine import CalamineError, CalamineWorkbook, PasswordError
from sottovoce.aggregator.authoring.xlsx_safety import check_workbook, column_letters
from sottovoce.aggregator.file_formats.cell_columns import cell_text
from sottovoce.shared.errors import Sentence, SpecError

MAX_LETTERS = 4000
"""Largest number of letters in a cell: no text of a survey is longer."""

MAX_ROWS = 5000

_ALIASES = {
    "relevance": "relevant",
    **{f"bind::{name}": name for name in ("relevant", "constraint", "required", "readonly")},
    **{f"{parent}::appearance": "appearance" for parent in ("control", "body")},
    **dict.fromkeys(("calculate", "bind::calculate"), "calculation"),
    **dict.fromkeys(("count", "jr::count", "control::jr:count"), "repeat_count"),
    "read_only": "readonly",
    "caption": "label",
    "command": "type",
    "tag": "name",
    "value": "name",
    **{name: f"media::{name}" for name in ("image", "big-image", "audio", "video")},
    **{f"set_{name}": name for name in ("form_title", "form_id")},
}
"""Other headings that pyxform 4.5 reads, with the usual ones."""

Sheet = Sequence["SheetRow"]
_Formats = Mapping[tuple[int, int], str]


@dataclass(frozen=True)
class LeftOut:
    """Part of a workbook that was not imported.

    Attributes:
        row: row number as in the spreadsheet program, from 1.
        column: heading of the column; "" for the whole row.
        what: reason and advice, without the cell's content; a ``Sentence`` if it has placeholders.
    """

    sheet: str
    row: int
    column: str
    what: str

    @property
    def message(self) -> Sentence:
        """Message with place and reason."""
        # Spreadsheet programs do not group the digits of a row's number.
        place = {"sheet": self.sheet, "row": str(self.row), "note": self.what}
        if not self.column:
            return Sentence("{sheet}, row {row}: {note}", **place)
        return Sentence("{sheet}, row {row}, column {column}: {note}", **place, column=self.column)

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True)
class SheetRow:
    """Row below the headings: its number in the spreadsheet program, from 1, and text by heading, if not empty."""

    sheet: str
    number: int
    cells: Mapping[str, str]

    def get(self, *headings: str) -> str:
        """Return the text under the first of these headings that has one; "" if none has."""
        return next((self.cells[heading] for heading in headings if heading in self.cells), "")

    def left_out(self, what: str, column: str = "") -> LeftOut:
        """Return a note that this row, or one of its columns, was not imported."""
        return LeftOut(self.sheet, self.number, column, what)


def read_workbook(data: bytes, wanted: Sequence[str]) -> tuple[dict[str, Sheet], list[LeftOut]]:
    """Read the wanted sheets, named in lower case, of an .xlsx file; missing ones are skipped.

    Return rows by sheet, and notes on merged cells, formulas and unreadable texts.

    Raises:
        SpecError: the file is not an .xlsx workbook, is too large, or has macros or a password.
    """
    facts = check_workbook(data)
    notes: list[LeftOut] = []
    sheets: dict[str, Sheet] = {}
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            for name in book.sheet_names:
                key = name.strip().lower()
                if key in wanted and key not in sheets:
                    formats = {cell[1:]: code for cell, code in facts.formats.items() if cell[0] == name}
                    sheets[key] = _rows(book, name, key, notes, formats)
                    cells = [cell for cell in facts.formulas if cell[0] == name]
                    what = "a formula; its last result was read"
                    notes += [LeftOut(key, row, column_letters(column), what) for _, row, column in sorted(cells)]
    except PasswordError:
        raise SpecError("the workbook has a password; save it without one") from None
    except (CalamineError, OSError, ValueError):
        raise SpecError("the workbook cannot be read: open it in a spreadsheet program and save it again") from None
    return sheets, notes


def _rows(book: CalamineWorkbook, name: str, key: str, notes: list[LeftOut], formats: _Formats) -> Sheet:
    sheet = book.get_sheet_by_name(name)
    table = sheet.to_python(skip_empty_area=False)
    if len(table) > MAX_ROWS:
        long = "the sheet {sheet} has more than {most} rows: delete rows that are not part of the form"
        raise SpecError(Sentence(long, sheet=key, most=MAX_ROWS))
    for (row, _), _end in sheet.merged_cell_ranges or ():
        notes.append(LeftOut(key, row + 1, "", "cells are merged; the text of the first one was read"))
    return _with_headings(key, table, notes, formats)


def _with_headings(key: str, table: Sequence[Sequence[object]], notes: list[LeftOut], formats: _Formats) -> Sheet:
    headings = [_heading(_text(cell)) for cell in table[0]] if table else []
    for place, heading in enumerate(headings):
        if heading and heading in headings[:place]:
            twice = "{sheet}, row 1: two columns have the same heading; the second is {column}"
            raise SpecError(Sentence(twice, sheet=key, column=f"number {place + 1}"))
    read = ((number, dict(_read_cells(key, number, headings, cells, notes, formats)))
            for number, cells in enumerate(table[1:], 2))  # fmt: skip
    return tuple(SheetRow(key, number, texts) for number, texts in read if texts)


def _read_cells(
    key: str, number: int, headings: list[str], cells: Sequence[object], notes: list[LeftOut], formats: _Formats
) -> Iterator[tuple[str, str]]:
    for place, (heading, cell) in enumerate(zip(headings, cells, strict=False), 1):
        text, code = _text(cell), formats.get((number, place))
        if code and isinstance(cell, float) and heading.startswith(("label", "hint")):
            text = _shown_number(cell, code.partition(";")[0])
        if not heading or not text:
            continue
        if len(text) > MAX_LETTERS:
            what = Sentence("more than {most} letters; no text of a survey is longer", most=MAX_LETTERS)
            notes.append(LeftOut(key, number, heading, what))
        elif any(letter < " " and letter not in "\n\t\r" for letter in text):
            notes.append(LeftOut(key, number, heading, "control characters; type the text again"))
        else:
            yield heading, text


def _heading(text: str) -> str:
    """Normalize a heading as pyxform does: one word in lower case before the language, and ``::`` between the two."""
    first, colon, language = text.partition(":")
    word, rest = "_".join(first.lower().split()), language.lstrip(":").strip()
    if f"{word}::{rest}" in _ALIASES:
        return _ALIASES[f"{word}::{rest}"]
    return f"{_ALIASES.get(word, word)}::{rest}" if colon else _ALIASES.get(word, word)


def _shown_number(value: float, code: str) -> str:
    """Return a number as the spreadsheet shows it in a format of ``Facts.formats``: 5% and 2.00, not .05 and 2."""
    percent = code.lstrip("#,0.") if "%" in code else ""
    decimals = code.partition(".")[2].count("0")
    return f"{value * (100 if percent else 1):{',' * code.startswith('#,')}.{decimals}f}{percent}"


def _text(cell: object) -> str:
    """Return a cell as the spreadsheet program shows it."""
    shown = str(cell).upper() if isinstance(cell, bool) else cell_text(cell)
    return shown.replace("\r\n", "\n").replace("\t", " ").strip()
