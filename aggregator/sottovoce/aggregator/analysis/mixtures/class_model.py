"""Model the classes of people of a cheater detection design with predictors.

Model       Multinomial log odds of carriers and of people who always say no, against noncarriers who do as instructed.
            The channel of each group is known, so each (group, report) has its own row of likelihoods.
Shares      Means of the fitted shares, with errors by the delta method. Limits by profile likelihood, which end at 0
            and 1: "log likelihood + tilt (sum of the fitted shares of a class)" is largest on the profile, at the mean
            share where its slope is -tilt. With weights, where the likelihood is no true one, by the log odds of the
            mean; but by profile, with the effective number of people, where the class may be empty.
Edges       Where a share is 0 for some or all people, log odds run off and have no estimate, and nothing has an error.
            A mean share goes with shares of groups that may be 0, so limits at 1.92 are too short: with two groups, one
            class empty in both, they hold .924 of beta. The quantile is the one of the law beside edges, see ``cone``,
            with the covariance of shares of people at the ends of the predictors, of those within sqrt(ln n) errors of
            0, which are taken as 0. By score products: the observed information adds the slope at 0.
Errors      By the observed information; with weights the sandwich.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.people_with_predictors import AT_EDGE, mean_share, people_with_predictors
from sottovoce.aggregator.analysis.mixtures.designs import CHEATING, DESIGNS
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.likelihood_ratio import false_position, profile_limits
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array, evaluate, inverse, maximize, score_products
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, wald_coefficients
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.estimators.cone import quantile_beside_edges
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import EstimateError

NO_MAXIMUM = (
    "this model has no finite maximum: in some group of people a share is at its edge, as if none of them were in one "
    "class; leave predictors out, or see the shares without a formula"
)
NO_MODEL = "a formula and {design} do not go together: cheater detection alone has a model"
FEW = "{people} people are too few for {count} coefficients: leave predictors out"
EMPTY, TRACE, INSIDE, STEEPEST, SMALL = 1e-4, 1e-7, 1e-4, 100.0, 1e-3
"""Share shown as 0 at an edge, people of each class added for one person, also to have slopes at an edge, the largest
tilt, h of ``_tilted``."""
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
    alike, own_row = np.unique(np.vstack([sample.design.columns, reports[rows]]), axis=1, return_inverse=True)
    each = np.ones(len(rows)) if sample.weights is None else sample.weights
    people, squares = (np.bincount(own_row, each**power).astype(float) for power in (1, 2))
    model = Multinomial(alike[:-1], alike[-1].astype(np.intp), chances, people, squares)
    if sample.n < model.parameters:
        raise EstimateError(FEW, people=sample.n, count=model.parameters)
    fit = maximize(model)
    if fit.runs_off is None and not fit.converged:
        raise EstimateError(NO_MAXIMUM)
    kind, z = "observed" if weights is None else "sandwich", normal_quantile(confidence)
    variance = covariance(model, fit, kind) if fit.converged else None
    names = [known.shares[place].name for place in _CLASSES]
    labels = [(name, term.name) for name in names[1:] for term in sample.design.terms]
    if variance is None:
        traced = _tilted(model, np.zeros(len(names)))
        fit = maximize(traced)
        # Limits are by likelihood ratio, none with weights; log odds that run off on a side have no estimate.
        ends = [
            profile_limits(traced, fit, place, confidence) if weights is None else (None, None)
            for place in range(len(labels))
        ]
        coefficients = [
            Coefficient(*label, None if None in limits else at, None, *limits)
            for label, at, limits in zip(labels, fit.theta.tolist(), ends, strict=True)
        ]
    else:
        coefficients = [*wald_coefficients(labels, fit.theta, np.diag(variance), z)]
    shares = dict(zip(names, _shares(model, fit.theta, variance, z, weights is None), strict=True))
    fitted = {
        "formula": formula,
        "n": sample.n,
        "std_error_kind": "none" if variance is None else kind,
        "log_likelihood": evaluate(model, fit.theta).log_likelihood,
        "shares": {each.name: shares[each.name] for each in known.shares},
        "coefficients": [each.as_dict() for each in coefficients],
    }
    notes = dict.fromkeys([*found["warnings"], *([NO_MAXIMUM, AT_EDGE] if variance is None else []), *sample.left_out])
    return {**found, "model": fitted, "warnings": [*notes]}


class _Traced(Multinomial):
    """A model with a trace of people of every class, so that the search ends at an edge, too."""

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield halves of log odds: a trace of people is as far again as those without a maximum are stopped."""
        yield from (each / 2 for each in super().predictors(theta, part))


