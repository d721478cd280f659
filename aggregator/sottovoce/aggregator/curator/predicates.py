"""Predicates on records: the curator's syntax, and the canonical form for the ledger.

year=first                       a category, or a mark that is set
age>=20                          a number as encoded: clipped and rounded to its grid
year=first & habits=copied       a conjunction
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.curator.declaration import (
    Categories,
    ColumnKind,
    Declaration,
    MarkColumn,
    NumberColumn,
    TextColumn,
)
from sottovoce.aggregator.curator.records import Values, bits
from sottovoce.shared.errors import SpecError
from sottovoce.shared.rational import dump_decimal, parse_decimal

AND = " & "
Met = NDArray[np.bool_]
"""Mask of the records that meet a condition, shape (n,)."""

_OPERATORS = (">=", "<=", "=")


@dataclass(frozen=True, order=True)
class ColumnCondition:
    """A condition on one column.

    Attributes:
        operator: ``=``, ``>=`` or ``<=``.
        text: the category, the mark, or the grid point in its canonical spelling.
        place: index of the category, bit of the mark, or number of the grid point.
    """

    column: str
    operator: str
    text: str
    place: int

    def holds(self, values: Values, kind: ColumnKind) -> Met:
        """Return a mask of the records whose value in this column meets the condition."""
        if isinstance(kind, MarkColumn):
            met: Met = bits(values, self.place) == 1
        elif self.operator == ">=":
            met = values >= self.place
        else:
            met = values <= self.place if self.operator == "<=" else values == self.place
        return met


@dataclass(frozen=True)
class Predicate:
    """A conjunction of conditions, sorted and without duplicates."""

    conditions: tuple[ColumnCondition, ...]

    @property
    def columns(self) -> set[str]:
        """Names of the columns in its conditions."""
        return {each.column for each in self.conditions}

    def form(self) -> list[list[str]]:
        """Return the canonical form as JSON; different spellings of one predicate have the same form."""
        return [[each.column, each.operator, each.text] for each in self.conditions]

    def holds(self, columns: Mapping[str, Values], declaration: Declaration) -> Met:
        """Return a mask of the records that meet all conditions."""
        found = [each.holds(columns[each.column], declaration.column(each.column)) for each in self.conditions]
        met: Met = np.all(found, axis=0)
        return met


def parse_predicate(text: str, declaration: Declaration) -> Predicate:
    """Parse a predicate.

    Raises SpecError, which lists declared names, if a column is not declared or has no such value.
    """
    return Predicate(tuple(sorted({_condition(part.strip(), declaration) for part in text.split(AND)})))


def _condition(text: str, declaration: Declaration) -> ColumnCondition:
    column, operator, value = _split(text, [*declaration.columns, *declaration.exact])
    kind = declaration.column(column)
    if isinstance(kind, NumberColumn):
        return _number(column, operator, value, kind)
    if isinstance(kind, TextColumn):
        raise SpecError(f"the column '{column}' has names that are not declared; a condition needs declared ones")
    if operator != "=":
        raise SpecError(f"the column '{column}' has names; ask for one of them with =")
    names = kind.cells if isinstance(kind, Categories) else kind.names
    if value not in names:
        raise SpecError(f"the column '{column}' has no such name; declared are: {', '.join(names[:20])}")
    return ColumnCondition(column, "=", value, names.index(value))


def _split(text: str, columns: Sequence[str]) -> tuple[str, str, str]:
    """Split at the operator after the longest matching column name, since names may contain operators."""
    for column in sorted(columns, key=len, reverse=True):
        rest = text[len(column) :].lstrip()
        operator = next((each for each in _OPERATORS if rest.startswith(each)), None)
        if text.startswith(column) and operator is not None:
            return column, operator, rest[len(operator) :].strip()
    names = ", ".join(columns[:20])
    raise SpecError(f"a condition must be a declared column, one of = >= <=, and a value; declared are: {names}")


def _number(column: str, operator: str, text: str, number: NumberColumn) -> ColumnCondition:
    try:
        exact = (parse_decimal(text) - number.minimum) / number.step
    except ValueError:
        raise SpecError(f"the column '{column}' has numbers, and what it is compared with is none") from None
    if operator == "=" and exact.denominator != 1:
        raise SpecError(f"the column '{column}' has no such point of its grid")
    steps = -(-exact // 1) if operator == ">=" else exact // 1
    if not 0 <= steps <= number.steps:
        raise SpecError(f"the column '{column}' is compared with a number beyond its declared bounds")
    place = int(steps)
    return ColumnCondition(column, operator, dump_decimal(number.minimum + Fraction(place) * number.step), place)
