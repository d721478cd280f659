"""Predict shares or numbers with limits from a fitted regression, for given predictor values.

Limits of a share are computed on the scale of log odds, those of a linear model on its own scale; the variance of a row
is x'Vx.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sottovoce.aggregator.analysis.regression.design_matrix import STRATUM, Recipe
from sottovoce.aggregator.analysis.regression.marginal_effects import predicted_shares
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import EstimateError

_DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


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
    half = normal_quantile(confidence) * np.sqrt(np.sum(columns * (covariance @ columns), axis=0))
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
