"""Fit a (multinomial) logit of a true answer observed only through its randomized report; yes/no is two categories.

Model       P(true = c | x) = exp(x' b_c) / sum_d exp(x' b_d), b_0 = 0; the report y has the likelihood
            L_c = P(y | c) up to a factor. q = sum_c P_c L_c; r_c = P_c L_c / q, the shares given the report.
Gradient    (r_c - P_c) x.
Information (diag P - P P' - (diag r - r r')) (x) x x': complete information minus missing information (Louis 1982).
Rows        may come through different channels: each has its own row of likelihoods. An answer that was reported
            directly has a row of the unit matrix; a question that was not asked has a row of ones.
Source      Louis 1982; van den Hout and van der Heijden 2002 (randomized response as misclassification).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.regression.newton import LARGEST_ODDS, Array, Likelihood, Sums


@dataclass(frozen=True)
class Multinomial(Likelihood):
    """A likelihood of reports on a categorical answer."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (k - 1, p) of the coefficients: categories after the first, predictors."""
        return self.likelihood.shape[1] - 1, len(self.columns)

    @property
    def parameters(self) -> int:
        """Number (k - 1) p of parameters: one for each predictor in each category except the first."""
        categories, predictors = self.shape
        return categories * predictors

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``, weights included."""
        truth, given, marginal = self.shares(theta, part)
        columns = self.columns[:, part]
        weights = None if self.weights is None else self.weights[part]
        logs, residual = np.log(marginal), given - truth
        if weights is not None:
            residual = residual * weights
        log_likelihood = float(logs.sum() if weights is None else weights @ logs)
        return Sums(log_likelihood, (residual @ columns.T).ravel(), information(truth, given, columns, weights))

    def complete(self, theta: Array, part: slice, weights: Array | None) -> Array:
        """Return the information of the answers themselves, with these weights, (d, d)."""
        truth = self.truth(theta, part)
        return information(truth, np.zeros_like(truth), self.columns[:, part], weights)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each report's log likelihood, (d, m), without its weight."""
        truth, given, _ = self.shares(theta, part)
        return times_columns(given - truth, self.columns[:, part])

    def marginal(self, theta: Array, part: slice) -> Array:
        """Return the likelihood of each report, (m,)."""
        return self.shares(theta, part)[2]

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the log odds of each category against the first, (m,) each."""
        yield from theta.reshape(self.shape) @ self.columns[:, part]

    def directions(self, row: int) -> Array:
        """Return the derivatives of one report's log odds, (k - 1, d)."""
        return np.asarray(np.kron(np.eye(self.shape[0]), self.columns[:, row]), dtype=float)

    def truth(self, theta: Array, part: slice) -> Array:
        """Return the fitted shares of the categories after the first, (k - 1, m)."""
        odds = self._odds(theta, part)
        truth: Array = odds / (1 + odds.sum(axis=0))
        return truth

    def _odds(self, theta: Array, part: slice) -> Array:
        predictors = theta.reshape(self.shape) @ self.columns[:, part]
        # In place: two temporary arrays of (k - 1, m) less for each step of Newton's method.
        return np.exp(np.clip(predictors, -LARGEST_ODDS, LARGEST_ODDS, out=predictors), out=predictors)

    def shares(self, theta: Array, part: slice) -> tuple[Array, Array, Array]:
        """Return shares before and given the report, each (k - 1, m), and the report's likelihood, (m,)."""
        odds = self._odds(theta, part)
        first = 1 / (1 + odds.sum(axis=0))
        truth = odds * first
        codes = self.codes[part]
        # Likelihoods are stored once per different report and looked up, since reports repeat.
        given = np.stack([column[codes] for column in self.likelihood.T[1:]])
        given *= truth
        marginal = given.sum(axis=0) + first * self.likelihood[:, 0][codes]
        given /= marginal
        return truth, given, marginal


def times_columns(residuals: Array, columns: Array) -> Array:
    """Return the products of all residuals (k - 1, m) and predictors (p, m) as an array ((k - 1) p, m)."""
    return (residuals[:, None] * columns).reshape(len(residuals) * len(columns), -1)


def information(truth: Array, given: Array, columns: Array, weights: Array | None) -> Array:
    """Return the observed information of log odds that are linear in the columns, ((k - 1) p, (k - 1) p).

    Args:
        truth: (k - 1, m), fitted shares of the categories after the first.
        given: (k - 1, m), these shares given the report.
        columns: (p, m), predictors.
        weights: (m,) or None.
    """
    categories, predictors = len(truth), len(columns)
    total = np.empty((categories, predictors, categories, predictors))
    for one in range(categories):
        for other in range(one, categories):
            # Missing information (Louis 1982) makes this smaller than the complete one: noise hides part of the answer.
            curve = given[one] * given[other] - truth[one] * truth[other]
            if one == other:
                curve += truth[one] - given[one]
            if weights is not None:
                curve *= weights
            total[one, :, other] = (columns * curve) @ columns.T
            # Symmetric, so each pair of categories is computed once.
            total[other, :, one] = total[one, :, other].T
    return total.reshape(categories * predictors, categories * predictors)
