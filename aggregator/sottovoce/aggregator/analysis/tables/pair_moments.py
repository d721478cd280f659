"""Compute moments of two variables: means of products of scores, with their covariance.

Reports     Those in which both variables were observed; this never depends on the true answers. Equal pairs of reported
            values are counted first, so ten million reports of two yes/no questions become four rows.
Mean        m = sum w h / sum w, h(report) any vector of products of scores: unbiased for any population.
            Variables of one block have scores of their own for a product, see ``joint_channel``.
Covariance  sum w^2 (h - m)(h - m)' / (sum w)^2 n / (n - 1): the sandwich with weights, the sample covariance without.
Strata      Reports through different channels, such as those of an earlier revision, form strata. Each is weighted by
            its effective n over the variance of its scores in a uniform population. That variance is known before
            any report arrives, so choosing it causes no bias.
Effective   n_eff = (sum w)^2 / sum w^2.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel
from sottovoce.aggregator.analysis.tables.score_products import ROWS, ScoreProducts, score_products
from sottovoce.aggregator.estimators.blocks.joint_channel import PairScore, block_pair, pair_score
from sottovoce.aggregator.estimators.variable import Floats, Variable
from sottovoce.shared.errors import EstimateError

BLOCK = 1 << 16
"""Number of rows counted at once; keys of this many rows fit into the processor's cache."""
_ROUNDING = 1e-9
MOST_COUNTED = 1 << 22
"""Largest number of possible pairs of reported values to count; beyond it, each report stays a row of its own."""

Numbers = NDArray[Any]


class ScorePart(NamedTuple):
    """Scores of some categories of a variable together, (m,), and the number of these categories."""

    scores: Floats
    size: int


class ScoredPairs(NamedTuple):
    """Scores of two variables of the same reports, (m, k) and (m, l), and how scores of pairs of answers follow."""

    first: Floats
    second: Floats
    score: PairScore

    def cell(self, row: int, column: int) -> Floats:
        """Return the scores of a cell, (m,)."""
        return self.product(ScorePart(self.first[:, row], 1), ScorePart(self.second[:, column], 1))

    def product(self, one: ScorePart, other: ScorePart) -> Floats:
        """Return the scores of an answer among ``one`` together with one among ``other``, (m,)."""
        found: Floats = self.score.of(one.scores, other.scores, (one.size, other.size))
        return found


Products = Callable[[ScoredPairs], Floats]
"""Function from the scores of two variables to the vectors h, (m, d)."""


class HalfSeen(NamedTuple):
    """Reports of a stratum with only one variable (``first`` or not): distinct reported values and numbers, (m,)."""

    first: bool
    reported: Numbers
    numbers: Floats


class Moments(NamedTuple):
    """Mean of h, (d,), and its covariance, (d, d)."""

    mean: Floats
    covariance: Floats


