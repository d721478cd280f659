"""Fit an ordered logit of a true answer observed only through its randomized report.

Model       P(true <= j | x) = F(c_j - x'b), F(v) = 1 / (1 + exp(-v)), c_0 < c_1 < ...; predictors without a constant.
            The report has the likelihood q = L_(k-1) + sum_j F(c_j - x'b) (L_j - L_(j+1)), L_j = P(y | j) up to a
            factor.
Gradient    of ln q for v_j = c_j - x'b: g_j = F'(v_j) (L_j - L_(j+1)) / q.
Information g g' - diag(F''(v_j) (L_j - L_(j+1)) / q), transformed to b and c, in which every v_j is linear.
Edge        If two cuts meet, the category between them is empty; the likelihood then has no maximum inside c_0 < c_1.
Source      McCullagh 1980 (the model).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.regression.newton import Array, Likelihood, Sums, logistic


@dataclass(frozen=True)
class Ordered(Likelihood):
    """A likelihood of reports on ordered categories; parameters are slopes (no constant), then cuts."""

    @property
    def slopes(self) -> int:
        """Number p of predictors, each with one slope."""
        return len(self.columns)

    @property
    def parameters(self) -> int:
        """Number d of parameters: a slope for each predictor, a cut between any two neighbouring categories."""
        return len(self.columns) + len(self.likelihood.T) - 1

    def start(self) -> Array:
        """Return starting values, (d,): zero slopes, and cuts that make all categories equally likely."""
        categories = self.likelihood.shape[1]
        # Equally likely categories keep the cuts in order, which the likelihood requires.
        below = np.arange(1, categories) / categories
        return np.concatenate([np.zeros(self.slopes), np.log(below / (1 - below))])

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``; minus infinity if the cuts are out of order."""
        # Minus infinity makes the line search of ``newton`` halve the step.
        if np.any(np.diff(theta[self.slopes :]) <= 0):
            empty = np.zeros((self.parameters, self.parameters))
            return Sums(-np.inf, empty[0], empty)
        marginal, gradient, curve = self._derivatives(theta, part)
        weights = np.ones(gradient.shape[1]) if self.weights is None else self.weights[part]
        # Minus the second derivative, (d, d), by the chain rule.
        columns = self.columns[:, part]
        both = gradient.sum(axis=0)
        cuts = (gradient * weights) @ gradient.T - np.diag(curve @ weights)
        across = columns @ ((curve - gradient * both) * weights).T
        slopes = (columns * (weights * (both**2 - curve.sum(axis=0)))) @ columns.T
        information = np.block([[slopes, across], [across.T, cuts]])
        return Sums(float(weights @ np.log(marginal)), self._scores(gradient, part) @ weights, information)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each report's log likelihood, (d, m), without its weight."""
        return self._scores(self._derivatives(theta, part)[1], part)

    def marginal(self, theta: Array, part: slice) -> Array:
        """Return the likelihood of each report, (m,); ones if the cuts are out of order, where ``sums`` is infinite."""
        if np.any(np.diff(theta[self.slopes :]) <= 0):
            return np.ones(len(self.codes[part]))
        return self._derivatives(theta, part)[0]

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the log odds of being at or below each category except the last, (m,) each."""
        yield from self._log_odds(theta, part)

    def directions(self, row: int) -> Array:
        """Return the derivatives of one report's log odds, (k - 1, d)."""
        cuts = self.likelihood.shape[1] - 1
        return np.hstack([np.tile(-self.columns[:, row], (cuts, 1)), np.eye(cuts)])

    @property
    def cuts(self) -> range:
        """Indices of the cuts among the parameters."""
        return range(self.slopes, self.parameters)

    def _log_odds(self, theta: Array, part: slice) -> Array:
        return theta[self.slopes :, None] - (theta[: self.slopes] @ self.columns[:, part])

    def _derivatives(self, theta: Array, part: slice) -> tuple[Array, Array, Array]:
        """Return q, (m,), and F'(v_j) (L_j - L_(j+1)) / q and F''(v_j) (L_j - L_(j+1)) / q, each (k - 1, m)."""
        # For the logistic function, F' = F (1 - F) and F'' = F' (1 - 2 F).
        below = logistic(self._log_odds(theta, part))
        likelihood = self.likelihood.T[:, self.codes[part]]
        drop = likelihood[:-1] - likelihood[1:]
        marginal = likelihood[-1] + (below * drop).sum(axis=0)
        gradient = below * (1 - below) * drop / marginal
        return marginal, gradient, gradient * (1 - 2 * below)

    def _scores(self, gradient: Array, part: slice) -> Array:
        return np.concatenate([-gradient.sum(axis=0) * self.columns[:, part], gradient])
