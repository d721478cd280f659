"""
What a column of reports says of one variable: a small table for the different reports, and which row each report has.

A revision may ask the same question through another channel; its reports have table rows of their own. Whether a row is
a yes through one channel or another, or a direct answer, makes no difference to what is computed from it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.report_columns import Columns, Numbers, check_one_wave, find_variable
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import NumberVariable, Variable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

Rows = NDArray[np.bool_]

_SMALL = 1 << 16


@dataclass(frozen=True)
class Answers:
    """
    The reports on one variable.

    Attributes:
        variable: as the newest revision asks it.
        tables: the different reported values of each channel, in the order of ``codes``.
        observed: (n,), whether a report tells of this variable.
        codes: (n,), the table row of each report; 0 where it is not observed.
    """

    variable: Variable
    tables: tuple[tuple[Variable, Numbers], ...]
    observed: Rows
    codes: NDArray[np.intp]

    @property
    def name(self) -> str:
        """The question's name, and after a dot that of its part."""
        return self.variable.full_name

    @cached_property
    def likelihood(self) -> Array:
        """(u, k): c P(reported | truth), a row for each different report."""
        return np.concatenate([variable.likelihood(values) for variable, values in self.tables])

    @cached_property
    def scores(self) -> Array:
        """(u, k) for categories, (u,) for a number."""
        return np.concatenate([variable.scores(values) for variable, values in self.tables])

    @cached_property
    def squares(self) -> Array | None:
        """(u,): scores of a number's square; None where there are none."""
        found = [each.square_scores(values) for each, values in self.tables if isinstance(each, NumberVariable)]
        known = [squares for squares in found if squares is not None]
        return np.concatenate(known) if known and len(known) == len(self.tables) else None

    @cached_property
    def sharpness(self) -> float:
        """A - b, or how much narrower the truth is than its scores: 1 without noise; the least of all channels."""
        return min(_sharpness(variable, values) for variable, values in self.tables)


def answers_of(columns: Columns, name: str) -> Answers:
    """
    The reports on a variable.

    Args:
        columns: all reports.
        name: the question's name, or "question.option".

    Raises:
        EstimateError: there is no such variable, nobody reported on it, or several waves share one memoized draw.
    """
    newest, place = find_variable(columns, name)
    check_one_wave(columns, newest)
    codes, observed = np.zeros(len(columns), np.intp), np.zeros(len(columns), bool)
    tables: list[tuple[Variable, Numbers]] = []
    asked, filled = columns.asked(newest.name), 0
    for number in range(len(columns.revisions)):
        rows, there = asked & (columns.revision == number), columns.question(newest.name, number)
        if there is None or not rows.any():
            continue
        variable = variables_of(there)[place]
        different, places = _different(columns.values[newest.name][rows])
        seen = variable.observed(different)
        observed[rows] = seen[places]
        codes[rows] = (filled + np.cumsum(seen) - 1)[places] * seen[places]
        tables.append((variable, different[seen]))
        filled += int(seen.sum())
    if not filled:
        raise EstimateError(Sentence("no report contains '{variable}'", variable=name))
    return Answers(variables_of(newest)[place], tuple(tables), observed, codes)


def _different(values: Numbers) -> tuple[Numbers, NDArray[np.intp]]:
    """The different values, ascending, and the place of each among them; counted instead of sorted where it is few."""
    if values.dtype.kind == "u" and int(values.max()) < _SMALL:
        small = values.astype(np.intp)
        there = np.bincount(small) > 0
        return np.flatnonzero(there), (np.cumsum(there) - 1)[small]
    return np.unique(values, return_inverse=True)


def _sharpness(variable: Variable, values: Numbers) -> float:
    if variable.public:
        return 1.0
    if variable.channels:
        return min(a - b for a, b in variable.channels)
    scores = variable.scores(values)
    width = float(np.ptp(scores)) if len(scores) else 0.0
    return min(1.0, (variable.levels[-1] - variable.levels[0]) / width) if width else 1.0
