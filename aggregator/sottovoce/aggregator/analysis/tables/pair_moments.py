"""Compute moments of two variables, means of products of scores with their covariance, and test independence by them.

Reports     Those in which both variables were observed; this never depends on the true answers. Equal pairs of reported
            values are counted first, so ten million reports of two yes/no questions become four rows.
Mean        m = sum w h / sum w, h(report) any vector of products of scores: unbiased for any population.
            Variables of one block have scores of their own for a product, see ``joint_channel``.
Covariance  sum w^2 (h - m)(h - m)' / (sum w)^2 n / (n - 1): the sandwich with weights, the sample covariance without.
Strata      Reports through different channels, such as those of an earlier revision, form strata. Each is weighted by
            its effective n over the variance of its scores in a uniform population. That variance is known before
            any report arrives, so choosing it causes no bias.
Effective   n_eff = (sum w)^2 / sum w^2.
Sums        With v = (1, scores of A, scores of B) of each report, and s the squares of v: sums of w v v', w^2 v v',
            w^2 s v' and w^2 s s' suffice for a table, its errors and the test of independence. The score of a category
            takes only two values, z = (x - b) / (a - b) with x = 1 if the report supports the category, else 0. For
            categories, all four sums therefore follow from the number of reports that support any two of them: one
            product of 0/1 matrices instead of four products of scores. If reported values are bit masks, these numbers
            follow from how often two bytes of a report have each pair of values: a count per report and pair.

The test of independence holds for any two variables and all channels:

Test        S_A and S_B the centred scores; T = S_A' S_B, G_A = S_A' S_A. Q = (n - 1) tr(G_A^- T G_B^- T') is
            chi-square with rank G_A x rank G_B degrees of freedom. The covariance comes from the permutation
            distribution, so the true shares are not needed. For square channels Q is Pearson's chi-square of the
            reported table times (n - 1)/n; for bit masks, where Pearson's test is not valid, it keeps its level (.035
            to .065 at 5 %).
Strata      t = T / n and V = (G_A (x) G_B) / ((n - 1) n^2) of each stratum, Q = (sum V^- t)' (sum V^-)^- (sum V^- t).
            Strata are groups by a third variable, or revisions with different channels, whose populations may drift.
Block       Two questions of one block are reported together, so their reports depend on each other even where the
            answers do not: t = mean z_ij - mean z_i mean z_j of the cells' own scores, and V from the channel at the
            estimated margins of independent answers.
Weights     n is the effective number of reports, T sums weighted products, and G_A and G_B sum squares and products by
            squared weight: right where weights go with one of the variables, as those of regions do.
Not valid   A chi-square test of estimated counts: it rejects a true null hypothesis in 62 to 79 of 100 samples.
Source      Pillai 1955 (the trace); Mantel 1963 (strata).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, cell_moments
from sottovoce.aggregator.estimators.blocks.joint_channel import PairScore, block_pair, joint_likelihood, pair_score
from sottovoce.aggregator.estimators.intervals import upper_tail
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, Reported, Variable, YesNo, bits
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.errors import EstimateError

ROWS = 100_000
"""Number of rows in a block; not a power of two, because columns of a block would then compete for cache lines."""

MOST_CELLS = 900
"""Most cells of a block's table for a test, as of two questions with 30 options each."""

_RANK = 1e-9


class CellProducts(NamedTuple):
    """Sums over the scores z_ij of all cells, (k, m) each: of w z_ij, w^2 z_ij, w^2 z_ij z_i and w^2 z_ij^2."""

    once: Floats
    twice: Floats
    by_row: Floats
    squares: Floats


class ScoreProducts(NamedTuple):
    """Sums of w v v', w^2 v v', w^2 s v' and w^2 s s', each (1 + k + m, 1 + k + m) for k and m scores."""

    once: Floats
    twice: Floats
    squared: Floats
    fourth: Floats

    def cells(self, end: int, score: PairScore) -> CellProducts:
        """Return sums of the scores of all cells; ``end`` is the index of the first score of the second variable."""
        rows, columns, (both, first, second, rest) = slice(1, end), slice(end, None), score
        # The factor of a cell's score is 1 or, in the third sum, the score of its row.
        factors = ((self.once, self.once[:1]), (self.twice, self.twice[:1]), (self.squared, self.twice[rows]))
        once, twice, by_row = (
            both * sums[rows, columns] + first * sums[rows, :1] + second * factor[:, columns] + rest * factor[:, :1]
            for sums, factor in factors
        )
        # Sums of w^2 (both z z' + first z + second z' + rest)^2.
        fourth, crossed, other = self.fourth[rows, columns], self.squared[rows, columns], self.squared[columns, rows].T
        own, of_second = self.squared[rows, :1], self.squared[columns, :1].T
        squares: Floats = both**2 * fourth + 2 * both * (first * crossed + second * other)
        squares += first**2 * own + second**2 * of_second + rest**2 * self.twice[0, 0]
        squares += 2 * (both * rest + first * second) * self.twice[rows, columns]
        squares += 2 * rest * (first * self.twice[rows, :1] + second * self.twice[:1, columns])
        return CellProducts(once, twice, by_row, squares)


