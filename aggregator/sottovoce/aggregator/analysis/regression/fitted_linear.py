"""Fit a linear regression of a number, or of the share of each category."""

import numpy as np
from sottovoce.aggregator.analysis.regression.corrected_least_squares import LinearFit, solve
from sottovoce.aggregator.analysis.regression.regression_data import Sample
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.analysis.weights import kish_effect
from sottovoce.aggregator.estimators.intervals import normal_quantile


def linear_regression(sample: Sample) -> Regression:
    """Fit a linear model of the outcome's scores; for a categorical answer, one for each category after the first.

    Raises:
        EstimateError: the predictors are collinear.
    """
    design = sample.design
    fits = _linked_fits(sample) if design.is_linked(sample.outcome) else _fits(sample)
    named = sample.categories[1:] if len(fits) > 1 else (None,)
    return Regression(
        model="linear",
        outcome=sample.outcome.name,
        n=sample.n,
        coefficients=tuple(
            coefficient
            for category, fit in zip(named, fits, strict=True)
            for coefficient in _coefficients(sample, category, fit)
        ),
        std_error_kind="sandwich" if sample.clusters is None else "clustered",
        deff=1.0 if sample.weights is None else kish_effect(sample.weights),
        design=design.recipe,
        covariance=fits[0].covariance if len(fits) == 1 else None,
    )


def _fits(sample: Sample) -> list[LinearFit]:
    scores, codes = sample.outcome.scores, sample.outcome.codes[sample.rows]
    # The shares of all categories sum to 1, so the first follows from the others.
    explained = [scores] if scores.ndim == 1 else list(scores.T[1 : len(sample.categories)])
    design, answered = sample.design, sample.answered
    return [
        solve(design.columns, each[codes], design.corrections, sample.weights, sample.clusters, answered)
        for each in explained
    ]


def _linked_fits(sample: Sample) -> list[LinearFit]:
    """Fit the models of an outcome that is reported in one block with a predictor."""
    design, outcome = sample.design, sample.outcome
    corrections = design.corrections_among_answered(outcome) if sample.declines else design.corrections
    explained = [design.with_outcome(outcome, category) for category in sample.categories[1:]]
    return [solve(design.columns, each, corrections, sample.weights, sample.clusters) for each in explained]


def _coefficients(sample: Sample, category: str | None, fit: LinearFit) -> list[Coefficient]:
    # Rounding can make a variance of 0 negative.
    errors = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0)).tolist()
    z = normal_quantile(sample.confidence)
    figures = zip(sample.design.terms, fit.coefficients.tolist(), errors, strict=True)
    return [Coefficient(category, term.name, at, error, at - z * error, at + z * error) for term, at, error in figures]
