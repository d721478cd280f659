"""People with public predictors, for models whose arms are random: list experiments and mixtures."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.analysis.regression.formula import Formula, parse_formula
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import LARGEST_ODDS, Array
from sottovoce.aggregator.analysis.regression.regression_data import RegressionOptions, Sample, take_sample
from sottovoce.aggregator.analysis.report_columns import Columns, answers_of
from sottovoce.aggregator.estimators.question_variables import bare
from sottovoce.shared.errors import EstimateError

AT_EDGE = "an estimate is at the edge of what is possible, so there are no standard errors; limits end at the edge"
NO_OUTCOME = "the formula names predictors only, such as '~ x'; the outcome is the answer that the design hides"
OWN = "'{variable}' is a column of the design itself, so it cannot be a predictor: leave it out"
RANDOMIZED = "this model and randomized predictors do not go together: leave '{variable}' out"


def predictors_of(formula: str) -> Formula:
    """Return the terms of predictors alone, such as ``~ south + age``; raise EstimateError if there is an outcome."""
    terms = parse_formula(formula.strip().removeprefix("~").strip() or "y ~ 1")
    if terms.outcome:
        raise EstimateError(NO_OUTCOME)
    return terms


def columns_of(table: FileTable, formula: str) -> Columns:
    """Return the columns of a file for a formula; raise SpecError, which names them all, if one is not there."""
    for name in names_in(formula):
        table.column(name)
    return data_columns(table, {})


def names_in(formula: str | None) -> Iterator[str]:
    """Yield the columns that a formula of predictors names."""
    yield from map(bare, predictors_of(formula).predictors if formula else ())


def people_with_predictors(
    columns: Columns, there: NDArray[np.bool_], own: Sequence[str], formula: str, confidence: float,
    weights: Array | None = None,
) -> tuple[Sample, NDArray[np.intp]]:  # fmt: skip
    """Return the sample of a formula, whose rows are of its people, and their rows in the columns.

    Args:
        there: (n,), True for people with an answer and an arm.
        own: columns that cannot be predictors; the first one is taken as public, or randomized, as what is modelled is.
        formula: predictors, such as ``~ south + age``.
        weights: (n,), or None.

    Raises:
        EstimateError: a predictor is unknown, randomized or collinear, or has too few people.
    """
    terms = predictors_of(formula)
    if clash := {*own} & set(map(bare, terms.predictors)):
        raise EstimateError(OWN, variable=min(clash))
    people = columns.among(there)
    predictors = [answers_of(people, name) for name in terms.predictors]
    if hidden := [each.name for each in predictors if not each.variable.public]:
        raise EstimateError(RANDOMIZED, variable=hidden[0])
    used = None if weights is None else weights[there]
    choices = RegressionOptions(weights=used, strata=False, confidence=confidence, smallest_group=columns.least)
    # All of them have what is modelled, if not in this column.
    outcome = replace(answers_of(people, own[0]), observed=np.ones(len(people), bool))
    sample = take_sample(people, outcome, terms, predictors, choices)
    return sample, np.flatnonzero(there)[sample.rows]


def mean_share(
    model: Multinomial, shares: Array, slopes: Array, covariance: Array, z: float
) -> tuple[float, float, float, float]:
    """Return a mean fitted share, its standard error, and its limits by the log odds of the mean.

    Args:
        shares: (n,), of all people.
        slopes: (l, n), their derivatives by the log odds of the model.
        covariance: of the coefficients of these log odds, row by row.
    """
    share = float(np.average(shares, weights=model.weights))
    slope = np.average(slopes[:, None] * model.columns, axis=2, weights=model.weights).ravel()
    error = math.sqrt(float(slope @ covariance @ slope))
    half = min(z * error / (share * (1 - share)), LARGEST_ODDS)
    low, high = (1 / (1 + (1 - share) / share * math.exp(side * half)) for side in (1, -1))
    return share, error, low, high