ReportedPair = tuple[tuple[Variable, Reported], ...]
"""Two variables, each with its reported values."""


def _by_scores(pairs: "Pairs", both: ReportedPair) -> ScoreProducts:
    parts = []
    for start in range(0, max(len(pairs.weights), 1), ROWS):
        rows = slice(start, start + ROWS)
        columns = [_matrix(each, column[rows]).T for each, column in both]
        v = np.concatenate([np.ones((1, columns[0].shape[1])), *columns])
        s, w, w2 = v**2, pairs.weights[rows], pairs.squares[rows]
        parts.append(((v * w) @ v.T, (v * w2) @ v.T, (s * w2) @ v.T, (s * w2) @ s.T))
    return ScoreProducts(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))


def _by_support(pairs: "Pairs", both: ReportedPair, alike: bool) -> ScoreProducts:
    # Without weights the counts are whole numbers, which float32 adds exactly in half the memory.
    width = 1 + sum(len(each.channels) for each, _ in both)
    once, twice = np.zeros((width, width)), np.zeros((width, width))
    for start in range(0, max(len(pairs.weights), 1), ROWS):
        rows = slice(start, start + ROWS)
        # float32 is exact for whole numbers up to 2^24, and a block has fewer rows.
        block = np.ones((width, len(pairs.weights[rows])), dtype=np.float32 if alike else np.float64)
        place = 1
        for variable, column in both:
            supported = variable.supports(column[rows])  # type: ignore[attr-defined]
            block[place : place + supported.shape[1]] = supported.T
            place += supported.shape[1]
        once += block @ block.T if alike else (block * pairs.weights[rows]) @ block.T
        twice += 0 if alike else (block * pairs.squares[rows]) @ block.T
    return _scored(both, once, once if alike else twice)


def _of_masks(pairs: "Pairs", both: ReportedPair, alike: bool) -> ScoreProducts:
    octets: list[Reported] = []
    places: list[list[int]] = []
    for variable, column in both:
        first = 1 + sum(map(len, places))
        for start in range(0, len(variable.channels), 8):
            octets.append((column >> column.dtype.type(start)).astype(np.uint8))
            places.append(list(range(first, first + len(variable.channels)))[start : start + 8])
    once = _supports_of_octets(octets, places, None if alike else pairs.weights)
    return _scored(both, once, once if alike else _supports_of_octets(octets, places, pairs.squares))


def _supports_of_octets(octets: Sequence[Reported], places: Sequence[Sequence[int]], weights: Floats | None) -> Floats:
    """Sum the weights of the reports that support any two categories.

    Args:
        octets: bytes of the masks, (n,) each; at least two.
        places: rows of the result for the bits of each byte, lowest first; row 0 counts all reports.
        weights: (n,); None if all are 1.
    """
    supports = np.concatenate([np.ones((256, 1)), bits(np.arange(256), 8)], axis=1)
    sums = np.zeros((1 + sum(map(len, places)),) * 2)
    for one, other in combinations(range(len(octets)), 2):
        counts = _count_octets(octets[one], octets[other], weights)
        rows, columns = [0, *places[one]], [0, *places[other]]
        crossed = (supports.T @ counts @ supports)[: len(rows), : len(columns)]
        sums[np.ix_(rows, columns)], sums[np.ix_(columns, rows)] = crossed, crossed.T
        for own, total in ((rows, counts.sum(axis=1)), (columns, counts.sum(axis=0))):
            sums[np.ix_(own, own)] = ((supports.T * total) @ supports)[: len(own), : len(own)]
    return sums


def _count_octets(one: Reported, other: Reported, weights: Floats | None) -> Floats:
    """Sum the weights by pair of values of two bytes, (256, 256)."""
    counts = np.zeros(1 << 16)
    for start in range(0, len(one), ROWS):
        rows = slice(start, start + ROWS)
        keys = one[rows].astype(np.uint16) << 8 | other[rows]
        counts += np.bincount(keys, None if weights is None else weights[rows], 1 << 16)
    return counts.reshape(256, 256)


