"""Read a curator's table under its declaration, from a file or from Python, so that no value causes an error.

Files are CSV, with or without byte order mark, lines in LF or CR LF, or Parquet. Only the structure of the file can
cause an error: its header, and rows with more or fewer cells. The declaration fixes an encoding for every cell content
(``curator.declaration``), so that no value causes an error or a warning. Messages name the line or the number of the
column, never its content: a file without a header begins with a row of answers.

Each distinct text is encoded once, so that the time depends on the number of distinct texts. Therefore files are read
only by ``bind`` and ``reidentify``, for the curator alone; questions read the encoded records (``encoded_records``).

Python has a list, a numpy array, a mapping of columns, or a pandas or polars frame. Each cell is encoded as its text in
a CSV file would be: ``None`` and NaN are empty cells, a whole number is written without a fraction, and a list or set
in one cell is several marks.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.curator.declaration import (
    MOST_COLUMNS,
    SEPARATOR,
    ColumnKind,
    DataRecords,
    Declaration,
    Values,
    parse_declaration,
    split_words,
    word_count,
)
from sottovoce.aggregator.file_formats.table_source import check_names, open_table
from sottovoce.aggregator.surveys.survey_file import MAX_BYTES, parse_yaml, places_in
from sottovoce.shared import canonical
from sottovoce.shared.durable import digest_of_file
from sottovoce.shared.errors import SpecError, cannot_read

_MOST_REMEMBERED = 1 << 16

PLACE = "the data"

_MISSING = {"None", "nan", "NaT", "<NA>"}
"""Texts of what libraries put in an empty cell."""

CellTexts = Mapping[str, Sequence[str]]
"""Texts of the cells, by column."""


def read_declaration(path: Path) -> Declaration:
    """Read the declaration in a file; SpecError (no file, no YAML, invalid) lists every mistake with its place."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SpecError(f"{cannot_read(path, error)} Declare in it the columns of the data") from None
    if len(data) > MAX_BYTES:
        raise SpecError(f"{path.name}: the declaration is larger than 4 MiB")
    document = parse_yaml(data)
    _fill_names(document, path.parent)
    try:
        return parse_declaration(document)
    except SpecError as error:
        place_of = places_in(path)
        wrong = SpecError(error.problems, {each.pointer: place_of(each.pointer) for each in error.problems})
        wrong.file = path.name
        raise wrong from None


def _fill_names(document: Any, folder: Path) -> None:  # noqa: ANN401 - not yet parsed
    """Replace ``{file: .., column: ..}`` by the names in that column of a CSV file in this folder."""
    columns = document.get("columns") if isinstance(document, dict) else None
    for fields in columns.values() if isinstance(columns, dict) else ():
        for key in ("categories", "marks"):
            if isinstance(fields, dict) and isinstance(fields.get(key), dict):
                fields[key] = _names_in_file(fields[key], folder)


def _names_in_file(place: Mapping[str, object], folder: Path) -> list[str]:
    if set(place) != {"file", "column"} or not all(isinstance(each, str) for each in place.values()):
        raise SpecError("names from a file need its name and a column, such as {file: titles.csv, column: title}")
    path, column = folder / str(place["file"]), str(place["column"])
    with open_table(path, comments=False, skip_blank=True) as source:
        if column not in source.names:
            raise SpecError(f"{path.name}: there is no column '{column}' of names")
        cells = [text for _, [block] in source.columns([column]) for text in block.texts]
    return list(dict.fromkeys(filter(None, cells)))


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; SpecError if it cannot be read."""
    try:
        return digest_of_file(path)
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None


def read_records(path: Path, declaration: Declaration, names: Sequence[str] | None = None) -> DataRecords:
    """Read columns of a .csv or .parquet file; ``names`` None for all that are used.

    Raises:
        SpecError: the structure of the file is wrong; the message says where.
        EstimateError: the extra that reads Parquet is not installed.
    """
    selected = {name: declaration.column(name) for name in (names if names is not None else declaration.columns)}
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise SpecError("the data must be a file whose name ends in .csv or .parquet")
    known: dict[str, dict[str, Any]] = {column: {} for column in selected}
    codes: dict[str, list[Values]] = {column: [np.empty(0, np.int64)] for column in selected}
    total = 0
    with open_table(path, comments=False) as source:
        if not source.names:
            raise SpecError(f"{path.name}: has no header; its first line must name the columns")
        if len(source.names) == 1 and ";" in source.names[0]:
            raise SpecError(f"{source.header}: the cells must be separated by commas")
        check_header(source.names, declaration, source.header)
        for times, block in source.counted([*selected]):
            for (column, kind), cells in zip(selected.items(), block, strict=True):
                found = placed(cells.texts, kind, known[column])
                codes[column].append(np.repeat(found[cells.codes], times, axis=0))
            total += len(codes[column][-1])
    return records({column: np.concatenate(found[1:] or found) for column, found in codes.items()}, total, path.name)


def check_header(header: Sequence[str], declaration: Declaration, place: str) -> None:
    """Check that a header has the declared columns, in any order; ``place`` is for the message.

    Raises SpecError if a column is undeclared, repeated or missing, or there are too many.
    """
    if len(header) > MOST_COLUMNS:
        raise SpecError(f"{place}: has {len(header):,} columns; at most {MOST_COLUMNS:,} are read")
    unknown = "has a name that is not declared; declare a column without questions as unused: true"
    check_names(header, {*declaration.columns, *declaration.unused}, place, unknown)
    for name in declaration.columns:
        if name not in header:
            raise SpecError(f"{place}: the declared column '{name}' is missing")


def placed(cells: Sequence[str], kind: ColumnKind, known: dict[str, Any]) -> Values:
    """Encode each text of a column as twice its integer, plus 1 if the cell was as declared.

    Integers of several words are a row of these, and then that 1 or 0. ``known`` is a cache of codes by text, which
    this function fills, and empties when it gets too large.
    """
    words = word_count(kind.largest)
    if len(known) * words > _MOST_REMEMBERED:
        known.clear()
    for text in set(cells).difference(known):
        value, fits = kind.place(text)
        known[text] = 2 * value + fits if words == 1 else (*split_words(value, words), fits)
    return np.array([*map(known.__getitem__, cells)], dtype=np.int64)


def records(codes: Mapping[str, Values], count: int, name: str) -> DataRecords:
    """Build records from the codes of ``placed``, by column name; SpecError if there are no records."""
    if count == 0:
        raise SpecError(f"{name}: there are no records")
    return DataRecords(
        count,
        {column: found >> 1 if found.ndim == 1 else found[:, :-1] for column, found in codes.items()},
        {column: _misfits(found) for column, found in codes.items()},
    )


def _misfits(codes: Values) -> int:
    return int(np.count_nonzero((codes if codes.ndim == 1 else codes[:, -1]) & 1 == 0))


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
    return "" if text in _MISSING and not isinstance(cell, str) else text.encode(errors="replace").decode()