@dataclass(frozen=True)
class Pairs:
    """Reports of one stratum that carry two variables, by distinct pair of reported values.

    Attributes:
        reported: two columns of shape (m,).
        weights: sum of the weights of the reports with this pair, (m,).
        squares: sum of their squared weights, (m,).
        numbers: number of reports with this pair, (m,).
        halves: reports that carry only one of the variables; empty if they were not counted.
    """

    first: Variable
    second: Variable
    reported: tuple[Numbers, Numbers]
    weights: Floats
    squares: Floats
    numbers: Floats
    halves: tuple[HalfSeen, ...] = ()

    @cached_property
    def n(self) -> int:
        """Number n of reports, not weighted."""
        return int(self.numbers.sum())

    @cached_property
    def size(self) -> float:
        """Effective number of reports, (sum w)^2 / sum w^2."""
        total = float(self.squares.sum())
        return float(self.weights.sum()) ** 2 / total if total else 0.0

    @cached_property
    def score(self) -> PairScore:
        """Coefficients of the score of a cell in the scores of its categories."""
        return pair_score(self.first, self.second)

    @cached_property
    def products(self) -> ScoreProducts:
        """Sums of products of both variables' scores over all reports."""
        return score_products((self.first, self.second), self.reported, (self.weights, self.squares))

    def heaviness(self, rows: Floats, columns: Floats) -> Floats:
        """Return sum w^2 / sum w in each group of rows and columns, divided by sum w^2 / sum w of all reports, (g, h).

        It is known where the reports show who is in a group, by a public variable, and 1 elsewhere. A cell of two
        public variables without reports takes the ratio of its row.

        Args:
            rows: 1 for each category in each group, (k, g).
            columns: likewise of the second variable, (l, h).
        """
        if not self.is_weighted:
            return np.ones((rows.shape[1], columns.shape[1]))
        one, other = (
            each.scores(reported) @ group if each.public and each.categories else np.ones((len(reported), len(group.T)))
            for each, reported, group in zip(self._both, self.reported, (rows, columns), strict=True)
        )
        sums, squares = ((one * each[:, None]).T @ other for each in (self.weights, self.squares))
        of_rows = sums.sum(axis=1, keepdims=True), squares.sum(axis=1, keepdims=True)
        sums, squares = np.where(sums > 0, sums, of_rows[0]), np.where(sums > 0, squares, of_rows[1])
        whole = float(self.squares.sum() / self.weights.sum())
        found: Floats = np.divide(squares, sums * whole, out=np.ones_like(sums), where=sums > 0)
        return found

    @cached_property
    def is_weighted(self) -> bool:
        """True unless all weights are equal."""
        return self.n > self.size * (1 + _ROUNDING)

    def blocks(self) -> Iterator[tuple[ScoredPairs, Floats, Floats]]:
        """Yield scores of both variables, weights and squared weights, (m,), in blocks of rows."""
        for start in range(0, len(self.weights), ROWS):
            rows = slice(start, start + ROWS)
            one, other = (_matrix(each, column[rows]) for each, column in zip(self._both, self.reported, strict=True))
            yield ScoredPairs(one, other, self.score), self.weights[rows], self.squares[rows]

    @property
    def _both(self) -> tuple[Variable, Variable]:
        return self.first, self.second


