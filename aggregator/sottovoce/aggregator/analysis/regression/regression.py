"""
Regressions of one answer on others, whatever channels they came through.

Outcome     yes/no: logit; a choice: multinomial logit; a rating, when asked: ordered logit; a number: linear. Beside a
            model of categories stands the linear model of their shares, which needs no maximum.
Predictors  public ones, and randomized ones: any number of them in a linear model, one answer with categories in a
            logit.
Strata      Waves and revisions are public predictors of their own, since populations drift.
Errors      as asked for; with weights the sandwich, with clusters the clustered ones, whatever was asked for.
Few         Below 10 reports per parameter and (a - b)^-2 there is a warning: a rule of thumb that nobody has measured.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.design_matrix import SMALLEST_GROUP
from sottovoce.aggregator.analysis.regression.fit_likelihood import likelihood_regression, parameter_count
from sottovoce.aggregator.analysis.regression.fitted_linear import linear_regression
from sottovoce.aggregator.analysis.regression.regression_data import RegressionOptions, Sample, take_sample
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns, absence
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.aggregator.analysis.weights import kish_effect, weight_warnings
from sottovoce.aggregator.estimators.question_variables import check_explains, check_pair
from sottovoce.aggregator.estimators.variable import NumberVariable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

MODELS = ("logit", "multinomial", "ordered", "linear")
PER_PARAMETER = 10

CLUSTERED, SANDWICH = (
    "errors are clustered: with weights or clusters no other kind is right",
    "errors are sandwich: with weights or clusters no other kind is right",
)


def regress(  # noqa: PLR0913 - all but three have a default
    columns: Columns,
    outcome: str,
    predictors: Sequence[str],
    *,
    model: str | None = None,
    errors: str = "observed",
    weights: ArrayLike | None = None,
    cluster: str | NDArray[np.generic] | None = None,
    strata: bool = True,
    confidence: float = 0.95,
    smallest_group: int = SMALLEST_GROUP,
) -> Regression:
    """
    Explain one answer by others.

    Args:
        columns: the reports of what is closed.
        outcome: the question that is explained, or "question.option".
        predictors: the same of those that explain it; the first category that somebody has is what the others are
            compared with.
        model: one of ``MODELS``; None for what suits the outcome.
        errors: one of ``standard_errors.KINDS``.
        weights: one a report, positive; or None.
        cluster: a public question, or one value a report; or None.
        strata: whether waves and revisions are predictors of their own.
        confidence: of the intervals.
        smallest_group: fewest people with one public answer, or with two of them; it protects what is published, and 1
            is for whoever has the rows anyway.

    Raises:
        EstimateError: this cannot be estimated from these reports; the message says why and what to do.
    """
    if not 0 < confidence < 1:
        raise EstimateError("the confidence must lie between 0 and 1")
    if errors not in KINDS:
        raise EstimateError(Sentence("the errors must be one of: {known}", known=", ".join(KINDS)))
    explained, explaining = answers_of(columns, outcome), [answers_of(columns, name) for name in predictors]
    _check_variables(explained, explaining)
    kind = _model(explained, explaining, model)
    choices = RegressionOptions(errors, weights, cluster, strata, confidence, smallest_group)
    sample = take_sample(columns, explained, explaining, choices)
    _refuse_too_few(sample, kind)
    result = _fit(sample, kind)
    names = dict.fromkeys(each.variable.question for each in (explained, *explaining))
    absent = [note for name in names if (question := columns.question(name)) for note in absence(question)]
    return replace(result, warnings=(*absent, *_warnings(columns, sample, kind), *result.warnings))


def _check_variables(outcome: Answers, predictors: Sequence[Answers]) -> None:
    for one, other in combinations((outcome, *predictors), 2):
        check_pair(one.variable, other.variable)
    for predictor in predictors:
        if not predictor.variable.public:
            check_explains(predictor.variable)


def _model(outcome: Answers, predictors: Sequence[Answers], asked: str | None) -> str:
    """The model, which must suit the outcome and the predictors."""
    categories = len(outcome.variable.categories)
    if asked is not None and asked not in MODELS:
        raise EstimateError(Sentence("the model must be one of: {known}", known=", ".join(MODELS)))
    if not categories and asked not in {None, "linear"}:
        raise EstimateError(Sentence("'{variable}' is a number; its model is linear", variable=outcome.name))
    if asked == "logit" and categories > 2:
        raise EstimateError(
            Sentence(
                "'{variable}' has more than two categories; its models are multinomial and ordered",
                variable=outcome.name,
            )
        )
    kind = asked or ("linear" if not categories else "logit" if categories == 2 else "multinomial")
    randomized = [predictor for predictor in predictors if not predictor.variable.public]
    if kind != "linear" and randomized:
        _check_randomized(kind, randomized)
    return kind


def _check_randomized(kind: str, randomized: Sequence[Answers]) -> None:
    names = tuple(predictor.name for predictor in randomized)
    if kind == "ordered" or len(randomized) > 1:
        raise EstimateError(
            Sentence(
                "{variables}: an ordered model takes no randomized predictor, and a logit one; the linear model takes "
                "any",
                variables=names,
            )
        )
    if not randomized[0].variable.categories:
        raise EstimateError(
            Sentence("{variables}: a randomized number can explain in a linear model only", variables=names)
        )


def _refuse_too_few(sample: Sample, kind: str) -> None:
    needed = parameter_count(sample, kind)
    if sample.n < needed:
        raise EstimateError(
            Sentence("{n} reports cannot tell {needed} parameters; leave out predictors", n=sample.n, needed=needed)
        )


def _fit(sample: Sample, kind: str) -> Regression:
    if kind == "linear":
        return linear_regression(sample)
    result = likelihood_regression(sample, kind)
    try:
        return replace(result, linear=linear_regression(sample))
    except EstimateError as refused:
        return replace(
            result,
            warnings=(*result.warnings, Sentence("there is no linear model beside: {reason}", reason=refused.args[0])),
        )


def _warnings(columns: Columns, sample: Sample, kind: str) -> list[str]:
    warnings = [] if sample.weights is None else weight_warnings(sample.weights)
    effective = sample.n if sample.weights is None else sample.n / kish_effect(sample.weights)
    sharp = np.prod([each.sharpness for each in (sample.outcome, *sample.randomized)])
    needed = PER_PARAMETER * parameter_count(sample, kind) / sharp**2
    if effective < needed:
        warnings.append(
            Sentence(
                "{n} reports are few for this model and this noise; a rule of thumb asks for {needed}",
                n=round(effective),
                needed=round(needed),
            )
        )
    for each in sample.randomized:
        if isinstance(each.variable, NumberVariable) and each.variable.coarse:
            warnings.append(
                Sentence(
                    "'{variable}': {reason}; its coefficient is too small by about as much",
                    variable=each.name,
                    reason=each.variable.coarse,
                )
            )
    if len(np.unique(columns.wave[sample.rows])) > 1 and not columns.revisions[-1].fresh_samples:
        warnings.append("the same people may have answered in several waves; errors are then too small")
    if not sample.plain and kind != "linear" and sample.errors != "sandwich":
        warnings.append(CLUSTERED if sample.clusters is not None else SANDWICH)
    return warnings
