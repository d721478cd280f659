"""Model a list experiment by maximum likelihood with predictors, or combine it with a direct question.

Combined    p is the share of a direct yes, d the difference in means among those who said no: p + (1 - p) d, with
            variance (1 - d)^2 p (1 - p) / (n - 1) + (1 - p)^2 (v_t / n_t + v_c / n_c). It takes a direct yes as true.
Placebo     I: among those who said yes the difference is 1. II: the direct yes is as frequent in both halves, since the
            list cannot change it. Both are two-sided z tests.
Edges       Without predictors a share may be 0 or 1: limits are by profile likelihood then, and nothing has an error.
Source      Blair and Imai 2012; Aronow, Coppock, Crawford and Green 2015.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.people_with_predictors import (
    columns_of,
    mean_share,
    people_with_predictors,
)
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.analysis.regression.likelihood_ratio import profile_limits
from sottovoce.aggregator.analysis.regression.list_logit import ListLogit, ways_of_counts
from sottovoce.aggregator.analysis.regression.newton import Fit, inverse, maximize
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, wald_coefficients
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import EstimateError

FEWEST_ITEMS = 2
FIGURES = ("share", "std_error", "low", "high")
FAR = 9.0
"""Log odds from which a share is shown as 0 or 1, if some share is at its edge."""
FEW_ITEMS = "a model needs a list of at least {least} items; see the difference in means"
NO_MAXIMUM = (
    "this list experiment has no finite maximum of the likelihood: the share of the sensitive item could be 0 or 1 "
    "in some group; fit it without predictors (~ 1), where limits of a share end at 0 and 1, or see the difference in "
    "means"
)

Counts = NDArray[np.int64]
Document = dict[str, Any]


def list_model(
    table: FileTable, arm: str, columns: Sequence[str], counts: Counts, arms: Counts, named: Sequence[str], items: int,
    formula: str, confidence: float,
) -> Document:  # fmt: skip
    """Return shares and coefficients by maximum likelihood.

    Args:
        arm: column of the random arms.
        columns: columns of the counts.
        counts: (n,), -1 where there is none.
        arms: (n,), arm with a sensitive item, -1 for the control, -2 for no or another arm.
        named: values of the arms with a sensitive item.
        formula: predictors, such as ``~ south + age``.

    Raises:
        EstimateError: a predictor is unknown, randomized or collinear, or the likelihood has no maximum.
    """
    if items < FEWEST_ITEMS:
        raise EstimateError(FEW_ITEMS, least=FEWEST_ITEMS)
    there = (counts >= 0) & (arms >= -1)
    data = columns_of(table, formula)
    sample, rows = people_with_predictors(data, there, (arm, *columns), formula, confidence)
    model = ListLogit(sample.design.columns, counts[rows], ways_of_counts(items), arms=arms[rows])
    fit = maximize(model)
    covariance = inverse(fit.information) if fit.converged else None
    z, size = normal_quantile(confidence), model.shape[1]
    labels = [(None, term.name) for _ in (*named, None) for term in sample.design.terms]
    found: Sequence[Coefficient]
    figures: list[tuple[float | None, ...]] = []
    if covariance is None:
        # A mean share of several groups has no profile here.
        if fit.runs_off is None or size > 1:
            raise EstimateError(NO_MAXIMUM)
        found = [_beside_edge(model, fit, place, label, confidence) for place, label in enumerate(labels)]
        for at, one in zip(fit.theta[:-1].tolist(), found[:-1], strict=True):
            low, high = (side * math.inf if end is None else end for side, end in ((-1, one.low), (1, one.high)))
            share, *limits = (
                0.5 + math.tanh(odds / 2) / 2 for odds in (at * math.inf if one.estimate is None else at, low, high)
            )
            figures.append((share, None, *limits))
    else:
        found = wald_coefficients(labels, fit.theta, np.diag(covariance), z)
        for place, each in enumerate(model.sensitive(fit.theta, slice(None))):
            inside = slice(place * size, (place + 1) * size)
            figures.append(mean_share(model, each, (each * (1 - each))[None], covariance[inside, inside], z))
    arms_of = [name for name in (*named, None) for _ in range(size)]
    return {
        "formula": formula,
        "n": len(rows),
        "log_likelihood": fit.log_likelihood,
        "shares": [
            {"treated": name, **dict(zip(FIGURES, each, strict=True))}
            for name, each in zip(named, figures, strict=True)
        ],
        "coefficients": [{"treated": name, **each.as_dict()} for name, each in zip(arms_of, found, strict=True)],
    }


def _beside_edge(model: ListLogit, fit: Fit, place: int, label: tuple[None, str], confidence: float) -> Coefficient:
    """Return log odds by profile likelihood; those that run off have no estimate, and a limit on one side."""
    at = float(fit.theta[place])
    estimate = at if abs(at) < FAR else None
    return Coefficient(*label, estimate, None, *profile_limits(model, fit, place, confidence))


def combined_share(direct: Counts, halves: Counts, scores: NDArray[np.float64], confidence: float) -> Document:
    """Return the share by a list experiment and a direct question of the same people.

    Args:
        direct: (n,), 1 for yes, 0 for no, -1 for people who are left out.
        halves: (n,), 1 with the sensitive item, 0 without.
        scores: (n,), counts; of a double list half their difference.

    Raises:
        EstimateError: fewer than two people of a half said yes, or no, in the direct question.
    """
    known = direct >= 0
    direct, halves, scores = direct[known], halves[known], scores[known]
    parts = [[scores[(direct == answer) & (halves == half)] for half in (0, 1)] for answer in (0, 1)]
    if min(len(each) for pair in parts for each in pair) < 2:
        raise EstimateError("each half needs two people who say yes to the direct question, and two who say no")
    (no, no_error), (yes, yes_error) = (difference_in_means(treated, control) for control, treated in parts)
    p, n = float(direct.mean()), len(direct)
    share = p + (1 - p) * no
    error = math.sqrt((1 - no) ** 2 * p * (1 - p) / (n - 1) + (1 - p) ** 2 * no_error**2)
    apart, spread = difference_in_means(*(direct[halves == half] for half in (1, 0)))
    half = normal_quantile(confidence) * error
    return {
        "n": n,
        "direct": p,
        "among_no": {"difference": no, "std_error": no_error},
        "share": share,
        "std_error": error,
        "low": min(max(share - half, 0.0), 1.0),
        "high": min(max(share + half, 0.0), 1.0),
        "placebo_one": _two_sided((yes - 1) / yes_error if yes_error else 0.0),
        "placebo_two": _two_sided(apart / spread if spread else 0.0),
    }


def difference_in_means(treated: NDArray[Any], control: NDArray[Any]) -> tuple[float, float]:
    """Return the difference between two halves, and its standard error."""
    return float(treated.mean() - control.mean()), math.hypot(error_of_mean(treated), error_of_mean(control))


def error_of_mean(values: NDArray[Any]) -> float:
    """Return the standard error of the mean of at least two people."""
    return math.sqrt(float(values.var(ddof=1)) / len(values))


def _two_sided(z: float) -> float:
    return 2 * NormalDist().cdf(-abs(z))
