"""Cells of tables of any kind: a column is its different texts with one code a row, so that a text is read once."""

from collections.abc import Sequence
from datetime import date, timedelta
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.file_formats.optional_imports import needed

SEPARATOR = ";"
"""Separator of several marks in one cell."""


class CodedCells(NamedTuple):
    """Cells of a column.

    Attributes:
        texts: the different ones, "" where missing.
        codes: index into ``texts`` of each row, (n,).
    """

    texts: Sequence[str]
    codes: NDArray[np.signedinteger[Any]]

    @property
    def rows(self) -> list[str]:
        """Return the text of each row."""
        return [self.texts[code] for code in self.codes]

    @property
    def firsts(self) -> list[int]:
        """Return the index of the first row with each text."""
        rows = np.zeros(len(self.texts), np.intp)
        rows[self.codes[::-1]] = np.arange(len(self.codes))[::-1]
        return rows.tolist()


def text_cells(texts: Sequence[str]) -> CodedCells:
    """Return the cells with these texts."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return CodedCells([*places], np.fromiter(map(places.__getitem__, texts), np.intp, len(texts)))


def array_cells(values: Any) -> CodedCells:  # noqa: ANN401 - an array, also a masked one, or a column of a frame
    """Return the cells with these values of one type, as libraries read them from files."""
    factorize = needed("pandas").factorize
    there = ~np.ma.getmaskarray(values)
    codes = np.full(len(values), -1)
    try:
        codes[there], different = factorize(np.ma.getdata(values)[there])
    except TypeError:
        # Lists and bytes have no hash.
        return text_cells([*map(cell_text, values.tolist())])
    different = np.asarray(different)
    texts = np.datetime_as_string(different, "D").tolist() if different.dtype.kind == "M" else map(cell_text, different)
    missing = codes < 0
    return CodedCells([*texts, ""] if missing.any() else [*texts], np.where(missing, len(different), codes))


def cell_text(cell: Any) -> str:  # noqa: ANN401 - as a library reads it
    """Return a cell as people see it: 3, not 3.0, a day without its time, and 25:00:00 for a day and an hour."""
    if isinstance(cell, list | np.ndarray):
        return SEPARATOR.join(map(cell_text, cell))
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN and NaT
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float | np.floating) and isfinite(cell):
        return str(int(cell)) if cell == int(cell) else str(cell)
    if isinstance(cell, date | timedelta | np.timedelta64):
        return cell.isoformat()[:10] if isinstance(cell, date) else hours_text(float(cell / np.timedelta64(1, "s")))
    return bytes(cell).decode(errors="replace") if isinstance(cell, bytes | bytearray) else str(cell)


def hours_text(seconds: float) -> str:
    """Return a duration as spreadsheets and SPSS show it, also of more than a day: 25:00:00, and 00:00:00.5."""
    whole = round(abs(seconds), 6)
    shown = f"{whole // 3600:02.0f}:{whole // 60 % 60:02.0f}:{whole % 60:09.6f}"
    return "-" * (seconds < 0) + shown.rstrip("0").rstrip(".")
