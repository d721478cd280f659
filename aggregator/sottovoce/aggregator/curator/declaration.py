"""Declare a data set (its domain) before the data are read: DATA.yaml, next to a CSV or Parquet file.

    format: sottovoce-data/1
    record: one student, once
    columns:
      year:   {categories: [first, second, third]}
      habits: {marks: [copied, phone]}                # a cell names several: "copied;phone"
      age:    {minimum: 16, maximum: 99, step: 1, centre: 22}
      town:   {text: 40}                              # names that are not known, of at most 40 bytes
      id:     {unused: true}

Cells, bounds and grid come from the declaration and never from the data: an answer whose form depended on the data
would reveal them without noise. Every undeclared cell content has a fixed encoding: an unknown category becomes
``other``, an unknown mark is ignored, a number is clipped to its bounds, and any other text in a column of numbers
becomes the declared centre. Reading a cell therefore never fails. A curator's records are encoded as integers by the
declaration; no other part of the data is passed on.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.curator.grid import NumberGrid
from sottovoce.shared import canonical
from sottovoce.shared.checks import Reader
from sottovoce.shared.errors import SpecError
from sottovoce.shared.rational import MAX_DENOMINATOR, dump_decimal, parse_decimal

FORMAT = "sottovoce-data/1"
OTHER = "other"
SEPARATOR = ";"
"""Separator of the marks in one cell."""

MOST_COLUMNS = 1000
MOST_CATEGORIES = 100_000
MOST_MARKS = 100_000
MOST_TEXT = 200
"""Longest text of an unknown name, in bytes of UTF-8."""

_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,2})?")

Values = NDArray[np.int64]
"""An integer per record: the index of a category, a bit mask of marks, or a grid point of a number.

Texts and masks of more than 52 bits have a row of words per record, the lowest first: shape (n, words).
"""

WORD_BITS = 52
"""Bits of a word, so that twice a word is still an integer of 64 bits."""


def word_count(largest: int) -> int:
    """Return how many words the values from 0 to ``largest`` need, at least 1."""
    return max(1, -(-largest.bit_length() // WORD_BITS))


def split_words(value: int, words: int) -> list[int]:
    """Return a value as so many words, the lowest first."""
    return [value >> WORD_BITS * place & (1 << WORD_BITS) - 1 for place in range(words)]


def join_words(words: Sequence[int]) -> int:
    """Return the value that ``split_words`` split."""
    return sum(word << WORD_BITS * place for place, word in enumerate(words))


def bits(values: Values, place: int) -> Values:
    """Return one bit of each record's value, 0 or 1."""
    word: Values = values if values.ndim == 1 else values[:, place // WORD_BITS]
    return word >> place % WORD_BITS & 1


@dataclass(frozen=True)
class DataRecords:
    """Some columns of a data set, in no particular order of records.

    Attributes:
        count: number of all records.
        columns: encoded values by column name, all in the same order of records.
        misfits: number of records by column name whose cell was not as declared. These exact counts are shown to the
            curator when a data set is bound and enter no answer.
    """

    count: int
    columns: Mapping[str, Values]
    misfits: Mapping[str, int]


class Placed(NamedTuple):
    """Integer that encodes a cell, and whether the cell was as declared."""

    value: int
    fits: bool


@dataclass(frozen=True)
class Categories:
    """Column with one of a list of names; other text is ``other``, which is the last cell if it was not declared."""

    names: tuple[str, ...]

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """Cells of a histogram, empty ones too: the declared names and ``other``."""
        return self.names if OTHER in self.names else (*self.names, OTHER)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.cells)}

    @property
    def largest(self) -> int:
        """Largest integer that encodes a cell."""
        return len(self.cells) - 1

    def place(self, text: str) -> Placed:
        """Return the index of a cell's text in ``cells``."""
        index = self._places.get(text)
        fits = index is not None and (index < len(self.names))
        return Placed(self._places[OTHER] if index is None else index, fits)

    def document(self) -> dict[str, Any]:
        """Return the column's declaration as in DATA.yaml."""
        return {"categories": list(self.names)}


