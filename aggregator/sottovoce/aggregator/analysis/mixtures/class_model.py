"""Model the classes of people of a cheater detection design with predictors.

Model       Multinomial log odds of carriers and of people who always say no, against noncarriers who do as instructed.
            The channel of each group is known, so each (group, report) has its own row of likelihoods.
Shares      Means of the fitted shares, with errors by the delta method and limits by the log odds of the mean. If the
            likelihood without a class has not fallen as far as at a limit, the low one is 0, which log odds never are.
Errors      By the observed information; with weights the sandwich.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.people_with_predictors import mean_share, people_with_predictors
from sottovoce.aggregator.analysis.mixtures.designs import CHEATING, DESIGNS
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array, Fit, maximize
from sottovoce.aggregator.analysis.regression.regression_result import wald_coefficients
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import EstimateError

NO_MAXIMUM = (
    "this model has no finite maximum: in some group of people a share is at its edge, as if none of them were in one "
    "class; leave predictors out, or see the shares without a formula"
)
NO_MODEL = "a formula and {design} do not go together: cheater detection alone has a model"
FEW = "{people} people are too few for {count} coefficients: leave predictors out"
_CLASSES = (1, 0, 2)
"""Classes of the design in the order of the model: honest noncarriers are the reference."""

Document = dict[str, Any]


def with_class_model(
    found: Document, columns: Columns, own: Sequence[str], reports: NDArray[np.int64], formula: str,
    weights: Array | None = None,
) -> Document:  # fmt: skip
    """Return the document of a design with ``model``: mean shares and coefficients of a formula by maximum likelihood.

    Args:
        own: names of the columns of reports and of groups.
        reports: (n,), place of the group times 2, and 1 more for yes; negative where there is none.
        weights: (n,), or None; their sum becomes the effective number of people.

    Raises:
        EstimateError: the design has no model, a predictor does not fit, people are too few, or there is no maximum.
    """
    design, confidence = found["design"], found["confidence"]
    known = DESIGNS[design]
    if known.shares is not CHEATING:
        raise EstimateError(NO_MODEL, design=design)
    if weights is not None:
        used = weights[reports >= 0]
        weights = weights * (used.sum() / (used @ used))
    sample, rows = people_with_predictors(columns, reports >= 0, own, formula, confidence, weights)
    chances = np.concatenate([np.array(known.channel(group["p"], 1)).T for group in found["groups"]])[:, _CLASSES]
    model = Multinomial(sample.design.columns, reports[rows], chances, sample.weights)
    if sample.n < model.parameters:
        raise EstimateError(FEW, people=sample.n, count=model.parameters)
    fit = maximize(model)
    if not fit.converged:
        raise EstimateError(NO_MAXIMUM)
    kind = "observed" if weights is None else "sandwich"
    variance, z = covariance(model, fit, kind), normal_quantile(confidence)
    names = [known.shares[place].name for place in _CLASSES]
    shares = dict(zip(names, _shares(model, fit, variance, z), strict=True))
    labels = [(name, term.name) for name in names[1:] for term in sample.design.terms]
    fitted = {
        "formula": formula,
        "n": sample.n,
        "std_error_kind": kind,
        "log_likelihood": fit.log_likelihood,
        "shares": {each.name: shares[each.name] for each in known.shares},
        "coefficients": [each.as_dict() for each in wald_coefficients(labels, fit.theta, np.diag(variance), z)],
    }
    return {**found, "model": fitted, "warnings": [*found["warnings"], *sample.left_out]}


def _shares(model: Multinomial, fit: Fit, variance: Array, z: float) -> Iterator[Document]:
    """Yield the mean fitted share of each class."""
    fitted = model.truth(fit.theta, slice(None))
    everybody = np.append(1 - fitted.sum(axis=0)[None], fitted, axis=0)
    for place, shares in enumerate(everybody):
        # The derivative of a share by the log odds of each class.
        slopes = shares * ((np.arange(1, len(everybody)) == place)[:, None] - fitted)
        share, error, low, high = mean_share(model, shares, slopes, variance, z)
        without = maximize(replace(model, likelihood=np.delete(model.likelihood, place, axis=1)))
        fallen = 2 * (fit.log_likelihood - without.log_likelihood)
        yield {"share": share, "se": error, "low": low if fallen > z**2 else 0.0, "high": high}
