"""Test nested models by likelihood ratio, and compute profile likelihood limits, which need no standard errors.

Test        Twice the loss in log likelihood without some parameters; chi-square with as many degrees of freedom.
Limits      The two values at which the profile log likelihood (maximized over all other parameters) is z^2 / 2 below
            its maximum. If it never falls that far on one side, the limit there is None: "no limit on this side".
            Where the likelihood has several peaks, no search is sure to meet the highest one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import (
    LONGEST_STEP,
    Array,
    Fit,
    Model,
    Sums,
    evaluate,
    maximize,
    reach,
)
from sottovoce.aggregator.estimators.intervals import normal_quantile, upper_tail
from sottovoce.shared.errors import EstimateError

_ROOT_STEPS = 40
_FLAT, _CLOSE, _LEAP = 1e-6, 1e-3, 0.1
_WIDEST = 30.0  # exp(-30) still keeps two cuts apart
_LONGER, _NEAR, _FAR, _GAINS, _TINY = 4.0, 1e-2, 3.0, 10.0, 1e-300
"""How much longer a step becomes; how near, of its size, a limit is exact; longest steps of log odds from 0 where a
profile may be flat for good; how many times its last rise it would still have to rise there; in place of 0."""


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


@dataclass(frozen=True)
class _Gaps(Model):
    """A likelihood by one of its cuts and the logarithms of the gaps between them, (d,) parameters as before.

    Where cuts meet, every step of their own is out of order, and the search ends: here their gap runs off by itself.

    Attributes:
        signs: (d, d), the parameters of the model by these, and by gaps in place of their logarithms.
        logs: (d,), True for logarithms of gaps.
    """

    model: Model
    signs: Array
    logs: NDArray[np.bool_]

    @classmethod
    def around(cls, model: Model, index: int) -> "_Gaps":
        """Return the model by the cut at ``index``, or if that is none by the first one."""
        place, base = np.arange(model.parameters), index if index in model.cuts else model.cuts.start
        rows, cuts = place[:, None], np.isin(place, model.cuts)
        beyond = np.where(place > base, rows >= place, -1.0 * (rows <= place)) * cuts[:, None]
        beyond[cuts, base] = 1
        return cls(model, np.where(cuts, beyond, rows == place), cuts & (place != base))

    @property
    def rows(self) -> int:
        return self.model.rows

    @property
    def parameters(self) -> int:
        return self.model.parameters

    def gaps(self, theta: Array) -> Array:
        """Return the parameters of this model, (d,), from those of the model of cuts."""
        found = np.linalg.solve(self.signs, theta)
        return np.where(self.logs, np.log(found, where=self.logs, out=np.zeros_like(found)), found)

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``."""
        gaps = np.exp(np.clip(theta, -_WIDEST, _WIDEST))
        found = self.model.sums(self.signs @ np.where(self.logs, gaps, theta), part)
        slopes = self.signs * np.where(self.logs, gaps, 1.0)
        gradient = slopes.T @ found.gradient
        curve = np.diag(np.where(self.logs, gradient, 0.0))
        return Sums(found.log_likelihood, gradient, slopes.T @ found.information @ slopes - curve)

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the linear predictors of the model of cuts at these parameters: they bound steps, no more."""
        return self.model.predictors(theta, part)


def profile_limits(model: Model, fit: Fit, index: int, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Return likelihood-ratio limits (low, high) of the parameter at ``index``, None for an unbounded side.

    ``fit`` is the maximum, or the last point of the search if there is none.
    """
    z = normal_quantile(confidence)
    if model.cuts:
        model = _Gaps.around(model, index)
        fit = replace(fit, theta=model.gaps(fit.theta))
    ends = [profile_end(lambda _: model, fit, index, side * z) for side in (-1, 1)]
    low, high = (None if end is None else float(end[index]) for end in ends)
    return low, high


def profile_end(near: Callable[[Array], Model], fit: Fit, index: int, z: float) -> Array | None:
    """Return the parameters, (d,), at the limit of one of them on the side of z; None if it is unbounded there.

    Newton's method on the root of the likelihood-ratio statistic, which is nearly a line. ``near`` gives the model to
    use near some parameters.
    """
    side, free = math.copysign(1.0, z), np.arange(len(fit.theta)) != index
    model, endless = near(fit.theta), not fit.converged
    unit = LONGEST_STEP / max(reach(model, np.where(free, 0.0, 1.0))[0], _TINY)
    best, inner, outer = fit.log_likelihood, fit.theta, None
    if endless:
        best = maximize(model, fit.theta, endless=True).log_likelihood
    last, direction = 0.0, np.where(free, 0.0, 1.0)
    # The first step is about one limit, where the likelihood is not flat.
    step = side * min(abs(z) / math.sqrt(max(abs(float(fit.information[index, index])), _TINY)), unit)
    for _ in range(_ROOT_STEPS):
        # From beyond the limit a search may go astray, so each one begins at the last point before it. Without a
        # maximum there are several peaks, so it begins at other points, too.
        starts = [inner + step * direction]
        if endless:
            starts += [np.where(free, each, starts[0]) for each in (fit.theta, outer) if each is not None]
        try:
            theta, now = _highest(near, starts, free, endless)
        except EstimateError:
            outer, step = starts[0], step / 2
            continue
        best = max(best, now.log_likelihood) if endless else best
        root = math.sqrt(max(0.0, 2 * (best - now.log_likelihood)))
        slope, short = -side * float(now.gradient[index]) / max(root, _FLAT), abs(z) - root
        ahead = side * short / slope if slope > 0 else math.inf
        if abs(short) < _CLOSE and abs(ahead) < _NEAR * max(abs(theta[index]), unit):
            return theta + ahead * direction
        far = side * theta[index] > _FAR * unit
        if short < 0:
            outer, ahead = theta, ahead + step
        elif far and short > _GAINS * (root - last):
            # Where steps double, the profile falls less and less: it will never fall far enough on this side.
            return None
        elif theta[index] == inner[index]:
            break
        else:
            direction = (theta - inner) / (theta - inner)[index]
            inner, last = theta, root
        longest = 2 * step if far else side * min(_LONGER * abs(step), unit)
        if outer is not None:
            longest = outer[index] - inner[index]
        inside = 0 < ahead * side < abs(longest)
        step = ahead if inside else longest / 2 if outer is not None else longest
    # At a leap, where the search loses its peak, the likelihood has not fallen by z^2 / 2.
    return None if outer is None or abs(z) - last > _LEAP else inner


def _highest(
    near: Callable[[Array], Model], starts: Sequence[Array], free: NDArray[np.bool_], endless: bool
) -> tuple[Array, Sums]:
    """Return where the searches from some points end highest, and the sums there."""
    found = []
    for start in starts:
        model = near(start)
        theta = maximize(model, start, free, endless=endless).theta
        found.append((theta, evaluate(model, theta)))
    return max(found, key=lambda each: each[1].log_likelihood)


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
