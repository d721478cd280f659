"""Model a list experiment by maximum likelihood with predictors, or combine it with a direct question.

Combined    p is the share of a direct yes, d the difference in means among those who said no: p + (1 - p) d, with
            variance (1 - d)^2 p (1 - p) / (n - 1) + (1 - p)^2 (v_t / n_t + v_c / n_c). It takes a direct yes as true.
Placebo     I: among those who said yes the difference is 1. II: the direct yes is as frequent in both halves, since the
            list cannot change it. Both are two-sided z tests.
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
from sottovoce.aggregator.analysis.regression.list_logit import ListLogit, ways_of_counts
from sottovoce.aggregator.analysis.regression.newton import inverse, maximize
from sottovoce.aggregator.analysis.regression.regression_result import wald_coefficients
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import EstimateError

FEWEST_ITEMS = 2
FIGURES = ("share", "std_error", "low", "high")
FEW_ITEMS = "a model needs a list of at least {least} items; see the difference in means"
NO_MAXIMUM = (
    "this list experiment has no finite maximum of the likelihood: the share of the sensitive item could be 0 or 1 in "
    "some group; use fewer predictors, or see the difference in means"
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
    covariance = inverse(fit.information)
    if not fit.converged or covariance is None:
        raise EstimateError(NO_MAXIMUM)
    z, terms = normal_quantile(confidence), [(None, term.name) for term in sample.design.terms]
    arms_of = [name for name in (*named, None) for _ in terms]
    found = wald_coefficients(terms * (len(named) + 1), fit.theta, np.diag(covariance), z)
    shares, size = [], model.shape[1]
    for place, each in enumerate(model.sensitive(fit.theta, slice(None))):
        inside = slice(place * size, (place + 1) * size)
        figures = mean_share(model, each, (each * (1 - each))[None], covariance[inside, inside], z)
        shares.append(
            dict(zip(("treated", "share", "std_error", "low", "high"), (named[place], *figures), strict=True))
        )
    return {
        "formula": formula,
        "n": len(rows),
        "log_likelihood": fit.log_likelihood,
        "shares": shares,
        "coefficients": [{"treated": name, **each.as_dict()} for name, each in zip(arms_of, found, strict=True)],
    }


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
