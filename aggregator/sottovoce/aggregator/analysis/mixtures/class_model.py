"""Model the classes of people of a cheater detection design with predictors.

Model       Multinomial log odds of carriers and of people who always say no, against noncarriers who do as instructed.
            The channel of each group is known, so each (group, report) has its own row of likelihoods.
Shares      Means of the fitted shares, with errors by the delta method. Limits by profile likelihood, which end at 0
            and 1: "log likelihood - half the square of how far the people of a class are from a number" is largest on
            the profile. A multiple of their sum instead of the square leaps where the profile is no arch, to the edge:
            a few people at an end of a predictor may make it steep. With weights, where the likelihood is no true one,
            by the log odds of the mean; but by profile, with the effective number of people, where the class may be
            empty.
Edges       Where a share is 0 for some or all people, log odds run off and have no estimate, and nothing has an error.
            A mean share goes with shares of groups that may be 0, so limits at 1.92 are too short: with two groups, one
            class empty in both, they hold .924 of beta. The quantile is the one of the law beside edges, see ``cone``,
            with the covariance of shares of people at the ends of the predictors, of those within sqrt(ln n) errors of
            0, which are taken as 0. By score products: the observed information adds the slope at 0.
Empty       Without a class its slopes are free: a few people at any end of a predictor may look like it, so the fall of
            the likelihood is the largest of many, beyond chi-square (Davies 1977). A low limit is 0 if the fall there
            is within the quantile of the largest score of shapes exp(t x), x one predictor, t from -48 to 48 over its
            range, normal with the covariance of these scores given those of the other classes.
Peaks       At an edge the search ends where log odds run off. With predictors of many values and up to 300 people it is
            below a farther peak in 17 of 20 such fits, by up to 4.4. That peak is not taken: the law of "Empty" would
            hold .929 of pi of two groups of 300 without carriers instead of .958 (1,200 samples).
Errors      By the observed information; with weights the sandwich.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.people_with_predictors import AT_EDGE, mean_share, people_with_predictors
from sottovoce.aggregator.analysis.mixtures.designs import CHEATING, DESIGNS
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.likelihood_ratio import false_position, profile_limits
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial, information, times_columns
from sottovoce.aggregator.analysis.regression.newton import Array, Fit, Sums, evaluate, maximize
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
EMPTY, TRACE, INSIDE, HELD, BEYOND_EDGE, SMALL = 1e-4, 1e-7, 1e-4, 1e-5, 10.0, 1e-3
"""Share shown as 0 at an edge, people of each class added for one person, also to have slopes at an edge, and where a
class is held; how far beyond its edges, in people; a step of log odds for a derivative."""
_STEEP, _DRAWS, _FARTHER = np.array([-48.0, -24, -12, -6, -3, 0, 3, 6, 12, 24, 48]), 8_000, 1.0
"""Log odds between the ends of a predictor, of the shapes that a rare class may have; draws of their law; how many
errors beyond usual limits no class may be empty."""
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
        traced = _traced(model)
        fit = maximize(traced)
        coefficients = list[Coefficient]()
        for place, (label, at) in enumerate(zip(labels, fit.theta.tolist(), strict=True)):
            # Limits are by likelihood ratio, none with weights; log odds that run off on a side have no estimate.
            limits = profile_limits(traced, fit, place, confidence) if weights is None else (None, None)
            coefficients.append(Coefficient(*label, None if None in limits else at, None, *limits))
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


@dataclass(frozen=True, kw_only=True)
class _Traced(Multinomial):
    """A model with a trace of people of every class, so that the search ends at an edge, too.

    Its rows are those of the model without, a row of each class for each person, and a last one, which tells nothing.
    """

    plain: Multinomial

    def predictors(self, theta: Array, part: slice) -> Iterator[Array]:
        """Yield halves of log odds: a trace of people is as far again as those without a maximum are stopped."""
        yield from (each / 2 for each in super().predictors(theta, part))

    def directions(self, row: int) -> Array:
        """Return the derivatives of the log odds themselves."""
        return 2 * super().directions(row)


@dataclass(frozen=True, kw_only=True)
class _Held(_Traced):
    """A model with a class near so many people: the log likelihood is less by half the square of their distance."""

    place: int
    people: float

    def directions(self, row: int) -> Array:
        """Return zeros: a search that is held ends."""
        return np.zeros_like(super().directions(row))

    def _people(self, shares: Array) -> tuple[float, Array, Array]:
        """Return how many people too many the class has, with derivatives by log odds, (k - 1, n), and theta, (d,)."""
        weights, slopes = np.asarray(self.plain.weights), _slopes(shares, self.place)
        over = float(shares[self.place] @ weights) - self.people
        return over, slopes, (slopes * weights @ self.plain.columns.T).ravel()

    def sums(self, theta: Array, part: slice) -> Sums:
        """Return the contribution of the reports in ``part``; the first part also has the distance of all."""
        sums = super().sums(theta, part)
        if part.start:
            return sums
        shares = self.plain.fitted(theta, slice(None))
        over, slopes, slope = self._people(shares)
        # The curve of the class counts as much as at the maximum: times the distance, it leads a far search astray.
        pull = float(sums.gradient @ slope) / max(float(slope @ slope), 1e-300)
        weights = np.asarray(self.plain.weights) * (pull / SMALL)
        curve = information(shares[1:], shares[1:] + SMALL * slopes, self.plain.columns, weights)
        return Sums(
            sums.log_likelihood - over**2 / 2,
            sums.gradient - over * slope,
            sums.information - curve + np.outer(slope, slope),
        )

    def scores(self, theta: Array, part: slice) -> Array:
        """Return the gradients; of the last report, which tells nothing, the gradient of the class."""
        scores = super().scores(theta, part)
        if part.stop == self.rows:
            scores[:, -1] = self._people(self.plain.fitted(theta, slice(None)))[2]
        return scores


def _traced(model: Multinomial, trace: float = TRACE) -> _Traced:
    classes, known = model.likelihood.shape[1], len(model.likelihood)
    return _Traced(
        np.pad(np.tile(model.columns, classes + 1), ((0, 0), (0, 1))),
        np.concatenate([model.codes, np.repeat(known + np.arange(classes), model.rows), [known + classes]]),
        np.concatenate([model.likelihood, np.eye(classes), np.ones((1, classes))]),
        np.append(np.array([[1.0], *[[trace]] * classes]) * model.weights, 1.0),
        plain=model,
    )


def _slopes(shares: Array, place: int) -> Array:
    """Return the derivatives of a share by the log odds of each class after the first, (k - 1, n)."""
    return np.asarray(shares[place] * ((np.arange(1, len(shares)) == place)[:, None] - shares[1:]))


def _shares(model: Multinomial, theta: Array, variance: Array | None, z: float, plain: bool) -> Iterator[Document]:
    """Yield the mean fitted share of each class."""
    everybody, inside = model.fitted(theta, slice(None)), maximize(_traced(model, INSIDE))
    for place, (shares, quantile) in enumerate(zip(everybody, _quantiles(model, everybody, inside, z), strict=True)):
        share, error = float(np.average(shares, weights=model.weights)), None
        low, high = (_limit(model, theta, inside.theta, place, side * quantile) for side in (-1, 1))
        if variance is None:
            share = round(share) if min(share, 1 - share) < EMPTY else share
        else:
            share, error, *by_odds = mean_share(model, shares, _slopes(everybody, place), variance, quantile)
            low, high = (low, high) if plain or low == 0 else by_odds
        if low > 0 and _may_be_empty(model, theta, place, z):
            low = 0.0
        yield {"share": share, "se": error, "low": low, "high": high}


def _may_be_empty(model: Multinomial, theta: Array, place: int, z: float) -> bool:
    """Return True if the likelihood is no lower without a class than chance makes it; see "Empty"."""
    others, everybody = replace(model, likelihood=np.delete(model.likelihood, place, axis=1)), slice(None)
    without = maximize(others, endless=True)
    fallen = 2 * (evaluate(model, theta).log_likelihood - without.log_likelihood)
    if fallen > (z + _FARTHER) ** 2:
        return False
    surplus = model.likelihood[model.codes, place] / others.marginal(without.theta, everybody) - 1
    powers = np.multiply.outer(_STEEP, model.columns / np.maximum(np.ptp(model.columns, axis=1, keepdims=True), TRACE))
    shapes = np.exp(powers - powers.max(axis=2, keepdims=True)).reshape(-1, model.rows)
    scores = np.vstack([shapes * surplus, others.scores(without.theta, everybody)])
    products, own = (scores * model.weights) @ scores.T, len(shapes)
    known = products[own:, :own]
    left = products[:own, :own] - known.T @ np.linalg.pinv(products[own:, own:], hermitian=True) @ known
    errors = np.sqrt(np.maximum(np.diag(left), TRACE * np.diag(products)[:own]))
    values, vectors = np.linalg.eigh(left / np.outer(errors, errors))
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    drawn = np.random.default_rng(0).standard_normal((_DRAWS, own)) @ root
    return bool(fallen <= np.quantile(drawn.max(axis=1), math.erf(z / math.sqrt(2))) ** 2)


def _quantiles(model: Multinomial, everybody: Array, inside: Fit, z: float) -> Iterator[float]:
    """Yield the z of limits of the mean share of each class; see "Edges"."""
    variance, fitted = covariance(model, inside, "opg"), model.fitted(inside.theta, slice(None))
    # Slopes of all shares, (k, d, n), by the coefficients; and of their means.
    slopes = np.stack([times_columns(_slopes(fitted, place), model.columns) for place in range(len(fitted))])
    means = np.average(slopes, axis=2, weights=model.weights)
    ends = np.unique([model.columns.argmin(axis=1), model.columns.argmax(axis=1)])
    # Shares sum to 1, so the largest one is far from 0, however large its error is.
    classes, used = np.nonzero(everybody[:, ends] < everybody[:, ends].max(axis=0))
    of_ends = slopes[classes, :, ends[used]]
    known = variance, everybody[classes, ends[used]], float(np.sum(np.asarray(model.weights)))
    for place, mean in enumerate(means):
        yield quantile_beside_edges(np.concatenate([mean[None], of_ends]), *known, z, classes == place)


def _limit(model: Multinomial, theta: Array, inside: Array, place: int, z: float) -> float:
    """Return the mean share whose profile likelihood is z^2 / 2 below the best one, on the side of z, or the edge."""
    traced, people, best = vars(_traced(model, HELD)), float(np.sum(np.asarray(model.weights))), evaluate(model, theta)
    found = begin = theta

    def share() -> float:
        return float(np.average(model.fitted(found, slice(None))[place], weights=model.weights))

    def excess(held: float) -> float:
        nonlocal begin, found
        near = _Held(**traced, place=place, people=held)
        found = max((maximize(near, start) for start in (begin, inside)), key=lambda fit: fit.log_likelihood).theta
        over = math.sqrt(max(2 * (best.log_likelihood - evaluate(model, found).log_likelihood), 0.0)) - abs(z)
        # From beyond the limit a search may go astray, so each one begins at the last point before it, and inside.
        begin = found if over <= 0 else begin
        return over

    inner, under, step = people * share(), -abs(z), math.copysign(math.sqrt(people) / 2, z)
    least, most = -BEYOND_EDGE, people + BEYOND_EDGE
    outer = inner + step
    while (over := excess(outer)) <= 0:
        if outer in {least, most}:
            return 0.0 if z < 0 else 1.0
        inner, under, step = outer, over, 2 * step
        outer = min(max(inner + step, least), most)
    false_position(excess, (inner, under), (outer, over))
    return share()
