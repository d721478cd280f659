"""Regress one answer on others, for any mix of channels.

Outcome     Yes/no: logit. Choice: multinomial logit. Rating, on request: ordered logit. Number: linear. A model of
            categories also carries the linear probability model, which needs no likelihood maximum.
Predictors  Public and randomized ones, and their interactions: any number of randomized predictors in a linear model,
            in a logit those with categories, whose joint categories are enumerated.
Strata      Waves and revisions are additional public predictors, because populations drift.
Errors      As requested; always the sandwich with weights, and clustered with clusters.
Few         A warning below 10 (a - b)^-2 reports per parameter: an unvalidated rule of thumb.
Intercept   On request, a logit of yes/no answers in rows through any channels has a normal intercept of each person, or
            cluster. Answers of one person in several rows are then dependent: log odds x'b + s z, one z for each
            person. Estimates hold for people with the same z, so they are further from 0 than those of the plain logit.
            No z is ever printed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis import selection
from sottovoce.aggregator.analysis.innocuous_shares import carried, facts_of
from sottovoce.aggregator.analysis.regression import person_model
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction, LinearFit, solve
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.declining import DECLINING
from sottovoce.aggregator.analysis.regression.design_matrix import SMALLEST_GROUP
from sottovoce.aggregator.analysis.regression.fit_likelihood import likelihood_regression, parameter_count
from sottovoce.aggregator.analysis.regression.formula import Formula, formula_of
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.regression.regression_data import (
    ALL_THE_SAME,
    PER_PARAMETER,
    CarelessReports,
    RegressionOptions,
    Sample,
    careless_reports,
    take_sample,
)
from sottovoce.aggregator.analysis.regression.regression_result import (
    ROUNDING,
    Coefficient,
    Regression,
    wald_coefficients,
)
from sottovoce.aggregator.analysis.report_columns import Answers, Columns, absence, answers_of
from sottovoce.aggregator.analysis.tables.corrected_table import correction_notes
from sottovoce.aggregator.analysis.weights import kish_effect, weight_warnings
from sottovoce.aggregator.estimators.blocks.joint_channel import check_identified
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.aggregator.estimators.question_variables import check_explains, check_pair
from sottovoce.aggregator.estimators.variable import NumberVariable
from sottovoce.shared.errors import EstimateError, Sentence

MODELS = ("logit", "multinomial", "ordered", "linear")
# The likelihood of a report is a sum over all joint categories of its randomized predictors, so time grows with them.
MOST_CELLS = 32

NO_SPREAD = (
    "where all answers that a coefficient rests on are the same, it has no standard error and no limits here: their "
    "spread does not tell how sure it is"
)
CLUSTERED, SANDWICH = (
    "errors are clustered: with weights or clusters no other kind is right",
    "errors are sandwich: with weights or clusters no other kind is right",
)

CLASH = "a random intercept and {what} do not go together: leave one of them out"
ALONE = "a random intercept needs clusters with two reports or more, and each of these has one"
NO_MAXIMUM = "this model has no finite maximum: leave out predictors, or the random intercept"


def check_random_intercept(sample: Sample, kind: str, cluster: bool, careless: bool) -> None:
    """Raise EstimateError for reports and options, such as another cluster, without an estimate."""
    clashes = {
        "a cluster": cluster,
        "an outcome that is not yes or no": kind != "logit",
        "other errors": sample.choices.errors != "observed",
        "the correction for careless answers": careless,
        "weights": sample.weights is not None,
        "randomized predictors": bool(sample.design.randomized),
        "an outcome that people may decline": sample.declines,
        "several waves of the same people, which are not linked": sample.waves > 1,
    }
    for what in (name for name, given in clashes.items() if given):
        raise EstimateError(Sentence(CLASH, what=what))
    if sample.clusters is None or np.bincount(sample.clusters).max() < 2:
        raise EstimateError(ALONE)


def random_intercept(sample: Sample, points: int) -> Regression:
    """Fit the model; ``points`` are those of the first integral. Raises EstimateError if it has no maximum."""
    codes = sample.outcome.codes[sample.rows]
    rows, sizes, people = _different_people(np.asarray(sample.clusters), np.vstack([sample.design.public, codes]))
    likelihood, starts = sample.outcome.likelihood[codes[rows]], np.append(0, sizes.cumsum())
    columns = sample.design.public[:, rows]
    model = person_model.PersonModel(columns, np.ones((1, len(rows))), likelihood, starts, points, people)
    model, fit, covariance = person_model.settled(model, NO_MAXIMUM)
    named, z = [(None, term.name) for term in sample.design.terms], normal_quantile(sample.choices.confidence)
    return Regression(
        model="logit",
        outcome=sample.outcome.name,
        n=sample.n,
        coefficients=wald_coefficients(named, fit.theta, np.diag(covariance), z),
        std_error_kind="observed",
        log_likelihood=fit.log_likelihood,
        random_intercept={
            "clusters": int(people.sum()),
            "points": model.points,
            "sd": person_model.spread(model, fit, covariance, sample.choices.confidence),
            "test": person_model.spread_test(model, fit),
        },
        design=sample.design.recipe,
        covariance=covariance[:-1, :-1],
    )


def _different_people(clusters: NDArray[np.integer], rows: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return rows of different people beside each other, (r,), the number of rows of each, and such people, (m,)."""
    _, kinds = np.unique(rows, axis=1, return_inverse=True)
    each = np.split(np.lexsort((kinds, clusters)), np.bincount(clusters).cumsum()[:-1])
    # The order of a person's rows does not matter, so people are alike if their sorted kinds are.
    keys = [kinds[own].tobytes() for own in each]
    people, first = Counter(keys), dict(zip(reversed(keys), reversed(each), strict=True))
    kept = [first[key] for key in people]
    return np.concatenate(kept), np.array([*map(len, kept)]), np.array([*people.values()], float)


