"""
The one maximiser of all likelihoods: Newton's method on sums over reports, made block by block.

Sums        A model adds up log likelihood, gradient and observed information (minus the second derivative) over a block
            of reports in one pass; blocks are small enough to stay in a processor's cache.
Step        Newton's on the observed information. Where that is not positive definite, as it can be far from the
            maximum of a mixture, the sum of score products takes its place: it never points downhill. A step that
            lowers the likelihood is halved.
No maximum  With randomized reports a likelihood often has no finite maximum: one group whose reported share lies
            outside [b, a] is enough (two groups of 50, coin flip, true shares .1 and .3: 23 % of samples). So a step
            moves no row's linear predictor by more than 4, and the search ends where one lies beyond 12 and its own
            standard error is larger still. The second half of the rule lets a far outlier of a covariate pass; without
            a maximum the error grows exponentially with the predictor, and so passes it sooner or later.
Source      Louis 1982 (the observed information of a mixture).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sottovoce.shared.errors import EstimateError

Array = NDArray[np.float64]

BLOCK = 16_384
"""Reports added up at a time."""

LONGEST_STEP = 4.0
BEYOND = 12.0
MOST_STEPS = 200
_CLOSE = 1e-12  # Newton's decrement: the square of the distance in standard errors; one step more squares it
_HALVINGS = 40
_SINGULAR = 1e-12  # of a matrix scaled to a unit diagonal


class Sums(NamedTuple):
    """What a block of reports adds: log likelihood, its gradient (d,), its observed information (d, d)."""

    log_likelihood: float
    gradient: Array
    information: Array


class Model(Protocol):
    """
    A likelihood of independent reports.

    Attributes:
        rows: number of reports.
        parameters: number d of parameters.
        weights: (n,) positive, or None for one each.
    """

    @property
    def rows(self) -> int: ...  # noqa: D102 - told above

    @property
    def parameters(self) -> int: ...  # noqa: D102

    @property
    def weights(self) -> Array | None: ...  # noqa: D102

    def start(self) -> Array:
        """Where the search begins, (d,)."""
        ...

    def sums(self, theta: Array, part: slice) -> Sums:
        """What the reports in ``part`` add, weights included."""
        ...

    def scores(self, theta: Array, part: slice) -> Array:
        """(d, m): the derivative of each report's log likelihood, without its weight."""
        ...

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Linear predictors of the reports in ``part``, (m,) each; linear in theta, whatever theta is."""
        ...

    def directions(self, row: int) -> Array:
        """(number of predictors, d): the derivative of each linear predictor of one report."""
        ...

    def at_edge(self, theta: Array) -> bool:
        """Whether the parameters are as good as beyond an edge at which the model ends."""
        ...


@dataclass(frozen=True)
class Fit:
    """
    Where a search ended.

    Attributes:
        theta: the parameters, (d,).
        log_likelihood: there.
        information: observed, (d, d).
        converged: a maximum was found.
        runs_off: the direction in which the likelihood has no maximum, (d,), or None.
    """

    theta: Array
    log_likelihood: float
    information: Array
    converged: bool
    runs_off: Array | None = None


def parts(rows: int) -> Iterator[slice]:
    """The blocks of all reports."""
    for start in range(0, rows, BLOCK):
        yield slice(start, min(start + BLOCK, rows))


def evaluate(model: Model, theta: Array) -> Sums:
    """The sums over all reports at ``theta``."""
    log_likelihood = 0.0
    gradient, information = np.zeros(model.parameters), np.zeros((model.parameters, model.parameters))
    for part in parts(model.rows):
        sums = model.sums(theta, part)
        log_likelihood += sums.log_likelihood
        gradient += sums.gradient
        information += sums.information
    return Sums(log_likelihood, gradient, information)


def score_products(model: Model, theta: Array, power: int = 1) -> Array:
    """
    The sum of w^power s s' over all reports, (d, d).

    Args:
        model: the likelihood.
        theta: where, (d,).
        power: of the weights: 1 for an information, 2 for the variance of the weighted score.
    """
    total = np.zeros((model.parameters, model.parameters))
    for part in parts(model.rows):
        scores = model.scores(theta, part)
        weighted = scores if model.weights is None else scores * model.weights[part] ** power
        total += weighted @ scores.T
    return total


def inverse(matrix: Array) -> Array | None:
    """The inverse of a symmetric matrix, or None if it is not positive definite; blind to the columns' units."""
    diagonal = np.diag(matrix)
    if not (np.isfinite(matrix).all() and np.all(diagonal > 0)):
        return None
    scale = 1 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(matrix * scale[:, None] * scale)
    if len(values) and values[0] < _SINGULAR:
        return None
    inverted: Array = (vectors / values) @ vectors.T * scale[:, None] * scale
    return inverted


