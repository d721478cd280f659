"""A workbook is looked at before it is opened: sizes, macros, cells far down, formulas, other files under its name."""

import io
import zipfile
from collections.abc import Callable

import pytest
import xlsxwriter
from sottovoce.aggregator.authoring.workbook import read_workbook
from sottovoce.aggregator.authoring.xlsx_safety import MAX_UNPACKED, check_workbook
from sottovoce.shared.errors import SpecError

from tests.unit.aggregator.authoring.workbooks import workbook

GOOD = workbook(survey=(("type", "name", "label"), ("note", "a", "Hello")))
DOCTYPE = b'<!DOCTYPE x [<!ENTITY a "b">]>'
HIDDEN = b'<!--<c "--><c r="XFD1048576"/>'
SHEET = "xl/worksheets/sheet1.xml"


def _changed(part: str, change: Callable[[bytes], bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(GOOD)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in [*old.namelist(), *([] if part in old.namelist() else [part])]:
            content = old.read(name) if name in old.namelist() else b""
            new.writestr(name, change(content) if name == part else content)
    return file.getvalue()


def _at_the_end(sheet: bytes) -> bytes:
    """The second row as the last one that there can be, its first cell without a place of its own."""
    return sheet.replace(b'<row r="2"', b'<row r="1048576"').replace(b' r="A2"', b"")


def _lying(data: bytes) -> bytes:
    """The same bytes, whose directory says that the sheet unpacks to 10 bytes."""
    at = data.rindex(SHEET.encode()) - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    return data[: at + 24] + (10).to_bytes(4, "little") + data[at + 28 :]


def test_good_workbook_is_read() -> None:
    sheets, notes = read_workbook(GOOD, ["survey"])
    assert ([dict(row.cells) for row in sheets["survey"]], notes) == (
        [{"type": "note", "name": "a", "label": "Hello"}],
        [],
    )


def test_empty_rows_down_to_the_last_one_do_no_harm() -> None:
    """Spreadsheet programs write them."""
    empty = b'<row r="1048576" ht="15"/></sheetData>'
    data = _changed(SHEET, lambda sheet: sheet.replace(b"</sheetData>", empty))

    assert len(read_workbook(data, ["survey"])[0]["survey"]) == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"type,name,label\nnote,a,Hello\n", "not an .xlsx workbook"),
        (b"", "not an .xlsx workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "not an .xlsx workbook"),
        (GOOD[:-40], "not an .xlsx workbook"),
        (_lying(GOOD), "not an .xlsx workbook"),
        (b"PK" + b"\0" * (4 * 1024 * 1024), "larger than 4 MiB"),
        (_changed("xl/vbaProject.bin", lambda _: b"macro"), "holds macros"),
        (_changed("xl/media/x.bin", lambda _: b"\0" * (MAX_UNPACKED + 1)), "more than 32 MiB"),
        (_changed(SHEET, lambda sheet: sheet.replace(b'"A2"', b'"XFD1048576"')), "row 1,048,576 and column 16,384"),
        (_changed(SHEET, lambda sheet: sheet.replace(b'"A2"', b"'XFD1048576' y:r='A2'")), "column 16,384"),
        (_changed(SHEET, lambda sheet: sheet.replace(b'<c r="A2"', b'<!--<c "--><y:c r="XFD1048576"', 1)), "damaged"),
        (_changed(SHEET, lambda sheet: sheet.replace(b"<row", HIDDEN + b"<row", 1)), "column 16,384"),
        (_changed(SHEET, _at_the_end), "row 1,048,576"),
        (_changed(SHEET, lambda sheet: sheet.replace(b'"A2"', b'"A-2"')), "damaged"),
        (_changed(SHEET, lambda sheet: sheet[:-20]), "damaged"),
        (_changed(SHEET, lambda sheet: sheet.replace(b"<worksheet", DOCTYPE + b"<worksheet")), "damaged"),
        (_changed("xl/media/hidden.png", lambda _: b"<sheetData/>"), "damaged"),
    ],
    ids=range(17),
)  # fmt: skip
def test_what_is_no_form_is_refused_in_words(data: bytes, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        check_workbook(data)


def test_million_rows_in_one_column_are_refused_as_rows() -> None:
    """They are few enough as cells."""
    rows = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (row, row) for row in range(3, 6000))
    data = _changed(SHEET, lambda sheet: sheet.replace(b"</sheetData>", rows + b"</sheetData>"))

    with pytest.raises(SpecError, match="the sheet survey has more than 5,000 rows"):
        read_workbook(data, ["survey"])


def test_formulas_and_merged_cells_are_told_with_their_place() -> None:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        book.add_worksheet("cover").write_formula("A1", "=1+1")
        sheet = book.add_worksheet("survey")
        sheet.write_row(0, 0, ["type", "name", "label"])
        sheet.write_row(1, 0, ["note", "a"])
        sheet.write_formula("C2", '=HYPERLINK("https://example.org")', None, "Hello")
        sheet.merge_range("A4:B5", "note")
    sheets, notes = read_workbook(file.getvalue(), ["survey"])

    assert sheets["survey"][0].get("label") == "Hello"
    assert sorted(str(note) for note in notes) == [
        "survey, row 2, column C: a formula; its last result was read",
        "survey, row 4: cells are merged; the text of the first one was read",
    ]


def test_long_text_that_every_cell_names_is_refused() -> None:
    """A few kilobytes, and gigabytes once each cell has its own copy."""
    long = _changed("xl/sharedStrings.xml", lambda texts: texts.replace(b"Hello", b"x" * 1_000_000))
    many = b"".join(b'<c r="%c9" t="s"><v>5</v></c>' % letter for letter in range(ord("A"), ord("Z") + 1))
    file = io.BytesIO(long)
    with zipfile.ZipFile(file) as old:
        sheet = old.read(SHEET).replace(b"</sheetData>", b'<row r="9">' + 2 * many + b"</row></sheetData>")
        parts = {name: old.read(name) for name in old.namelist()} | {SHEET: sheet}
    with zipfile.ZipFile(file := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in parts.items():
            new.writestr(name, content)

    check_workbook(long)
    with pytest.raises(SpecError, match="32 million letters"):
        check_workbook(file.getvalue())
