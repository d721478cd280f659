"""Fit logit, multinomial and ordered models: coefficients, errors, effects, tests; or the reason if there are none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.progress import counted
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.declining import (
    COMMON,
    DECLINED_PER_PARAMETER,
    DecliningModel,
    LatentModel,
)
from sottovoce.aggregator.analysis.regression.design_matrix import CONSTANT, Term
from sottovoce.aggregator.analysis.regression.latent_cells import likelihood_with_cells, with_constant
from sottovoce.aggregator.analysis.regression.likelihood_ratio import (
    LikelihoodRatio,
    likelihood_ratio,
    profile_limits,
    ratio_of,
)
from sottovoce.aggregator.analysis.regression.marginal_effects import FittedShares, logit_shares, ordered_shares
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array, Fit, Model, maximize, parts
from sottovoce.aggregator.analysis.regression.ordered_logit import Ordered
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor
from sottovoce.aggregator.analysis.regression.regression_data import CarelessReports, Sample, among_careful
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression, wald_coefficients
from sottovoce.aggregator.analysis.weights import CROSS_SEPARATOR, kish_effect
from sottovoce.shared.errors import EstimateError, Sentence

CUTS = "(cuts)"
_TINY = 1e-30

NO_MAXIMUM = (
    "there is no finite estimate: {terms} could be arbitrarily large, because the reports of a group are as one-sided "
    "as if no one in it, or everyone, had this answer; merge groups or use fewer predictors; there are no standard "
    "errors; {limits}; see the linear model"
)
BY_RATIO = "limits are by likelihood ratio, and a missing one means that there is none on that side"
NO_LIMITS = "with weights, clusters, more than 40 coefficients or very many peaks there are no limits either"
# Without a maximum each limit takes dozens of searches over all coefficients.
MOST_LIMITED = 40
NOT_FOUND = "the search for the maximum of the likelihood did not end; see the linear model"


DECLINED, CARELESS = "(declining)", "(careless)"
ONE_SHARE = (
    "declining is taken to be equally common everywhere: fewer than 10 people per coefficient declined, too few for a "
    "model of it"
)


@dataclass(frozen=True)
class FittedParameter:
    """Category of the outcome (None if there are only two, and in an ordered model) and term of one parameter."""

    category: str | None
    term: Term


@dataclass(frozen=True)
class Fitted:
    """A model with its labelled parameters and the result of the search for its maximum."""

    sample: Sample
    kind: str
    model: Model
    parameters: tuple[FittedParameter, ...]
    of_predictor: tuple[FittedParameter, ...]
    fit: Fit
    of_declining: tuple[FittedParameter, ...] = ()

    @property
    def everything(self) -> tuple[FittedParameter, ...]:
        """All parameters in the order of the likelihood: of outcome, declining, carelessness, randomized predictor."""
        known = (*self.parameters, *self.of_declining, *self.of_predictor)
        # A model of carelessness has no randomized predictor, so its own parameters are the last ones.
        return known + (FittedParameter(None, Term(CARELESS, CARELESS)),) * (self.model.parameters - len(known))

    @property
    def answered(self) -> Model:
        """Model of the outcome alone: of those who answered, with care."""
        model = self.model
        while isinstance(model, DecliningModel):
            model = model.answered
        return model

    @property
    def declining(self) -> range:
        """Indices of the parameters of declining."""
        return range(len(self.parameters), len(self.parameters) + len(self.of_declining))

    @property
    def latent(self) -> range:
        """Indices of the parameters of declining and carelessness, whose added reports keep them finite."""
        return range(len(self.parameters), len(self.everything) - len(self.of_predictor))


class _Likelihood(NamedTuple):
    """A likelihood, its parameters of the outcome, of a randomized predictor and of declining, and notes."""

    model: Model
    parameters: tuple[FittedParameter, ...]
    of_predictor: tuple[FittedParameter, ...]
    of_declining: tuple[FittedParameter, ...] = ()
    notes: tuple[str, ...] = ()


def likelihood_regression(sample: Sample, kind: str, careless: CarelessReports | None = None) -> Regression:
    """Fit a model of the outcome's categories by maximum likelihood, "logit", "multinomial" or "ordered".

    With ``careless`` it is of those who answer with care. Raises EstimateError if the predictors are collinear, or the
    kind of errors does not support these reports.
    """
    model, parameters, of_predictor, of_declining, notes = _with_declining(sample.grouped, kind)
    if careless is not None and isinstance(model, LatentModel):
        model = among_careful(model, sample, careless)
    fitted = Fitted(sample, kind, model, parameters, of_predictor, maximize(model), of_declining)
    result = _with_errors(fitted) if fitted.fit.converged else _without_maximum(fitted)
    return replace(result, declining_test=_declining_test(fitted), warnings=(*result.warnings, *notes))


def parameter_count(sample: Sample, kind: str) -> int:
    """Return the number of parameters of the model, without fitting it."""
    return len(sample.design.terms) if kind == "linear" else _with_declining(sample.grouped, kind)[0].parameters


def _with_declining(sample: Sample, kind: str) -> _Likelihood:
    """Return the likelihood of the people described, with a model of declining where people may have declined."""
    likelihood, share = sample.outcome.likelihood, _declined_share(sample)
    if not sample.declines:
        return _Likelihood(*_model(sample, kind, likelihood, sample.categories, np.eye(likelihood.shape[1])))
    columns, terms, _ = with_constant(sample.design.known)
    # Ten events per coefficient, the common rule for logits (Peduzzi et al. 1996); not validated for randomized
    # reports.
    few = share * sample.n < DECLINED_PER_PARAMETER * len(terms)
    common = sample.choices.declining == COMMON or (sample.choices.declining is None and few)
    notes = (ONE_SHARE,) if common and sample.choices.declining is None and len(terms) > 1 else ()
    if sample.design.randomized:
        return _declining_with_randomized(sample, kind, share, common)._replace(notes=notes)
    # A public answer excludes all others; its likelihood of 0 among those who answered would have no logarithm.
    above = np.maximum(likelihood[:, :-1], _TINY)
    model, parameters, _ = _model(sample, kind, above, sample.categories, np.eye(likelihood.shape[1]))
    if not isinstance(model, Multinomial | Ordered):
        raise AssertionError("only a randomized predictor has another model")
    shown, of_declining = (terms, columns) if not common else ((Term(CONSTANT, CONSTANT),), np.ones((1, sample.n)))
    declining = DecliningModel(model, of_declining, likelihood[:, -1], share)
    return _Likelihood(declining, parameters, (), tuple(FittedParameter(None, term) for term in shown), notes)


def _declining_with_randomized(sample: Sample, kind: str, share: float, common: bool) -> _Likelihood:
    """Return the likelihood for a randomized predictor, on which declining may depend too.

    Declining is one more category of the multinomial logit: the log odds of the others among those who answered are the
    same. A common share is taken as known: it mixes the reports of those who declined into the channel.
    """
    likelihood, categories = sample.outcome.likelihood, sample.categories
    if common:
        answers = likelihood.shape[1] - 1
        mixed = np.vstack([(1 - share) * np.eye(answers), np.full(answers, share)])
        return _Likelihood(*_model(sample, kind, likelihood @ mixed, categories, mixed))
    everything = np.eye(likelihood.shape[1])
    model, parameters, of_predictor = _model(sample, kind, likelihood, sample.outcome.variable.categories, everything)
    size = len(parameters) // len(categories)
    answer = [each if len(categories) > 2 else replace(each, category=None) for each in parameters[:-size]]
    declining = tuple(replace(each, category=None) for each in parameters[-size:])
    return _Likelihood(model, tuple(answer), of_predictor, declining)


def _declined_share(sample: Sample) -> float:
    """Return the estimated share of people who declined, within [0, 1]."""
    answered = sample.answered
    return 0.0 if answered is None else min(max(1 - float(np.average(answered, weights=sample.weights)), 0.0), 1.0)


def _declining_test(fitted: Fitted) -> LikelihoodRatio | None:
    """Test one common share of declined answers against a logit of it; None if there is nothing to compare."""
    model, sample = fitted.model, fitted.sample
    columns, *_ = with_constant(sample.design.known)
    if type(model) is not DecliningModel or not sample.plain or len(columns) < 2:
        return None
    try:
        whole, common = (
            fitted.fit if len(rows) == len(model.columns) else maximize(replace(model, columns=rows))
            for rows in (columns, np.ones((1, sample.n)))
        )
        return ratio_of(DECLINED, whole, common, len(columns) - 1)
    except EstimateError:
        return None


def _model(
    sample: Sample, kind: str, likelihood: Array, categories: Sequence[str], mixed: Array
) -> tuple[Model, tuple[FittedParameter, ...], tuple[FittedParameter, ...]]:
    """Return the likelihood, its parameters in order, and those of a randomized predictor's own model."""
    codes, design = sample.outcome.codes[sample.rows], sample.design
    if kind == "ordered":
        slopes = [FittedParameter(None, term) for term in design.terms[1:]]
        cuts = [FittedParameter(None, Term(f"{low}|{high}", CUTS)) for low, high in pairwise(categories)]
        return Ordered(design.columns[1:], codes, likelihood, sample.weights), (*slopes, *cuts), ()
    plain = Multinomial(design.public, codes, likelihood, sample.weights, sample.squares)
    each_logit = categories[1:] if len(categories) > 2 else (None,)
    parameters = tuple(FittedParameter(category, term) for category in each_logit for term in design.terms)
    if not design.randomized:
        return plain, parameters, ()
    model, named = likelihood_with_cells(plain, design, sample.outcome, mixed)
    single = [each.variable.categories for each in design.latent] == [design.latent[0].variable.categories[:2]]
    return model, parameters, tuple(FittedParameter(None if single else category, term) for category, term in named)


