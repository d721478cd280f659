"""Re-identification risk of a table that is published without noise: exact figures, for the curator alone, as JSON and
as lines of text.

A *group* (equivalence class) is the set of people who agree in some public columns (quasi-identifiers); k is the size
of the smallest group. A table is called k-anonymous for this k. Even k >= 2 guarantees little:
    Homogeneity   If all members of a group share one sensitive value, it is known for each of them, however large the
                  group is.
    Intersection  A person who is known to be in two tables belongs to a group in each. Only the sensitive values that
                  both groups have are possible. If there is one, it is known, although both tables are k-anonymous.
    Generalizing  Wider bands and fewer columns make groups larger. They do not bound what a third table reveals; noise
                  does.

Sources: Sweeney 2002; Machanavajjhala et al. 2007; Ganta, Kasiviswanathan and Smith 2008; Kearns and Roth 2019,
chapter 1.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.curator.declaration import Categories, DataRecords, Declaration, NumberColumn, Values
from sottovoce.shared.errors import SpecError

MOST_WORK = 20_000_000
"""Ways to coarsen times people up to which all ways are tried: some seconds."""

MOST_COLUMNS = 12
"""Largest number of public columns: 12 have 298 combinations of up to three."""

OWN_EYES = "exact figures about the data: for their curator alone, and no release"
_SHOWN = 5


@dataclass(frozen=True)
class PublishedTable:
    """A table as it would be published.

    Attributes:
        records: with at least the columns named below.
        public: columns that others may know of a person (quasi-identifiers).
        sensitive: column that others should not learn, or None.
    """

    declaration: Declaration
    records: DataRecords
    public: tuple[str, ...]
    sensitive: str | None

    def __post_init__(self) -> None:
        """Raise SpecError for too many, repeated or contradictory columns."""
        if not 1 <= len(self.public) <= MOST_COLUMNS or len(set(self.public)) < len(self.public):
            raise SpecError(f"there must be 1 to {MOST_COLUMNS} public columns, none named twice")
        if any(self.records.columns[name].ndim > 1 for name in self.public):
            raise SpecError("a public column cannot be text, or more than 52 marks; leave it out with --public")
        if self.sensitive in self.public:
            raise SpecError("a column is either public or sensitive")


class Combination(NamedTuple):
    """Some public columns, the size of their smallest group, and the number of people in groups of one."""

    columns: tuple[str, ...]
    k: int
    alone: int


def group_sizes(columns: Sequence[NDArray[Any]]) -> Values:
    """Return the size of each person's group, shape (n,), for integer columns of shape (n,) each."""
    codes: Values = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        different, code = np.unique(column, return_inverse=True)
        # Renumbered from 0 after each column, so that no product overflows.
        codes = np.unique(codes * len(different) + code, return_inverse=True)[1]
    return np.bincount(codes)[codes]


def unique_in_some(columns: Sequence[NDArray[Any]], count: int) -> NDArray[np.bool_]:
    """Return a mask, shape (n,), of people who are unique in some combination of ``count`` of these columns."""
    alone = np.zeros(len(columns[0]), dtype=np.bool_)
    for selected in combinations(columns, count):
        alone |= group_sizes(selected) == 1
    return alone


def _combination(names: Sequence[str], sizes: Values) -> Combination:
    return Combination(tuple(names), int(sizes.min()), int((sizes == 1).sum()))


def unique_in(table: PublishedTable, count: int) -> tuple[int, list[Combination]]:
    """Return how many people are unique in some combination of ``count`` public columns, and all combinations, worst
    first.
    """
    alone, found = np.zeros(table.records.count, dtype=np.bool_), []
    for names in combinations(table.public, count):
        sizes = group_sizes([table.records.columns[name] for name in names])
        alone |= sizes == 1
        found.append(_combination(names, sizes))
    return int(alone.sum()), sorted(found, key=lambda each: (-each.alone, each.k, each.columns))


def one_value(table: PublishedTable) -> dict[str, int]:
    """Count the groups by all public columns whose members share one sensitive value, groups of one included, and the
    people in them; ``l`` is the smallest number of different values in a group: the l of l-diversity.

    Raises SpecError if no sensitive column is named, or it is not declared as categories.
    """
    groups = _values_by_group(table, table.public)
    same = [len(values) for values in groups.values() if len(set(values)) == 1]
    return {"groups": len(same), "people": sum(same), "l": min(len(set(values)) for values in groups.values())}


def _values_by_group(table: PublishedTable, names: Sequence[str]) -> Mapping[tuple[int, ...], list[str]]:
    """Return the names of the sensitive values in each group."""
    values = _sensitive_values(table)
    keys = zip(*(table.records.columns[name].tolist() for name in names), strict=True)
    groups: dict[tuple[int, ...], list[str]] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).append(value)
    return groups