@dataclass(frozen=True)
class Joint:
    """All strata of two variables, at least one, all of the same categories.

    Attributes:
        reports: number of those considered.
        waves: number of waves of the same people whose reports are added up.
    """

    strata: tuple[Pairs, ...]
    reports: int
    waves: int = 1

    @property
    def first(self) -> Variable:
        """First variable, as in the newest stratum."""
        return self.strata[-1].first

    @property
    def second(self) -> Variable:
        """Second variable, as in the newest stratum."""
        return self.strata[-1].second

    @property
    def n(self) -> int:
        """Number of reports that carry both variables."""
        return sum(pairs.n for pairs in self.strata)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Share of each stratum in the pooled estimate, by inverse variance; they sum to 1."""
        if len(self.strata) == 1:
            return (1.0,)
        # Weights from the channels and not from the data, so that pooling stays unbiased.
        precision = [pairs.size / _uniform_square(pairs) for pairs in self.strata]
        return tuple(each / sum(precision) for each in precision)

    @property
    def deff(self) -> float:
        """Design effect of the weights, n sum w^2 / (sum w)^2: the largest of all strata."""
        return max(pairs.n / pairs.size for pairs in self.strata)

    def channels(self, row: int, column: int) -> list[CellChannel]:
        """Return the channels of a cell, by stratum."""
        own = (np.arange(len(self.first.categories)) == row, np.arange(len(self.second.categories)) == column)
        rows, columns = (np.stack([each, ~each], axis=1).astype(float) for each in own)
        found = []
        for pairs, share in zip(self.strata, self.shares, strict=True):
            of, block = (
                (pairs.first.channels[row], pairs.second.channels[column]),
                block_pair(pairs.first, pairs.second),
            )
            both, only, other, none = pairs.heaviness(rows, columns).ravel().tolist()
            found.append(CellChannel(*of, pairs.size, share, block, (both, only, other, none)))
        return found

    def design_effect(self, products: Products) -> float:
        """Return the variance of means of products over the variance with n / deff equal reports, on average."""
        if not any(pairs.is_weighted for pairs in self.strata):
            return 1.0
        even = [
            replace(pairs, squares=pairs.weights * (pairs.squares.sum() / pairs.weights.sum())) for pairs in self.strata
        ]
        found, expected = (each.moments(products).covariance for each in (self, replace(self, strata=tuple(even))))
        precision = np.linalg.pinv(expected, hermitian=True, rcond=_ROUNDING)
        return float(np.trace(precision @ found) / max(np.trace(precision @ expected), 1.0))

    def people(self, row: int) -> float:
        """Return the effective number of people in a category of the first variable, (sum w)^2 / sum w^2 of these."""
        own, every = np.eye(len(self.first.categories))[:, [row]], np.ones((max(len(self.second.categories), 1), 1))
        found = 0.0
        for pairs in self.strata:
            share = pairs.products.once[1 + row, 0] / pairs.products.once[0, 0]
            found += pairs.size * max(float(share), 0.0) / float(pairs.heaviness(own, every)[0, 0])
        return found

    def moments(self, products: Products) -> Moments:
        """Return the mean of h over all reports, (d,), and its covariance, (d, d)."""
        sums = [_sums(pairs, products) for pairs in self.strata]
        parts = [share * total.first / total.weight for share, total in zip(self.shares, sums, strict=True)]
        mean: Floats = np.sum(parts, axis=0)
        covariance = np.zeros((len(mean), len(mean)))
        for share, total in zip(self.shares, sums, strict=True):
            centred = total.second - np.outer(mean, total.squared) - np.outer(total.squared, mean)
            centred += total.squares * np.outer(mean, mean)
            covariance += centred * (share / total.weight) ** 2
        # Bessel's correction; ``max`` keeps a single report from dividing by 0.
        return Moments(mean, covariance * self.n / max(self.n - 1, 1))


def joint(strata: Sequence[Pairs], reports: int, waves: int = 1) -> Joint:
    """Combine the strata of two variables that have reports; raise EstimateError if no report carries both."""
    some = tuple(pairs for pairs in strata if pairs.n and pairs.size)
    if not some:
        raise EstimateError("no report contains both questions")
    return Joint(some, reports, waves)


def count_pairs(
    first: Variable, second: Variable, columns: tuple[Numbers, Numbers], weights: Floats | None = None
) -> Pairs:
    """Count the reports that carry both variables, by pair of reported values.

    Args:
        columns: reported values, each of shape (n,) and unsigned; the largest number of the type means "not asked".
        weights: weights of the reports, (n,), positive; all 1 by default.
    """
    sizes = tuple(int(column.max(initial=0, where=column != null_of(column))) + 1 for column in columns)
    # Few distinct pairs: all later sums run over pairs instead of reports.
    if (sizes[0] + 1) * (sizes[1] + 1) <= MOST_COUNTED:
        reported, sums, squares, numbers = _counted(columns, sizes, weights)
    else:
        reported, sums, squares, numbers = _one_by_one(columns, weights)
    seen = first.observed(reported[0]) & second.observed(reported[1])
    # A mask copies every column, which is slow for many reports.
    if seen.all():
        return Pairs(first, second, reported, sums, squares, numbers)
    return Pairs(first, second, (reported[0][seen], reported[1][seen]), sums[seen], squares[seen], numbers[seen])


def _one_by_one(
    columns: tuple[Numbers, Numbers], weights: Floats | None
) -> tuple[tuple[Numbers, Numbers], Floats, Floats, Floats]:
    complete = (columns[0] != null_of(columns[0])) & (columns[1] != null_of(columns[1]))
    rows: Any = slice(None) if complete.all() else complete
    reported = columns[0][rows], columns[1][rows]
    numbers = np.ones(len(reported[0]))
    if weights is None:
        return reported, numbers, numbers, numbers
    sums = np.asarray(weights, dtype=float)[rows]
    return reported, sums, sums**2, numbers


def count_halves(first: Variable, second: Variable, columns: tuple[Numbers, Numbers]) -> tuple[HalfSeen, ...]:
    """Count the reports that carry only one of two variables, by reported value; columns as for ``count_pairs``."""
    there = [column != null_of(column) for column in columns]
    for variable, column, rows in zip((first, second), columns, there, strict=True):
        rows[rows] = variable.observed(column[rows])
    found = []
    for is_first, column, alone in (
        (True, columns[0], there[0] & ~there[1]),
        (False, columns[1], there[1] & ~there[0]),
    ):
        reported, numbers = np.unique(column[alone], return_counts=True)
        found.append(HalfSeen(is_first, reported, numbers.astype(float)))
    return tuple(half for half in found if len(half.reported))


def _counted(
    columns: tuple[Numbers, Numbers], sizes: tuple[int, ...], weights: Floats | None
) -> tuple[tuple[Numbers, Numbers], Floats, Floats, Floats]:
    """Return the distinct pairs, and for each the sums of weights and squared weights and the number of reports."""
    wide = sizes[1] + 1
    places = (sizes[0] + 1) * wide
    # Without weights all three sums are equal, so one is counted.
    totals = np.zeros((1 if weights is None else 3, places))
    # Narrow keys need less memory bandwidth.
    kind = np.min_scalar_type(places)
    for start in range(0, len(columns[0]), BLOCK):
        rows = slice(start, start + BLOCK)
        # "Not asked" is larger than every value, so the minimum maps it to the index after the last one.
        one, other = (np.minimum(column[rows], size).astype(kind) for column, size in zip(columns, sizes, strict=True))
        keys = one * kind.type(wide) + other
        totals[0] += np.bincount(keys, minlength=places)
        if weights is not None:
            given = np.asarray(weights[rows], dtype=float)
            totals[1] += np.bincount(keys, given, places)
            totals[2] += np.bincount(keys, given**2, places)
    there = np.flatnonzero(totals[0].reshape(-1, wide)[:-1, :-1].ravel())
    reported = np.divmod(there, sizes[1])
    numbers = totals[:, reported[0] * wide + reported[1]]
    return reported, numbers[len(numbers) // 2], numbers[-1], numbers[0]


class _Sums(NamedTuple):
    weight: float
    squares: float
    first: Floats
    squared: Floats
    second: Floats


def _sums(pairs: Pairs, products: Products) -> _Sums:
    """Return the sums of w, w^2, w h, w^2 h and w^2 h h' over the reports of a stratum."""
    parts = []
    for scored, weights, squares in pairs.blocks():
        h = products(scored)
        parts.append((weights.sum(), squares.sum(), weights @ h, squares @ h, (h * squares[:, None]).T @ h))
    return _Sums(*(sum(column) for column in zip(*parts, strict=True)))


