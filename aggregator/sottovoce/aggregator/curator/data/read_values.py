"""Read a curator's values from Python: a list, a numpy array, a mapping of columns, or a pandas or polars frame.

Each cell is encoded as its text in a CSV file would be, so that no value causes an error: ``None`` and NaN are empty
cells, a whole number is written without a fraction, and a list or set in one cell is several marks.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.aggregator.curator.data.read_csv import check_header, placed, records
from sottovoce.aggregator.curator.declaration import SEPARATOR, DataRecords, Declaration
from sottovoce.shared import canonical
from sottovoce.shared.errors import SpecError

PLACE = "the data"

_MISSING = {"None", "nan", "NaT", "<NA>"}
"""Texts of what libraries put in an empty cell."""

CellTexts = Mapping[str, Sequence[str]]
"""Texts of the cells, by column."""


def cell_texts(values: Any, declaration: Declaration) -> CellTexts:  # noqa: ANN401 - lists, arrays and frames
    """Return the texts of all cells.

    Args:
        values: a mapping or frame of columns; a list of mappings; or a list or array of rows, or of the cells of one
            column, whose columns are the declared ones in order.

    Raises:
        SpecError: the values are no table, or its columns are not the declared ones; no cell is repeated.
    """
    names, columns = _columns(values, declaration)
    check_header(names, declaration, PLACE)
    if len({len(column) for column in columns}) > 1:
        raise SpecError(f"{PLACE}: columns have different numbers of cells; give each record a cell in each column")
    return {name: [*map(_text, column)] for name, column in zip(names, columns, strict=True)}


def values_digest(texts: CellTexts) -> str:
    """Return the SHA-256 of texts, which names their budget: the same for a list, an array and a frame of one table."""
    return hashlib.sha256(canonical.dump({name: list(texts[name]) for name in sorted(texts)})).hexdigest()


def encode_texts(texts: CellTexts, declaration: Declaration, names: Sequence[str] | None) -> DataRecords:
    """Encode some columns, None for all that are used; SpecError if there are no records."""
    wanted = declaration.columns if names is None else names
    codes = {name: placed(texts[name], declaration.column(name), {}) for name in wanted}
    return records(codes, len(next(iter(texts.values()))), PLACE)


def _columns(values: Any, declaration: Declaration) -> tuple[list[str], list[list[Any]]]:  # noqa: ANN401
    """Return names and cells of the columns, for each form that a table has in Python."""
    if isinstance(values, Mapping):
        return [str(name) for name in values], [_items(values[name]) for name in values]
    if hasattr(values, "columns"):
        names = [str(name) for name in values.columns]
        # A frame gives a whole frame for a name that it has twice.
        distinct = len(set(names)) == len(names)
        return names, [_items(values[name]) for name in values.columns] if distinct else [[]] * len(names)
    rows = _items(values)
    if rows and all(isinstance(row, Mapping) for row in rows):
        return [str(name) for name in rows[0]], [[row.get(name) for row in rows] for name in rows[0]]
    declared = list(declaration.columns)
    if len(declared) == 1:
        return declared, [rows]
    if not all(isinstance(row, list | tuple) and len(row) == len(declared) for row in rows):
        raise SpecError(f"{PLACE}: each row must have a cell for each of the {len(declared)} declared columns")
    return declared, [[row[place] for row in rows] for place in range(len(declared))]


def _items(values: Any) -> list[Any]:  # noqa: ANN401
    if isinstance(values, str | bytes):
        raise SpecError(f"{PLACE}: must be lists, arrays or a frame, and not one text")
    try:
        # Arrays and columns of frames have their own way, which turns their numbers into those of Python.
        found = (
            values.tolist() if hasattr(values, "tolist") else values.to_list() if hasattr(values, "to_list") else values
        )
        return list(found)
    except TypeError:
        raise SpecError(f"{PLACE}: must be a list, an array, a mapping of columns or a frame") from None


def _text(cell: object) -> str:
    if isinstance(cell, list | tuple | set | frozenset):
        return SEPARATOR.join(sorted(map(_text, cell)))
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    missing = text in _MISSING and not isinstance(cell, str)
    return "" if missing else text.encode(errors="replace").decode()