def _sensitive_values(table: PublishedTable) -> list[str]:
    kind = None if table.sensitive is None else table.declaration.column(table.sensitive)
    if table.sensitive is None or not isinstance(kind, Categories):
        raise SpecError("a sensitive column must be named, and declared as categories")
    return [kind.cells[code] for code in table.records.columns[table.sensitive].tolist()]


def joined(first: PublishedTable, second: PublishedTable) -> dict[str, Any]:
    """Return the anonymity that the first table still gives to a person who is known to be in both tables.

    ``people`` of the first table have a group in the second one too; the two tables determine the sensitive value of
    ``known`` of them; ``k`` is the smallest number of people in a group of the first table whose sensitive value
    remains possible, 0 if none. Raises SpecError if the tables share no public column or declare one differently, or
    one has no sensitive categories.
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
    return {"columns": common, "people": people, "k": min(filter(None, left), default=0), "known": known}


class CoarseColumn(NamedTuple):
    """A public column in coarser cells: the cell of each person, shape (n,), and the label of each cell by its code.

    ``how`` says in words how it is coarser; "" if it is as declared.
    """

    codes: Values
    labels: Mapping[int, str]
    how: str


def coarsened(table: PublishedTable, k: int) -> tuple[dict[str, CoarseColumn | None], int]:
    """Return the public columns, made coarser until every group has at least k people, and how many are still in
    smaller groups.

    Numbers form bands of 1, 2 or 5 times a power of ten; codes of equal length, such as zip codes, lose digits from the
    end; other columns stay or are left out, which None stands for. All ways are tried if they are few, and the one that
    keeps most is taken; else each round makes one column coarser, the one that leaves fewest people in groups below k.
    """
    levels = {name: _levels(table, name) for name in table.public}
    chosen = dict.fromkeys(table.public, 0)

    def found(places: Mapping[str, int]) -> dict[str, CoarseColumn | None]:
        return {name: levels[name][place] for name, place in places.items()}

    def small(places: Mapping[str, int]) -> int:
        columns = [each.codes for each in found(places).values() if each is not None]
        sizes = group_sizes(columns) if columns else np.full(table.records.count, table.records.count)
        return int((sizes < k).sum())

    losses = [_losses(each) for each in levels.values()]
    work = math.prod(map(len, levels.values())) * table.records.count
    ways = list(product(*(range(len(each)) for each in losses))) if work <= MOST_WORK else []
    for way in sorted(ways, key=lambda places: sum(each[place] for each, place in zip(losses, places, strict=True))):
        places = dict(zip(levels, way, strict=True))
        if not small(places):
            return found(places), 0
    while (left := small(chosen)) and any(levels[name][place] is not None for name, place in chosen.items()):
        tried = [{**chosen, name: place + 1} for name, place in chosen.items() if levels[name][place] is not None]
        chosen = min(tried, key=small)
    return found(chosen), left


def _losses(columns: Sequence[CoarseColumn | None]) -> list[float]:
    """Return what each level of a column loses: 0 for all its different cells, 1 for a single one or none."""
    cells = [1 if column is None else len(np.unique(column.codes)) for column in columns]
    return [1 - math.log(each) / math.log(max(2, cells[0])) for each in cells]


def _levels(table: PublishedTable, name: str) -> list[CoarseColumn | None]:
    """Return a column from its declared cells to none, coarser step by step."""
    kind, codes = table.declaration.column(name), table.records.columns[name]
    if isinstance(kind, NumberColumn):
        exact, *bands = (_banded(kind, codes, width) for width in (kind.step, *_round_widths(kind)))
        return [exact, *(each for each in bands if len(each.labels) > 1), None]
    if not isinstance(kind, Categories):
        return [CoarseColumn(codes, {}, ""), None]
    length = len(kind.names[0])
    are_codes = length > 1 and all(len(each) == length and each.isdecimal() for each in kind.names)
    kept = range(length, 0, -1) if are_codes else (length,)
    return [_shortened(kind, codes, digits, length) for digits in kept] + [None]


def _round_widths(kind: NumberColumn) -> Iterator[Fraction]:
    span, power = kind.maximum - kind.minimum, Fraction(1)
    while power > kind.step:
        power /= 10
    while power <= span:
        for width in (power, 2 * power, 5 * power):
            if kind.step < width <= span and (width / kind.step).denominator == 1:
                yield width
        power *= 10


def _banded(kind: NumberColumn, codes: Values, width: Fraction) -> CoarseColumn:
    start, steps = kind.minimum / kind.step, int(width / kind.step)
    # A minimum off the grid of round numbers moves all bands by the same part of a step.
    bands = (codes + math.floor(start)) // steps
    offset = (start - math.floor(start)) * kind.step
    labels = {}
    for band in np.unique(bands).tolist():
        low, high = band * width + offset, (band + 1) * width - kind.step + offset
        labels[band] = _decimal(low) if steps == 1 else f"{_decimal(low)} to {_decimal(high)}"
    return CoarseColumn(bands, labels, "" if steps == 1 else f"in bands of {_decimal(width)}")


def _shortened(kind: Categories, codes: Values, digits: int, length: int) -> CoarseColumn:
    cells = [each[:digits] + "*" * (length - digits) if each in kind.names else each for each in kind.cells]
    different = list(dict.fromkeys(cells))
    places = np.array([different.index(each) for each in cells])
    how = "" if digits == length else f"by its first {digits} of {length} digits"
    return CoarseColumn(places[codes], dict(enumerate(different)), how)


def _decimal(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else str(float(number))


def coarse_rows(table: PublishedTable, columns: Mapping[str, CoarseColumn | None]) -> list[list[str]]:
    """Return a header and a row for each person, sorted, so that the order of the file tells nothing.

    ``columns`` are from ``coarsened``. Raises SpecError if the sensitive column is not declared as categories, or a
    column that stays has marks.
    """
    kept = {name: column for name, column in columns.items() if column is not None}
    texts = []
    for name, column in kept.items():
        if not column.labels:
            raise SpecError(f"the column '{name}' has marks, which a coarsened table cannot hold; leave it out")
        texts.append([column.labels[code] for code in column.codes.tolist()])
    texts += [] if table.sensitive is None else [_sensitive_values(table)]
    header = [*kept, *([] if table.sensitive is None else [table.sensitive])]
    return [header, *sorted(map(list, zip(*texts, strict=True)))]


def reidentify_document(table: PublishedTable, other: PublishedTable | None, k: int) -> dict[str, Any]:
    """Return the re-identification risks of a table as JSON.

    ``other`` is a second table that an attacker may have; ``k`` is the group size that the suggested bands should
    reach.
    """
    whole = _combination(table.public, group_sizes([table.records.columns[name] for name in table.public]))
    found: dict[str, Any] = {
        "records": table.records.count,
        "public": list(table.public),
        "k": whole.k,
        "alone": whole.alone,
        "unique_in": {},
        "notes": [OWN_EYES],
    }
    for count in range(1, min(3, len(table.public)) + 1):
        people, combinations = unique_in(table, count)
        rows = [{"columns": list(each.columns), "k": each.k, "alone": each.alone} for each in combinations]
        found["unique_in"][str(count)] = {"people": people, "combinations": rows}
    if table.sensitive is not None:
        found["one_value"] = {"sensitive": table.sensitive, **one_value(table)}
    if other is not None:
        found["joined"] = joined(table, other)
    columns, left = coarsened(table, k)
    how = {name: "left out" if column is None else column.how for name, column in columns.items()}
    found["coarsening"] = {"k": k, "columns": how, "people_in_smaller_groups": left}
    return found


def reidentify_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of text for a document of ``reidentify_document``."""
    yield f"{document['records']:,} people; public: {', '.join(document['public'])}."
    yield f"All of these together: the smallest group has k = {document['k']}; {_people(document['alone'])} alone."
    for count, found in document["unique_in"].items():
        yield f"Alone in some {count} of them: {_people(found['people'])}."
        for each in found["combinations"][:_SHOWN]:
            yield f"  {' + '.join(each['columns'])}: k = {each['k']}, {_people(each['alone'])} alone"
    if "one_value" in document:
        one = document["one_value"]
        people = _people(one["people"])
        yield f"Groups in which {one['sensitive']} is one and the same: {one['groups']:,}, with {people};"
        yield "  theirs is known without finding anybody."
        yield f"l-diversity: l = {one['l']}, the fewest different values of {one['sensitive']} in a group."
    if "joined" in document:
        both = document["joined"]
        people, known = _people(both["people"]), _people(both["known"])
        yield f"The second table has the group of {people}. The value of {known} is known to anyone who knows"
        yield f"  that they are in both; k is {both['k']} then."
    yield from _coarse_lines(document["coarsening"])
    yield from (f"Note: {note}." for note in document["notes"])


def write_coarsened(table: PublishedTable, k: int, out: Path) -> None:
    """Write the table, coarsened to groups of at least k people, as a new CSV file.

    Raises SpecError if some people are in smaller groups however coarse the table is, or the file exists.
    """
    columns, left = coarsened(table, k)
    if left:
        raise SpecError(f"{_people(left)} would still be in groups smaller than {k}; nothing was written")
    rows = coarse_rows(table, columns)
    try:
        with out.open("x", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except FileExistsError:
        raise SpecError(f"{out} exists; name a new file") from None


def _coarse_lines(coarse: Mapping[str, Any]) -> Iterator[str]:
    coarser = [f"{name} {how}" for name, how in coarse["columns"].items() if how]
    yield f"For groups of {coarse['k']} and more: {'; '.join(coarser) or 'nothing needs to be coarser'}."
    if coarse["people_in_smaller_groups"]:
        yield f"  {_people(coarse['people_in_smaller_groups'])} would still be in smaller ones: there are too few."


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"
