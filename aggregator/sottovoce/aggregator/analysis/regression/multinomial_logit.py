"""Fit a (multinomial) logit of a true answer observed only through its randomized report; yes/no is two categories.

Model       P(true = c | x) = exp(x' b_c) / sum_d exp(x' b_d), b_0 = 0; the report y has the likelihood
            L_c = P(y | c) up to a factor. q = sum_c P_c L_c; r_c = P_c L_c / q, the shares given the report.
Gradient    (r_c - P_c) x.
Information (diag P - P P' - (diag r - r r')) (x) x x': complete information minus missing information (Louis 1982).
Rows        may come through different channels: each has its own row of likelihoods. An answer that was reported
            directly has a row of the unit matrix; a question that was not asked has a row of ones.
Source      Louis 1982; van den Hout and van der Heijden 2002 (randomized response as misclassification).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.regression.newton import LARGEST_ODDS, Array, Derivatives, Likelihood, summed


@dataclass(frozen=True)
class Multinomial(Likelihood):
    """A likelihood of reports on a categorical answer."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (k - 1, p) of the coefficients: categories after the first, predictors."""
        return self.likelihood.shape[1] - 1, len(self.columns)

    def blocks(self, part: slice) -> list[Array]:
        """Return the predictors for each category after the first."""
        return [self.columns[:, part]] * self.shape[0]

    def derivatives(self, theta: Array, part: slice) -> Derivatives:
        """Return likelihoods and derivatives of the reports in ``part``."""
        (first, truth), codes = self._shares(theta, part), self.codes[part]
        # Likelihoods are stored once per different report and looked up, since reports repeat.
        given = np.stack([column[codes] for column in self.likelihood.T[1:]])
        given *= truth
        marginal = given.sum(axis=0) + first * self.likelihood[:, 0][codes]
        given /= marginal
        return Derivatives(marginal, given - truth, curve_of(truth, given))

    def fitted(self, theta: Array, part: slice) -> Array:
        """Return the fitted shares of all categories, (k, m)."""
        return np.vstack(self._shares(theta, part))

    def _shares(self, theta: Array, part: slice) -> tuple[Array, Array]:
        """Return the fitted shares of the first category, (m,), and of those after it, (k - 1, m)."""
        # In place, which saves temporary arrays of this size in each step of Newton's method.
        odds = theta.reshape(self.shape) @ self.columns[:, part]
        np.exp(np.clip(odds, -LARGEST_ODDS, LARGEST_ODDS, out=odds), out=odds)
        first = 1 / (1 + odds.sum(axis=0))
        odds *= first
        return first, odds


def times_columns(residuals: Array, columns: Array) -> Array:
    """Return the products of all residuals (k - 1, m) and predictors (p, m) as an array ((k - 1) p, m)."""
    return (residuals[:, None] * columns).reshape(len(residuals) * len(columns), -1)


def curve_of(truth: Array, given: Array) -> Callable[[int, int], Array]:
    """Return minus the second derivatives by the log odds of two categories, as in ``Derivatives``.

    Args:
        truth: (k - 1, m), fitted shares of the categories after the first.
        given: (k - 1, m), these shares given the report.
    """

    def curve(one: int, other: int) -> Array:
        # Missing information (Louis 1982) makes this smaller than the complete one: noise hides part of the answer.
        found = given[one] * given[other] - truth[one] * truth[other]
        if one == other:
            found += truth[one] - given[one]
        return np.asarray(found)

    return curve


def information(truth: Array, given: Array, columns: Array, weights: Array) -> Array:
    """Return the observed information of log odds that are linear in the columns; shares as in ``curve_of``."""
    return summed(curve_of(truth, given), [columns] * len(truth), weights)
