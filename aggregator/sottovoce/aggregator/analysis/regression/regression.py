"""Regress one answer on others, for any mix of channels.

Outcome     Yes/no: logit. Choice: multinomial logit. Rating, on request: ordered logit. Number: linear. A model of
            categories also carries the linear probability model, which needs no likelihood maximum.
Predictors  Public and randomized ones, and their interactions: any number of randomized predictors in a linear model,
            in a logit those with categories, whose joint categories are enumerated.
Strata      Waves and revisions are additional public predictors, because populations drift.
Errors      As requested; always the sandwich with weights, and clustered with clusters.
Few         A warning below 10 (a - b)^-2 reports per parameter: an unvalidated rule of thumb.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.described_people import (
    AMONG_WITH_ANCHORS,
    CAREFUL,
    EVERYBODY,
    THOSE_WHO_ANSWERED,
    DescribedPeople,
    described_people,
)
from sottovoce.aggregator.analysis.innocuous_shares import facts_of, moved_columns
from sottovoce.aggregator.analysis.regression.careless_reports import CarelessReports, careless_reports
from sottovoce.aggregator.analysis.regression.corrected_least_squares import LinearFit, solve
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.declining import DECLINING
from sottovoce.aggregator.analysis.regression.design_matrix import SMALLEST_GROUP
from sottovoce.aggregator.analysis.regression.fit_likelihood import likelihood_regression, parameter_count
from sottovoce.aggregator.analysis.regression.formula_terms import Formula, formula_of
from sottovoce.aggregator.analysis.regression.likelihood_ratio import LikelihoodRatio
from sottovoce.aggregator.analysis.regression.regression_data import RegressionOptions, Sample, take_sample
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.analysis.report_columns import Columns, absence
from sottovoce.aggregator.analysis.tables.corrected_table import correction_notes
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.aggregator.analysis.weights import kish_effect, weight_warnings
from sottovoce.aggregator.estimators.blocks.joint_channel import check_identified
from sottovoce.aggregator.estimators.by_hand.uncertain_share import turns, with_share
from sottovoce.aggregator.estimators.distributions.chi_square import upper_tail
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.question_variables import check_explains, check_pair
from sottovoce.aggregator.estimators.variable import NumberVariable
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

MODELS = ("logit", "multinomial", "ordered", "linear")
PER_PARAMETER = 10
# The likelihood of a report is a sum over all joint categories of its randomized predictors, so time grows with them.
MOST_CELLS = 32

CLUSTERED, SANDWICH = (
    "errors are clustered: with weights or clusters no other kind is right",
    "errors are sandwich: with weights or clusters no other kind is right",
)

CURVED = (
    "the share of an innocuous fact moves these coefficients along a curve: limits are the outermost ones over all "
    "shares that its standard error allows"
)
STRAIGHT = 0.05
"""Largest bend of a coefficient per standard error up to which its limits are symmetrical."""

_LISTS = ("coefficients", "ame")
_OF_LIKELIHOOD = ("of_predictor", "declining")
_MODELS = ("linear", *_OF_LIKELIHOOD)


def _with_share_errors(
    fit: Callable[[Columns, float], Regression], columns: Columns, facts: Sequence[str], confidence: float
) -> Regression:
    """Fit a model, with the uncertainty of innocuous shares; ``uncertain_share`` has the maths.

    A model at a share one standard error above and one at a share below give the derivatives: their squares are added
    to variances, their products to the covariance, and in a test both likelihoods are largest over the share. Where a
    curve or a missing maximum forbids this, limits are the outermost ones over all turns of the share.

    Args:
        fit: fits it to these reports, at this confidence.
        facts: with an inexact share, that hide answers of its variables.
    """
    if not facts:
        return fit(columns, confidence)

    def at(u: float, level: float) -> Regression:
        return _with_share_errors(fit, moved_columns(columns, facts[0], u), facts[1:], level)

    found, below, above = (at(u, confidence) for u in (0, -1, 1))
    added = _added(found, below, above, normal_quantile(confidence))
    if _is_straight(found, below, above):
        return added
    around = [at(u, level) for u, level in turns(confidence)]
    wide = _over_turns(added, found, around, confidence)
    return replace(wide, warnings=(*wide.warnings, CURVED))


def _over_turns(added: Regression, found: Regression, around: Sequence[Regression], confidence: float) -> Regression:
    """Return a model with limits over all turns; its standard errors are those of ``added``."""
    changed: dict[str, Any] = {}
    for name in _LISTS:
        # Where a model has no maximum, it has no marginal effects.
        rows = list(zip(*(getattr(each, name) for each in (added, found, *around)), strict=False))
        changed[name] = tuple(replace(with_share(own, others, confidence), std_error=one.std_error)
                              for one, own, *others in rows)  # fmt: skip
    for name in _OF_LIKELIHOOD:
        models = [getattr(each, name) for each in (added, found, *around)]
        changed[name] = None if None in models else _over_turns(models[0], models[1], models[2:], confidence)
    whole = all(each.converged for each in (found, *around))
    return replace(added, covariance=added.covariance if whole else None, **changed)


def _is_straight(found: Regression, below: Regression, above: Regression) -> bool:
    """Return True if all coefficients are nearly linear in the share, compared with their standard errors."""
    if not (found.converged and below.converged and above.converged):
        return False
    for each, low, high in zip(found.coefficients, below.coefficients, above.coefficients, strict=True):
        bend = ((high.estimate or 0.0) + (low.estimate or 0.0)) / 2 - (each.estimate or 0.0)
        if abs(bend) > STRAIGHT * math.hypot(each.std_error or 0.0, _moved(low, high)):
            return False
    return True


def _added(found: Regression, below: Regression, above: Regression, z: float) -> Regression:
    """Return a model with the differences of two others in its errors and tests; as it is where one has no maximum."""
    changed: dict[str, Any] = {}
    if found.converged and below.converged and above.converged:
        changed["tests"] = tuple(_tests(found, below, above))
        for name in _LISTS:
            lists = zip(*(getattr(each, name) for each in (found, below, above)), strict=True)
            changed[name] = tuple(_wider(each, _moved(below, above), z) for each, below, above in lists)
        if found.covariance is not None:
            moved = np.array([_moved(*each) for each in zip(below.coefficients, above.coefficients, strict=True)])
            changed["covariance"] = found.covariance + np.outer(moved, moved)
    for name in _MODELS:
        own, low, high = (getattr(each, name) for each in (found, below, above))
        changed[name] = own if own is None or low is None or high is None else _added(own, low, high, z)
    return replace(found, **changed)


def _tests(found: Regression, *moved: Regression) -> Iterator[LikelihoodRatio]:
    """Yield tests with both likelihoods at their own most likely share, of those that all three models have."""
    whole = [each.log_likelihood or 0.0 for each in (found, *moved)]
    for test in found.tests:
        others = [each for model in moved for each in model.tests if each.predictor == test.predictor]
        if len(others) == len(moved):
            nested = [one - each.statistic / 2 for one, each in zip(whole, (test, *others), strict=True)]
            statistic = max(test.statistic + 2 * (_gained(*whole) - _gained(*nested)), 0.0)
            yield replace(test, statistic=statistic, p=upper_tail(statistic, test.df))


def _gained(here: float, below: float, above: float) -> float:
    """Return by how much a log likelihood grows at its most likely share, from values one standard error away."""
    slope, bend = (above - below) / 2, above + below - 2 * here
    return slope**2 / 2 / max(1 - bend, 0.5)


def _moved(below: Coefficient, above: Coefficient) -> float:
    return ((above.estimate or 0.0) - (below.estimate or 0.0)) / 2


def _wider(each: Coefficient, moved: float, z: float) -> Coefficient:
    if each.estimate is None or each.std_error is None:
        return each
    error = math.hypot(each.std_error, moved)
    return replace(each, std_error=error, low=each.estimate - z * error, high=each.estimate + z * error)


def linear_regression(sample: Sample) -> Regression:
    """Fit a linear model of the outcome's scores; for a categorical answer, one for each category after the first.

    Raises EstimateError if the predictors are collinear.
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