def _with_errors(fitted: Fitted) -> Regression:
    sample, theta = fitted.sample, fitted.fit.theta
    variance = covariance(fitted.model, fitted.fit, _kind(sample), sample.clusters, sample.waves, sample.df)
    named, count = [(each.category, each.term.name) for each in fitted.everything], len(fitted.parameters)
    found = wald_coefficients(named, theta, np.diag(variance), sample.quantile)
    return _regression(
        fitted,
        coefficients=found[:count],
        std_error_kind=_kind(sample),
        log_likelihood=fitted.fit.log_likelihood,
        ame=tuple(_effects(fitted, variance)),
        tests=tuple(_tests(fitted)) if sample.plain else (),
        **_other_models(fitted, found, _kind(sample)),
        covariance=variance[:count, :count],
    )


def _effects(fitted: Fitted, variance: Array) -> Iterator[Coefficient]:
    """Yield the average marginal effects, by category of the outcome."""
    sample, theta, model = fitted.sample, fitted.fit.theta, fitted.answered
    count, terms = len(fitted.parameters), len(sample.design.terms)
    randomized = model if isinstance(model, RandomizedPredictor) else None
    last = [*range(len(theta) - len(fitted.of_predictor), len(theta))]
    chosen, link = np.eye(len(theta))[[*range(count), *last]], logit_shares
    if isinstance(model, Ordered):
        # Each cut less all slopes is a linear predictor.
        chosen, link = np.vstack([[cut, *-chosen[: terms - 1]] for cut in chosen[terms - 1 :]]), ordered_shares
    coefficients = (chosen @ theta)[: len(chosen) - len(last)].reshape(-1, terms)
    rows = sample.grouped
    weights = np.ones(len(rows.rows)) if rows.weights is None else rows.weights
    squares = weights**2 if rows.squares is None else rows.squares
    known = (rows.design, link, coefficients, chosen @ variance @ chosen.T, weights, squares, sample.n)
    found = list(FittedShares(*known, randomized, theta[last]).effects())
    z = sample.quantile
    for place, category in enumerate(sample.categories[1:] if len(sample.categories) > 2 else (None,)):
        for term, base, averages, errors in found:
            at, error = float(averages[place]), float(errors[place])
            yield Coefficient.wald(category, term, at, error, z, base)


