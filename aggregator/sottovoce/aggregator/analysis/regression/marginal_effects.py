"""Compute average marginal effects on the scale of shares, and predict shares or numbers for given predictor values.

Effect      Of a category, the mean over the reports of the difference between the predicted shares with this category
            and with its base; of a number, the mean derivative. All columns with the predictor move, so interactions
            and powers move along. A randomized predictor is not known of each person: the mean runs over its estimated
            distribution too. Variance: delta method, plus var(f) / n because the predictors are a sample as well
            (coverage .936 to .945; without that term it covers the observed people only).
Derivative  By central differences of predictions, exact to about nine digits, as the delta method's are.
Prediction  Limits of a share are on the scale of log odds, so that they stay within 0 and 1, those of a linear model on
            its own scale; the variance of a row is x'Vx. The time is linear in the number of rows.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.regression.design_matrix import STRATUM, Design, Recipe
from sottovoce.aggregator.analysis.regression.newton import LARGEST_ODDS, Array, logistic, parts
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor
from sottovoce.aggregator.analysis.regression.regression_result import ROUNDING, Regression
from sottovoce.aggregator.estimators.intervals import normal_quantile, t_quantile
from sottovoce.shared.errors import EstimateError

SharesLink = Callable[[Array], tuple[Array, Array]]
"""Shares after the first, (k - 1, m), and their derivatives, (k - 1, l, m), by linear predictors (l, m)."""

_DECIMAL = re.compile(r"-?([0-9]{1,15}(\.[0-9]{1,15})?|\.[0-9]{1,15})")


class Effect(NamedTuple):
    """Effects of a term on the shares after the first, and standard errors, (k - 1,) each; base: None of a number."""

    term: str
    base: str | None
    averages: Array
    errors: Array


@dataclass(frozen=True)
class FittedShares:
    """A fitted model of shares.

    Attributes:
        coefficients: of the linear predictors, (l, p).
        covariance: of these coefficients, row by row, then of ``of_randomized``.
        weights: (n,), with their squares, and the number of reports, as of a ``Sample``.
        randomized: model with randomized predictors, if there are any; ``of_randomized`` are its last parameters.
    """

    design: Design
    link: SharesLink
    coefficients: Array
    covariance: Array
    weights: Array
    squares: Array
    reports: int
    randomized: RandomizedPredictor | None = None
    of_randomized: ArrayLike = ()

    def effects(self) -> Iterator[Effect]:
        """Yield the average marginal effects of all predictors; none where a derivative is not finite."""
        for term, base, name, place in self.design.recipe.effects():
            found = self._effect(name, place)
            if np.isfinite(found).all():
                yield Effect(term, base, *found)

    def _effect(self, name: str, category: int) -> tuple[Array, Array]:
        total, n = self.weights.sum(), self.reports
        weights = self.weights / total
        found = [self._part(name, category, part, weights[part]) for part in parts(len(weights))]
        effects, gradient = np.concatenate([each for each, _ in found], axis=1), sum(slopes for _, slopes in found)
        averages = effects @ weights
        sampled = (effects - averages[:, None]) ** 2 @ (self.squares / total**2) * n / (n - 1)
        return averages, np.sqrt(np.einsum("cd,de,ce->c", gradient, self.covariance, gradient) + sampled)

    def _part(self, name: str, category: int, part: slice, weights: Array) -> tuple[Array, Array]:
        """Return the effect in each report of a part, (k - 1, m), and the weighted derivatives by all parameters."""
        cells, _ = self.design.cells()
        *ends, width = self.design.ends(name, category, part)
        prior = np.ones((1, len(weights)))
        if self.randomized is not None:
            prior = self.randomized.distribution(np.asarray(self.of_randomized), part)
        # Every link has as many shares after the first as linear predictors.
        by_cell = np.zeros((len(cells), len(self.coefficients), len(weights)))
        gradient: Array = np.zeros(1)
        for cell, share in enumerate(prior):
            for sign, public, moved in zip((-1, 1), ends, self.design.moved(cells[cell], name, category), strict=True):
                # One column may stand for all reports: with no other public predictor they are alike.
                columns = np.broadcast_to(public * moved[:, None], (len(moved), len(weights)))
                shares, slopes = self.link(self.coefficients @ columns)
                by_cell[cell] += sign * shares / width
                # A matrix product over the reports, where einsum would be ten times as slow.
                gradient = gradient + sign * np.tensordot(slopes * (weights * share / width), columns, axes=(2, 1))
        effects = np.einsum("am,acm->cm", prior, by_cell)
        gradient = gradient.reshape(len(effects), -1)
        if self.randomized is not None:
            excess = (by_cell - effects) * (prior * weights)[:, None]
            gradient = np.hstack([gradient, self.randomized.by_distribution(excess[1:], part)])
        return effects, gradient


def logit_shares(log_odds: Array) -> tuple[Array, Array]:
    """Return shares after the first of log odds against it, and their derivatives, as a ``SharesLink``."""
    odds = np.exp(np.clip(log_odds, -LARGEST_ODDS, LARGEST_ODDS))
    shares = odds / (1 + odds.sum(axis=0))
    return shares, shares[:, None] * (np.eye(len(shares))[:, :, None] - shares)


def ordered_shares(log_odds: Array) -> tuple[Array, Array]:
    """Return shares after the first of log odds of being at or below each one before, as a ``SharesLink``."""
    below = logistic(log_odds)
    ends = np.eye(len(below), k=1) - np.eye(len(below))
    return np.diff(below, axis=0, append=1), ends[:, :, None] * (below * (1 - below))


def predicted_shares(
    coefficients: Array, covariance: Array, columns: Array, confidence: float = 0.95
) -> tuple[Array, Array, Array]:
    """Predict the shares of all categories for given predictors: shares, lower and upper limits, each (k, m).

    Args:
        coefficients: (k - 1, p), those of the categories after the first.
        covariance: of the coefficients, category by category, ((k - 1) p, (k - 1) p).
        columns: (p, m), the predictors of m rows.
    """
    after, _ = logit_shares(coefficients @ columns)
    shares = np.vstack([1 - after.sum(axis=0), after])
    # d logit(P_c) = sum_e ([c = e] - P_e) / (1 - P_c) x'db_e
    by_odds = (np.eye(len(shares))[:, 1:, None] - after) / (1 - shares)[:, None]
    gradient = (by_odds[:, :, None] * columns).reshape(len(shares), len(covariance), -1)
    half = normal_quantile(confidence) * np.sqrt(np.sum(gradient * (covariance @ gradient), axis=1))
    with np.errstate(divide="ignore"):
        log_odds = np.log(shares) - np.log1p(-shares)
    low, high = (logistic(log_odds + side * half) for side in (-1, 1))
    return shares, low, high


@dataclass(frozen=True)
class Prediction:
    """A predicted share or mean with confidence limits; ``category`` is None for yes, and for a number."""

    category: str | None
    estimate: float
    low: float
    high: float


def predict(
    fitted: Regression, people: Sequence[Mapping[str, str | float]], confidence: float = 0.95
) -> list[tuple[Prediction, ...]]:
    """Predict the outcome for people with given answers: one prediction a row, or one for each later category.

    Args:
        fitted: a logit, multinomial logit or linear model with standard errors.
        people: one mapping for each row, from predictor to its category or number (or decimal digits).

    Raises:
        EstimateError: the model has no standard errors or is ordered, or a row lacks a predictor or has an unknown one.
    """
    if fitted.covariance is None or fitted.design is None or fitted.model == "ordered":
        raise EstimateError(
            "there are predictions of logit and linear models that have standard errors; where a logit has no maximum, "
            "ask for the linear model"
        )
    if fitted.df:
        confidence = 2 * NormalDist().cdf(t_quantile(confidence, fitted.df)) - 1
    columns = np.stack([_column(fitted.design, person) for person in people], axis=1)
    coefficients = np.array([each.estimate for each in fitted.coefficients], dtype=float).reshape(-1, len(columns))
    # Limits of shares on the log odds scale stay within [0, 1]; a mean has no such bounds.
    found = (_line if fitted.model == "linear" else _shares)(coefficients, fitted.covariance, columns, confidence)
    categories = dict.fromkeys(each.category for each in fitted.coefficients)
    return [
        tuple(Prediction(category, *map(float, row)) for category, row in zip(categories, rows, strict=True))
        for rows in np.moveaxis(found, 2, 0).swapaxes(1, 2)
    ]


def _shares(coefficients: Array, covariance: Array, columns: Array, confidence: float) -> Array:
    """Return shares and limits of the categories after the first, (3, k - 1, rows)."""
    return np.stack(predicted_shares(coefficients, covariance, columns, confidence))[:, 1:]


def _line(coefficients: Array, covariance: Array, columns: Array, confidence: float) -> Array:
    """Return predicted means and their limits, (3, 1, rows)."""
    at = coefficients @ columns
    # Row by row x'Vx, without building the (rows, rows) matrix X'VX.
    half = normal_quantile(confidence) * np.sqrt(np.maximum(np.sum(columns * (covariance @ columns), axis=0), 0.0))
    # Answers that are all the same do not tell how sure their mean is.
    flat = half <= ROUNDING * (1 + np.abs(at))
    at, half = np.where(flat, np.round(at, 9) + 0.0, at), np.where(flat, np.nan, half)
    return np.stack([at, at - half, at + half])


def _column(design: Recipe, person: Mapping[str, str | float]) -> Array:
    """Return the values of all columns for one person, with the first stratum as the default."""
    known = (*design.groups, *design.numbers)
    # An unknown name is an error: ignoring it would predict for another person than meant.
    if not person.keys() <= {*known}:
        names = ", ".join(name for name in known if name != STRATUM)
        raise EstimateError("a row names what is no predictor; there are: {known}", known=names)
    given = {STRATUM: design.groups[STRATUM][0], **person}
    # No default for a missing predictor: any choice would be a hidden assumption.
    for predictor in known:
        if predictor not in given:
            raise EstimateError("a row lacks what '{term}' needs", term=predictor)
        if predictor in design.groups and given[predictor] not in design.groups[predictor]:
            raise EstimateError(
                "'{variable}' is one of: {categories}", variable=predictor, categories=design.groups[predictor]
            )
    groups = {name: float(categories.index(str(given[name]))) for name, categories in design.groups.items()}
    return design.columns(groups | {name: _number(name, given[name]) for name in design.numbers})


def _number(predictor: str, given: str | float) -> float:
    if isinstance(given, str) and not _DECIMAL.fullmatch(given):
        raise EstimateError("'{variable}' has no categories; give it a number", variable=predictor)
    return float(given)
