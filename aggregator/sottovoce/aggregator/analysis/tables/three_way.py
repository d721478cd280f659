"""Estimate tables of two questions within each category of a randomized third one.

A person's category of the third question is unknown, so all reports with the three questions inform every table.

Point       Shares of the likeliest table of all three, see ``ml_table``: questions of one block have the channel of the
            block, others the product of their channels, see ``joint_channel``.
Limits      By profile likelihood, see ``likeliest_cells``: the categories of the third question are the rows for the
            shares of cells, those of the third and the first together for shares within a row.
Raw         Ratios of means of unbiased scores, with standard errors by the delta method.
People      Of people who answered, cells with no answer are rows of their own, which no share counts.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from sottovoce.aggregator.analysis.availability import left_out, merged, small
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.selection import SelectedVariable
from sottovoce.aggregator.analysis.tables.likeliest_cells import METHOD, MOST_LIKELIHOODS, LikeliestTable
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports
from sottovoce.aggregator.analysis.tables.table import SCORE_PRODUCTS, TOO_FEW, TOO_WIDE, Rule
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of, joint_answers
from sottovoce.aggregator.estimators.variable import Floats, Truths, Variable
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.errors import EstimateError, Sentence

TOO_MANY = "the three questions have too many combinations of answers; choose questions with fewer answers"

Cells = tuple[tuple[Result, ...], ...]


@dataclass(frozen=True)
class ThreeWayTable:
    """Reports of three variables, and the shares of two of them within each category of the third.

    Attributes:
        variables: the third variable, those of rows and of columns, in their newest revision.
        reports: number of reports considered.
        seen: distinct reports that carry all three, over the cells in row-major order.
        scores: unbiased scores of each cell for these reports, (m, cells).
        left_out: notes on small groups by public answers whose reports are left out.
    """

    variables: tuple[Variable, ...]
    reports: int
    seen: ObservedReports
    scores: Floats
    z: float
    left_out: tuple[Sentence, ...] = ()

    @property
    def n(self) -> int:
        """Number of reports that carry all three variables."""
        return int(self.seen.weights.sum())

    def cells(self, category: int) -> Cells:
        """Return the share of each cell among the people of a category, (rows, columns)."""
        wide = self._sizes[2]
        return self._grid(lambda row, column: self._within(self._by_third, category, row * wide + column))

    def conditional(self, category: int) -> Cells:
        """Return the share of each column within its row among the people of a category, (rows, columns)."""
        tall = self._sizes[1]
        return self._grid(lambda row, column: self._within(self._by_row, category * tall + row, column))

    def largest_shift(self, category: int, share: float) -> float:
        """Return the largest shift of a cell's share in a category by so large a share of forged reports, at most 1."""
        people = float(self._by_third.table[category].sum())
        largest = share * float(np.abs(self.scores).max())
        return min(1.0, largest / people) if people > 0 else 1.0

    def _grid(self, share: Callable[[int, int], Result]) -> Cells:
        rows, columns = (range(len(each.answered)) for each in self.variables[1:])
        return tuple(tuple(share(row, column) for column in columns) for row in rows)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(each.categories) for each in self.variables)

    @cached_property
    def _answered(self) -> Truths:
        """Cells in which the questions of rows and columns are answered."""
        found = np.ones(self._sizes, dtype=bool)
        for axis, each in enumerate(self.variables[1:], start=1):
            if each.absent:
                np.moveaxis(found, axis, 0)[-1] = False
        return found.ravel()

    @cached_property
    def _by_third(self) -> LikeliestTable:
        return self._arranged(self._sizes[0])

    @cached_property
    def _by_row(self) -> LikeliestTable:
        return self._arranged(self._sizes[0] * self._sizes[1])

    def _arranged(self, rows: int) -> LikeliestTable:
        """Return the table with so many rows, followed by as many for the cells without an answer, if there are any."""
        kept, likelihoods = self._answered, self.seen.rows
        if not kept.all():
            kept, likelihoods = np.concatenate([kept, ~kept]), np.hstack([likelihoods, likelihoods])
        shape = (rows * len(kept) // len(self._answered), len(self._answered) // rows)
        empty = frozenset((int(row), int(column)) for row, column in np.argwhere(~kept.reshape(shape)))
        return LikeliestTable(ObservedReports(likelihoods, self.seen.weights), shape, empty, self.z)

    def _within(self, table: LikeliestTable, row: int, column: int) -> Result:
        found = table.share(row, column)
        shown, low, high = (None, 0.0, 1.0) if found is None else found
        raw, error = self._raw(table.shape[1], row, column)
        notes = (TOO_FEW,) if high - low > TOO_WIDE else ()
        return Result(shown, raw, error, SCORE_PRODUCTS, low, high, METHOD, self.reports, self.n, 1.0, notes)

    def _raw(self, wide: int, row: int, column: int) -> tuple[float | None, float | None]:
        """Return the unbiased share of a column within a row, and its standard error; None if no one is in the row."""
        start = row * wide
        whole = self.scores[:, start : start + wide][:, self._answered[start : start + wide]].sum(axis=1)
        part, weights = self.scores[:, start + column], self.seen.weights
        people = float(weights @ whole) / self.n
        if people <= 0:
            return None, None
        share = float(weights @ part) / self.n / people
        return share, math.sqrt(float(weights @ (part - share * whole) ** 2)) / self.n / people


def three_way(columns: Columns, chosen: Sequence[SelectedVariable], inside: Truths | None, rule: Rule) -> ThreeWayTable:
    """Count the reports of three variables: a randomized third one, then those of rows and columns.

    Args:
        inside: mask of the reports to count, (n,); all by default.
        rule: options; small groups by public answers are left out as it says.

    Raises:
        EstimateError: no report carries all three, or they have too many combinations.
    """
    rows = np.ones(len(columns), dtype=bool) if inside is None else inside
    answers: list[Answers] = []
    notes: tuple[Sentence, ...] = ()
    # At most one of the rows' and the columns' is public, so neither changes the people of the other.
    for place, each in enumerate(chosen):
        shown, rows, left = _shown(columns, each, rows, rule) if place else (each.newest, rows, ())
        answers.append(answers_of(columns, each.newest.full_name).shown_as(shown))
        notes = left or notes
    there = np.flatnonzero(np.logical_and.reduce([rows, *(each.observed for each in answers)]))
    if not len(there):
        raise EstimateError("no report contains all of these questions: they are never asked of the same person")
    newest = tuple(each.variable for each in answers)
    joint, cells = joint_answers(answers, there), list(product(*(range(len(each.categories)) for each in newest)))
    counts = np.bincount(joint.codes).astype(float)
    if len(counts) * len(cells) > MOST_LIKELIHOODS:
        raise EstimateError(TOO_MANY)
    seen = ObservedReports(joint.likelihood.reshape(len(counts), -1), counts)
    scores = np.stack([joint.scores(cell) for cell in cells], axis=1)
    return ThreeWayTable(newest, int(rows.sum()), seen, scores, rule.z, notes)


def _shown(
    columns: Columns, each: SelectedVariable, rows: Truths, rule: Rule
) -> tuple[Variable, Truths, tuple[Sentence, ...]]:
    """Return the newest variable, and the reports of people in no small group by it, with a note on the others."""
    if not each.newest.public:
        return each.newest, rows, ()
    values = columns.values[each.question.name][rows]
    people = np.bincount(values[~is_null(values)], minlength=len(each.newest.categories)).tolist()
    shown, notes = left_out(each.newest, people, rule.least)
    if not notes:
        return merged(each.newest, people, rule.least), rows, ()
    return shown, rows & ~np.isin(columns.values[each.question.name], small(each.newest, people, rule.least)), notes
