"""Sum products of scores over many reports: sufficient for a table, its errors and the test of independence.

With v = (1, scores of A, scores of B) of each report, and s the squares of v, these are the sums of w v v', w^2 v v',
w^2 s v' and w^2 s s'. The score of a category takes only two values, z = (x - b) / (a - b) with x = 1 if the report
supports the category, else 0. For categories, all four sums therefore follow from the number of reports that support
any two of them: one product of 0/1 matrices instead of four products of scores. If reported values are bit masks, these
numbers follow from how often two bytes of a report have each pair of values: a count per report and pair.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.estimators.blocks.joint_channel import PairScore
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, Reported, Variable, YesNo, bits

ROWS = 100_000
"""Number of rows in a block; not a power of two, because columns of a block would then compete for cache lines."""


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
        rows, columns = slice(1, end), slice(end, None)
        once, twice = (_crossed(sums, sums, end, score) for sums in (self.once, self.twice))
        return CellProducts(
            once, twice, _crossed(self.squared, self.twice, end, score), self._squares(rows, columns, score)
        )

    def _squares(self, rows: slice, columns: slice, score: PairScore) -> Floats:
        """Return sums of w^2 (both z z' + first z + second z' + rest)^2."""
        both, first, second, rest = score
        fourth, crossed, other = self.fourth[rows, columns], self.squared[rows, columns], self.squared[columns, rows].T
        own, of_second = self.squared[rows, :1], self.squared[columns, :1].T
        found: Floats = both**2 * fourth + 2 * both * (first * crossed + second * other)
        found += first**2 * own + second**2 * of_second + rest**2 * self.twice[0, 0]
        found += 2 * (both * rest + first * second) * self.twice[rows, columns]
        found += 2 * rest * (first * self.twice[rows, :1] + second * self.twice[:1, columns])
        return found


def _crossed(sums: Floats, of_second: Floats, end: int, score: PairScore) -> Floats:
    """Return sums of a cell's score times a factor of its row, 1 or the row's score; ``of_second``: factor alone."""
    factor = of_second[:1] if of_second is sums else of_second[1:end]
    both, first, second, rest = score
    found: Floats = both * sums[1:end, end:] + first * sums[1:end, :1]
    return found + second * factor[:, end:] + rest * factor[:, :1]


def score_products(
    variables: tuple[Variable, Variable], reported: tuple[Reported, Reported], weights: tuple[Floats, Floats]
) -> ScoreProducts:
    """Compute the sums over reports, from reported values, (n,), of both variables, and w and w^2, (n,) each."""
    if all(isinstance(each, ChoiceVariable) and each.masks and not each.balanced for each in variables):
        return _of_masks(variables, reported, weights)
    # Balanced scores depend on more than support of one category, so they need the general path.
    if all(isinstance(each, YesNo) or (isinstance(each, ChoiceVariable) and not each.balanced) for each in variables):
        return _by_support(variables, reported, weights)
    return _by_scores(variables, reported, weights)


def _by_scores(
    variables: tuple[Variable, Variable], reported: tuple[Reported, Reported], weights: tuple[Floats, Floats]
) -> ScoreProducts:
    parts = []
    for rows in _slices(len(weights[0])):
        columns = [_matrix(each, column[rows]).T for each, column in zip(variables, reported, strict=True)]
        v = np.concatenate([np.ones((1, columns[0].shape[1])), *columns])
        s, w, w2 = v**2, weights[0][rows], weights[1][rows]
        parts.append(((v * w) @ v.T, (v * w2) @ v.T, (s * w2) @ v.T, (s * w2) @ s.T))
    return ScoreProducts(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))


def _by_support(
    variables: tuple[Variable, Variable], reported: tuple[Reported, Reported], weights: tuple[Floats, Floats]
) -> ScoreProducts:
    # Without weights the counts are whole numbers, which float32 adds exactly in half the memory.
    alike = bool((weights[0] == 1).all() and (weights[1] == 1).all())
    channels = [channel for each in variables for channel in each.channels]
    width = 1 + len(channels)
    once, twice = np.zeros((width, width)), np.zeros((width, width))
    for rows in _slices(len(weights[0])):
        # float32 is exact for whole numbers up to 2^24, and a block has fewer rows.
        block = np.ones((width, len(weights[0][rows])), dtype=np.float32 if alike else np.float64)
        place = 1
        for variable, column in zip(variables, reported, strict=True):
            supported = variable.supports(column[rows])  # type: ignore[attr-defined]
            block[place : place + supported.shape[1]] = supported.T
            place += supported.shape[1]
        once += block @ block.T if alike else (block * weights[0][rows]) @ block.T
        twice += 0 if alike else (block * weights[1][rows]) @ block.T
    return _scored(channels, once, once if alike else twice)


def _of_masks(
    variables: tuple[Variable, Variable], reported: tuple[Reported, Reported], weights: tuple[Floats, Floats]
) -> ScoreProducts:
    alike = bool((weights[0] == 1).all() and (weights[1] == 1).all())
    octets: list[Reported] = []
    places: list[list[int]] = []
    for variable, column in zip(variables, reported, strict=True):
        first = 1 + sum(map(len, places))
        for start in range(0, len(variable.channels), 8):
            octets.append((column >> column.dtype.type(start)).astype(np.uint8))
            places.append(list(range(first, first + len(variable.channels)))[start : start + 8])
    once = _supports_of_octets(octets, places, None if alike else weights[0])
    twice = once if alike else _supports_of_octets(octets, places, weights[1])
    return _scored([channel for each in variables for channel in each.channels], once, twice)


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
    for rows in _slices(len(one)):
        keys = one[rows].astype(np.uint16) << 8 | other[rows]
        counts += np.bincount(keys, None if weights is None else weights[rows], 1 << 16)
    return counts.reshape(256, 256)


def _scored(channels: list[tuple[float, float]], once: Floats, twice: Floats) -> ScoreProducts:
    """Convert counts of supports into sums of scores; z = high x + low (1 - x), and likewise for squares."""
    low = np.array([-b / (a - b) for a, b in channels])
    high = np.array([(1 - b) / (a - b) for a, b in channels])
    to_scores, to_squares = _affine(low, high), _affine(low**2, high**2)
    return ScoreProducts(
        to_scores @ once @ to_scores.T,
        to_scores @ twice @ to_scores.T,
        to_squares @ twice @ to_scores.T,
        to_squares @ twice @ to_squares.T,
    )


def _affine(low: Floats, high: Floats) -> Floats:
    """Return the matrix that maps (1, supports) to (1, values: ``high`` where supported, else ``low``)."""
    matrix = np.diag(np.concatenate([[1.0], high - low]))
    matrix[1:, 0] = low
    return matrix


def _slices(n: int) -> Iterator[slice]:
    """Return slices of ``ROWS`` rows; at least one, so that sums over no reports are zeros."""
    return (slice(start, start + ROWS) for start in range(0, max(n, 1), ROWS))


def _matrix(variable: Variable, reported: Reported) -> Floats:
    scores = variable.scores(reported)
    return scores if scores.ndim == 2 else scores[:, None]