def _scored(both: ReportedPair, once: Floats, twice: Floats) -> ScoreProducts:
    """Convert counts of supports into sums of scores; z = high x + low (1 - x), and likewise for squares."""
    channels = [channel for each, _ in both for channel in each.channels]
    low = np.array([-b / (a - b) for a, b in channels])
    high = np.array([(1 - b) / (a - b) for a, b in channels])
    # These map (1, supports) to (1, values).
    to_scores, to_squares = (np.diag(np.append(1.0, high**power - low**power)) for power in (1, 2))
    to_scores[1:, 0], to_squares[1:, 0] = low, low**2
    return ScoreProducts(
        to_scores @ once @ to_scores.T,
        to_scores @ twice @ to_scores.T,
        to_squares @ twice @ to_scores.T,
        to_squares @ twice @ to_squares.T,
    )


def _matrix(variable: Variable, reported: Reported) -> Floats:
    scores = variable.scores(reported)
    return scores if scores.ndim == 2 else scores[:, None]


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
        both = (self.first, self.reported[0]), (self.second, self.reported[1])
        alike = bool((self.weights == 1).all() and (self.squares == 1).all())
        if all(isinstance(each, ChoiceVariable) and each.masks for each, _ in both):
            return _of_masks(self, both, alike)
        # Other scores depend on more than support of one category, so they need the general path.
        if all(isinstance(each, YesNo | ChoiceVariable) for each, _ in both):
            return _by_support(self, both, alike)
        return _by_scores(self, both)

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
            for each, reported, group in zip((self.first, self.second), self.reported, (rows, columns), strict=True)
        )
        sums, squares = ((one * each[:, None]).T @ other for each in (self.weights, self.squares))
        of_rows = sums.sum(axis=1, keepdims=True), squares.sum(axis=1, keepdims=True)
        sums, squares = np.where(sums > 0, sums, of_rows[0]), np.where(sums > 0, squares, of_rows[1])
        whole = float(self.squares.sum() / self.weights.sum())
        return np.divide(squares, sums * whole, out=np.ones_like(sums), where=sums > 0)

    @cached_property
    def is_weighted(self) -> bool:
        """True unless all weights are equal."""
        return self.n > self.size * (1 + _ROUNDING)

    def among(self, rows: NDArray[np.bool_]) -> "Pairs":
        """Return the reports of a mask, (m,)."""
        sums = {name: getattr(self, name)[rows] for name in ("weights", "squares", "numbers")}
        return replace(self, reported=(self.reported[0][rows], self.reported[1][rows]), **sums)

    def blocks(self) -> Iterator[tuple[ScoredPairs, Floats, Floats]]:
        """Yield scores of both variables, weights and squared weights, (m,), in blocks of rows."""
        for start in range(0, len(self.weights), ROWS):
            rows = slice(start, start + ROWS)
            one, other = _matrix(self.first, self.reported[0][rows]), _matrix(self.second, self.reported[1][rows])
            yield ScoredPairs(one, other, self.score), self.weights[rows], self.squares[rows]


@dataclass(eq=False)
class Joint:
    """All strata of two variables, at least one, all of the same categories.

    Attributes:
        reports: number of those considered.
        waves: number of waves of the same people whose reports are added up.
        first, second: variables, as in the newest stratum.
        may_decline: True if people may have left one of the two variables unanswered.
        answered_shape: numbers of rows and columns without those of people who gave no answer.
        n: number of reports that carry both variables.
        deff: design effect of the weights, n sum w^2 / (sum w)^2: the largest of all strata.
        shares: share of each stratum in the pooled estimate, by inverse variance; they sum to 1.
    """

    strata: tuple[Pairs, ...]
    reports: int
    waves: int = 1

    def __post_init__(self) -> None:
        """Set what follows from the strata."""
        self.first, self.second = self.strata[-1].first, self.strata[-1].second
        self.may_decline = self.first.absent or self.second.absent
        self.answered_shape = len(self.first.answered), max(len(self.second.answered), 1)
        self.n = sum(pairs.n for pairs in self.strata)
        self.deff = max(pairs.n / pairs.size for pairs in self.strata)
        # Weights from the channels and not from the data, so that pooling stays unbiased.
        several = len(self.strata) > 1
        precision = [pairs.size / _uniform_square(pairs) if several else 1.0 for pairs in self.strata]
        self.shares = tuple(each / sum(precision) for each in precision)

    def channels(self, row: int, column: int) -> list[CellChannel]:
        """Return the channels of a cell, by stratum."""
        own = (np.arange(len(self.first.categories)) == row, np.arange(len(self.second.categories)) == column)
        rows, columns = (np.stack([each, ~each], axis=1).astype(float) for each in own)
        found = []
        for pairs, share in zip(self.strata, self.shares, strict=True):
            block = block_pair(pairs.first, pairs.second)
            moments = cell_moments(pairs.first.channels[row], pairs.second.channels[column], block)
            both, only, other, none = pairs.heaviness(rows, columns).ravel().tolist()
            found.append(CellChannel(moments, pairs.size, share, (both, only, other, none)))
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
        parts = [share * first / weight for share, (weight, _, first, _, _) in zip(self.shares, sums, strict=True)]
        mean: Floats = np.sum(parts, axis=0)
        covariance = np.zeros((len(mean), len(mean)))
        for share, (weight, squares, _, squared, second) in zip(self.shares, sums, strict=True):
            centred = second - np.outer(mean, squared) - np.outer(squared, mean)
            centred += squares * np.outer(mean, mean)
            covariance += centred * (share / weight) ** 2
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
    sizes = tuple(int(column.max(initial=0, where=~is_null(column))) + 1 for column in columns)
    # Few distinct pairs: all later sums run over pairs instead of reports.
    if (sizes[0] + 1) * (sizes[1] + 1) <= MOST_COUNTED:
        found = Pairs(first, second, *_counted(columns, sizes, weights))
    else:
        found = Pairs(first, second, *_one_by_one(columns, weights))
    seen = first.observed(found.reported[0]) & second.observed(found.reported[1])
    # A mask copies every column, which is slow for many reports.
    return found if seen.all() else found.among(seen)