def _kind(sample: Sample) -> str:
    if sample.clusters is not None:
        return "clustered"
    # With survey weights only the sandwich is right: model errors with weights of mean 1 were 6 % too small in a check.
    return sample.choices.errors if sample.weights is None else "sandwich"


def _tests(fitted: Fitted) -> Iterator[LikelihoodRatio]:
    """Yield a test for each term that no other contains, unless the model without it has no maximum."""
    everything = fitted.everything
    factors = {each.term.predictor: {*each.term.factors} for each in fitted.parameters}
    for predictor, own in factors.items():
        # A main effect beside its interaction is not tested: the result would depend on the reference category.
        if predictor in {CONSTANT, CUTS} or any(own < other for other in factors.values()):
            continue
        without = np.array([each.term.predictor == predictor for each in fitted.parameters])
        without = np.append(without, np.zeros(len(everything) - len(without), bool))
        try:
            yield likelihood_ratio(fitted.model, fitted.fit, predictor, without)
        # Without a maximum of the smaller model there is no statistic; the other tests stay valid.
        except EstimateError:
            continue


def _without_maximum(fitted: Fitted) -> Regression:
    sample, everything, runs_off = fitted.sample, fitted.everything, fitted.fit.runs_off
    found = []
    # With weights or clusters the likelihood is no true one, so its ratios give no valid limits.
    searched = sample.plain and len(everything) <= MOST_LIMITED and runs_off is not None
    # Where the search goes on to a point that rules this one out, there are very many peaks, as with a category of the
    # outcome that no one has: some limits about this one would be a point, and all take thousands of passes.
    highest = maximize(fitted.model, fitted.fit.theta, endless=True) if searched else fitted.fit
    has_limits = searched and 2 * (highest.log_likelihood - fitted.fit.log_likelihood) < sample.quantile**2
    for index, parameter in enumerate(counted(everything, len(everything))):
        at = fitted.model, fitted.fit, index, sample.choices.confidence
        low, high = profile_limits(*at) if has_limits and index not in fitted.latent else (None, None)
        found.append(Coefficient(parameter.category, parameter.term.name, None, None, low, high))
    count, limits = len(fitted.parameters), BY_RATIO if has_limits else NO_LIMITS
    missing = NOT_FOUND if runs_off is None else Sentence(NO_MAXIMUM, terms=_running(fitted, runs_off), limits=limits)
    return _regression(
        fitted,
        coefficients=tuple(found[:count]),
        std_error_kind="none",
        converged=False,
        warnings=(missing,),
        at_edge=() if runs_off is None else tuple(_at_edge(fitted, runs_off)),
        **_other_models(fitted, found, "none"),
    )


