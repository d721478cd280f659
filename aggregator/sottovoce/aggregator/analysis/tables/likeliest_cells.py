"""Estimate shares of a table by maximum likelihood from all reports that carry at least one of the two questions.

Why         Under ``ask`` many reports carry only one of the two questions. They tell its margin, and with it the cells:
            cells have 16 to 22 % less variance where each device asks two of three coin questions. Skip logic makes
            cells impossible, such as a later answer of people who were not asked for it.
Point       The likeliest table, see ``ml_table``. Reports with one question have a likelihood that is constant over the
            categories of the other; which one is missing does not depend on the truth.
Limits      Shares at which twice the drop of the profile log likelihood is z^2. For a given share of a cell the EM
            algorithm keeps this share and scales the others; for a given share within a row it keeps the row's total.
Source      Little and Rubin 2002 (tables with supplemental margins); Venzon and Moolgavkar 1988 (profile limits).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports, beyond, likeliest_table
from sottovoce.aggregator.analysis.tables.score_intervals import edge
from sottovoce.aggregator.estimators.variable import Floats, Truths

METHOD = "profile"
MOST_LIKELIHOODS = 20_000
"""Largest number of distinct reports times cells; beyond it, limits by profile likelihood would take seconds."""

CellIndex = tuple[int, int]

# A share whose search has not ended after so many rounds counts as outside the limits.
_ROUNDS = 500
_SETTLED = 1e-8
# 16 halvings place a limit within 2^-16 of the range, less than the digits that are shown.
_HALVINGS = 16
_LEAST = 1e-6
_TINY = 1e-300


class _Fixed(NamedTuple):
    """A fixed share of a cell in a part of the table, True in ``part``: in all of it, or in the row of the cell."""

    place: CellIndex
    part: Truths

    def with_share(self, table: Floats, share: float) -> Floats:
        """Return the likeliest table with this share, given expected shares of the cells."""
        # With no other cell left the reports may be impossible, and a step leads nowhere.
        scaled: Floats = table / max(float(table.sum()), _TINY)
        others = np.where(self.part, scaled, 0.0)
        total = 1.0 if self.part.all() else float(others.sum())
        others[self.place] = 0.0
        # The other cells of the part share the rest in their proportions; its total and all cells outside stay.
        others *= (1 - share) * total / max(float(others.sum()), _TINY)
        others[self.place] = share * total
        return np.where(self.part, others, scaled)

    def steepest(self, gradient: Floats, share: float) -> float:
        """Return the largest product of a gradient with a table that has this share."""
        own, others = gradient[self.place], gradient.copy()
        others[self.place] = -np.inf
        inside, outside = (float(others[each].max(initial=-np.inf)) for each in (self.part, ~self.part))
        return max(float(share * own + (1 - share) * inside), outside)


@dataclass(frozen=True)
class LikeliestTable:
    """Likeliest table, and profile likelihood limits of its shares at the normal quantile ``z``.

    Each report has weight 1; ``impossible`` holds (row, column) of each structural zero.
    """

    seen: ObservedReports
    shape: tuple[int, int]
    impossible: frozenset[CellIndex]
    z: float

    @cached_property
    def table(self) -> Floats:
        """Maximum likelihood shares of all cells, (rows, columns)."""
        return likeliest_table(self.seen, self.shape, self.impossible)

    def cell(self, row: int, column: int) -> tuple[float, float, float]:
        """Return the share of a cell, and its limits; all 0 for an impossible cell."""
        if (row, column) in self.impossible:
            return 0.0, 0.0, 0.0
        return self._limits(float(self.table[row, column]), _Fixed((row, column), np.ones(self.shape, bool)))

    def share(self, row: int, column: int) -> tuple[float, float, float] | None:
        """Return the share of a column within its row, and its limits; None for an empty row."""
        total = float(self.table[row].sum())
        if total <= 0:
            return None
        # With one possible column in a row, skip logic decides its share: there is no sampling error.
        possible = [place for place in range(self.shape[1]) if (row, place) not in self.impossible]
        if (row, column) in self.impossible or len(possible) == 1:
            known = float(possible == [column])
            return known, known, known
        of_row = np.broadcast_to(np.arange(self.shape[0])[:, None] == row, self.shape)
        return self._limits(float(self.table[row, column]) / total, _Fixed((row, column), of_row))

    @cached_property
    def _enough(self) -> float:
        # Wilks: twice the drop of the profile log likelihood is chi-square with 1 df, so a limit is a drop of z^2 / 2.
        return self.seen.log_likelihood(self.table) - self.z**2 / 2

    @cached_property
    def _start(self) -> Floats:
        """Likeliest table without zeros, which EM would never leave, but for those of impossible cells."""
        start = np.maximum(self.table, _LEAST)
        for place in self.impossible:
            start[place] = 0.0
        return start

    def _limits(self, point: float, constraint: _Fixed) -> tuple[float, float, float]:
        low, high = (edge(lambda share: self._reaches(share, constraint), point, end, _HALVINGS) for end in (0.0, 1.0))
        return point, low, high

    def _reaches(self, share: float, constraint: _Fixed) -> bool:
        """Return True if the profile log likelihood of a share is high enough."""
        table = constraint.with_share(self._start, share)
        for _ in range(_ROUNDS):
            once, ceiling = self._step(table, share, constraint)
            # The likelihood is concave in the table, so it lies below its tangent plane at every table.
            if ceiling < self._enough:
                return False
            twice, _ = self._step(once, share, constraint)
            # EM steps never lower the likelihood, so the search can stop as soon as it is high enough.
            if self.seen.log_likelihood(twice) >= self._enough:
                return True
            if np.abs(twice - once).max() < _SETTLED:
                return False
            table = self._leap(table, once, twice)
        return False

    def _step(self, table: Floats, share: float, constraint: _Fixed) -> tuple[Floats, float]:
        """Return the table after an EM step, and an upper bound of the log likelihood of all tables with this share."""
        chances = np.maximum(self.seen.rows @ table.ravel(), _TINY)
        gradient = ((self.seen.weights / chances) @ self.seen.rows).reshape(self.shape)
        for place in self.impossible:
            gradient[place] = -np.inf
        here, total = float(self.seen.weights @ np.log(chances)), float(self.seen.weights.sum())
        # The tangent plane at this table is here + gradient' (other - table), and gradient' table is the total weight.
        ceiling = here + constraint.steepest(gradient, share) - total
        return constraint.with_share(table * np.maximum(gradient, 0.0) / total, share), ceiling

    def _leap(self, start: Floats, once: Floats, twice: Floats) -> Floats:
        """Return the SQUAREM extrapolation of three tables if it is one and likelier, else the last of them."""
        # The three tables have the same share, so every point on the curve through them has it too.
        far = beyond((start, once, twice))
        return twice if far is None else max(twice, far, key=self.seen.log_likelihood)