def regress(
    columns: Columns,
    outcome: str,
    predictors: Sequence[str] | Formula,
    *,
    model: str | None = None,
    errors: str = "observed",
    weights: ArrayLike | None = None,
    cluster: str | NDArray[np.generic] | None = None,
    strata: bool = True,
    confidence: float = 0.95,
    smallest_group: int = SMALLEST_GROUP,
    among: str | None = None,
    declining: str | None = None,
) -> Regression:
    """Fit a regression of one answer on others.

    Args:
        columns: reports of a closed survey or wave.
        outcome: outcome variable, "question" or "question.option".
        predictors: names of predictor variables, or the terms of a formula; the first category that occurs is the
            reference category, unless the formula names another one.
        model: one of ``MODELS``; None chooses by the type of the outcome.
        errors: kind of standard errors, one of ``covariance.KINDS``.
        weights: one positive weight per report, or None.
        cluster: a public question, or one value per report; or None.
        strata: add waves and revisions as predictors.
        smallest_group: smallest allowed group with one public answer, or with a pair of them. It protects published
            results; use 1 if all readers have access to the rows anyway.
        among: "answered" for those who answered, or were asked; "all"; None for the first where they are known;
            "careful" for the first without people who answered at random, of whom anchors tell.
        declining: one of ``DECLINING``: declining has a logit on the public predictors, or one common share; None for
            the first where at least ``DECLINED_PER_PARAMETER`` people per coefficient declined.

    Raises:
        EstimateError: the reports do not allow this estimate; the message says why and what to do.
    """
    if not 0 < confidence < 1:
        raise EstimateError("the confidence must lie between 0 and 1")
    if errors not in KINDS:
        raise EstimateError(Sentence("the errors must be one of: {known}", known=", ".join(KINDS)))
    formula = predictors if isinstance(predictors, Formula) else formula_of(tuple(predictors))
    variables = formula.predictors if isinstance(predictors, Formula) else predictors
    explained, explaining = answers_of(columns, outcome), [answers_of(columns, name) for name in variables]
    _check_variables(explained, explaining)
    described = _described(columns, explained, among, declining)
    kind = _model(explained, explaining, model, len(described.categories(explained.variable)))
    careful = (columns, explained, explaining, confidence, kind == "linear")
    careless = careless_reports(*careful) if among == CAREFUL else None
    choices = RegressionOptions(errors, weights, cluster, strata, confidence, smallest_group, described, declining)
    if kind == "ordered" and not formula.intercept:
        raise EstimateError("an ordered model has cuts in the place of a constant: leave 0 and -1 out of the formula")
    sample = take_sample(columns, explained, formula, explaining, choices)
    _refuse_too_few(sample, kind)

    def fit(moved: Columns, level: float) -> Regression:
        own, *others = (answers_of(moved, name) for name in (outcome, *variables))
        return _fit(take_sample(moved, own, formula, others, replace(choices, confidence=level)), kind, careless)

    facts = facts_of(columns, (outcome, *variables))
    result = _with_share_errors(fit, columns, facts, confidence) if facts else _fit(sample, kind, careless)
    names = dict.fromkeys(each.variable.question for each in (explained, *explaining))
    # Where the model leaves out people who declined, no missing answer is coded as one of the options.
    names = {name: None for name in names if not (sample.declines and name == explained.variable.question)}
    absent = [note for name in names if (question := columns.question(name)) for note in absence(question)]
    answering = [THOSE_WHO_ANSWERED] if sample.declines else []
    corrected = () if careless is None else correction_notes(careless.known)
    cautions = (*corrected, *answering, *absent, *described.cautions, *_warnings(columns, sample, kind))
    people = described.people if careless is None else CAREFUL
    return replace(result, people=people, warnings=(*cautions, *result.warnings))


