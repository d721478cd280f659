"""Check and make weights of reports: design effect, post-stratification and raking to known population margins.

Raking uses public questions only. Raking to the known margin of a randomized question reduces the variance by at most
(phi rel)^2, rel = p (1 - p) (a - b)^2 / (l (1 - l)): with a coin flip and phi = .5 that is 1.6 %. Compare the estimate
with such a margin instead.

Kish                  deff = n sum w^2 / (sum w)^2; the precision equals n / deff equally weighted reports.
Post-stratification   w = N_cell / n_cell for the joint cells of the named questions: raking with a single margin.
Raking                scale the weights to each margin in turn, until all margins hold.
Source                Kish 1965; Deming and Stephan 1940.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.report_columns import Answers, Columns, answers_of
from sottovoce.shared.errors import EstimateError, Sentence

# Conventions: beyond 50 a few reports decide the result, and beyond 10 the reader is warned.
LARGEST_RATIO = 50
LARGE_RATIO = 10
UNEQUAL = "the largest weight is more than {ratio} times the smallest: few reports count for much"


def checked_weights(weights: ArrayLike, n: int) -> Array:
    """Validate weights and return them as an array, (n,).

    Raises EstimateError if there is not one weight per report, a weight is no positive number, or they are too unequal.
    """
    try:
        array = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise EstimateError(f"weights are {n} numbers, one for each report; known margins are called margins") from None
    if array.shape != (n,):
        raise EstimateError(f"there are {array.size} weights for {n} reports; give each report one")
    # A weight of 0 would drop a report silently; dropping belongs to the analyst's selection.
    wrong = ~(np.isfinite(array) & (array > 0))
    if wrong.any():
        raise EstimateError(f"row {int(wrong.argmax()) + 1}: the weight is missing, or not a number above 0")
    if weight_ratio(array) > LARGEST_RATIO:
        raise EstimateError(
            "the largest weight is more than {ratio} times the smallest: a few reports would decide; join small "
            "groups, or trim the weights",
            ratio=LARGEST_RATIO,
        )
    return array


def weights_of_reports(weights: ArrayLike, n: int) -> tuple[Array, tuple[str, ...]]:
    """Validate weights as ``checked_weights``; return an array, (n,), and warnings for readers."""
    array = checked_weights(weights, n)
    return array, tuple(weight_warnings(array))


def weight_ratio(weights: Array) -> float:
    """Return the ratio of the largest to the smallest weight."""
    return float(weights.max() / weights.min()) if weights.size else 1.0


def weight_warnings(weights: Array) -> list[str]:
    """Return warnings for the reader of a result with these weights."""
    return [Sentence(UNEQUAL, ratio=LARGE_RATIO)] if weight_ratio(weights) > LARGE_RATIO else []


def kish_effect(weights: Array) -> float:
    """Return Kish's design effect: the factor by which unequal weights increase the number of reports needed."""
    return float(len(weights) * (weights @ weights) / weights.sum() ** 2)


NO_CELL = "a share of '{variable}' names no cell; the categories are: {known}"
NO_SHARE = "the margin of '{variable}' leaves out '{category}', which some reports have"
SMALL_CELL = "fewer than {least} reports are in '{category}' of '{variable}'; join it with another"
RANDOMIZED = "'{variable}' is randomized: no weights are raked to it; compare the known share with its estimate"
NO_NUMBER = "the margin of '{variable}' must hold numbers of 0 or more"
SMALLEST_CELL = 2
_ROUNDS = 1000
_EXACT = 1e-10

CROSS_SEPARATOR = " x "
"""Separator of questions, and of their categories, in joint margins."""

Codes = NDArray[np.intp]
MarginShares = Mapping[str, Mapping[str, float]]
"""Margins as an analyst writes them: by question (or several joined with " x "), the share, or number, of each cell."""


@dataclass(frozen=True)
class Weights:
    """Weights of the reports, (n,), with mean 1; Kish's design effect; warnings for the reader of results."""

    weights: Array
    deff: float
    warnings: tuple[str, ...]