def _running(fitted: Fitted, runs_off: Array) -> tuple[str, ...]:
    """Return the terms that diverge most, scaled by the range of their columns; the constant only if it is alone."""
    design = fitted.sample.design
    spread = {term.name: float(np.ptp(column)) for term, column in zip(design.terms, design.columns, strict=True)}
    everything, latent = fitted.everything, fitted.latent
    moved = [
        # A logit of declining or carelessness never runs off.
        0.0 if index in latent else abs(step) * (spread.get(each.term.name) or 1.0)
        for index, (step, each) in enumerate(zip(runs_off, everything, strict=True))
    ]
    # Several terms can run off together, as when one category separates; the rest moves only because they do.
    names = [each.term.name for each, far in zip(everything, moved, strict=True) if far > max(moved) / 2]
    return tuple(name for name in dict.fromkeys(names) if name != CONSTANT) or (CONSTANT,)


def _at_edge(fitted: Fitted, runs_off: Array) -> Iterator[tuple[str, str]]:
    """Yield public predictor and category of each group of people whose log odds all run off."""
    model, design = fitted.model, fitted.sample.grouped.design
    far = np.hstack([np.abs([*model.predictors(runs_off, part)]).max(axis=0) for part in parts(model.rows)])
    off = far > far.max() / 2
    for name, groups in design.recipe.groups.items():
        places = design.people.get(name, np.array([]))
        yield from ((name, groups[place]) for place in np.unique(places) if off[places == place].all())


def _other_models(fitted: Fitted, found: Sequence[Coefficient], kind: str) -> dict[str, Regression | None]:
    """Return the models beside the main one: of declining and of a randomized predictor, where there are any."""
    first, second = fitted.declining.start, fitted.declining.stop
    sample, declining = fitted.sample, tuple(found[first:second])
    named = Regression("logit", sample.outcome.name, sample.n, declining, kind, converged=fitted.fit.converged)
    return {
        "declining": named if declining else None,
        "of_predictor": _of_predictor(fitted, found[second : second + len(fitted.of_predictor)], kind),
    }


def _of_predictor(fitted: Fitted, found: Sequence[Coefficient], kind: str) -> Regression | None:
    if not found:
        return None
    model = "logit" if found[0].category is None else "multinomial"
    names = CROSS_SEPARATOR.join(each.name for each in fitted.sample.design.randomized)
    return Regression(model, names, fitted.sample.n, tuple(found), kind, converged=fitted.fit.converged)


def _regression(fitted: Fitted, **found: Any) -> Regression:  # noqa: ANN401 - fields of Regression
    sample = fitted.sample
    deff = 1.0 if sample.weights is None else kish_effect(sample.weights)
    return Regression(fitted.kind, sample.outcome.name, sample.n, deff=deff, design=sample.design.recipe, **found)
