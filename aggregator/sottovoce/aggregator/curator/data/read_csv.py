"""
Reads a curator's file under its declaration: CSV, with or without a byte order mark, lines ending in LF or CR LF.

Only the file's form can be refused: its header, and rows that are longer or shorter. Whatever stands in a cell has a
place that the declaration fixes (``curator.declaration``), so that no value stops or warns. Messages name the line or
the column's number, never what stands there: a header may be a row of answers.

Each different text is placed once, so that reading takes longer where there are many: it is done when data are bound,
for their curator alone. Later verbs read what was placed (``files.placed``).
"""

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from sottovoce.aggregator.curator.data.read_parquet import read_grouped
from sottovoce.aggregator.curator.declaration import MOST_COLUMNS, Declaration, Kind, parse_declaration
from sottovoce.aggregator.curator.records import DataRecords, Values
from sottovoce.aggregator.file_formats.csv_lines import CHUNK, check_lengths, lines
from sottovoce.aggregator.surveys.survey_file import MAX_BYTES, parse_yaml, places_in
from sottovoce.shared.errors import SpecError

_MOST_REMEMBERED = 1 << 16


def read_declaration(path: Path) -> Declaration:
    """
    The declaration in a file.

    Raises:
        SpecError: it cannot be read, is not YAML or is no declaration; with every mistake and its place.
    """
    try:
        data = path.read_bytes()
    except OSError:
        raise SpecError(f"{path.name}: the declaration cannot be read; there must be one beside the data") from None
    if len(data) > MAX_BYTES:
        raise SpecError(f"{path.name}: the declaration is larger than 4 MiB")
    document = parse_yaml(data)
    try:
        return parse_declaration(document)
    except SpecError as error:
        told = places_in(path)
        raise SpecError(error.problems, {each.pointer: told(each.pointer) for each in error.problems}) from None


def digest_of(path: Path) -> str:
    """
    SHA-256 of a file's bytes.

    Raises:
        SpecError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise SpecError(f"{path.name} cannot be read") from None


def read_records(path: Path, declaration: Declaration, names: Sequence[str] | None = None) -> DataRecords:
    """
    Columns of a CSV or Parquet file.

    Args:
        path: of the file; its name ends in .csv or .parquet.
        declaration: what it holds.
        names: of the columns to read; without, all that are used.

    Raises:
        SpecError: the file's form is wrong; says where.
        EstimateError: the extra that reads Parquet is not installed.
    """
    chosen = {name: declaration.column(name) for name in (names if names is not None else declaration.columns)}
    if path.suffix.lower() == ".parquet":
        return _parquet(path, declaration, chosen)
    if path.suffix.lower() != ".csv":
        raise SpecError("the data must be a file whose name ends in .csv or .parquet")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _csv(lines(file, path.name), path.name, declaration, chosen)
    except OSError:
        raise SpecError(f"{path.name} cannot be read") from None


def check_header(header: Sequence[str], declaration: Declaration, place: str) -> None:
    """
    Refuse a header that is not the declared one, in any order.

    Args:
        header: names of the file's columns.
        declaration: what it should hold.
        place: where the header stands, for the message.
    """
    if len(header) > MOST_COLUMNS:
        raise SpecError(f"{place}: has {len(header):,} columns; at most {MOST_COLUMNS:,} are read")
    declared = {*declaration.columns, *declaration.unused}
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if name not in declared:
            told = "has a name that is not declared; a column that nobody asks about is declared as unused: true"
            raise SpecError(f"{place}, column {number}: {told}")
        if name in seen:
            raise SpecError(f"{place}, column {number}: the column '{name}' stands there twice")
        seen.add(name)
    missing = next((name for name in declaration.columns if name not in seen), None)
    if missing is not None:
        raise SpecError(f"{place}: the declared column '{missing}' is missing")


def _csv(rows: Iterator[str], name: str, declaration: Declaration, chosen: Mapping[str, Kind]) -> DataRecords:
    reader = csv.reader(rows, strict=True)
    header = next(_blocks(reader, name, 1), [[]])[0]
    if len(header) == 1 and ";" in header[0]:
        raise SpecError(f"{name}, line 1: the cells must be separated by commas")
    check_header(header, declaration, f"{name}, line 1")
    known: dict[str, dict[str, int]] = {column: {} for column in chosen}
    codes: dict[str, list[Values]] = {column: [] for column in chosen}
    first = 2
    for block in _blocks(reader, name, CHUNK):
        check_lengths(block, len(header), f"{name}, line", first)
        cells = dict(zip(header, zip(*block, strict=True), strict=True))
        for column, kind in chosen.items():
            codes[column].append(placed(cells[column], kind, known[column]))
        first += len(block)
    return records({column: np.concatenate(found or [np.empty(0, np.int64)]) for column, found in codes.items()},
                   first - 2, name)  # fmt: skip


def _blocks(reader: Iterator[list[str]], name: str, size: int) -> Iterator[list[list[str]]]:
    while True:
        try:
            block = list(islice(reader, size))
        except csv.Error:
            raise SpecError(f"{name}, line {getattr(reader, 'line_num', 0)}: cannot be read as CSV") from None
        if not block:
            return
        yield block


def placed(cells: Sequence[str], kind: Kind, known: dict[str, int]) -> Values:
    """
    What stands for each cell, times two, and one more where the cell was as declared.

    Args:
        cells: texts of one column.
        kind: as which it is declared.
        known: what was found for texts that were seen before; it grows.
    """
    if len(known) > _MOST_REMEMBERED:
        known.clear()
    for text in set(cells).difference(known):
        value, fits = kind.place(text)
        known[text] = 2 * value + fits
    return np.array([*map(known.__getitem__, cells)], dtype=np.int64)


def records(codes: Mapping[str, Values], count: int, name: str) -> DataRecords:
    """
    Records of columns as ``placed`` gives them.

    Args:
        codes: by the column's name.
        count: of records.
        name: of the file, for the message.
    """
    if count == 0:
        raise SpecError(f"{name}: there are no records")
    return DataRecords(
        count,
        {column: found >> 1 for column, found in codes.items()},
        {column: int(np.count_nonzero(found & 1 == 0)) for column, found in codes.items()},
    )


def _parquet(path: Path, declaration: Declaration, chosen: Mapping[str, Kind]) -> DataRecords:
    texts, times = read_grouped(path, list(chosen), lambda header: check_header(header, declaration, path.name))
    codes = {name: np.repeat(placed(texts[name], kind, {}), times) for name, kind in chosen.items()}
    return records(codes, int(times.sum()), path.name)