def _tilted(model: Multinomial, tilts: Array, trace: float = TRACE) -> Multinomial:
    """Return the model with a log likelihood that is larger by ``tilts``, (k,), times the fitted shares of each person.

    As further reports: log(sum of shares times exp(h tilt)) / h is that, but for h / 2 times a variance.
    """
    classes, further = len(tilts), np.array([[1.0], [1 / SMALL], *[[trace]] * len(tilts)])
    return _Traced(
        np.tile(model.columns, classes + 2),
        np.append(model.codes, np.repeat(len(model.likelihood) + np.arange(classes + 1), model.rows)),
        np.concatenate([model.likelihood, np.exp(SMALL * tilts)[None], np.eye(classes)]),
        (further * model.weights).ravel(),
    )


def _everybody(model: Multinomial, theta: Array) -> Array:
    """Return the fitted shares of all classes, (k, n)."""
    fitted = model.truth(theta, slice(None))
    return np.append(1 - fitted.sum(axis=0)[None], fitted, axis=0)


def _slopes(shares: Array, place: int) -> Array:
    """Return the derivatives of a share by the log odds of each class after the first, (k - 1, n)."""
    return np.asarray(shares[place] * ((np.arange(1, len(shares)) == place)[:, None] - shares[1:]))


def _shares(model: Multinomial, theta: Array, variance: Array | None, z: float, plain: bool) -> Iterator[Document]:
    """Yield the mean fitted share of each class."""
    everybody = _everybody(model, theta)
    for place, (shares, quantile) in enumerate(zip(everybody, _quantiles(model, everybody, z), strict=True)):
        share, error = float(np.average(shares, weights=model.weights)), None
        low, high = _limit(model, theta, place, -quantile), _limit(model, theta, place, quantile)
        if variance is None:
            share = round(share) if min(share, 1 - share) < EMPTY else share
        else:
            share, error, *by_odds = mean_share(model, shares, _slopes(everybody, place), variance, quantile)
            low, high = (low, high) if plain or low == 0 else by_odds
        yield {"share": share, "se": error, "low": low, "high": high}


def _quantiles(model: Multinomial, everybody: Array, z: float) -> Iterator[float]:
    """Yield the z of limits of the mean share of each class; see "Edges"."""
    inside = maximize(_tilted(model, np.zeros(len(everybody)), INSIDE)).theta
    variance, fitted = inverse(score_products(model, inside)), _everybody(model, inside)
    if variance is None:
        raise EstimateError(NO_MAXIMUM)
    # Slopes of all shares, (k, d, n), by the coefficients; and of their means.
    slopes = np.stack(
        [(_slopes(fitted, place)[:, None] * model.columns).reshape(len(variance), -1) for place in range(len(fitted))]
    )
    means = np.average(slopes, axis=2, weights=model.weights)
    ends = np.unique([model.columns.argmin(axis=1), model.columns.argmax(axis=1)])
    # Shares sum to 1, so the largest one is far from 0, however large its error is.
    classes, used = np.nonzero(everybody[:, ends] < everybody[:, ends].max(axis=0))
    of_ends = slopes[classes, :, ends[used]]
    known = variance, everybody[classes, ends[used]], float(np.sum(np.asarray(model.weights)))
    for place, mean in enumerate(means):
        yield quantile_beside_edges(np.concatenate([mean[None], of_ends]), *known, z, classes == place)


def _limit(model: Multinomial, theta: Array, place: int, z: float) -> float:
    """Return the mean share whose profile likelihood is z^2 / 2 below the best one, on the side of z, or the edge."""
    best, last, tilts = evaluate(model, theta).log_likelihood, [theta], np.zeros(len(model.likelihood[0]))

    def excess(tilt: float) -> float:
        tilts[place] = math.copysign(tilt, z)
        # Each search begins where the one before ended: from afar a steep tilt leads it astray.
        last.append(maximize(_tilted(model, tilts), last[-1]).theta)
        return math.sqrt(max(2 * (best - evaluate(model, last[-1]).log_likelihood), 0.0)) - abs(z)

    inner, under = 0.0, -abs(z)
    # Errors of shares are below a half, so the first tilt is on the near side of the limit.
    outer = 2 * abs(z) / float(np.sum(np.asarray(model.weights)))
    while (over := excess(outer)) <= 0:
        inner, under, outer = outer, over, 2 * outer
        if outer > STEEPEST:
            return 0.0 if z < 0 else 1.0
    false_position(excess, (inner, under), (outer, over))
    return float(np.average(_everybody(model, last[-1])[place], weights=model.weights))
