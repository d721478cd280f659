"""Uncertainty of an innocuous share in regressions; ``estimators.by_hand.uncertain_share`` has the same for shares.

The share p of a fact has the standard error s, independent of the reports. The model is fitted again with p - s and
with p + s: half the difference of the two estimates is s times their derivative, so its square is added to the variance
(delta method), and the products of two such differences to the covariance. Limits that are no multiple of a standard
error, by likelihood ratio, and tests take the share as exact.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.analysis.variable_columns import Answers
from sottovoce.aggregator.estimators.by_hand.uncertain_share import Shift, uncertain
from sottovoce.aggregator.estimators.intervals import normal_quantile

_LISTS = ("coefficients", "ame")
_MODELS = ("linear", "of_predictor", "declining")


def add_share_errors(
    fit: Callable[[Shift], Regression], variables: Sequence[Answers], questions: Mapping[str, object], confidence: float
) -> Regression:
    """Fit a model, with the uncertainty of innocuous shares in its standard errors.

    Args:
        fit: fits it, with shares moved by so many standard errors, by name of the question.
        variables: outcome and predictors.
        questions: mechanisms of the questions, by name.
        confidence: nominal coverage of the limits.
    """
    found = fit({})
    for name in dict.fromkeys(each.variable.question for each in variables):
        if uncertain(questions.get(name)):
            found = _widened(found, fit({name: -1}), fit({name: 1}), normal_quantile(confidence))
    return found


def _widened(found: Regression, below: Regression, above: Regression, z: float) -> Regression:
    """Return a model with the differences of two others in its errors; as it is where these have no estimates."""
    if not (found.converged and below.converged and above.converged):
        return found
    changed: dict[str, object] = {}
    for name in _LISTS:
        lists = zip(*(getattr(each, name) for each in (found, below, above)), strict=True)
        changed[name] = tuple(_wider(each, _moved(below, above), z) for each, below, above in lists)
    for name in _MODELS:
        own, low, high = (getattr(each, name) for each in (found, below, above))
        changed[name] = own if own is None or low is None or high is None else _widened(own, low, high, z)
    if found.covariance is not None:
        moved = np.array([_moved(*each) for each in zip(below.coefficients, above.coefficients, strict=True)])
        changed["covariance"] = found.covariance + np.outer(moved, moved)
    return replace(found, **changed)  # type: ignore[arg-type]


def _moved(below: Coefficient, above: Coefficient) -> float:
    return ((above.estimate or 0.0) - (below.estimate or 0.0)) / 2


def _wider(each: Coefficient, moved: float, z: float) -> Coefficient:
    if each.estimate is None or each.std_error is None:
        return each
    error = math.hypot(each.std_error, moved)
    return replace(each, std_error=error, low=each.estimate - z * error, high=each.estimate + z * error)
