"""Questions to a data set: checked against its declaration, in canonical form, each with the function that draws it.

Building a question reads no data. ``Budget.ask`` calls ``draw`` only if the question was not answered before.

Predicates on records have the curator's syntax, and a canonical form for the ledger:

year=first                       a category, or a mark that is set
age>=20                          a number as encoded: clipped and rounded to its grid
year=first & habits=copied       a conjunction
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.curator import noisy_max
from sottovoce.aggregator.curator.clipping import Ball, VectorBox
from sottovoce.aggregator.curator.count import MOST_CELLS, count, counts, histogram, weighted_count
from sottovoce.aggregator.curator.declaration import (
    Categories,
    ColumnKind,
    DataRecords,
    Declaration,
    MarkColumn,
    NumberColumn,
    TextColumn,
    Values,
    bits,
)
from sottovoce.aggregator.curator.release import Release, ReleaseTerms
from sottovoce.aggregator.curator.sum import noisy_mean, noisy_sum, vector
from sottovoce.aggregator.curator.unknown_names import names_histogram
from sottovoce.shared.errors import SpecError
from sottovoce.shared.exact_noise import ExactNoise
from sottovoce.shared.rational import dump_decimal, parse_decimal, parse_fraction

Draw = Callable[[DataRecords, ReleaseTerms, ExactNoise], Release]

MOST_PREDICATES = 1000

_QUANTILE = re.compile(r"0?[.,][0-9]{1,9}|[0-9]{1,4}/[1-9][0-9]{0,3}")

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
        try:
            exact = (parse_decimal(value) - kind.minimum) / kind.step
        except ValueError:
            raise SpecError(f"the column '{column}' has numbers, and what it is compared with is none") from None
        if operator == "=" and exact.denominator != 1:
            raise SpecError(f"the column '{column}' has no such point of its grid")
        steps = -(-exact // 1) if operator == ">=" else exact // 1
        if not 0 <= steps <= kind.steps:
            raise SpecError(f"the column '{column}' is compared with a number beyond its declared bounds")
        place = int(steps)
        return ColumnCondition(column, operator, dump_decimal(kind.minimum + Fraction(place) * kind.step), place)
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


@dataclass(frozen=True)
class CuratorQuestion:
    """A question to a data set.

    Attributes:
        form: verb and parameters as JSON; questions with the same form and epsilon share one recorded answer.
        columns: columns that must be read to answer it.
        names: labels of the numbers in its answer, in order.
    """

    form: Mapping[str, Any]
    columns: tuple[str, ...]
    draw: Draw
    names: tuple[str, ...] = ()


def count_question(declaration: Declaration, texts: Sequence[str], most: int | None) -> CuratorQuestion:
    """Return the question how many records meet one predicate, or each of several.

    ``texts`` are in the syntax of ``parse_predicate``; of several, at most ``most`` count for one record, None for all.
    """
    if not 1 <= len(texts) <= MOST_PREDICATES:
        raise SpecError(f"a count needs 1 to {MOST_PREDICATES:,} predicates")
    found = [parse_predicate(text, declaration) for text in texts]
    if most is not None and not 1 <= most <= len(found):
        raise SpecError("the most that one record may meet must lie between 1 and the number of predicates")
    form: dict[str, Any] = {"verb": "count", "predicates": [each.form() for each in found]}
    if len(found) > 1:
        form["most"] = len(found) if most is None else most

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        met = [each.holds(records.columns, declaration) for each in found]
        return count(met[0], terms, draws) if len(met) == 1 else counts(np.stack(met, axis=1), terms, draws, most)

    return CuratorQuestion(form, tuple(sorted(set().union(*(each.columns for each in found)))), draw, tuple(texts))


def weighted_question(declaration: Declaration, name: str, texts: Sequence[str]) -> CuratorQuestion:
    """Return the question for a sum of weights that depend on the category in one column.

    ``texts`` are NAME:WEIGHT, the weight a fraction in lowest terms in [0, 1]; categories not named have weight 0.
    """
    kind = _categories(declaration, name)
    weights = dict(_weight(text, kind) for text in texts)
    if not weights:
        raise SpecError("a weighted count needs weights, each as NAME:1/2")
    steps = math.lcm(*(each.denominator for each in weights.values()))
    table = np.array([int(weights.get(cell, Fraction(0)) * steps) for cell in kind.cells], dtype=np.int64)
    form = {"verb": "count", "column": name, "weights": {cell: str(each) for cell, each in weights.items() if each}}

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        return weighted_count(table[records.columns[name]], steps, terms, draws)

    return CuratorQuestion(form, (name,), draw, (f"weighted {name}",))


def _weight(text: str, kind: Categories) -> tuple[str, Fraction]:
    cell, _, weight = text.rpartition(":")
    try:
        found = parse_fraction(weight)
    except ValueError:
        found = Fraction(-1)
    if cell not in kind.cells or not 0 <= found <= 1 or found.denominator > 10**6:
        raise SpecError("a weight must be NAME:WEIGHT, a declared name and a fraction from 0 to 1 such as 1/2")
    return cell, found


def histogram_question(declaration: Declaration, names: Sequence[str]) -> CuratorQuestion:
    """Return the question for a histogram of all combinations of the cells of some columns, empty ones too.

    Columns are put in the order of the declaration, so that the order of ``names`` makes no second question. The cells
    of the last column vary fastest.
    """
    place = {name: number for number, name in enumerate(declaration.columns)}
    ordered = sorted(different_names(names), key=lambda name: place.get(name, len(place)))
    sizes = {name: cells_of(declaration.column(name)) for name in ordered}
    whole = math.prod(len(cells) for cells in sizes.values())
    if whole > MOST_CELLS:
        raise SpecError(f"these columns have {whole:,} cells together; a histogram has at most {MOST_CELLS:,}")

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        index: Values = np.zeros(records.count, dtype=np.int64)
        for name, cells in sizes.items():
            index = index * len(cells) + records.columns[name]
        return histogram(index, whole, terms, draws)

    return CuratorQuestion(
        {"verb": "histogram", "columns": list(sizes)}, tuple(sizes), draw, tuple(_products([*sizes.values()]))
    )


def cell_names(declaration: Declaration, names: Sequence[str]) -> list[str]:
    """Return the labels of a recorded histogram's cells, in its order: combinations of the cells of these columns."""
    return _products([cells_of(declaration.column(name)) for name in names])


