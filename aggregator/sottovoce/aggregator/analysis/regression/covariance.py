"""Compute the covariance of maximum likelihood estimates, in five kinds; each result names the kind it uses.

observed    Inverse of the observed information.
expected    Inverse of the expected information; for yes/no reports only.
opg         Inverse of the sum of score products (outer product of gradients).
sandwich    V (sum w^2 s s') V with V the inverse of the observed information: valid with weights, and under a
            misspecified model.
clustered   The sandwich with scores summed within each of G clusters first, times G / df; limits are those of Student's
            t with df, G less the columns that are the same within each cluster, such as the constant. With ten
            clusters normal limits of such a predictor cover .90, those with G / (G - 1) .937, these .949 (two groups of
            equal clusters, 40,000 samples; of unequal ones .933; of a normal predictor .90).
Same people Reports of the same people in W waves: scores of one truth are correlated, so the covariance that the
            answers themselves would have, if they were seen, is added W - 1 times; of randomized predictors, too.
            Clusters hold all waves of their people as they are.
Why all     R's packages print one each, and on 189 answers they differ by a factor of 3. With weights the first three
            are wrong, and too small.
Source      White 1982; Liang and Zeger 1986.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.declining import seen_states
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array, Fit, Model, inverse, parts, score_products
from sottovoce.shared.errors import EstimateError

Codes = NDArray[np.integer]

KINDS = ("observed", "expected", "opg", "sandwich")


def covariance(
    model: Model, fit: Fit, kind: str, clusters: Codes | None = None, waves: int = 1, df: int | None = None
) -> Array:
    """Return the covariance matrix of the estimates, (d, d).

    Args:
        kind: one of ``KINDS``; ignored if there are clusters.
        clusters: (n,) cluster numbers 0, 1, .. of the reports, or None.
        waves: number of waves of the same people whose reports are added up.
        df: degrees of freedom of the clusters; None for one less than their number.

    Raises:
        EstimateError: the information is singular, or the kind does not support such reports.
    """
    if clusters is not None:
        scores = np.empty((model.parameters, model.rows))
        for part in parts(model.rows):
            weight = 1.0 if model.weights is None else model.weights[part]
            scores[:, part] = model.scores(fit.theta, part) * weight
        return _sandwich(fit, clustered_products(scores, clusters, df))
    if kind == "sandwich":
        found = _sandwich(fit, score_products(model, fit.theta, power=2))
    elif kind == "opg":
        found = _inverse(score_products(model, fit.theta))
    else:
        found = _inverse(_expected(model, fit.theta) if kind == "expected" else fit.information)
    if waves == 1:
        return found
    seen = _inverse(_of_answers(model, fit.theta, 1))
    return found + (waves - 1) * seen @ _of_answers(model, fit.theta, 2) @ seen


def clustered_products(scores: Array, clusters: Codes, df: int | None = None) -> Array:
    """Return the sum over clusters of the products of their summed scores, times G / df, (d, d).

    ``scores`` are (d, n), weights included; ``clusters`` are (n,), 0, 1, ...; ``df`` is G - 1 by default. Raises
    EstimateError if there is only one.
    """
    count = int(clusters.max()) + 1
    if count < 2:
        raise EstimateError("errors by cluster need two clusters or more")
    # bincount with weights sums the scores of each cluster without a sort.
    summed: Array = np.stack([np.bincount(clusters, weights=row, minlength=count) for row in scores])
    return summed @ summed.T * (count / (df or count - 1))


def _sandwich(fit: Fit, middle: Array) -> Array:
    bread = _inverse(fit.information)
    return bread @ middle @ bread


def _inverse(matrix: Array) -> Array:
    inverted = inverse(matrix)
    if inverted is None:
        raise EstimateError("these reports cannot tell the parameters apart; leave out a predictor or an option")
    return inverted


def _of_answers(model: Model, theta: Array, power: int) -> Array:
    """Return the information of the answers themselves, with weights to this power, (d, d)."""
    seen = (score_products(state, theta, power, state.marginal) for state in seen_states(model))
    return np.asarray(sum(seen))


def _expected(model: Model, theta: Array) -> Array:
    """Return the expected information of yes/no reports, (d, d)."""
    if not isinstance(model, Multinomial) or not _of_two_reports(model.likelihood):
        raise EstimateError("expected errors are for yes/no answers reported as yes or no; choose observed")
    # An uninformative report has a row of ones, so the other report would have probability 0.
    other = replace(model, likelihood=np.maximum(1 - model.likelihood, 1e-300))
    return score_products(model, theta, share=model.marginal) + score_products(other, theta, share=other.marginal)


def _of_two_reports(likelihood: Array) -> bool:
    """Return True if the reports are binary: each row is P(report | no), P(report | yes), and 1 - row is a row too."""
    # Rounding makes rows comparable as set elements.
    rows = {tuple(row) for row in np.round(likelihood, 9).tolist()}
    others = {tuple(np.round(1 - np.array(row), 9).tolist()) for row in rows - {(1.0, 1.0)}}
    return likelihood.shape[1] == 2 and others <= rows
