"""A logit with a normal intercept of each person, or cluster, for yes/no answers in rows through any channels.

Answers of one person in several rows are then dependent: log odds x'b + s z, one z for each person. Estimates hold for
people with the same z, so they are further from 0 than those of the plain logit. No z is ever printed.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.newton import Array
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
    codes = sample.outcome.codes[sample.rows]
    rows, sizes, people = _different_people(np.asarray(sample.clusters), np.vstack([sample.design.public, codes]))
    likelihood, starts = sample.outcome.likelihood[codes[rows]], np.append(0, sizes.cumsum())
    columns = sample.design.public[:, rows]
    model = PersonModel(columns, np.ones((1, len(rows))), likelihood, starts, points, people)
    model, fit, covariance = settled(model, NO_MAXIMUM)
    errors, z = np.sqrt(np.diag(covariance)).tolist(), normal_quantile(sample.confidence)
    named = zip(sample.design.terms, fit.theta.tolist(), errors, strict=False)
    return Regression(
        model="logit",
        outcome=sample.outcome.name,
        n=sample.n,
        coefficients=tuple(Coefficient.wald(None, term.name, at, error, z) for term, at, error in named),
        std_error_kind="observed",
        log_likelihood=fit.log_likelihood,
        random_intercept={
            "clusters": int(people.sum()),
            "points": model.points,
            "sd": spread(model, fit, errors[-1], sample.confidence),
            "test": spread_test(model, fit),
        },
        design=sample.design.recipe,
        covariance=covariance[:-1, :-1],
    )


def _different_people(clusters: NDArray[np.integer], rows: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return rows of different people beside each other, (r,), the number of rows of each, and such people, (m,)."""
    _, kinds = np.unique(rows, axis=1, return_inverse=True)
    order = np.lexsort((kinds, clusters))
    each = np.split(order, np.bincount(clusters).cumsum()[:-1])
    # The order of a person's rows does not matter, so people are alike if their sorted kinds are.
    keys = [kinds[own].tobytes() for own in each]
    people, first = Counter(keys), dict(zip(reversed(keys), reversed(each), strict=True))
    kept = [first[key] for key in people]
    return np.concatenate(kept), np.array([*map(len, kept)]), np.array([*people.values()], float)
