"""A logit with a normal intercept of each person, or cluster, for yes/no answers in rows through any channels.

Answers of one person in several rows are then dependent: log odds x'b + s z, one z for each person. Estimates hold for
people with the same z, so they are further from 0 than those of the plain logit. No z is ever printed.
"""

import numpy as np
from sottovoce.aggregator.analysis.regression.newton import inverse
from sottovoce.aggregator.analysis.regression.person_model import PersonModel, settled, spread, spread_test
from sottovoce.aggregator.analysis.regression.regression_data import Sample
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import EstimateError, Sentence

CLASH = "a random intercept and {what} do not go together: leave one of them out"
ALONE = "a random intercept needs clusters with two reports or more, and each of these has one"
NO_MAXIMUM = "this model has no finite maximum: leave out predictors, or the random intercept"


def check_random_intercept(sample: Sample, kind: str, cluster: bool, careless: bool) -> None:
    """Raise EstimateError for reports and options, such as another cluster, without an estimate."""
    clashes = {
        "a cluster": cluster,
        "an outcome that is not yes or no": kind != "logit",
        "other errors": sample.errors != "observed",
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
    clusters = np.asarray(sample.clusters)
    order = np.argsort(clusters, kind="stable")
    starts = np.append(0, np.bincount(clusters).cumsum())
    known, columns = sample.outcome.likelihood, sample.design.public[:, order]
    codes = sample.outcome.codes[sample.rows][order]
    model, fit = settled(PersonModel(columns, np.ones((1, len(order))), known[codes], starts, points))
    covariance = inverse(fit.information)
    if not fit.converged or covariance is None:
        raise EstimateError(NO_MAXIMUM)
    errors, z = np.sqrt(np.diag(covariance)).tolist(), normal_quantile(sample.confidence)
    named = zip(sample.design.terms, fit.theta.tolist(), errors, strict=False)
    return Regression(
        model="logit",
        outcome=sample.outcome.name,
        n=sample.n,
        coefficients=tuple(
            Coefficient(None, term.name, at, error, at - z * error, at + z * error) for term, at, error in named
        ),
        std_error_kind="observed",
        log_likelihood=fit.log_likelihood,
        random_intercept={
            "clusters": model.rows,
            "points": model.points,
            "sd": spread(model, fit, errors[-1], sample.confidence),
            "test": spread_test(model, fit),
        },
        design=sample.design.recipe,
        covariance=covariance[:-1, :-1],
    )
