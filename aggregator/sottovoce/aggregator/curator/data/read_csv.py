"""Read a curator's file under its declaration: CSV, with or without byte order mark, lines in LF or CR LF, or Parquet.

Only the structure of the file can cause an error: its header, and rows with more or fewer cells. The declaration fixes
an encoding for every cell content (``curator.declaration``), so that no value causes an error or a warning. Messages
name the line or the number of the column, never its content: a file without a header begins with a row of answers.

Each distinct text is encoded once, so that the time depends on the number of distinct texts. Therefore files are read
only by ``bind`` and ``reidentify``, for the curator alone; questions read the encoded records (``encoded_records``).
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.curator.declaration import (
    MOST_COLUMNS,
    ColumnKind,
    DataRecords,
    Declaration,
    Values,
    parse_declaration,
    split_words,
    word_count,
)
from sottovoce.aggregator.file_formats.csv_lines import DelimitedFile
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.surveys.survey_file import MAX_BYTES, parse_yaml, places_in
from sottovoce.shared.errors import SpecError, cannot_read

_MOST_REMEMBERED = 1 << 16

_NESTED = ("LIST", "STRUCT", "MAP", "UNION", "ARRAY", "[", "BLOB", "BIT")


def read_grouped(
    path: Path, names: Sequence[str], check_header: Callable[[Sequence[str]], None]
) -> tuple[Mapping[str, Sequence[str]], NDArray[np.int64]]:
    """Read the distinct combinations of texts in some columns, "" for missing ones, and how many records have each.

    DuckDB does the counting on all cores, so that ten million records take little longer than a plain count.
    ``check_header`` raises SpecError for a header that is not the declared one.

    Raises:
        SpecError: the file cannot be read as Parquet, or a column holds lists or bytes.
        EstimateError: the extra that reads Parquet is not installed.
    """
    duckdb = needed("duckdb")
    column, function = duckdb.ColumnExpression, duckdb.FunctionExpression
    with duckdb.connect() as connection:
        try:
            table = connection.read_parquet(str(path))
            check_header(table.columns)
            _check_types(table.columns, [str(kind) for kind in table.types], names, path.name)
            # Expressions instead of SQL text, so that no column name can inject SQL.
            wanted = [column(name).cast("VARCHAR").alias(f"c{at}") for at, name in enumerate(names)]
            found = table.aggregate([*wanted, function("count_star").alias("times")]).fetchnumpy()
        except duckdb.Error:
            raise SpecError(f"{path.name} cannot be read as Parquet: it is damaged, cut off or another kind") from None
    texts = {name: _texts(found[f"c{at}"]) for at, name in enumerate(names)}
    return texts, np.asarray(found["times"], dtype=np.int64)


def _check_types(columns: Sequence[str], types: Sequence[str], names: Sequence[str], file: str) -> None:
    for number, (name, kind) in enumerate(zip(columns, types, strict=True), start=1):
        if name in names and any(word in kind for word in _NESTED):
            raise SpecError(f"{file}, column {number}: holds lists or bytes; text and numbers are read")


def _texts(found: np.ndarray) -> Sequence[str]:
    missing = np.ma.getmaskarray(found)
    return ["" if empty else text for text, empty in zip(np.ma.getdata(found).tolist(), missing.tolist(), strict=True)]


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
    try:
        with path.open("rb") as file:
            source = DelimitedFile(file, path.name, ",", comments=False)
            if column not in source.names:
                raise SpecError(f"{path.name}: there is no column '{column}' of names")
            at = source.names.index(column)
            cells = [row[at] for _, rows in source.blocks(skip_blank=True) for row in rows]
            return list(dict.fromkeys(filter(None, cells)))
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; SpecError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None


def read_records(path: Path, declaration: Declaration, names: Sequence[str] | None = None) -> DataRecords:
    """Read columns of a .csv or .parquet file; ``names`` None for all that are used.

    Raises:
        SpecError: the structure of the file is wrong; the message says where.
        EstimateError: the extra that reads Parquet is not installed.
    """
    selected = {name: declaration.column(name) for name in (names if names is not None else declaration.columns)}
    if path.suffix.lower() == ".parquet":
        return _parquet(path, declaration, selected)
    if path.suffix.lower() != ".csv":
        raise SpecError("the data must be a file whose name ends in .csv or .parquet")
    try:
        with path.open("rb") as file:
            return _csv(DelimitedFile(file, path.name, ",", comments=False), declaration, selected)
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None


def check_header(header: Sequence[str], declaration: Declaration, place: str) -> None:
    """Check that a header has the declared columns, in any order; ``place`` is for the message.

    Raises SpecError if a column is undeclared, repeated or missing, or there are too many.
    """
    if len(header) > MOST_COLUMNS:
        raise SpecError(f"{place}: has {len(header):,} columns; at most {MOST_COLUMNS:,} are read")
    declared = {*declaration.columns, *declaration.unused}
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if name not in declared:
            message = "has a name that is not declared; declare a column without questions as unused: true"
            raise SpecError(f"{place}, column {number}: {message}")
        if name in seen:
            raise SpecError(f"{place}, column {number}: the column '{name}' stands there twice")
        seen.add(name)
    missing = next((name for name in declaration.columns if name not in seen), None)
    if missing is not None:
        raise SpecError(f"{place}: the declared column '{missing}' is missing")


def _csv(source: DelimitedFile, declaration: Declaration, selected: Mapping[str, ColumnKind]) -> DataRecords:
    name, header, count = source.name, source.names, 0
    if not header:
        raise SpecError(f"{name}: has no header; its first line must name the columns")
    if len(header) == 1 and ";" in header[0]:
        raise SpecError(f"{name}, line 1: the cells must be separated by commas")
    check_header(header, declaration, f"{name}, line 1")
    known: dict[str, dict[str, Any]] = {column: {} for column in selected}
    codes: dict[str, list[Values]] = {column: [] for column in selected}
    for _, block in source.blocks():
        cells = dict(zip(header, zip(*block, strict=True), strict=True))
        for column, kind in selected.items():
            codes[column].append(placed(cells[column], kind, known[column]))
        count += len(block)
    return records({column: np.concatenate(found or [np.empty(0, np.int64)]) for column, found in codes.items()},
                   count, name)  # fmt: skip


def placed(cells: Sequence[str], kind: ColumnKind, known: dict[str, Any]) -> Values:
    """Encode each cell of a column as twice its integer, plus 1 if the cell was as declared.

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
    last = codes if codes.ndim == 1 else codes[:, -1]
    return int(np.count_nonzero(last & 1 == 0))


def _parquet(path: Path, declaration: Declaration, selected: Mapping[str, ColumnKind]) -> DataRecords:
    texts, times = read_grouped(path, list(selected), lambda header: check_header(header, declaration, path.name))
    codes = {name: np.repeat(placed(texts[name], kind, {}), times, axis=0) for name, kind in selected.items()}
    return records(codes, int(times.sum()), path.name)