def cells_of(kind: ColumnKind) -> Sequence[str]:
    """Return the declared cells of a column.

    Raises SpecError if it has marks, of which one record may have several, or a number with too many steps.
    """
    if isinstance(kind, Categories):
        return kind.cells
    if isinstance(kind, NumberColumn) and kind.steps < MOST_CELLS:
        return [dump_decimal(kind.minimum + step * kind.step) for step in range(kind.steps + 1)]
    raise SpecError("a histogram is of columns whose cells share no record: categories, or a number with few steps")


def _products(cells: Sequence[Sequence[str]]) -> list[str]:
    found = [""]
    for each in cells:
        found = [f"{before} / {cell}".removeprefix(" / ") for before in found for cell in each]
    return found


def number_question(verb: str, declaration: Declaration, name: str) -> CuratorQuestion:
    """Return the question for the sum or the mean of a number; ``verb`` is ``sum`` or ``mean``."""
    grid = number_column(declaration, name).grid
    mechanism = {"sum": noisy_sum, "mean": noisy_mean}[verb]

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        return mechanism(records.columns[name], grid, terms, draws)

    return CuratorQuestion({"verb": verb, "column": name}, (name,), draw, (f"{verb} of {name}",))


def quantile_question(declaration: Declaration, name: str, at: Sequence[str]) -> CuratorQuestion:
    """Return the question for quantiles of a number: texts such as ``0.5`` or ``1/4`` in any order; none for the
    median.
    """
    grid = number_column(declaration, name).grid
    wanted = sorted({_quantile(text) for text in at or ("1/2",)})
    try:
        noisy_max.check_quantiles(grid, wanted)
    except ValueError as error:
        raise SpecError(str(error)) from None

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        return noisy_max.quantiles(records.columns[name], grid, wanted, terms, draws)

    form = {"verb": "quantiles", "column": name, "at": [str(each) for each in wanted]}
    return CuratorQuestion(form, (name,), draw, tuple(f"{each} of {name}" for each in wanted))


def _quantile(text: str) -> Fraction:
    """Return a quantile; 0, which none is, for any other text."""
    return Fraction(text.replace(",", ".")) if _QUANTILE.fullmatch(text) else Fraction(0)