def linear_regression(sample: Sample) -> Regression:
    """Fit a linear model of the outcome's scores; for a categorical answer, one for each category after the first.

    Raises EstimateError if the predictors are collinear.
    """
    rows, design = sample.grouped, sample.grouped.design
    fit = partial(
        solve, design.columns, weights=rows.weights, clusters=rows.clusters, squares=rows.squares, df=sample.df
    )
    fits = [
        fit(explained, corrections, answered=answered, repeated=repeated, changes=design.changes())
        for (explained, corrections, answered), repeated in zip(_explained(rows), _repeated(rows), strict=True)
    ]
    named = sample.categories[1:] if len(fits) > 1 else (None,)
    coefficients = [
        one for category, fit in zip(named, fits, strict=True) for one in _coefficients(sample, category, fit)
    ]
    return Regression(
        model="linear",
        outcome=sample.outcome.name,
        n=sample.n,
        coefficients=tuple(coefficients),
        std_error_kind="sandwich" if sample.clusters is None else "clustered",
        ame=tuple(effect for pair in zip(named, fits, strict=True) for effect in _effects(sample, *pair)),
        deff=1.0 if sample.weights is None else kish_effect(sample.weights),
        warnings=(NO_SPREAD,) if any(one.std_error is None for one in coefficients) else (),
        design=design.recipe,
        covariance=fits[0].covariance if len(fits) == 1 else None,
    )


def _explained(sample: Sample) -> Iterator[tuple[Array, Sequence[Correction], Array | None]]:
    """Yield what each model explains, corrections of the products of columns, and scores of having answered."""
    design, outcome = sample.design, sample.outcome
    # Reports of one block with a predictor depend on it given the truth.
    if design.is_linked(outcome):
        corrections = design.corrections_among_answered(outcome) if sample.declines else design.corrections
        for category in sample.categories[1:]:
            yield design.with_outcome(outcome, category), corrections, None
        return
    scores = outcome.scores[outcome.codes[sample.rows]]
    # The shares of all categories sum to 1, so the first follows from the others.
    for each in [scores] if scores.ndim == 1 else scores.T[1 : len(sample.categories)]:
        yield each, design.corrections, sample.answered


