"""Fit linear regressions on scores: least squares, corrected for what randomized predictors add to their own squares.

Equations   u = (1, x, z): constant, public predictors, scores of randomized ones, E[z | true a] = the indicators of a,
            or the number, and products of these (interactions). E[u u'] is unbiased everywhere except where two
            columns share a randomized predictor, whose noise is squared there. Such an entry is replaced by a score of
            the true product: z_j for a category (an indicator is its own square, and two exclude each other), and the
            score of the square for a number, times the scores of the predictors that only one of the columns has.
            M = the corrected matrix; b = (sum w M)^-1 sum w u y.
Errors      psi = u y - M b; V = (sum w M)^-1 (sum w^2 psi psi') (sum w M)^-1: with public predictors only, HC0.
            Clusters: psi summed within each first, times G / df, see ``covariance``.
Same people Of W waves of the same people, (W - 1) sum w^2 M (var(y) - var(x'b)) is added to the middle of V.
Outcome     A number, or any unbiased score of one. For a yes/no answer this is the linear probability model, which
            needs no likelihood maximum to exist and takes weights and clusters.
Block       Questions of one block are randomized together: where two columns, or a column and the outcome, have
            questions of one block, their product has a score of its own.
Answered    r = 1 - z_absent is an unbiased score of having answered, so sum w r M and sum w u z_yes are those of the
            people who answered: M is replaced by r M. A single r may be negative; their sum is what counts.
Effects     Mean g of the columns' changes times b: the part that b has, and b'(g_i - g), since g has the same people.
Why         Maximum likelihood with normal errors is not consistent when errors are skewed (true slope .5, exponential
            errors: 2.39); these equations assume no distribution.
Source      White 1980; Fuller 1987 (errors in variables).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.regression.covariance import Codes, clustered_products
from sottovoce.aggregator.analysis.regression.newton import Array, inverse, parts
from sottovoce.shared.errors import EstimateError


@dataclass(frozen=True)
class Correction:
    """Unbiased scores of the true product of two columns that share a randomized predictor.

    ``first`` and ``second`` are the columns' indices, maybe the same; ``products`` is (n,), None if it is always 0.
    """

    first: int
    second: int
    products: Array | None


@dataclass(frozen=True)
class LinearFit:
    """Coefficients (p,), their covariance (p, p), and average effects with standard errors, (q, 2)."""

    coefficients: Array
    covariance: Array
    effects: Array


def solve(
    columns: Array, outcome: Array, corrections: Sequence[Correction] = (), weights: Array | None = None,
    clusters: Codes | None = None, answered: Array | None = None, repeated: tuple[int, float] = (0, 0.0),
    changes: Iterable[Array] = (), squares: Array | None = None, df: int | None = None,
) -> LinearFit:  # fmt: skip
    """Fit the corrected regression of ``outcome`` on ``columns``; raise EstimateError if there is no stable solution.

    Args:
        columns: (p, n), constant, public predictors and scores.
        outcome: (n,), a number or an unbiased score of one; or (p, n), unbiased scores of its product with each column,
            for an outcome whose noise is not independent of theirs.
        corrections: one for each pair of columns that share a randomized predictor.
        weights: (n,) positive, or None for equal weights.
        clusters: (n,) cluster numbers 0, 1, .. of the reports, or None.
        answered: (n,), unbiased scores of having answered, for a regression among those who answered; None for all.
        repeated: number of further waves of the same people, and the variance of their true outcomes.
        changes: (p, n) each, unbiased scores of what the columns change by, for average effects.
        squares: (n,), sums of the squared weights where rows stand for equal reports; without clusters.
        df: degrees of freedom of the clusters.
    """
    weight = np.ones(columns.shape[1]) if weights is None else weights
    square = weight**2 if squares is None else squares
    here = np.ones(columns.shape[1]) if answered is None else answered
    matrix = _matrix(columns, corrections, weight * here)
    inverted = inverse(matrix)
    if inverted is None and not corrections and outcome.ndim == 1:
        raise EstimateError(
            "the predictors cannot be told apart by these reports: one follows from the others; leave one out, or ask "
            "more people"
        )
    if inverted is None:
        raise EstimateError(
            "the predictors cannot be told apart by these reports: one follows from the others, or is drowned by its "
            "own noise; leave one out, or ask more people"
        )
    # Outcome and predictor noise are independent but in a block, where the outcome comes with each column.
    coefficients = inverted @ (columns @ (weight * outcome) if outcome.ndim == 1 else outcome @ weight)
    residuals = _residuals(columns, outcome, corrections, coefficients, here)
    middle = (
        (residuals * square) @ residuals.T if clusters is None else clustered_products(residuals * weight, clusters, df)
    )
    further, variance = repeated if clusters is None else (0, 0.0)
    if further:
        size = float(weight @ here)
        fitted = float(coefficients @ columns @ (weight * here)) / size
        explained = float(coefficients @ matrix @ coefficients) / size - fitted**2
        middle += further * max(variance - explained, 0.0) * _matrix(columns, corrections, square * here)
    covariance, effects = inverted @ middle @ inverted, []
    for change in changes:
        mean = change @ weight / weight.sum()
        both = np.stack([mean @ inverted @ residuals, coefficients @ (change - mean[:, None]) / weight.sum()])
        spread = (both * square) @ both.T if clusters is None else clustered_products(both * weight, clusters, df)
        error = mean @ covariance @ mean + 2 * spread[0, 1] + (1 + further) * spread[1, 1]
        effects.append((mean @ coefficients, np.sqrt(np.maximum(error, 0.0))))
    return LinearFit(coefficients, covariance, np.reshape(effects, (-1, 2)))


def _matrix(columns: Array, corrections: Sequence[Correction], weight: Array) -> Array:
    """Return the sum of w M over the reports, (p, p)."""
    # Blocks of reports keep the weighted copy of the columns small.
    total = np.zeros((len(columns), len(columns)))
    for part in parts(columns.shape[1]):
        total += (columns[:, part] * weight[part]) @ columns[:, part].T
    for each in corrections:
        # The plain sum would count the noise of the scores as variance of the predictor (attenuation).
        moment = 0.0 if each.products is None else float(each.products @ weight)
        total[each.first, each.second] = total[each.second, each.first] = moment
    return total


def _residuals(
    columns: Array, outcome: Array, corrections: Sequence[Correction], coefficients: Array, answered: Array
) -> Array:
    """Return psi of each report, (p, n)."""
    fitted = answered * (coefficients @ columns)
    residuals = columns * (outcome - fitted) if outcome.ndim == 1 else outcome - columns * fitted
    for each in corrections:
        noise = columns[each.first] * columns[each.second]
        if each.products is not None:
            noise -= each.products
        noise *= answered
        residuals[each.first] += coefficients[each.second] * noise
        if each.first != each.second:
            residuals[each.second] += coefficients[each.first] * noise
    return residuals
