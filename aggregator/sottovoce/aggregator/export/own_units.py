"""Values of numbers and dates in files, in the question's own unit: an age of 40 is written 40.

Stored values are steps above the least value. Files written before release 0.4.0 have these steps; they are recognized
by the columns ``wave`` and ``revision``, which are called ``_wave`` and ``_revision`` since, as no question can be.
Options, sets and codes of mechanisms are whole numbers in both.
"""

import math
import re
from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.shown_columns import is_few
from sottovoce.aggregator.storage.pack_values import few
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.answers import Grid
from sottovoce.shared.spec import Question
from sottovoce.shared.types.base import DayGrid

WAVE, REVISION = "_wave", "_revision"
"""Names of the additional columns in files of reports."""

_CODE = re.compile(r"(minus_)?\d{1,9}")
_NEAR = Fraction(1, 10**6)
"""Tolerance of programs that write .1 + .2, in steps."""
_LARGEST = 2**53
"""Limit of any report."""


def unit_grid(question: Question) -> Grid | None:
    """Return the grid of a question whose reported values are numbers or dates in its own unit, else None."""
    kind = "number" if question.mechanism is None else question.mechanism.report_kind
    return question.domain.grid if kind == "number" else None


def as_texts(column: NDArray[np.unsignedinteger], grid: Grid) -> list[str | None]:
    """Return the values as texts, None where not asked, ``few`` where left out."""
    known = {step: grid.text(step) for step in np.unique(column[~is_null(column) & ~is_few(column)]).tolist()}
    known[few(column.itemsize)] = FEW
    return [known.get(step) for step in column.tolist()]


def as_sql(name: str, grid: Grid | None) -> str:
    """Return an SQL expression for the values of a column of steps, itself an expression, for DuckDB.

    ``grid`` is None for a column without a unit.
    """
    if grid is None:
        return name
    if isinstance(grid, DayGrid):
        # Steps are stored in as few bytes as fit, too few for days.
        return f"DATE '{grid.text(0)}' + CAST(CAST({name} AS BIGINT) * {int(grid.step)} AS INTEGER)"
    common = _common(grid)
    value = f"CAST({name} AS BIGINT) * {grid.step * common} + {grid.low * common}"
    return value if common == 1 else f"({value}) / CAST({common} AS DOUBLE)"


def as_sql_text(name: str, grid: Grid | None) -> str:
    """Return an SQL expression for the texts of these values as CSV files have them: 2 where DuckDB writes 2.0."""
    value, parts = as_sql(name, grid), 1 if grid is None or isinstance(grid, DayGrid) else _common(grid)
    if parts == 1:
        return f"CAST({value} AS VARCHAR)"
    decimals = next(count for count in range(1, parts.bit_length() + 1) if 10**count % parts == 0)
    return f"rtrim(rtrim(printf('%.{decimals}f', {value}), '0'), '.')"


def _common(grid: Grid) -> int:
    return math.lcm(grid.low.denominator, grid.step.denominator)


def as_numbers(column: NDArray[np.unsignedinteger], grid: Grid) -> NDArray[np.generic]:
    """Return the values as floats with NaN, or as days with NaT, for statistics programs."""
    values = column.astype(np.float64)
    if isinstance(grid, DayGrid):
        days = np.where(is_null(column), np.iinfo(np.int64).min, float(grid.low) + values * float(grid.step))
        days[is_few(column)] = float(grid.low) - 1
        return days.astype("datetime64[D]").astype("datetime64[ns]")
    # One division of whole numbers gives the float that programs read from the text: -0.1, not -0.0999999999999999.
    common = _common(grid)
    values = (values * int(grid.step * common) + int(grid.low * common)) / common
    values[is_null(column)] = np.nan
    values[is_few(column)] = math.floor(grid.low) - 1
    return values


def few_code(question: Question) -> int | datetime:
    """Return what stands for a rare answer in statistics programs, below the least value; -1 for most options."""
    grid = unit_grid(question)
    if isinstance(grid, DayGrid):
        return datetime.fromisoformat(grid.text(0)) - timedelta(days=1)
    return min((0, *option_codes(question))) - 1 if grid is None else math.floor(grid.low) - 1


def option_codes(question: Question) -> tuple[int, ...]:
    """Return the code of each option in statistics programs if the options' names are numbers; else none.

    ``minus_99`` is -99, as the import of a form writes it; no answer has the number after the largest.
    """
    kind = "option" if question.mechanism is None else question.mechanism.report_kind
    names = [*question.domain.places]
    if kind != "option" or unit_grid(question) or not names or not all(map(_CODE.fullmatch, names)):
        return ()
    codes = [int(name.replace("minus_", "-")) for name in names]
    return (*codes, *[max(codes) + 1] * question.domain.absent) if len(set(codes)) == len(codes) else ()


def step_of(text: str, grid: Grid) -> int:
    """Return the step of a number or date as a text. Upper limits belong to the mechanism, and are checked with it.

    Raises ValueError if the text is no number or date, is below the least one, or lies between two steps.
    """
    steps = (grid.read(text) - grid.low) / grid.step
    whole = round(steps)
    if abs(steps - whole) > _NEAR or not 0 <= whole < _LARGEST:
        raise ValueError("is not on the grid")
    return whole


def values_in_words(grid: Grid) -> str:
    """Describe the values for an error message."""
    return f"a {grid.noun} from {grid.text(0)} to {grid.text(grid.steps)} in steps of {Fraction(grid.step)}"