def maximize(model: Model, start: Array | None = None, free: NDArray[np.bool_] | None = None) -> Fit:
    """
    Search the maximum of a likelihood.

    Args:
        model: the likelihood.
        start: where to begin, (d,); the model's own start if None.
        free: (d,), the parameters that may move; all if None.

    Returns:
        A fit; ``converged`` and ``runs_off`` say how the search ended.

    Raises:
        EstimateError: the parameters cannot be told apart by these reports.
    """
    theta = model.start() if start is None else start
    moving = np.ones(model.parameters, bool) if free is None else free
    sums = evaluate(model, theta)
    for _ in range(MOST_STEPS):
        step = _step(model, theta, sums, moving)
        decrement = float(step @ sums.gradient)
        if decrement < _CLOSE:
            # So near, the step is exact to rounding, and neither the curvature nor the likelihood changes any more.
            return Fit(theta + step, sums.log_likelihood + decrement / 2, sums.information, converged=True)
        step = step * min(1.0, LONGEST_STEP / max(_reach(model, step)[0], 1e-300))
        climbed = _climb(model, theta, sums, step)
        if climbed is None:
            break
        theta, sums = climbed
        if _runs_off(model, theta, sums.information, moving):
            return Fit(theta, sums.log_likelihood, sums.information, converged=False, runs_off=step)
    return Fit(theta, sums.log_likelihood, sums.information, converged=False)


def _step(model: Model, theta: Array, sums: Sums, moving: NDArray[np.bool_]) -> Array:
    """Newton's step of the parameters that may move."""
    inner = np.ix_(moving, moving)
    variance = inverse(sums.information[inner])
    if variance is None:
        variance = inverse(score_products(model, theta)[inner])
    if variance is None:
        raise EstimateError("these reports cannot tell the parameters apart; leave out a predictor or an option")
    step = np.zeros(model.parameters)
    step[moving] = variance @ sums.gradient[moving]
    return step


def _climb(model: Model, theta: Array, sums: Sums, step: Array) -> tuple[Array, Sums] | None:
    """The step, halved until the likelihood does not fall; None if it falls whatever the length."""
    # Near the maximum the gain is below what a sum of so many logarithms can show.
    least = sums.log_likelihood - 1e-12 * (1 + abs(sums.log_likelihood))
    for _ in range(_HALVINGS):
        tried = evaluate(model, theta + step)
        if tried.log_likelihood >= least:
            return theta + step, tried
        step = step / 2
    return None


def _reach(model: Model, theta: Array) -> tuple[float, int]:
    """The largest linear predictor of any report, whatever its sign, and whose it is."""
    largest, row = 0.0, 0
    for part in parts(model.rows):
        for predictor in model.predictors(theta, part):
            low, high = int(predictor.argmin()), int(predictor.argmax())
            end = high if predictor[high] > -predictor[low] else low
            if abs(predictor[end]) > largest:
                largest, row = abs(float(predictor[end])), part.start + end
    return largest, row


def _runs_off(model: Model, theta: Array, information: Array, moving: NDArray[np.bool_]) -> bool:
    """Whether a report's linear predictor has left for where no maximum is."""
    if model.at_edge(theta):
        return True
    largest, row = _reach(model, theta)
    if largest <= BEYOND:
        return False
    variance = inverse(information[np.ix_(moving, moving)])
    if variance is None:
        return True
    directions = model.directions(row)
    values = directions @ theta
    direction = directions[int(np.abs(values).argmax())][moving]
    return float(direction @ variance @ direction) > largest**2
