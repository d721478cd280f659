"""Workbooks for tests: sheets as tables of text, written by XlsxWriter."""

import io
from collections.abc import Sequence

import xlsxwriter

Table = Sequence[Sequence[object]]


def workbook(**sheets: Table) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"strings_to_formulas": False}) as book:
        for name, table in sheets.items():
            sheet = book.add_worksheet(name)
            for row, cells in enumerate(table):
                sheet.write_row(row, 0, cells)
    return file.getvalue()
