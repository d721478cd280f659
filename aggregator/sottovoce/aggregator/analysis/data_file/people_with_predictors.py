"""People of a data file with public predictors, for models whose arms are random: list experiments and mixtures."""

import math

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.regression.regression_data import RegressionOptions, Sample, take_sample
from sottovoce.aggregator.analysis.variable_columns import answers_of
from sottovoce.aggregator.estimators.question_variables import bare
from sottovoce.shared.errors import EstimateError

NO_OUTCOME = "the formula names predictors only, such as '~ x'; the outcome is the answer that the design hides"
OWN = "'{variable}' is a column of the design itself, so it cannot be a predictor: leave it out"
RANDOMIZED = "this model and randomized predictors do not go together: leave '{variable}' out"


def people_with_predictors(
    table: FileTable, there: NDArray[np.bool_], arm: str, own: set[str], formula: str, confidence: float,
    weights: Array | None = None,
) -> tuple[Sample, NDArray[np.intp]]:  # fmt: skip
    """Return the sample of a formula, whose rows are of its people, and their rows in the table.

    Args:
        there: (n,), True for people with an answer and an arm.
        arm: column of the random arms.
        own: columns that cannot be predictors.
        formula: predictors, such as ``~ south + age``.
        weights: (n,), or None.

    Raises:
        EstimateError: a predictor is unknown, randomized or collinear, or has too few people.
    """
    terms = parse_formula(formula.strip().removeprefix("~").strip() or "y ~ 1")
    if terms.outcome:
        raise EstimateError(NO_OUTCOME)
    for name in terms.predictors:
        table.column(bare(name))
    if clash := own & set(terms.predictors):
        raise EstimateError(OWN, variable=min(clash))
    columns = data_columns(table, {}).among(there)
    predictors = [answers_of(columns, name) for name in terms.predictors]
    for each in predictors:
        if not each.variable.public:
            raise EstimateError(RANDOMIZED, variable=each.name)
    choices = RegressionOptions(
        weights=None if weights is None else weights[there],
        strata=False,
        confidence=confidence,
        smallest_group=columns.least,
    )
    sample = take_sample(columns, answers_of(columns, arm), terms, predictors, choices)
    return sample, np.flatnonzero(there)[sample.rows]


def mean_share(share: float, slope: Array, covariance: Array, z: float) -> tuple[float, float, float]:
    """Return the standard error of a mean fitted share, and its limits by the log odds of the mean.

    ``slope`` is the derivative of the share, (d,), and ``covariance`` the one of the coefficients, (d, d).
    """
    error = math.sqrt(float(slope @ covariance @ slope))
    half = z * error / (share * (1 - share))
    low, high = (1 / (1 + (1 - share) / share * math.exp(side * half)) for side in (1, -1))
    return error, low, high
