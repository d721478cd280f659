"""Write a table as a spreadsheet workbook, with a second sheet for its provenance."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sottovoce.aggregator.file_formats.provenance import About

_EPOCH = datetime(1980, 1, 1)
_AS_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


def write_workbook(path: Path, about: About, rows: Iterable[Sequence[object]], sheet_name: str) -> None:
    """Write a table, header first, as a workbook; text never becomes a formula or a link, None is an empty cell."""
    # Loaded late: only exports write workbooks.
    import xlsxwriter

    with xlsxwriter.Workbook(path, {**_AS_TEXT, "in_memory": True}) as book:
        # A fixed date makes the file reproducible: equal results give equal bytes.
        book.set_properties({"title": about.survey.name, "comments": about.line, "created": _EPOCH})
        sheet = book.add_worksheet(sheet_name)
        # Marks of test runs and simulations come first; the last line is repeated on the second sheet.
        lines = about.lines[:-1]
        for number, line in enumerate(lines):
            sheet.write_string(number, 0, line)
        for number, row in enumerate(rows, start=len(lines)):
            _write_row(sheet, number, row)
        sheet.freeze_panes(len(lines) + 1, 0)
        about_sheet = book.add_worksheet("About")
        for number, pair in enumerate(about.pairs.items()):
            _write_row(about_sheet, number, pair)


def _write_row(sheet: Any, number: int, row: Sequence[object]) -> None:  # noqa: ANN401 - the library has no types
    for column, cell in enumerate(row):
        if isinstance(cell, bool | str):
            sheet.write_string(number, column, str(cell))
        elif isinstance(cell, int | float):
            sheet.write_number(number, column, cell)