def _matrix(variable: Variable, reported: Numbers) -> Floats:
    scores = variable.scores(reported)
    return scores if scores.ndim == 2 else scores[:, None]


def _uniform_square(pairs: Pairs) -> float:
    """Return the mean square of the score of a pair for uniform true answers, summed over the categories."""
    together = block_pair(pairs.first, pairs.second)
    if together is None:
        return _mean_square(pairs.first) * _mean_square(pairs.second)
    # With uniform answers all combinations are reported equally often.
    rows, columns = len(pairs.first.categories) - 1, len(pairs.second.categories) - 1
    both, only, other, none = (score**2 for score in together.scores)
    return both + columns * only + rows * other + rows * columns * none


def _mean_square(variable: Variable) -> float:
    if not variable.channels:
        return float(np.mean([float(mark) ** 2 for mark in getattr(variable, "marks", (1.0,))]))
    share = 1 / len(variable.channels)
    reported = [(b + (a - b) * share, a, b) for a, b in variable.channels]
    return sum((chance * (1 - b) ** 2 + (1 - chance) * b**2) / (a - b) ** 2 for chance, a, b in reported)


def answered_part(scores: Floats, absent: bool) -> ScorePart:
    """Return unbiased scores of having answered; the last of the scores, (m, k), is no answer if ``absent``."""
    size = scores.shape[1]
    return ScorePart(1 - scores[:, -1], size - 1) if absent else ScorePart(np.ones(len(scores)), size)


def null_of(column: Numbers) -> int:
    """Return the code for "not asked" in a column: the largest number of its type."""
    return int(np.iinfo(column.dtype).max)