def raked(columns: Columns, margins: MarginShares) -> Weights:
    """Rake reports to one or more known margins; with a single margin, this is post-stratification.

    Raises:
        EstimateError: a question is unknown, randomized or a number, a margin names an unknown cell or leaves one out,
            a cell has fewer than five reports (in a reader's own file two), the margins contradict each other, or the
            weights become too unequal.
    """
    if not margins:
        raise EstimateError("name at least one margin")
    known, n = [_groups(columns, named, shares) for named, shares in margins.items()], len(columns)
    weights = _fitted(known, n)
    checked = checked_weights(weights * n / weights.sum(), n)
    return Weights(checked, kish_effect(checked), tuple(weight_warnings(checked)))


def _fitted(known: Sequence[tuple[Codes, Array]], n: int) -> Array:
    """Scale the weights to each margin in turn until a whole round changes nothing (iterative proportional fitting)."""
    weights = np.full(n, 1 / n)
    for _ in range(_ROUNDS):
        furthest = 0.0
        for groups, shares in known:
            # Every group has reports, so the divisor is positive; see ``_refuse_cells``.
            factors = shares / np.bincount(groups, weights=weights, minlength=len(shares))
            weights = weights * factors[groups]
            furthest = max(furthest, float(np.abs(factors - 1).max()))
        # All factors near 1 in a whole round: every margin holds at once.
        if furthest < _EXACT:
            return weights
    raise EstimateError("no weights make all these margins hold: they contradict each other or the reports")


def _groups(columns: Columns, named: str, margin: Mapping[str, float]) -> tuple[Codes, Array]:
    """Return the cell of each report, (n,), and the share of each cell that has reports."""
    answers = [answers_of(columns, question) for question in named.split(CROSS_SEPARATOR)]
    _refuse_unfit(answers)
    categories = [each.variable.categories for each in answers]
    cells = [CROSS_SEPARATOR.join(cell) for cell in product(*categories)]
    if not set(margin) <= set(cells):
        known = "; ".join(map(", ".join, categories))
        raise EstimateError(NO_CELL, variable=named, known=known)
    places = tuple(each.scores.argmax(axis=1)[each.codes] for each in answers)
    codes: Codes = np.ravel_multi_index(places, tuple(map(len, categories)))
    people = np.bincount(codes, minlength=len(cells))
    if not all(isinstance(share, Real) for share in margin.values()):
        raise EstimateError(NO_NUMBER, variable=named)
    shares = np.array([float(margin.get(cell, 0.0)) for cell in cells])
    _refuse_cells(named, cells, people, shares, max(SMALLEST_CELL, columns.least))
    # Cells without reports and without share are left out, so that later divisions are defined.
    there = people > 0
    return (np.cumsum(there) - 1)[codes], shares[there] / shares.sum()


def _refuse_unfit(asked: Sequence[Answers]) -> None:
    for answers in asked:
        reasons = (
            (answers.variable.public, RANDOMIZED),
            (answers.variable.categories, "'{variable}' is a number; weights are raked to the options of a question"),
            (answers.observed.all(), "'{variable}' was not asked of everybody, so that not every report gets a weight"),
        )
        for reason in (reason for is_fit, reason in reasons if not is_fit):
            raise EstimateError(reason, variable=answers.name)


def _refuse_cells(name: str, cells: Sequence[str], people: NDArray[np.intp], shares: Array, least: int) -> None:
    if not (np.isfinite(shares).all() and np.all(shares >= 0) and shares.sum() > 0):
        raise EstimateError(NO_NUMBER, variable=name)
    # Values above 1 are numbers of people, which need not add up to anything.
    if shares.max() <= 1 and abs(shares.sum() - 1) > 1e-6:
        raise EstimateError("the shares of '{variable}' do not add up to 1", variable=name)
    for cell, count, share in zip(cells, people, shares, strict=True):
        if count and not share:
            raise EstimateError(NO_SHARE, variable=name, category=cell)
        # A single report would carry the weight of a whole cell, and the weights of a few tell how many they are.
        if share and count < least:
            raise EstimateError(SMALL_CELL, least=least, category=cell, variable=name)