@dataclass(frozen=True)
class MarkColumn:
    """Column with several yes/no marks; a cell lists the names of the marks that are set, in any order."""

    names: tuple[str, ...]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    @property
    def largest(self) -> int:
        """Largest integer that encodes a cell: all marks are set."""
        return (1 << len(self.names)) - 1

    def place(self, text: str) -> Placed:
        """Return the bit mask of a cell's marks: bit j is mark j. Undeclared marks are ignored."""
        found = {part.strip() for part in text.split(SEPARATOR)} - {""}
        known = [self._places[name] for name in found if name in self._places]
        return Placed(sum(1 << index for index in known), len(known) == len(found))

    def document(self) -> dict[str, Any]:
        """Return the column's declaration as in DATA.yaml."""
        return {"marks": list(self.names)}


@dataclass(frozen=True)
class NumberColumn:
    """Column with a number between bounds, on a grid.

    Attributes:
        minimum, maximum: bounds to which a number is clipped.
        step: distance of grid points; ``maximum - minimum`` is a whole number of steps.
        centre: value on the grid that replaces a cell that holds no number.
    """

    minimum: Fraction
    maximum: Fraction
    step: Fraction
    centre: Fraction

    @property
    def steps(self) -> int:
        """Number of the last grid point; the first is 0."""
        return int((self.maximum - self.minimum) / self.step)

    largest = steps
    """Largest integer that encodes a cell."""

    @property
    def grid(self) -> NumberGrid:
        """Bounds and step, without the centre."""
        return NumberGrid(self.minimum, self.maximum, self.step)

    @property
    def empty(self) -> int:
        """Grid point of the centre, which encodes a cell that holds no number."""
        return int((self.centre - self.minimum) / self.step)

    def place(self, text: str) -> Placed:
        """Return the grid point nearest to the clipped number, the lower one in a tie."""
        if not _NUMBER.fullmatch(text.strip()):
            return Placed(self.empty, False)
        value = Fraction(text.strip())
        clipped = min(max(value, self.minimum), self.maximum)
        return Placed(-((1 - 2 * (clipped - self.minimum) / self.step) // 2), clipped == value)

    def document(self) -> dict[str, Any]:
        """Return the column's declaration as in DATA.yaml."""
        bounds = {
            "minimum": self.minimum, "maximum": self.maximum, "step": self.step, "centre": self.centre
        }  # fmt: skip
        return {key: dump_decimal(value) for key, value in bounds.items()}


@dataclass(frozen=True)
class TextColumn:
    """Column with names that are not known beforehand, of which only common ones are ever shown.

    Names longer than ``longest`` bytes of UTF-8 are cut.
    """

    longest: int

    @property
    def largest(self) -> int:
        """Largest integer that encodes a cell."""
        return (1 << 8 * self.longest) - 1

    def place(self, text: str) -> Placed:
        """Return the bytes of a text as an integer; characters that cannot be printed become spaces."""
        plain = "".join(letter if letter.isprintable() else " " for letter in text.strip())
        cut = plain.encode(errors="replace")[: self.longest].decode(errors="ignore")
        return Placed(int.from_bytes(cut.encode(), "little"), cut == text.strip())

    def document(self) -> dict[str, Any]:
        """Return the column's declaration as in DATA.yaml."""
        return {"text": self.longest}


ColumnKind = Categories | MarkColumn | NumberColumn | TextColumn


@dataclass(frozen=True)
class Declaration:
    """Declaration of a data set.

    Attributes:
        record: what one record stands for, in the curator's words; the guarantee protects one record.
        columns: columns that questions may use, by their name in the file's header.
        unused: columns that are never read.
        exact: columns that no question may use, because their exact counts are part of the survey's results.
    """

    record: str
    columns: Mapping[str, ColumnKind]
    unused: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical document, which does not depend on the spelling of the YAML."""
        return hashlib.sha256(canonical.dump(self.document())).hexdigest()

    def document(self) -> dict[str, Any]:
        """Return the whole declaration as in DATA.yaml."""
        used = {name: kind.document() for name, kind in self.columns.items()}
        return {"format": FORMAT, "record": self.record, "columns": used | {n: {"unused": True} for n in self.unused}}

    def column(self, name: str) -> ColumnKind:
        """Return the declaration of a column; SpecError if it is undeclared, unused, or published exactly."""
        if name in self.exact:
            raise SpecError(f"'{name}' is not published with noise: its exact counts are part of the results")
        if name not in self.columns:
            names = ", ".join(list(self.columns)[:20])
            raise SpecError(f"a column of the question is not declared; the declaration has: {names}")
        return self.columns[name]


def parse_declaration(document: object) -> Declaration:
    """Parse the document of a declaration; SpecError lists every mistake found."""
    reader = Reader()
    top = reader.fields(document, "", {"format", "record", "columns"}, set())
    reader.one_of(top.get("format"), "/format", (FORMAT,))
    record = reader.match(
        top.get("record"), "/record", _NAME, "must say in up to 200 letters who one record is, such as one student"
    )
    columns = top.get("columns")
    if not isinstance(columns, dict) or not 1 <= len(columns) <= MOST_COLUMNS:
        reader.problem("/columns", f"must be a map of 1 to {MOST_COLUMNS:,} columns by their names in the header")
        columns = {}
    kinds = {str(name): _kind(reader, value, f"/columns/{name}") for name, value in columns.items()}
    for name in columns:
        reader.match(
            name, f"/columns/{name}", _NAME, "must have a name of 1 to 200 letters, in quotes if it is a number"
        )
    used = {name: kind for name, kind in kinds.items() if kind is not None}
    if columns and not used and not reader.problems:
        reader.problem("/columns", "has no column that is used")
    if reader.problems:
        raise SpecError(reader.problems)
    return Declaration(record, used, tuple(name for name in kinds if name not in used))


def _kind(reader: Reader, value: object, pointer: str) -> ColumnKind | None:
    """Parse one column; None for an unused column and after a mistake."""
    given = set(value) if isinstance(value, dict) else set()
    fields = value if isinstance(value, dict) else {}
    if given == {"categories"}:
        return Categories(_names(reader, fields["categories"], f"{pointer}/categories", MOST_CATEGORIES))
    if given == {"marks"}:
        marks = _names(reader, fields["marks"], f"{pointer}/marks", MOST_MARKS)
        if any(SEPARATOR in name or name != name.strip() for name in marks):
            reader.problem(f"{pointer}/marks", "names of marks have no ; and no space at their ends")
        return MarkColumn(marks)
    if given & set(_BOUNDS):
        return _number(reader, fields, pointer)
    if given == {"text"}:
        return TextColumn(reader.integer(fields["text"], f"{pointer}/text", 1, MOST_TEXT))
    if given != {"unused"} or fields["unused"] is not True:
        message = "must have categories, or marks, or minimum, maximum, step and centre, or text, or unused: true"
        reader.problem(pointer, message)
    return None


def _names(reader: Reader, value: object, pointer: str, most: int) -> tuple[str, ...]:
    found = reader.items(value, pointer, 1, most)
    names = [
        reader.match(name, f"{pointer}/{index}", _NAME, "must be text of 1 to 200 letters; put a number in quotes")
        for index, name in enumerate(found)
    ]
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name and name in seen:
            reader.problem(f"{pointer}/{index}", "is there twice")
        seen.add(name)
    return tuple(names)


_BOUNDS = ("minimum", "maximum", "step", "centre")


def _number(reader: Reader, fields: Mapping[str, object], pointer: str) -> NumberColumn | None:
    before = len(reader.problems)
    reader.fields(fields, pointer, set(_BOUNDS), set())
    found = {name: _decimal(reader, fields[name], f"{pointer}/{name}") for name in _BOUNDS if name in fields}
    if len(reader.problems) > before:
        return None
    number = NumberColumn(**found)
    wrong = _wrong(number)
    if wrong:
        reader.problem(f"{pointer}/{wrong[0]}", wrong[1])
        return None
    return number


def _decimal(reader: Reader, value: object, pointer: str) -> Fraction:
    try:
        return parse_decimal(value)
    except ValueError as error:
        reader.problem(pointer, str(error))
        return Fraction(0)


def _wrong(number: NumberColumn) -> tuple[str, str] | None:
    if number.minimum >= number.maximum:
        return "maximum", "must be larger than the minimum"
    if number.step <= 0:
        return "step", "must be larger than 0"
    steps = (number.maximum - number.minimum) / number.step
    if steps.denominator != 1 or steps > MAX_DENOMINATOR:
        return "step", "must divide the way from minimum to maximum into at most 2^32 whole steps"
    if not number.minimum <= number.centre <= number.maximum:
        return "centre", "must lie between minimum and maximum"
    if ((number.centre - number.minimum) / number.step).denominator != 1:
        return "centre", "must be a point of the grid"
    return None