def _effects(sample: Sample, category: str | None, fit: LinearFit) -> Iterator[Coefficient]:
    z = sample.quantile
    for (term, base, *_), (at, error) in zip(sample.design.recipe.effects(), fit.effects.tolist(), strict=False):
        if np.isfinite(at + error):
            yield Coefficient.wald(category, term, at, error, z, base)


def _repeated(sample: Sample) -> Iterator[tuple[int, float]]:
    """Yield the number of further waves with the same answers, and the variance of each explained value.

    Of a randomized number it is the largest for its mean, as where shares and means are estimated.
    """
    variable, weights = sample.outcome.variable, sample.weights
    answered = np.ones(len(sample.rows)) if sample.answered is None else sample.answered
    scores = sample.outcome.scores[sample.outcome.codes[sample.rows]].reshape(len(sample.rows), -1)
    least, most = (0.0, 1.0) if variable.categories else (variable.levels[0], variable.levels[-1])
    for place in range(1, len(sample.categories)) if variable.categories else (0,):
        mean = np.average(scores[:, place], weights=weights) / np.average(answered, weights=weights)
        largest = (mean - least) * (most - mean)
        # A public number shows its variance, of which the covariance between waves is at most as large.
        if variable.public and not variable.categories:
            largest = min(largest, np.average((scores[:, place] - mean) ** 2, weights=weights))
        yield sample.waves - 1, float(largest)


def _coefficients(sample: Sample, category: str | None, fit: LinearFit) -> tuple[Coefficient, ...]:
    named = [(category, term.name) for term in sample.design.terms]
    # Rounding can make a variance of 0 negative.
    variances = np.maximum(np.diag(fit.covariance), 0.0)
    found = wald_coefficients(named, fit.coefficients, variances, sample.quantile)
    # In the outcome's unit, since a coefficient of a large number is small.
    reach = np.abs(sample.design.columns).max(axis=1) * np.sqrt(variances) / np.abs(sample.outcome.scores).max()
    return tuple(
        replace(one, estimate=round(one.estimate or 0.0, 9) + 0.0, std_error=None, low=None, high=None) if none else one
        for one, none in zip(found, (reach <= ROUNDING).tolist(), strict=True)
    )


