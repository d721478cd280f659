"""Express logit results on the scale of shares: average marginal effects, and predicted shares with limits.

Effect      f_cj = P_c (b_cj - sum_d P_d b_dj), the derivative of category c's share by predictor j, averaged over the
            reports; the derivative also for a 0/1 predictor. Variance: delta method, plus var(f) / n because the
            predictors are a sample as well (coverage .936 to .945; without that term it covers the observed people
            only).
Prediction  Limits on the scale of log odds, so that they stay within 0 and 1; the time is linear in the number of rows.
"""

import numpy as np
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array, parts
from sottovoce.aggregator.estimators.intervals import normal_quantile


def average_effects(model: Multinomial, theta: Array, covariance: Array) -> tuple[Array, Array]:
    """Return the average marginal effects of all predictors on the shares of the categories after the first.

    ``theta`` (d,) is the maximum, with its ``covariance`` (d, d); effects and standard errors are (k - 1, p) each.
    """
    weights = np.ones(model.rows) if model.weights is None else model.weights
    effects = np.empty((*model.shape, model.rows))
    slopes = np.zeros((*model.shape, *model.shape))
    for part in parts(model.rows):
        truth = model.truth(theta, part)
        effects[:, :, part] = truth[:, None] * _excess(theta.reshape(model.shape), truth)
        slopes += _derivative(theta.reshape(model.shape), truth, model.columns[:, part], weights[part])
    average = effects @ weights / weights.sum()
    spread = (effects - average[:, :, None]) ** 2 @ weights**2 / weights.sum() ** 2 * model.rows / (model.rows - 1)
    slopes = slopes.reshape(*model.shape, -1) / weights.sum()
    variance = np.einsum("cjd,de,cje->cj", slopes, covariance, slopes)
    return average, np.sqrt(variance + spread)


def predicted_shares(
    coefficients: Array, covariance: Array, columns: Array, confidence: float = 0.95
) -> tuple[Array, Array, Array]:
    """Predict the shares of all categories for given predictors: shares, lower and upper limits, each (k, m).

    Args:
        coefficients: (k - 1, p), those of the categories after the first.
        covariance: of the coefficients, category by category, ((k - 1) p, (k - 1) p).
        columns: (p, m), the predictors of m rows.
    """
    # Clipping at 600 keeps exp and sums of it finite (exp overflows near 709).
    odds = np.exp(np.clip(coefficients @ columns, -600, 600))
    after = odds / (1 + odds.sum(axis=0))
    shares = np.vstack([1 - after.sum(axis=0), after])
    half = np.empty_like(shares)
    for category, share in enumerate(shares):
        # d logit(P_c) = sum_e ([c = e] - P_e) / (1 - P_c) x'db_e
        own = (np.arange(1, len(shares)) == category)[:, None]
        gradient = ((own - after) / (1 - share))[:, None] * columns
        gradient = gradient.reshape(len(covariance), -1)
        half[category] = normal_quantile(confidence) * np.sqrt(np.sum(gradient * (covariance @ gradient), axis=0))
    with np.errstate(divide="ignore"):
        log_odds = np.log(shares) - np.log1p(-shares)
    low, high = (1 / (1 + np.exp(-(log_odds + side * half))) for side in (-1, 1))
    return shares, low, high


def _excess(beta: Array, truth: Array) -> Array:
    """Return b_cj minus its mean over the categories, (k - 1, p, m)."""
    excess: Array = beta[:, :, None] - np.einsum("cm,cj->jm", truth, beta)
    return excess


def _derivative(beta: Array, truth: Array, columns: Array, weights: Array) -> Array:
    """Return the weighted sum over reports of the derivatives of f_cj by b_el, indexed (c, j, e, l)."""
    categories, predictors = beta.shape
    excess = _excess(beta, truth)
    total = np.zeros((categories, predictors, categories, predictors))
    for one in range(categories):
        for other in range(categories):
            same = float(one == other)
            weighted = weights * truth[one]
            moved = (same - truth[other]) * excess[one] - truth[other] * excess[other]
            total[one, :, other] = (moved * weighted) @ columns.T
            total[one, :, other] += np.eye(predictors) * ((same - truth[other]) @ weighted)
    return total