def _one_by_one(
    columns: tuple[Numbers, Numbers], weights: Floats | None
) -> tuple[tuple[Numbers, Numbers], Floats, Floats, Floats]:
    complete = ~(is_null(columns[0]) | is_null(columns[1]))
    rows: Any = slice(None) if complete.all() else complete
    reported = columns[0][rows], columns[1][rows]
    numbers = np.ones(len(reported[0]))
    if weights is None:
        return reported, numbers, numbers, numbers
    sums = np.asarray(weights, dtype=float)[rows]
    return reported, sums, sums**2, numbers


def count_halves(first: Variable, second: Variable, columns: tuple[Numbers, Numbers]) -> tuple[HalfSeen, ...]:
    """Count the reports that carry only one of two variables, by reported value; columns as for ``count_pairs``."""
    there = [~is_null(column) for column in columns]
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
    reported = np.divmod(np.flatnonzero(totals[0].reshape(-1, wide)[:-1, :-1].ravel()), sizes[1])
    numbers = totals[:, reported[0] * wide + reported[1]]
    return reported, numbers[len(numbers) // 2], numbers[-1], numbers[0]


def _sums(pairs: Pairs, products: Products) -> list[Any]:
    """Return the sums of w, w^2, w h, w^2 h and w^2 h h' over the reports of a stratum."""
    parts = []
    for scored, weights, squares in pairs.blocks():
        h = products(scored)
        parts.append((weights.sum(), squares.sum(), weights @ h, squares @ h, (h * squares[:, None]).T @ h))
    return [sum(column) for column in zip(*parts, strict=True)]


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


class Independence(NamedTuple):
    """A result of a test of independence: Q, chi-square under independence, its degrees of freedom and p value."""

    statistic: float
    df: int
    p: float


def independence(strata: Sequence[Pairs]) -> Independence | None:
    """Test independence within strata, of which those with at most one effective report are ignored.

    None if in no stratum both variables vary, or for too large a table of two questions of a block.
    """
    some = [pairs for pairs in strata if pairs.size > 1]
    apart = all(block_pair(pairs.first, pairs.second) is None for pairs in some)
    if not some or (not apart and len(some[0].first.categories) * len(some[0].second.categories) > MOST_CELLS):
        return None
    if apart and len(some) == 1:
        between, *own = _scatter(some[0])
        (first, rank), (second, other) = map(inverse, own)
        test = _chi_square(float((some[0].size - 1) * np.trace(first @ between @ second @ between.T)), rank * other)
    else:
        test = pooled_test([_of_stratum(pairs) for pairs in some])
    return test if test.df else None


def pooled_test(parts: Sequence[tuple[Floats, Floats]]) -> Independence:
    """Test that deviations (d,) are all 0, each with its precision (d, d), the inverse of its covariance."""
    information: Floats = np.sum([precision for _, precision in parts], axis=0)
    moved: Floats = np.sum([precision @ deviation for deviation, precision in parts], axis=0)
    covariance, rank = inverse(information)
    return _chi_square(float(moved @ covariance @ moved), rank)


def _chi_square(statistic: float, df: int) -> Independence:
    # Rounding can make a statistic of 0 negative.
    statistic = max(statistic, 0.0)
    return Independence(statistic, df, upper_tail(statistic, df))


def across_waves(test: Independence | None, strata: Sequence[Pairs], waves: int) -> Independence | None:
    """Return a test that takes in several waves of the same people.

    Maths: the statistic divided by 1 + (waves - 1) r r', r and r' the part of the scores' variance in one report that
    is between people: the mean factor of their products' variance (Rao and Scott 1984).
    """
    if test is None or waves == 1:
        return test
    part = np.average([prod(_between_people(each)) for each in strata], weights=[each.size for each in strata])
    return _chi_square(test.statistic / (1 + (waves - 1) * float(part)), test.df)


def _between_people(pairs: Pairs) -> Iterator[float]:
    """Yield for both variables the part of the scores' variance that is between people, by what is estimated."""
    means = np.split(pairs.products.once[0, 1:] / pairs.products.once[0, 0], [max(len(pairs.first.categories), 1)])
    for variable, within, mean in zip((pairs.first, pairs.second), _scatter(pairs)[1:], means, strict=True):
        least, most = (0.0, 1.0) if variable.categories else (variable.levels[0], variable.levels[-1])
        people = float(np.maximum((mean - least) * (most - mean), 0.0).sum())
        yield people / max(float(np.trace(within)) / pairs.size, people) if people else 0.0


def _of_stratum(pairs: Pairs) -> tuple[Floats, Floats]:
    """Return the deviation of one stratum from independence, and its precision."""
    if block_pair(pairs.first, pairs.second) is not None:
        return _of_block(pairs)
    between, *own = _scatter(pairs)
    inverses = np.kron(*(inverse(each)[0] for each in own))
    return (between / pairs.size).ravel(), np.asarray((pairs.size - 1) * pairs.size**2 * inverses, dtype=np.float64)


def _of_block(pairs: Pairs) -> tuple[Floats, Floats]:
    """Return t and the inverse of V of one stratum of two questions of a block, (d,) and (d, d)."""
    sizes = len(pairs.first.categories), len(pairs.second.categories)
    sums, end = pairs.products, 1 + sizes[0]
    rows, columns = sums.once[1:end, 0] / sums.once[0, 0], sums.once[0, end:] / sums.once[0, 0]
    deviation = sums.cells(end, pairs.score).once / sums.once[0, 0] - np.outer(rows, columns)
    # A variance is a moment of a possible population, so negative estimates are set to 0 and the rest rescaled.
    one, other = (np.maximum(shares, 0.0) / np.maximum(shares, 0.0).sum() for shares in (rows, columns))
    reported = tuple(each.ravel() for each in np.indices(sizes))
    chances = np.einsum("yij,i,j->y", joint_likelihood((pairs.first, pairs.second), reported), one, other)
    z, z_other = pairs.first.scores(reported[0])[:, :, None], pairs.second.scores(reported[1])[:, None]
    moved = pairs.score.of(z, z_other) - one[:, None] * z_other - other * z + np.outer(one, other)
    moved = moved.reshape(len(chances), -1)
    precision: Floats = inverse((moved * (chances / chances.sum())[:, None]).T @ moved)[0] * pairs.size
    return deviation.ravel(), precision


def _scatter(pairs: Pairs) -> tuple[Floats, Floats, Floats]:
    """Return centred sums of products of scores: between the variables, and within each."""
    # Both kinds of weights are rescaled to sum to the effective number of reports.
    once, twice = (sums * (pairs.size / sums[0, 0]) for sums in pairs.products[:2])
    centred = once - np.outer(once[0], once[0]) / pairs.size
    if pairs.is_weighted:
        mean = once[0] / pairs.size
        twice = twice - np.outer(mean, twice[0]) - np.outer(twice[0], mean) + np.outer(mean, mean) * pairs.size
    own, end = twice if pairs.is_weighted else centred, 1 + max(len(pairs.first.categories), 1)
    return centred[1:end, end:], own[1:end, 1:end], own[end:, end:]


def inverse(scatter: Floats, size: float = 0.0) -> tuple[Floats, int]:
    """Return the pseudo-inverse of a covariance matrix (k, k), symmetric and positive semidefinite, and its rank.

    ``size`` is the largest sum of its terms' sizes: what rounding leaves of them counts as 0.
    """
    # Scores of all categories may sum to a constant, so the matrix is often singular.
    values, vectors = np.linalg.eigh(scatter)
    nonzero = values > _RANK * values.max(initial=size)
    inverse: Floats = (vectors[:, nonzero] / values[nonzero]) @ vectors[:, nonzero].T
    return inverse, int(nonzero.sum())
