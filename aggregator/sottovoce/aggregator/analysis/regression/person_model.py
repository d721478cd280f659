"""The likelihood of several yes/no answers of each person that one latent trait connects, through any channels.

Model       P(yes to answer j | z) = 1 / (1 + exp(-(x_j' b + z l_j' a))), z normal with mean 0 and variance 1, one for
            each person, or cluster of people. A random intercept has l = 1 and a = s, its standard deviation. Rasch is
            that with x = -1 for the item; 2PL has an a of its own for each item.
Integral    Adaptive Gauss-Hermite: around the most likely z of each person, scaled by the curvature there. Through
            noise no z is ruled out, and around a narrow peak the sum settles slowly: there the points are around 0,
            alike for all. They are doubled until the log likelihood moves by less than ``SETTLED``.
Gradient    Means over z given the reports of the scores of each answer, (r - P) (x, z l), r = P(yes | report, z).
Information Minus the mean curvature, (P (1 - P) - r (1 - r)) (x, z l) (x, z l)', less the covariance of the scores
            given the reports (Louis 1982).
Sign        a and -a are equally likely, so s = 0 is a point as any other and not an edge.
Limits      Of slopes by profile likelihood: they are skewed, and estimate -+ 1.96 errors held .93 of samples of 2,000
            people through noise. The points move to the peaks of every value tried: those of the maximum are beside
            them. Where twice the points move a limit and the log likelihood there by ``CLOSE``, they are doubled, too;
            what does not settle with ``MOST_POINTS`` is no limit.
Source      Rasch 1960; Bock and Aitkin 1981; Liu and Pierce 1994 (adaptive); Boeckenholt and van der Heijden 2007.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.likelihood_ratio import profile_end
from sottovoce.aggregator.analysis.regression.newton import (
    Array,
    Fit,
    Model,
    Sums,
    evaluate,
    inverse,
    logistic,
    maximize,
    parts,
)
from sottovoce.aggregator.estimators.intervals import normal_quantile, upper_tail
from sottovoce.shared.errors import EstimateError

FIRST_POINTS, MOST_POINTS = 15, 120
SETTLED, CLOSE = 1e-6, 0.01
NONE_LEFT = 1e-4
"""Standard deviation below which people are shown not to differ."""

_LARGEST = 30.0  # log odds: a share and its complement still differ from 0
_MODE_STEPS, _MODE_CLOSE = 12, 1e-6
_LEAST_CURVATURE, _LONGEST_STEP = 0.25, 2.0
_RULED_OUT, _WIDE = 1e-10, 0.8
_points = cache(np.polynomial.hermite_e.hermegauss)


@dataclass(frozen=True)
class PersonModel(Model):
    """A likelihood of people with one answer or more.

    Attributes:
        columns: (p, r), predictors of each answer; answers of one person are beside each other.
        loads: (l, r), what multiplies the trait.
        likelihood: (r, 2), P(report | no) and P(report | yes); ones where there is none.
        starts: (n + 1,), first answer of each person, and r.
        points: number of points of the integral.
        weights: (n,), people with the same answers; None for one each.
        peaks: (2, n), centre and scale of the points of each person; None for those of the normal distribution.
    """

    columns: Array
    loads: Array
    likelihood: Array
    starts: NDArray[np.intp]
    points: int = FIRST_POINTS
    weights: Array | None = None
    squares: Array | None = None
    peaks: Array | None = None

    @property
    def rows(self) -> int:
        """Number n of people, or of clusters."""
        return len(self.starts) - 1

    @property
    def parameters(self) -> int:
        """Number p + l of coefficients and of slopes of the trait."""
        return len(self.columns) + len(self.loads)

    def start(self) -> Array:
        """Return coefficients 0 and slopes 1, (d,)."""
        return np.append(np.zeros(len(self.columns)), np.ones(len(self.loads)))

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the people in ``part``, weights included."""
        logs, given, z, scores, curves = self._given(theta, part)
        weights = np.ones(len(logs)) if self.weights is None else self.weights[part]
        rows, _, person = self._rows(part)
        means, weighted = np.einsum("kmq,mq->km", scores, given), given * weights[:, None]
        information = (means * weights) @ means.T
        information -= np.einsum("kmq,lmq,mq->kl", scores, scores, weighted, optimize=True)
        x, load = self.columns[:, rows], self.loads[:, rows]
        flat, sloped, square = (((weighted * z**power)[person] * curves).sum(axis=1) for power in (0, 1, 2))
        across = (x * sloped) @ load.T
        information -= np.block([[(x * flat) @ x.T, across], [across.T, (load * square) @ load.T]])
        return Sums(float(weights @ logs), means @ weights, information)

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradient of each person's log likelihood, (d, m), without the weight."""
        _, given, _, scores, _ = self._given(theta, part)
        return np.asarray(np.einsum("kmq,mq->km", scores, given))

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield the parameters themselves, (m,) each, by which steps are kept short."""
        yield from np.repeat(theta[:, None], part.stop - part.start, axis=1)

    def _rows(self, part: slice) -> tuple[slice, NDArray[np.intp], NDArray[np.intp]]:
        """Return the answers of the people in ``part``, the first one of each, (m,), and the person of each, (r,)."""
        starts = self.starts[part.start : part.stop + 1]
        own = starts[:-1] - starts[0]
        return slice(starts[0], starts[-1]), own, np.repeat(np.arange(len(own)), np.diff(starts))

    def _given(self, theta: Array, part: slice) -> tuple[Array, Array, Array, Array, Array]:
        """Return log likelihoods (m,), P(z | reports) (m, q), points z (m, q), scores (d, m, q), curvatures (r, q)."""
        nodes, masses = _points(self.points)
        # Fixed while a maximum is searched: only then are these sums the derivatives of the log likelihood.
        mode, scale = (np.zeros(1), np.ones(1)) if self.peaks is None else self.peaks[:, part]
        z = np.broadcast_to(mode[:, None] + scale[:, None] * nodes, (part.stop - part.start, self.points))
        logs, residuals, curves = self._at(theta, part, z)
        logs += np.log(masses / masses.sum()) + (nodes**2 - z**2) / 2 + np.log(scale)[:, None]
        largest = logs.max(axis=1, keepdims=True)
        given = np.exp(logs - largest)
        total = given.sum(axis=1, keepdims=True)
        return (largest + np.log(total))[:, 0], given / total, z, self._of_parameters(residuals, z, part), curves

    def peaks_at(self, theta: Array, part: slice) -> Array:
        """Return centre and scale of each person's points, (2, m): by the peak, or of all people through noise."""
        rows, own, _ = self._rows(part)
        slope, mode = (theta[len(self.columns) :] @ self.loads)[rows], np.zeros(len(own))
        curvature = np.ones(len(own))
        for _ in range(_MODE_STEPS):
            _, residuals, curves = self._at(theta, part, mode[:, None])
            # Noise can make the likelihood of z have several peaks; the floor keeps to one of them.
            curvature = np.maximum(1 - np.add.reduceat(slope**2 * curves[:, 0], own), _LEAST_CURVATURE)
            step = (np.add.reduceat(slope * residuals[:, 0], own) - mode) / curvature
            mode = mode + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
            if np.abs(step).max() < _MODE_CLOSE:
                break
        least, most = self.likelihood[rows].min(axis=1), self.likelihood[rows].max(axis=1)
        telling = np.multiply.reduceat(least / most, own) < _RULED_OUT
        return np.where(telling, [mode, 1 / np.sqrt(curvature)], [[0.0], [_WIDE]])

    def at_peaks(self, theta: Array) -> "PersonModel":
        """Return the model with its points at the peaks of these parameters."""
        return replace(self, peaks=np.concatenate([self.peaks_at(theta, part) for part in parts(self.rows)], axis=1))

    def limit(self, fit: Fit, place: int, z: float) -> float | None:
        """Return the profile likelihood limit of a slope on the side of z; None if there is none, or none settles."""
        # The maximum has settled with half of the points.
        model, before = replace(self, points=self.points // 2), math.inf
        while model.points < MOST_POINTS:
            coarse, end = model, profile_end(model.at_peaks, fit, place, z)
            model = replace(model, points=2 * model.points)
            if end is not None:
                logs = [evaluate(each.at_peaks(end), end).log_likelihood for each in (coarse, model)]
                # Another slope may run off, and need more points than there are, where this one is settled.
                if min(abs(logs[1] - logs[0]), abs(end[place] - before)) < CLOSE:
                    return float(end[place])
                before = end[place]
        return None

    def _at(self, theta: Array, part: slice, z: Array) -> tuple[Array, Array, Array]:
        """Return at z, (m, q), log likelihoods of people (m, q), and scores and curvatures of answers, (r, q)."""
        rows, own, person = self._rows(part)
        count = len(self.columns)
        level, slope = theta[:count] @ self.columns[:, rows], theta[count:] @ self.loads[:, rows]
        yes = logistic(level[:, None] + slope[:, None] * z[person], _LARGEST)
        no, known = self.likelihood[rows].T[:, :, None]
        reported = no * (1 - yes) + known * yes
        answered = known * yes / reported
        logs = np.add.reduceat(np.log(reported), own, axis=0)
        return logs, answered - yes, answered * (1 - answered) - yes * (1 - yes)

    def _of_parameters(self, residuals: Array, z: Array, part: slice) -> Array:
        """Return the scores of all parameters, (d, m, q), from those of the answers' log odds."""
        rows, own, person = self._rows(part)
        found, sloped = np.zeros((self.parameters, len(own), self.points)), residuals * z[person]
        for place, one in enumerate(np.concatenate([self.columns, self.loads])[:, rows]):
            each = residuals if place < len(self.columns) else sloped
            # A column of one item is 0 in all other answers, which are most of them.
            used = np.flatnonzero(one)
            people, first = np.unique(person[used], return_index=True)
            found[place, people] = np.add.reduceat(one[used, None] * each[used], first, axis=0)
        return found


def settled(model: PersonModel, refusal: str, start: Array | None = None) -> tuple[PersonModel, Fit, Array]:
    """Return the model with enough points, its maximum and the covariance there; raise EstimateError without one."""
    model = model.at_peaks(model.start() if start is None else start)
    fit = maximize(model, start)
    # Where there is no maximum, more points would only make the search for it slower.
    while fit.converged and model.points < MOST_POINTS:
        before, model = fit, replace(model.at_peaks(fit.theta), points=2 * model.points)
        fit = maximize(model, before.theta)
        if abs(fit.log_likelihood - before.log_likelihood) < SETTLED:
            break
    covariance = inverse(fit.information) if fit.converged else None
    if covariance is None:
        raise EstimateError(refusal)
    # Of two mirror images, which are equally likely, the one whose first slope is not negative.
    count = len(model.columns)
    signs = np.append(np.ones(count), np.full(len(model.loads), np.sign(fit.theta[count]) or 1.0))
    return model, replace(fit, theta=signs * fit.theta), covariance * np.outer(signs, signs)


def spread(model: PersonModel, fit: Fit, covariance: Array, confidence: float) -> dict[str, Any]:
    """Return the standard deviation, the last parameter, its error, and profile limits; of 0 only an upper one."""
    place = model.parameters - 1
    value, z = float(fit.theta[place]), normal_quantile(confidence)
    low, high = (model.limit(fit, place, side * z) for side in (-1, 1))
    value, error = (value, float(covariance[-1, -1]) ** 0.5) if value >= NONE_LEFT else (0.0, None)
    return {"estimate": value, "std_error": error, "low": max(low or 0.0, 0.0), "high": high}


def ratio_test(hypothesis: str, gain: float, df: int, share: float) -> dict[str, Any]:
    """Return a likelihood-ratio test; ``share`` of samples have their maximum elsewhere if the hypothesis holds."""
    statistic = max(0.0, 2 * gain)
    # Below the precision of the search, there is no difference.
    p = share * upper_tail(statistic, df) if statistic > SETTLED else 1.0
    return {"hypothesis": hypothesis, "statistic": statistic, "df": df, "p": p}


def spread_test(model: PersonModel, fit: Fit) -> dict[str, Any]:
    """Test that people do not differ: under s = 0 half of the samples have their maximum there."""
    free = np.arange(model.parameters) < model.parameters - 1
    alike = maximize(replace(model, peaks=None), np.where(free, fit.theta, 0.0), free)
    return ratio_test("people do not differ", fit.log_likelihood - alike.log_likelihood, 1, 0.5)