def regress(
    columns: Columns, outcome: str, predictors: Sequence[str] | Formula, *, model: str | None = None,
    errors: str = "observed", weights: ArrayLike | None = None, cluster: str | NDArray[np.generic] | None = None,
    strata: bool = True, confidence: float = 0.95, smallest_group: int = SMALLEST_GROUP, among: str | None = None,
    declining: str | None = None, cluster_effect: str | NDArray[np.generic] | None = None,
    points: int = person_model.FIRST_POINTS,
) -> Regression:  # fmt: skip
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
        cluster_effect: as ``cluster``, for a logit with a normal intercept of each cluster, such as a person's id.
        points: first number of points of its integral.

    Raises:
        EstimateError: the reports do not allow this estimate; the message says why and what to do.
    """
    if not 0 < confidence < 1:
        raise EstimateError("the confidence must lie between 0 and 1")
    if errors not in KINDS:
        raise EstimateError("the errors must be one of: {known}", known=", ".join(KINDS))
    formula = predictors if isinstance(predictors, Formula) else formula_of(tuple(predictors))
    variables = formula.predictors if isinstance(predictors, Formula) else predictors
    explained, explaining = answers_of(columns, outcome), [answers_of(columns, name) for name in variables]
    for one, other in combinations((explained, *explaining), 2):
        check_pair(one.variable, other.variable)
    check_identified([explained.variable, *(predictor.variable for predictor in explaining)])
    for predictor in explaining:
        if not predictor.variable.public:
            check_explains(predictor.variable)
    described = _described(columns, explained, among, declining)
    kind = _model(explained, explaining, model, len(described.categories(explained.variable)))
    careful = (columns, explained, explaining, confidence, kind == "linear")
    careless = careless_reports(*careful) if among == selection.CAREFUL else None
    clusters = cluster if cluster_effect is None else cluster_effect
    # The rows of one person in a file come through several channels, which are no strata of people.
    strata = strata and not (isinstance(cluster_effect, str) and cluster_effect in columns.labels)
    choices = RegressionOptions(errors, weights, clusters, strata, confidence, smallest_group, described, declining)
    if kind == "ordered" and not formula.intercept:
        raise EstimateError("an ordered model has cuts in the place of a constant: leave 0 and -1 out of the formula")
    sample = take_sample(columns, explained, formula, explaining, choices)
    if cluster_effect is not None:
        check_random_intercept(sample, kind, cluster is not None, careless is not None)
    needed = parameter_count(sample, kind)
    if sample.n < needed:
        raise EstimateError(
            "{n} reports cannot tell {needed} parameters; leave out predictors", n=sample.n, needed=needed
        )

    def fit(moved: Columns, level: float) -> Regression:
        own, *others = (answers_of(moved, name) for name in (outcome, *variables))
        data = take_sample(moved, own, formula, others, replace(sample.choices, confidence=level))
        try:
            return made(data)
        except EstimateError:
            return _only_linear(result, data)

    def made(data: Sample) -> Regression:
        return _fit(data, kind, careless) if cluster_effect is None else random_intercept(data, points)

    sample, result = _without_edges(partial(take_sample, columns, explained, formula, explaining), made, sample)
    facts = facts_of(columns, (outcome, *variables))
    result = carried(fit, columns, facts, confidence) if facts else result
    names = dict.fromkeys(each.variable.question for each in (explained, *explaining))
    # Where the model leaves out people who declined, no missing answer is coded as one of the options.
    names = {name: None for name in names if not (sample.declines and name == explained.variable.question)}
    absent = [note for name in names if (question := columns.question(name)) for note in absence(question)]
    plain = sample if cluster_effect is None else replace(sample, clusters=None)
    answering = [selection.THOSE_WHO_ANSWERED] if sample.declines else []
    corrected = () if careless is None else correction_notes(careless.known)
    cautions = (*corrected, *answering, *absent, *described.cautions, *_warnings(plain, kind))
    people = described.people if careless is None else selection.CAREFUL
    return replace(result, people=people, df=plain.df, warnings=(*cautions, *result.warnings))


def _only_linear(found: Regression, sample: Sample) -> Regression:
    """Return a model at a share of a fact so far away that it has no estimate, and so no limits; the linear one may."""
    unknown = tuple(replace(each, estimate=None, std_error=None, low=None, high=None) for each in found.coefficients)
    linear = None if found.linear is None else linear_regression(sample)
    return replace(found, coefficients=unknown, ame=(), tests=(), linear=linear)


def _without_edges(
    take: Callable[..., Sample], made: Callable[[Sample], Regression], sample: Sample
) -> tuple[Sample, Regression]:
    """Return reports and model, without groups too few for an estimate if the model then has a maximum."""
    whole = used, found = sample, made(sample)
    while found.at_edge:
        try:
            reduced = take(replace(used.choices, at_edge=(*used.choices.at_edge, *found.at_edge)))
        # Without them a predictor may not vary, or another group is small.
        except EstimateError:
            return whole
        if reduced.n == used.n:
            return whole
        used, found = reduced, made(reduced)
    return (used, found) if found.converged else whole


def _described(
    columns: Columns, outcome: Answers, among: str | None, declining: str | None
) -> selection.DescribedPeople:
    """Return the people whom a model of this outcome describes, after checking the two options."""
    if among not in {None, *selection.AMONG_WITH_ANCHORS}:
        raise EstimateError("the people must be one of: {known}", known=", ".join(selection.AMONG_WITH_ANCHORS))
    if declining not in {None, *DECLINING}:
        raise EstimateError("declining must be one of: {known}", known=", ".join(DECLINING))
    question = columns.question(outcome.variable.question)
    answered = None if among == selection.CAREFUL else among
    return selection.EVERYBODY if question is None else selection.described_people(columns, question, answered)


def _model(outcome: Answers, predictors: Sequence[Answers], asked: str | None, categories: int) -> str:
    """Return the kind of model, after checking that it fits the outcome's categories and the predictors."""
    if asked is not None and asked not in MODELS:
        raise EstimateError("the model must be one of: {known}", known=", ".join(MODELS))
    if not categories and asked not in {None, "linear"}:
        raise EstimateError("'{variable}' is a number; its model is linear", variable=outcome.name)
    if asked == "logit" and categories > 2:
        raise EstimateError(
            "'{variable}' has more than two categories; its models are multinomial and ordered", variable=outcome.name
        )
    if categories == 1:
        raise EstimateError(ALL_THE_SAME, variable=outcome.name)
    kind = asked or ("linear" if not categories else "logit" if categories == 2 else "multinomial")
    randomized = [predictor for predictor in predictors if not predictor.variable.public]
    if kind != "linear" and randomized:
        _check_randomized(kind, randomized)
    return kind


