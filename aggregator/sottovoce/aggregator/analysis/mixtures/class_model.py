"""Model the classes of people of a cheater detection design with predictors.

Model       Multinomial log odds of carriers and of people who always say no, against noncarriers who do as instructed.
            The channel of each group is known, so each (group, report) has its own row of likelihoods.
Shares      Means of the fitted shares, with errors by the delta method. Limits by profile likelihood, which end at 0
            and 1: "log likelihood + tilt (sum of the fitted shares of a class)" is largest on the profile, at the mean
            share where its slope is -tilt. With weights, where the likelihood is no true one, by the log odds of the
            mean; but by profile, with the effective number of people, where a class may be empty.
Edges       Where a share is 0 for some or all people, log odds run off and have no estimate, and nothing has an error.
Errors      By the observed information; with weights the sandwich.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.people_with_predictors import mean_share, people_with_predictors
from sottovoce.aggregator.analysis.mixtures.designs import CHEATING, DESIGNS
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.likelihood_ratio import false_position, profile_limits
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial, information, times_columns
from sottovoce.aggregator.analysis.regression.newton import LARGEST_ODDS, Array, Fit, Sums, inverse, maximize
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, wald_coefficients
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import EstimateError

AT_EDGE = "an estimate is at the edge of what is possible, so there are no standard errors; limits end at the edge"
NO_MAXIMUM = (
    "this model has no finite maximum: in some group of people a share is at its edge, as if none of them were in one "
    "class; leave predictors out, or see the shares without a formula"
)
NO_MODEL = "a formula and {design} do not go together: cheater detection alone has a model"
FEW = "{people} people are too few for {count} coefficients: leave predictors out"
EMPTY, TRACE, STEEPEST, LEAST = 1e-4, 1e-7, 100.0, 1e-9
"""Share shown as 0 at an edge, people of each class added for one person, the largest tilt, least curvature."""
_CLASSES = (1, 0, 2)
"""Classes of the design in the order of the model: honest noncarriers are the reference."""

Document = dict[str, Any]


def with_class_model(
    found: Document, columns: Columns, own: Sequence[str], reports: NDArray[np.int64], formula: str,
    weights: Array | None = None,
) -> Document:  # fmt: skip
    """Return the document of a design with ``model``: mean shares and coefficients of a formula by maximum likelihood.

    Args:
        own: names of the columns of reports and of groups.
        reports: (n,), place of the group times 2, and 1 more for yes; negative where there is none.
        weights: (n,), or None; their sum becomes the effective number of people.

    Raises:
        EstimateError: the design has no model, a predictor does not fit, people are too few, or there is no maximum.
    """
    design, confidence = found["design"], found["confidence"]
    known = DESIGNS[design]
    if known.shares is not CHEATING:
        raise EstimateError(NO_MODEL, design=design)
    if weights is not None:
        used = weights[reports >= 0]
        weights = weights * (used.sum() / (used @ used))
    sample, rows = people_with_predictors(columns, reports >= 0, own, formula, confidence, weights)
    chances = np.concatenate([np.array(known.channel(group["p"], 1)).T for group in found["groups"]])[:, _CLASSES]
    model = Multinomial(sample.design.columns, reports[rows], chances, sample.weights)
    if sample.n < model.parameters:
        raise EstimateError(FEW, people=sample.n, count=model.parameters)
    fit = maximize(model)
    if fit.runs_off is None and not fit.converged:
        raise EstimateError(NO_MAXIMUM)
    kind, z = "observed" if weights is None else "sandwich", normal_quantile(confidence)
    variance = covariance(model, fit, kind) if fit.converged else None
    names = [known.shares[place].name for place in _CLASSES]
    shares = dict(zip(names, _shares(model, fit, variance, z), strict=True))
    labels = [(name, term.name) for name in names[1:] for term in sample.design.terms]
    coefficients = (
        [*_at_edge(_tilted(model), labels, confidence)]
        if variance is None
        else wald_coefficients(labels, fit.theta, np.diag(variance), z)
    )
    fitted = {
        "formula": formula,
        "n": sample.n,
        "std_error_kind": "none" if variance is None else kind,
        "log_likelihood": fit.log_likelihood,
        "shares": {each.name: shares[each.name] for each in known.shares},
        "coefficients": [each.as_dict() for each in coefficients],
    }
    notes = dict.fromkeys([*found["warnings"], *([] if fit.converged else [NO_MAXIMUM, AT_EDGE]), *sample.left_out])
    return {**found, "model": fitted, "warnings": [*notes]}


@dataclass(frozen=True)
class _Tilted(Multinomial):
    """A log likelihood and ``tilt`` times the sum of the fitted shares of the class at ``place``.

    A trace of people of every class keeps log odds finite, so that the search ends at an edge, too.
    """

    place: int = 0
    tilt: float = 0.0

    @property
    def people(self) -> Array:
        """Return the weight of each person, (n,)."""
        return np.ones(self.rows) if self.weights is None else self.weights

    def found(self, theta: Array) -> tuple[float, float]:
        """Return the log likelihood alone, and the mean fitted share of the class."""
        logs, shares = np.log(self.marginal(theta, slice(None))), _everybody(self, theta)[self.place]
        return float(self.people @ logs), float(np.average(shares, weights=self.weights))

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the people in ``part``, weights included."""
        found, truth, columns = super().sums(theta, part), self.truth(theta, part), self.columns[:, part]
        shares, weights = _everybody(self, theta, part), self.people[part]
        tilted, trace, nobody = self.tilt * weights * shares[self.place], TRACE * weights, np.zeros_like(truth)
        slopes = times_columns(_is_place(truth, self.place) - truth, columns)
        curve = information(truth, nobody, columns, tilted + len(shares) * trace) - (slopes * tilted) @ slopes.T
        rise = slopes @ tilted + times_columns(1 - len(shares) * truth, columns) @ trace
        more = float(tilted.sum() + np.log(shares).sum(axis=0) @ trace)
        curve += found.information
        if inverse(curve) is None:
            # Of the same size but upwards in no direction, so that no step points downhill.
            scale = np.sqrt(np.maximum(np.diag(information(truth, nobody, columns, weights)), LEAST))
            values, vectors = np.linalg.eigh(curve / np.outer(scale, scale))
            curve = (vectors * np.maximum(np.abs(values), LEAST)) @ vectors.T * np.outer(scale, scale)
        return Sums(found.log_likelihood + more, found.gradient + rise, curve)

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield halves of log odds: a trace of people is as far again as those without a maximum are stopped."""
        yield from (each / 2 for each in super().predictors(theta, part))


def _at_edge(of_class: _Tilted, labels: Sequence[tuple[str, str]], confidence: float) -> Iterator[Coefficient]:
    """Yield log odds; those that run off have no estimate. Limits are by likelihood ratio, none with weights."""
    fit = maximize(of_class)
    for place, label in enumerate(labels):
        ends = profile_limits(of_class, fit, place, confidence) if of_class.weights is None else (None, None)
        yield Coefficient(*label, float(fit.theta[place]) if None not in ends else None, None, *ends)


def _tilted(model: Multinomial) -> _Tilted:
    return _Tilted(model.columns, model.codes, model.likelihood, model.weights, model.squares)


def _is_place(truth: Array, place: int) -> Array:
    """Return 1 for the class at ``place`` among those after the first, and 0 for others, (k - 1, 1)."""
    found: Array = np.eye(len(truth) + 1)[place, 1:, None]
    return found


def _everybody(model: Multinomial, theta: Array, part: slice = slice(None)) -> Array:
    """Return the fitted shares of all classes, (k, m)."""
    chosen = theta.reshape(model.shape) @ model.columns[:, part]
    odds = np.exp(np.clip(np.append(np.zeros_like(chosen[:1]), chosen, axis=0), -LARGEST_ODDS, LARGEST_ODDS))
    shares: Array = odds / odds.sum(axis=0)
    return shares


def _shares(model: Multinomial, fit: Fit, variance: Array | None, z: float) -> Iterator[Document]:
    """Yield the mean fitted share of each class."""
    whole = _tilted(model)
    theta = fit.theta if fit.converged else maximize(whole).theta
    everybody, best = _everybody(model, theta), whole.found(theta)[0]
    for place, shares in enumerate(everybody):
        of_class, error, by_odds = replace(whole, place=place), None, None
        share = of_class.found(theta)[1]
        if variance is None:
            share = round(share) if min(share, 1 - share) < EMPTY else share
        else:
            # The derivative of a share by the log odds of each class.
            slopes = shares * (_is_place(everybody[1:], place) - everybody[1:])
            share, error, *by_odds = mean_share(model, shares, slopes, variance, z)
        low, high = _limit(of_class, theta, best, -z), _limit(of_class, theta, best, z)
        if by_odds and model.weights is not None and low > 0:
            low, high = by_odds
        yield {"share": share, "se": error, "low": low, "high": high}


def _limit(of_class: _Tilted, theta: Array, best: float, z: float) -> float:
    """Return the mean share whose profile likelihood is z^2 / 2 below the best one, on the side of z, or the edge."""
    # Each search begins where the one before ended: from afar a steep tilt leads it astray.
    last = [theta]

    def excess(tilt: float) -> float:
        tilted = replace(of_class, tilt=math.copysign(tilt, z))
        fit = maximize(tilted, last[-1])
        if not fit.converged:
            fit = max(fit, maximize(tilted), key=lambda each: each.log_likelihood)
        last.append(fit.theta)
        return math.sqrt(max(2 * (best - tilted.found(last[-1])[0]), 0.0)) - abs(z)

    inner, under = 0.0, -abs(z)
    # Errors of shares are below a half, so the first tilt is on the near side of the limit.
    outer = 2 * abs(z) / float(of_class.people.sum())
    while (over := excess(outer)) <= 0:
        inner, under, outer = outer, over, 2 * outer
        if outer > STEEPEST:
            return 0.0 if z < 0 else 1.0
    false_position(excess, (inner, under), (outer, over))
    return of_class.found(last[-1])[1]