def vector_question(
    declaration: Declaration, names: Sequence[str], norm: int, radius: int | None, delta: Fraction
) -> CuratorQuestion:
    """Return the question for the sums of several numbers or marks, released as one vector.

    Args:
        names: columns; a number counts in steps from its centre, a mark as 0 or 1.
        norm: 1 or 2, norm of the ball, if there is a radius.
        radius: radius in steps of a ball to which each record is clipped; None to clip no declared record.
        delta: for Gaussian noise; 0 for Laplace noise only.
    """
    kinds = {name: declaration.column(name) for name in different_names(names)}
    ends, labels = _coordinates(kinds)
    if radius is not None and len({isinstance(kind, MarkColumn) for kind in kinds.values()}) > 1:
        raise SpecError("a radius is for numbers or for marks, which have no common scale; leave out --radius")
    lows, highs = zip(*ends, strict=True)
    try:
        domain = VectorBox(lows, highs, None if radius is None else Ball(norm, radius, len(ends)))
    except ValueError as error:
        raise SpecError(str(error)) from None
    form: dict[str, Any] = {"verb": "vector", "columns": list(kinds), "delta": str(delta)}
    if radius is not None:
        form |= {"norm": norm, "radius": radius}

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        found = [each for name, kind in kinds.items() for each in _rows(records.columns[name], kind)]
        return vector(np.stack(found, axis=1), domain, terms, draws, delta or None)

    return CuratorQuestion(form, tuple(kinds), draw, tuple(labels))


def top_question(declaration: Declaration, name: str, noise: str = noisy_max.EXPONENTIAL.name) -> CuratorQuestion:
    """Return the question for the most frequent cell or mark of a column; the answer has its name, not its count.

    ``noise`` is one of ``NOISES``.
    """
    kind = declaration.column(name)
    names = kind.names if isinstance(kind, MarkColumn) else tuple(cells_of(kind))

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        values = records.columns[name]
        if isinstance(kind, MarkColumn):
            release = noisy_max.top_mark(
                [int(bits(values, bit).sum()) for bit in range(len(names))], terms, draws, noisy_max.NOISES[noise]
            )
        else:
            release = noisy_max.top_cell(values, len(names), terms, draws, noisy_max.NOISES[noise])
        return replace(release, values={**release.values, "name": names[release.values["index"]]})

    # Without a noise it is the former question, whose recorded answer has Laplace noise.
    form = {"verb": "top", "column": name} | ({} if noise == noisy_max.LAPLACE.name else {"noise": noise})
    return CuratorQuestion(form, (name,), draw, names)


def names_question(declaration: Declaration, name: str, delta: Fraction) -> CuratorQuestion:
    """Return the question for the common names of a column of text, with their counts.

    ``delta`` is the largest probability that a name of one record is shown.
    """
    if not isinstance(declaration.column(name), TextColumn):
        raise SpecError(f"the column '{name}' is not declared as text; a histogram is of declared names")
    if not 0 < delta < Fraction(1, 2):
        raise SpecError("unknown names need --delta, the probability that a name of one record is shown: such as 1e-9")

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        return names_histogram(records.columns[name].reshape(records.count, -1), terms, draws, delta)

    return CuratorQuestion({"verb": "names", "column": name, "delta": str(delta)}, (name,), draw)


def _coordinates(kinds: Mapping[str, ColumnKind]) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the ends of each coordinate's range in steps, and its label."""
    ends: list[tuple[int, int]] = []
    labels: list[str] = []
    for name, kind in kinds.items():
        if isinstance(kind, Categories | TextColumn):
            raise SpecError("a vector is of numbers and marks; categories have histograms")
        if isinstance(kind, NumberColumn):
            ends.append((-kind.empty, kind.steps - kind.empty))
            labels.append(f"{name}, steps from its centre")
        else:
            ends += [(0, 1)] * len(kind.names)
            labels += [f"{name}={mark}" for mark in kind.names]
    return ends, labels


def _rows(values: Values, kind: ColumnKind) -> list[Values]:
    if isinstance(kind, NumberColumn):
        return [values - kind.empty]
    return [bits(values, bit) for bit in range(len(kind.names))] if isinstance(kind, MarkColumn) else []


def different_names(names: Sequence[str]) -> list[str]:
    """Return the names of columns; raise SpecError if there is none, or one twice."""
    if not names or len(set(names)) < len(names):
        raise SpecError("name at least one column, and none twice")
    return list(names)


def number_column(declaration: Declaration, name: str) -> NumberColumn:
    """Return the declaration of a column; raise SpecError if it is no number."""
    kind = declaration.column(name)
    if not isinstance(kind, NumberColumn):
        raise SpecError(f"the column '{name}' is not declared as a number")
    return kind


def _categories(declaration: Declaration, name: str) -> Categories:
    kind = declaration.column(name)
    if not isinstance(kind, Categories):
        raise SpecError(f"the column '{name}' is not declared as categories")
    return kind
