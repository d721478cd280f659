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
from sottovoce.aggregator.analysis.regression.newton import Array, Derivatives, Likelihood, logistic


@dataclass(frozen=True)
class Ordered(Likelihood):
    """A likelihood of reports on ordered categories; parameters are slopes (no constant), then cuts."""

    @property
    def slopes(self) -> int:
        """Number p of predictors, each with one slope."""
        return len(self.columns)

    def start(self) -> Array:
        """Return starting values, (d,): zero slopes, and cuts that make all categories equally likely."""
        categories = self.likelihood.shape[1]
        # Equally likely categories keep the cuts in order, which the likelihood requires.
        below = np.arange(1, categories) / categories
        return np.concatenate([np.zeros(self.slopes), np.log(below / (1 - below))])

    def blocks(self, part: slice) -> list[Array]:
        """Return the predictors, and a constant for each cut."""
        columns = self.columns[:, part]
        return [columns] + [np.ones((1, columns.shape[1]))] * (self.likelihood.shape[1] - 1)

    def derivatives(self, theta: Array, part: slice) -> Derivatives:
        """Return likelihoods, 0 if the cuts are out of order, and derivatives of the reports in ``part``."""
        if np.any(np.diff(theta[self.slopes :]) <= 0):
            still = np.zeros((1 + self.parameters - self.slopes, len(self.codes[part])))
            return Derivatives(still[0], still, lambda *_: still[0])
        # For the logistic function, F' = F (1 - F) and F'' = F' (1 - 2 F).
        below = logistic(np.stack([*self.predictors(theta, part)]))
        likelihood = self.likelihood.T[:, self.codes[part]]
        drop = likelihood[:-1] - likelihood[1:]
        marginal = likelihood[-1] + (below * drop).sum(axis=0)
        gradient = below * (1 - below) * drop / marginal
        second = gradient * (1 - 2 * below)
        slopes = np.concatenate([[-gradient.sum(axis=0)], gradient])

        def curve(one: int, other: int) -> Array:
            # A cut moves its own log odds, and the predictors move all of them, the other way.
            moved = second.sum(axis=0) if other == 0 else second[other - 1] * ((one == other) - (one == 0))
            return np.asarray(slopes[one] * slopes[other] - moved)

        return Derivatives(marginal, slopes, curve)

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the log odds of being at or below each category except the last, (m,) each."""
        yield from theta[self.slopes :, None] - (theta[: self.slopes] @ self.columns[:, part])

    @property
    def cuts(self) -> range:
        """Indices of the cuts among the parameters."""
        return range(self.slopes, self.parameters)