def _check_randomized(kind: str, randomized: Sequence[Answers]) -> None:
    names = tuple(predictor.name for predictor in randomized)
    if kind == "ordered":
        raise EstimateError(
            "{variables}: an ordered model takes no randomized predictor; the linear model does", variables=names
        )
    if not all(predictor.latent.variable.categories for predictor in randomized):
        raise EstimateError("{variables}: a randomized number can explain in a linear model only", variables=names)
    if prod(len(predictor.latent.variable.categories) for predictor in randomized) > MOST_CELLS:
        raise EstimateError(
            "{variables}: a logit takes randomized predictors of at most {most} joint categories; the linear model "
            "takes any",
            variables=names,
            most=MOST_CELLS,
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


FEW_FOR_MODEL = "{n} reports are few for this model and this noise; a rule of thumb asks for {needed}"
FEW_FOR_PUBLIC_MODEL = "{n} reports are few for this model; a rule of thumb asks for {needed}"


def _warnings(sample: Sample, kind: str) -> list[str]:
    warnings = [*sample.left_out, *([] if sample.weights is None else weight_warnings(sample.weights))]
    effective = sample.n if sample.weights is None else sample.n / kish_effect(sample.weights)
    # Randomization multiplies the variance by about (a - b)^-2, so the number of reports needed grows by as much.
    sharp = np.prod([each.sharpness for each in (sample.outcome, *sample.design.randomized)])
    needed = PER_PARAMETER * parameter_count(sample, kind) / sharp**2
    if effective < needed:
        few = FEW_FOR_PUBLIC_MODEL if sharp == 1 else FEW_FOR_MODEL
        warnings.append(Sentence(few, n=round(effective), needed=round(needed)))
    for each in sample.design.randomized:
        if isinstance(each.variable, NumberVariable) and each.variable.coarse:
            warnings.append(
                Sentence(
                    "'{variable}': {reason}; its coefficient is too small by about as much",
                    variable=each.name,
                    reason=each.variable.coarse,
                )
            )
    if sample.waves > 1:
        warnings.append(selection.SAME_PEOPLE)
    weighted = sample.weights is not None or sample.clusters is not None
    if weighted and kind != "linear" and sample.choices.errors != "sandwich":
        warnings.append(CLUSTERED if sample.clusters is not None else SANDWICH)
    return warnings
