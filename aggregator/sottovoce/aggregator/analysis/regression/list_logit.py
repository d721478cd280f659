"""Fit a list experiment by maximum likelihood: logits of the sensitive item and of the other items, with predictors.

Model       Each of J items applies with probability h(x) = 1 / (1 + exp(-x'd)), alike for all people with these
            predictors; the sensitive item of arm a with g_a(x) = 1 / (1 + exp(-x'b_a)), whatever the other items. The
            count of arm a is Bin(J, h) + Z; of the control it is Bin(J, h). d is common to all arms.
Gradient    w = P(Z = 1 | count): (w - g) x to b_a, (y - w - J h) x to d.
Information g (1 - g) - w (1 - w), J h (1 - h) - w (1 - w) and, between both, w (1 - w), times x x' (Louis 1982).
Peaks       About one fit in a hundred, of few people and several predictors, ends at a peak lower than another one. So
            the search begins again from there with the sensitive item's coefficients reversed, and from points drawn
            around it, three errors wide, always the same; the highest peak counts.
Source      Imai 2011; Blair and Imai 2012 (``constrained = TRUE`` of the R package list).
"""

from dataclasses import dataclass, field
from math import comb

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial, curve_of
from sottovoce.aggregator.analysis.regression.newton import Array, Derivatives, Fit, inverse, logistic, maximize
from sottovoce.shared.errors import EstimateError

_STARTS = 12
_HIGHER = 1e-6  # in log likelihood: else it is the same peak
_LARGEST = 30.0  # log odds: a share and its complement still differ from 0


def ways_of_counts(items: int) -> Array:
    """Return in how many ways J items give each count, without and with the sensitive item, (J + 2, 2)."""
    ways = np.array([comb(items, count) for count in range(items + 1)], float)
    return np.stack([np.append(ways, 0), np.append(0, ways)], axis=1)


@dataclass(frozen=True)
class ListLogit(Multinomial):
    """A likelihood of item counts, which are the ``codes``; ``likelihood`` is ``ways_of_counts``, without weights.

    Attributes:
        arms: (n,), arm of each person: 0, 1, .. with a sensitive item, -1 for the control.
    """

    arms: NDArray[np.int64] = field(kw_only=True)

    @property
    def items(self) -> int:
        """Number J of items without the sensitive one."""
        return len(self.likelihood) - 2

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the coefficients: arms with a sensitive item and one for the others, predictors."""
        return int(self.arms.max()) + 2, len(self.columns)

    def sensitive(self, theta: Array, part: slice) -> Array:
        """Return the fitted share of the sensitive item of each arm, (arms, m)."""
        return logistic(theta.reshape(self.shape)[:-1] @ self.columns[:, part], _LARGEST)

    def derivatives(self, theta: Array, part: slice) -> Derivatives:
        """Return likelihoods and derivatives of the people in ``part``."""
        counts, last = self.codes[part], self.shape[0] - 1
        others = logistic(theta.reshape(self.shape)[-1] @ self.columns[:, part], _LARGEST)
        # In no way do the other items alone give J + 1, or -1.
        without, less = (
            ways * others ** np.clip(applied, 0, self.items) * (1 - others) ** np.clip(self.items - applied, 0, None)
            for ways, applied in zip(self.likelihood[counts].T, (counts, counts - 1), strict=True)
        )
        # Shares of the sensitive item before and given the count, of the people of each arm; 0 of all others.
        truth = self.sensitive(theta, part) * (self.arms[part] == np.arange(last)[:, None])
        chances = truth.sum(axis=0)
        marginal = chances * less + (1 - chances) * without
        given = truth * less / marginal
        applies, of_items = given.sum(axis=0), curve_of(truth, given)

        def curve(one: int, other: int) -> Array:
            if other < last:
                return of_items(one, other)
            if one < last:
                return np.asarray(given[one] * (1 - given[one]))
            return np.asarray(self.items * others * (1 - others) - applies * (1 - applies))

        return Derivatives(marginal, np.vstack([given - truth, counts - applies - self.items * others]), curve)


def highest_peak(model: ListLogit) -> Fit:
    """Maximize the likelihood from several starts; raise EstimateError if people do not identify the parameters."""
    best = found = maximize(model)
    covariance = inverse(found.information) if found.converged else None
    if covariance is None:
        return found
    reversed_ = np.where(np.arange(model.parameters) < model.parameters - model.shape[1], -1, 1) * found.theta
    around = np.random.default_rng(0).normal(found.theta, 3 * np.sqrt(np.diag(covariance)), (_STARTS, model.parameters))
    for start in (reversed_, *around):
        try:
            tried = maximize(model, start)
        except EstimateError:
            continue
        higher = tried.converged and tried.log_likelihood > best.log_likelihood + _HIGHER
        best = tried if higher and inverse(tried.information) is not None else best
    return best
