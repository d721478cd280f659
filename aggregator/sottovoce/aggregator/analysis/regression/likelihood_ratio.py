"""Test nested models by likelihood ratio, and compute profile likelihood limits, which need no standard errors.

Test        Twice the loss in log likelihood without some parameters; chi-square with as many degrees of freedom.
Limits      The two values at which the profile log likelihood (maximized over all other parameters) is z^2 / 2 below
            its maximum. If it never falls that far on one side, the limit there is None: "no limit on this side".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import Array, Fit, Model, maximize
from sottovoce.aggregator.estimators.intervals import normal_quantile, upper_tail
from sottovoce.shared.errors import EstimateError

_DOUBLINGS = 40
_ROOT_STEPS = 40
_FLAT = 1e-6


@dataclass(frozen=True)
class LikelihoodRatio:
    """A joint test of all columns of one predictor: ``statistic`` is chi-square with ``df`` under no effect."""

    predictor: str
    statistic: float
    df: int
    p: float


def likelihood_ratio(model: Model, fit: Fit, predictor: str, without: NDArray[np.bool_]) -> LikelihoodRatio:
    """Test a predictor; ``without`` is (d,), True for the parameters that are 0 under the null hypothesis.

    Raises EstimateError if the model has no maximum with the predictor, or none without it.
    """
    nested = maximize(model, np.where(without, 0.0, fit.theta), ~without)
    if not (fit.converged and nested.converged):
        raise EstimateError("a likelihood-ratio test compares two maxima, and one of these models has none")
    # Rounding can put the nested maximum above the full one.
    statistic = max(0.0, 2 * (fit.log_likelihood - nested.log_likelihood))
    df = int(without.sum())
    return LikelihoodRatio(predictor, statistic, df, upper_tail(statistic, df))


def profile_limits(
    model: Model, fit: Fit, index: int, confidence: float = 0.95, maximum: Callable[..., Fit] = maximize
) -> tuple[float | None, float | None]:
    """Return likelihood-ratio limits (low, high) of the parameter at ``index``, None for an unbounded side.

    ``fit`` is the maximum, or the last point of the search if there is none; ``maximum`` searches as ``maximize`` does.
    """
    profile = _ParameterProfile(model, fit, index, normal_quantile(confidence), maximum)
    return profile.limit(-1.0), profile.limit(1.0)


@dataclass(frozen=True)
class _ParameterProfile:
    model: Model
    fit: Fit
    index: int
    z: float
    maximum: Callable[..., Fit]

    def limit(self, side: float) -> float | None:
        """Return the limit on one side: doubling steps until it is passed, then false position."""
        inner, start = float(self.fit.theta[self.index]), self.fit.theta
        excess = -self.z
        # The first step is about one standard error; the floor handles a flat likelihood.
        step = side / math.sqrt(max(abs(float(self.fit.information[self.index, self.index])), 1e-4))
        for _ in range(_DOUBLINGS):
            outer = inner + step
            found = self._excess(outer, start)
            # The profile has become flat: it will never fall far enough on this side.
            if found is None or abs(found[0] - excess) < _FLAT:
                return None
            if found[0] > 0:
                return false_position(partial(self._value, start), (inner, excess), (outer, found[0]))
            inner, (excess, start), step = outer, found, 2 * step
        return None

    def _value(self, start: Array, value: float) -> float | None:
        found = self._excess(value, start)
        return None if found is None else found[0]

    def _excess(self, value: float, start: Array) -> tuple[float, Array] | None:
        """Return the root of the likelihood-ratio statistic minus z, and the parameters there; None if it fails."""
        fixed = start.copy()
        fixed[self.index] = value
        free = np.arange(self.model.parameters) != self.index
        try:
            fit = self.maximum(self.model, fixed, free)
        except EstimateError:
            return None
        return math.sqrt(max(0.0, 2 * (self.fit.log_likelihood - fit.log_likelihood))) - self.z, fit.theta


def false_position(
    function: Callable[[float], float | None], inner: tuple[float, float], outer: tuple[float, float]
) -> float:
    """Return a root between two points by false position with the Illinois modification.

    Args:
        function: its values rise from ``inner`` to ``outer``; None ends the search.
        inner: argument, and the value there, below 0.
        outer: argument, and the value there, above 0.
    """
    # Illinois: halving the value of an end that stays twice avoids the slow convergence of plain false position.
    (low, under), (high, over) = inner, outer
    middle, last = high, 0
    for _ in range(_ROOT_STEPS):
        middle = (low * over - high * under) / (over - under)
        value = function(middle)
        if value is None or abs(value) < _FLAT:
            break
        if value > 0:
            high, over = middle, value
            under, last = (under / 2 if last > 0 else under), 1
        else:
            low, under = middle, value
            over, last = (over / 2 if last < 0 else over), -1
    return middle
