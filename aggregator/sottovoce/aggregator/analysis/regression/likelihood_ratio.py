"""Test nested models by likelihood ratio, and compute profile likelihood limits, which need no standard errors.

Test        Twice the loss in log likelihood without some parameters; chi-square with as many degrees of freedom.
Limits      The two values at which the profile log likelihood (maximized over all other parameters) is z^2 / 2 below
            its maximum. If it never falls that far on one side, the limit there is None: "no limit on this side".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import Array, Fit, Model, evaluate, maximize
from sottovoce.aggregator.estimators.intervals import normal_quantile, upper_tail
from sottovoce.shared.errors import EstimateError

_ROOT_STEPS = 40
_FLAT, _CLOSE = 1e-6, 1e-3
_LONGER = 4.0


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
    return ratio_of(predictor, fit, maximize(model, np.where(without, 0.0, fit.theta), ~without), int(without.sum()))


def ratio_of(predictor: str, whole: Fit, nested: Fit, df: int) -> LikelihoodRatio:
    """Test a model that is nested in another one; raise EstimateError if one of them has no maximum."""
    if not (whole.converged and nested.converged):
        raise EstimateError("a likelihood-ratio test compares two maxima, and one of these models has none")
    # Rounding, or a prior that grows with the number of coefficients, can put the nested maximum above the other.
    statistic = max(0.0, 2 * (whole.log_likelihood - nested.log_likelihood))
    return LikelihoodRatio(predictor, statistic, df, upper_tail(statistic, df))


def profile_limits(model: Model, fit: Fit, index: int, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Return likelihood-ratio limits (low, high) of the parameter at ``index``, None for an unbounded side.

    ``fit`` is the maximum, or the last point of the search if there is none.
    """
    z = normal_quantile(confidence)
    ends = [profile_end(lambda _: model, fit, index, side * z) for side in (-1, 1)]
    low, high = (None if end is None else float(end[index]) for end in ends)
    return low, high


def profile_end(near: Callable[[Array], Model], fit: Fit, index: int, z: float) -> Array | None:
    """Return the parameters, (d,), at the limit of one of them on the side of z; None if it is unbounded there.

    Newton's method on the root of the likelihood-ratio statistic, which is nearly a line. ``near`` gives the model to
    use near some parameters.
    """
    side, free, last = math.copysign(1.0, z), np.arange(len(fit.theta)) != index, 0.0
    # From beyond the limit a search may go astray, so each one begins at the last point before it.
    inner, outer, direction = fit.theta, math.inf * side, np.where(free, 0.0, 1.0)
    # The first step is about one limit; the floor handles a flat likelihood.
    step = z / math.sqrt(max(abs(float(fit.information[index, index])), 1e-2))
    for _ in range(_ROOT_STEPS):
        start = inner + step * direction
        model = near(start)
        try:
            theta = maximize(model, start, free).theta
        except EstimateError:
            outer, step = start[index], step / 2
            continue
        now = evaluate(model, theta)
        root = math.sqrt(max(0.0, 2 * (fit.log_likelihood - now.log_likelihood)))
        slope, short = -side * float(now.gradient[index]) / max(root, _FLAT), abs(z) - root
        ahead = side * short / slope if slope > 0 else math.inf
        if abs(short) < _CLOSE and slope > 0:
            return theta + ahead * direction
        if short < 0:
            outer, ahead = theta[index], ahead + step
        elif root - last < _FLAT:
            # The profile has become flat: it will never fall far enough on this side.
            return None
        else:
            direction = (theta - inner) / (theta - inner)[index]
            inner, last, longest = theta, root, _LONGER * step
        if math.isfinite(outer):
            longest = outer - inner[index]
        inside = 0 < ahead / longest < 1
        step = ahead if inside else longest / 2 if math.isfinite(outer) else longest
    return None


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
