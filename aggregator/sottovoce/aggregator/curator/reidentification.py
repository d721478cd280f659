"""
Who could be found in a table that is published as it is, without noise. Exact, and for the curator's own eyes.

A *group* is the people who agree in some public columns; k is the size of the smallest group. A table with k >= 2 is
called k-anonymous, and that promises little:
    One value   Of a group whose sensitive value is one and the same, everybody's is known, however large the group.
    Two tables  Who is known to be in both belongs to a group in each. Only the sensitive values that both groups have
                can be theirs; where that is one, it is known, though both tables are k-anonymous.
    Coarsening  Wider bands and fewer columns make groups larger. Nothing of it bounds what a third table tells, which
                noise does.

Sources: Sweeney 2002; Machanavajjhala et al. 2007; Ganta, Kasiviswanathan and Smith 2008; Kearns and Roth 2019,
chapter 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.curator.declaration import Categories, Declaration, NumberColumn
from sottovoce.aggregator.curator.records import DataRecords, Values
from sottovoce.shared.errors import SpecError

MOST_COLUMNS = 12
"""Public columns: of 12 there are 298 combinations of up to three."""


@dataclass(frozen=True)
class PublishedTable:
    """
    A table as it would be published.

    Attributes:
        declaration: of its columns.
        records: of it, the named columns among them.
        public: columns that others may know of a person.
        sensitive: the column that they should not learn, or None.
    """

    declaration: Declaration
    records: DataRecords
    public: tuple[str, ...]
    sensitive: str | None

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        if not 1 <= len(self.public) <= MOST_COLUMNS or len(set(self.public)) < len(self.public):
            raise SpecError(f"there must be 1 to {MOST_COLUMNS} public columns, none named twice")
        if self.sensitive in self.public:
            raise SpecError("a column is either public or sensitive")


class Combination(NamedTuple):
    """Some public columns, the size of their smallest group, and how many people are alone in theirs."""

    columns: tuple[str, ...]
    k: int
    alone: int


class OneValue(NamedTuple):
    """Groups whose sensitive value is one and the same, and how many people are in them."""

    groups: int
    people: int


class Joined(NamedTuple):
    """
    What a second table leaves of the first.

    Attributes:
        columns: public in both.
        people: of the first table whose group is in the second one too.
        k: the least number of people in the first table who may still be one of them.
        known: people whose sensitive value both tables leave no choice of.
    """

    columns: tuple[str, ...]
    people: int
    k: int
    known: int


def group_sizes(columns: Sequence[NDArray[Any]]) -> Values:
    """For each person, how many there are in the same group; of columns of whole numbers, shape (n,) each."""
    codes: Values = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        different, code = np.unique(column, return_inverse=True)
        # Made small again after each column, so that no product overflows.
        codes = np.unique(codes * len(different) + code, return_inverse=True)[1]
    sizes: Values = np.bincount(codes)[codes]
    return sizes


def alone_in_some(columns: Sequence[NDArray[Any]], count: int) -> NDArray[np.bool_]:
    """Who is alone in some combination of so many of these columns, shape (n,)."""
    alone = np.zeros(len(columns[0]), dtype=np.bool_)
    for chosen in combinations(columns, count):
        alone |= group_sizes(chosen) == 1
    return alone


def combination_of(table: PublishedTable, names: Sequence[str]) -> Combination:
    """K and the people alone, of these public columns."""
    return _combination(names, group_sizes([table.records.columns[name] for name in names]))


def _combination(names: Sequence[str], sizes: Values) -> Combination:
    return Combination(tuple(names), int(sizes.min()), int((sizes == 1).sum()))


def unique_in(table: PublishedTable, count: int) -> tuple[int, list[Combination]]:
    """
    How many people some combination of so many public columns names alone, and all these combinations, worst first.

    Args:
        table: to be published.
        count: of columns, 1 to 3.
    """
    alone, found = np.zeros(table.records.count, dtype=np.bool_), []
    for names in combinations(table.public, count):
        sizes = group_sizes([table.records.columns[name] for name in names])
        alone |= sizes == 1
        found.append(_combination(names, sizes))
    return int(alone.sum()), sorted(found, key=lambda each: (-each.alone, each.k, each.columns))


def one_value(table: PublishedTable) -> OneValue:
    """Groups of all public columns in which everybody has the same sensitive value; a person alone is one as well."""
    groups = _values_by_group(table, table.public)
    same = [len(values) for values in groups.values() if len(set(values)) == 1]
    return OneValue(len(same), sum(same))


def _values_by_group(table: PublishedTable, names: Sequence[str]) -> Mapping[tuple[int, ...], list[str]]:
    """The sensitive values, in words, of each group."""
    kind = None if table.sensitive is None else table.declaration.column(table.sensitive)
    if table.sensitive is None or not isinstance(kind, Categories):
        raise SpecError("a sensitive column must be named, and declared as categories")
    keys = zip(*(table.records.columns[name].tolist() for name in names), strict=True)
    groups: dict[tuple[int, ...], list[str]] = {}
    for key, value in zip(keys, table.records.columns[table.sensitive].tolist(), strict=True):
        groups.setdefault(key, []).append(kind.cells[value])
    return groups


def joined(first: PublishedTable, second: PublishedTable) -> Joined:
    """
    What is left of the first table's anonymity for somebody who is known to be in both.

    Raises:
        SpecError: no public column is in both, or one is declared in two ways.
    """
    common = tuple(name for name in first.public if name in second.public)
    if not common:
        raise SpecError("the two tables have no public column in common")
    for name in common:
        if first.declaration.column(name) != second.declaration.column(name):
            raise SpecError(f"the column '{name}' is declared in two ways; declare it alike in both tables")
    mine, theirs = (_values_by_group(table, common) for table in (first, second))
    left, known, people = [], 0, 0
    for key, values in mine.items():
        if key in theirs:
            possible = set(values) & set(theirs[key])
            people += len(values)
            left.append(sum(value in possible for value in values))
            known += sum(value in possible for value in values) if len(possible) == 1 else 0
    return Joined(common, people, min((each for each in left if each), default=0), known)


def coarsening(table: PublishedTable, k: int) -> tuple[dict[str, int], int]:
    """
    How many steps of each public column to take together so that every group has k people: one after the other the
    change after which fewest people are in smaller groups.

    Args:
        table: to be published.
        k: people in every group.

    Returns:
        (steps by column, 0 where it must be left out; people in smaller groups in the end)
    """
    steps = dict.fromkeys(table.public, 1)
    while (left := _in_small_groups(table, steps, k)) and any(steps.values()):
        tried = [{**steps, name: _wider(table, name, width)} for name, width in steps.items() if width]
        steps = min(tried, key=lambda each: _in_small_groups(table, each, k))
    return steps, left


def _wider(table: PublishedTable, name: str, width: int) -> int:
    kind = table.declaration.column(name)
    # Names have no order: they are told apart or not told at all.
    return 2 * width if isinstance(kind, NumberColumn) and 2 * width <= kind.steps else 0


def _in_small_groups(table: PublishedTable, steps: Mapping[str, int], k: int) -> int:
    columns = [table.records.columns[name] // width for name, width in steps.items() if width]
    sizes = group_sizes(columns) if columns else np.full(table.records.count, table.records.count)
    return int((sizes < k).sum())
