"""Fit a list experiment by maximum likelihood: logits of the sensitive item and of the other items, with predictors.

Model       Each of J items applies with probability h(x) = 1 / (1 + exp(-x'd)), alike for all people with these
            predictors; the sensitive item of arm a with g_a(x) = 1 / (1 + exp(-x'b_a)), whatever the other items. The
            count of arm a is Bin(J, h) + Z; of the control it is Bin(J, h). d is common to all arms.
Gradient    w = P(Z = 1 | count): (w - g) x to b_a, (y - w - J h) x to d.
Information g (1 - g) - w (1 - w), J h (1 - h) - w (1 - w) and, between both, w (1 - w), times x x' (Louis 1982).
Source      Imai 2011; Blair and Imai 2012 (``constrained = TRUE`` of the R package list).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import Array, Sums

_LARGEST = 600.0


@dataclass(frozen=True)
class ListLogit:
    """A likelihood of item counts.

    Attributes:
        columns: (p, n), predictors.
        counts: (n,), number of items that apply.
        arms: (n,), arm of each person: 0, 1, .. with a sensitive item, -1 for the control.
        items: J.
    """

    columns: Array
    counts: NDArray[np.int64]
    arms: NDArray[np.int64]
    items: int
    weights: Array | None = None
    squares: Array | None = None

    @property
    def rows(self) -> int:
        """Number n of people in the fit."""
        return len(self.counts)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Shape of the coefficients: arms with a sensitive item and one for the others, predictors."""
        return int(self.arms.max()) + 2, len(self.columns)

    @property
    def parameters(self) -> int:
        """Number of coefficients of all arms and of the other items."""
        return self.shape[0] * self.shape[1]

    def start(self) -> Array:
        """Return zeros, (d,): each item applies to half of the people."""
        return np.zeros(self.parameters)

    def sensitive(self, theta: Array, part: slice) -> Array:
        """Return the fitted share of the sensitive item of each arm, (arms, m)."""
        return _logistic(theta.reshape(self.shape)[:-1] @ self.columns[:, part])

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the people in ``part``."""
        chances, given, others, logs = self._shares(theta, part)
        columns, hidden = self.columns[:, part], given * (1 - given)
        size = self.shape[1]
        information = np.zeros((self.parameters, self.parameters))
        for arm in range(self.shape[0]):
            inside = self.arms[part] == arm if arm < self.shape[0] - 1 else np.ones(len(logs), bool)
            own = chances * (1 - chances) if arm < self.shape[0] - 1 else self.items * others * (1 - others)
            place, last = slice(arm * size, (arm + 1) * size), slice(self.parameters - size, None)
            information[place, last] = information[last, place] = (columns * (inside * hidden)) @ columns.T
            information[place, place] = (columns * (inside * (own - hidden))) @ columns.T
        return Sums(float(logs.sum()), self.scores(theta, part).sum(axis=1), information)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each person's log likelihood, (d, m)."""
        chances, given, others, _ = self._shares(theta, part)
        residuals = [(given - chances) * (self.arms[part] == arm) for arm in range(self.shape[0] - 1)]
        residuals.append(self.counts[part] - given - self.items * others)
        return np.concatenate([each * self.columns[:, part] for each in residuals])

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the log odds of each sensitive item and of the other items, (m,) each."""
        yield from theta.reshape(self.shape) @ self.columns[:, part]

    def directions(self, row: int) -> Array:
        """Return the derivatives of one person's log odds, (arms + 1, d)."""
        return np.asarray(np.kron(np.eye(self.shape[0]), self.columns[:, row]), dtype=float)

    def at_edge(self, theta: Array) -> bool:  # noqa: ARG002 - part of the Model protocol
        """Return False: the parameter space has no boundary."""
        return False

    def _shares(self, theta: Array, part: slice) -> tuple[Array, Array, Array, Array]:
        """Return g, w and h, and the log likelihood, (m,) each; g and w are 0 in the control."""
        counts, arms = self.counts[part], self.arms[part]
        others = _logistic(theta.reshape(self.shape)[-1] @ self.columns[:, part])
        with_none = np.append(self.sensitive(theta, part), np.zeros((1, len(counts))), axis=0)
        chances = with_none[arms, np.arange(len(counts))]
        ways = np.array([*(comb(self.items, y) for y in range(self.items + 1)), 0.0, 0.0])
        # A count of J + 1, or of -1 without the sensitive item, is in no way a count of the other items.
        without, less = (
            ways[each] * others ** np.maximum(each, 0) * (1 - others) ** np.maximum(self.items - each, 0)
            for each in (counts, counts - 1)
        )
        total = chances * less + (1 - chances) * without
        return chances, chances * less / total, others, np.log(total)


def _logistic(odds: Array) -> Array:
    chances: Array = 1 / (1 + np.exp(-np.clip(odds, -_LARGEST, _LARGEST)))
    return chances