def _described(columns: Columns, outcome: Answers, among: str | None, declining: str | None) -> DescribedPeople:
    """Return the people whom a model of this outcome describes, after checking the two options."""
    if among not in {None, *AMONG_WITH_ANCHORS}:
        raise EstimateError(Sentence("the people must be one of: {known}", known=", ".join(AMONG_WITH_ANCHORS)))
    if declining not in {None, *DECLINING}:
        raise EstimateError(Sentence("declining must be one of: {known}", known=", ".join(DECLINING)))
    question = columns.question(outcome.variable.question)
    answered = None if among == CAREFUL else among
    return EVERYBODY if question is None else described_people(columns, question, answered)


def _check_variables(outcome: Answers, predictors: Sequence[Answers]) -> None:
    for one, other in combinations((outcome, *predictors), 2):
        check_pair(one.variable, other.variable)
    check_identified([outcome.variable, *(predictor.variable for predictor in predictors)])
    for predictor in predictors:
        if not predictor.variable.public:
            check_explains(predictor.variable)


def _model(outcome: Answers, predictors: Sequence[Answers], asked: str | None, categories: int) -> str:
    """Return the kind of model, after checking that it fits the outcome's categories and the predictors."""
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
    if kind == "ordered":
        raise EstimateError(
            Sentence(
                "{variables}: an ordered model takes no randomized predictor; the linear model does", variables=names
            )
        )
    if not all(predictor.variable.categories for predictor in randomized):
        raise EstimateError(
            Sentence("{variables}: a randomized number can explain in a linear model only", variables=names)
        )
    if prod(len(predictor.variable.categories) for predictor in randomized) > MOST_CELLS:
        raise EstimateError(
            Sentence(
                "{variables}: a logit takes randomized predictors of at most {most} joint categories; the linear model "
                "takes any",
                variables=names,
                most=MOST_CELLS,
            )
        )


def _refuse_too_few(sample: Sample, kind: str) -> None:
    needed = parameter_count(sample, kind)
    if sample.n < needed:
        raise EstimateError(
            Sentence("{n} reports cannot tell {needed} parameters; leave out predictors", n=sample.n, needed=needed)
        )


def _fit(sample: Sample, kind: str, careless: CarelessReports | None) -> Regression:
    if kind == "linear":
        return linear_regression(sample)
    result = likelihood_regression(sample, kind, careless)
    if careless is not None:
        return result
    try:
        # The linear model has a solution even if the likelihood has no maximum.
        return replace(result, linear=linear_regression(sample))
    except EstimateError as refused:
        return replace(
            result,
            warnings=(*result.warnings, Sentence("there is no linear model beside: {reason}", reason=refused.args[0])),
        )


def _warnings(columns: Columns, sample: Sample, kind: str) -> list[str]:
    warnings = [] if sample.weights is None else weight_warnings(sample.weights)
    effective = sample.n if sample.weights is None else sample.n / kish_effect(sample.weights)
    # Randomization multiplies the variance by about (a - b)^-2, so the number of reports needed grows by as much.
    sharp = np.prod([each.sharpness for each in (sample.outcome, *sample.design.randomized)])
    needed = PER_PARAMETER * parameter_count(sample, kind) / sharp**2
    if effective < needed:
        warnings.append(
            Sentence(
                "{n} reports are few for this model and this noise; a rule of thumb asks for {needed}",
                n=round(effective),
                needed=round(needed),
            )
        )
    for each in sample.design.randomized:
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
