"""
Weights of reports: what they must be, what they cost, and shares with them.

Share       p = sum w z / sum w, z unbiased scores; never clipped inside.
Std. error  sandwich: sqrt(sum w^2 (z - p)^2) / sum w. residual, for weights raked to known margins: with the residuals
            e of the weighted regression of z on the raking cells, sqrt(sum w^2 e^2 n / (n - p)) / sum w: smaller.
            Weights read as frequencies would give intervals that cover .90 instead of .95.
Kish        deff = n sum w^2 / (sum w)^2; n / deff is the number of equally weighted reports that tell as much.
Source      Kish 1965; Deville and Saerndal 1992 (residuals of calibration).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.regression.corrected_least_squares import solve
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

LARGEST_RATIO = 50
LARGE_RATIO = 10
ENOUGH_FOR_RESIDUALS = 1000
"""From so many reports on the residual error covers as it should."""


@dataclass(frozen=True)
class WeightedShare:
    """
    A share with weights.

    Attributes:
        estimate: raw; it may lie outside [0, 1].
        std_error: of the kind ``std_error_kind``, "sandwich" or "residual".
        std_error_kind: which.
        n: reports.
        deff: Kish's design effect.
    """

    estimate: float
    std_error: float
    std_error_kind: str
    n: int
    deff: float


def checked_weights(weights: ArrayLike, n: int) -> Array:
    """
    The weights as an array, (n,).

    Raises:
        EstimateError: they are not as many as the reports, not all positive numbers, or too unequal.
    """
    array = np.asarray(weights, dtype=float)
    if array.shape != (n,):
        raise EstimateError(f"there are {array.size} weights for {n} reports; give each report one")
    wrong = ~(np.isfinite(array) & (array > 0))
    if wrong.any():
        raise EstimateError(f"row {int(wrong.argmax()) + 1}: the weight is missing, or not a number above 0")
    if weight_ratio(array) > LARGEST_RATIO:
        raise EstimateError(
            Sentence(
                "the largest weight is more than {ratio} times the smallest: a few reports would decide; join small "
                "groups, or trim the weights",
                ratio=LARGEST_RATIO,
            )
        )
    return array


def weights_of_reports(weights: ArrayLike | None, n: int) -> tuple[Array | None, tuple[str, ...]]:
    """
    The weights as an array, (n,), or None if there are none; and what is to be said beside a result with them.

    Raises:
        EstimateError: as ``checked_weights``.
    """
    if weights is None:
        return None, ()
    array = checked_weights(weights, n)
    return array, tuple(weight_warnings(array))


def weight_ratio(weights: Array) -> float:
    """The largest by the smallest."""
    return float(weights.max() / weights.min()) if weights.size else 1.0


def weight_warnings(weights: Array) -> list[str]:
    """What is to be said beside a result with these weights."""
    if weight_ratio(weights) <= LARGE_RATIO:
        return []
    return [
        Sentence(
            "the largest weight is more than {ratio} times the smallest: few reports count for much", ratio=LARGE_RATIO
        )
    ]


def kish_effect(weights: Array) -> float:
    """How many times as many reports are needed as with equal weights."""
    return float(len(weights) * (weights @ weights) / weights.sum() ** 2)


def weighted_share(scores: Array, weights: Array, cells: Array | None = None) -> WeightedShare:
    """
    A share, or a mean.

    Args:
        scores: (n,), unbiased scores of what is looked for.
        weights: (n,), positive.
        cells: (p, n), indicators of the cells that the weights were raked to, constant included; None if they were not.
            The residual error is used from ``ENOUGH_FOR_RESIDUALS`` reports on.
    """
    n, total = len(scores), float(weights.sum())
    share = float(weights @ scores) / total
    residuals, lost = scores - share, 0
    raked = cells is not None and n >= ENOUGH_FOR_RESIDUALS
    if raked and cells is not None:
        residuals, lost = scores - solve(cells, scores, weights=weights).coefficients @ cells, len(cells)
    error = math.sqrt(float(weights**2 @ residuals**2) * n / (n - lost)) / total
    return WeightedShare(share, error, "residual" if raked else "sandwich", n, kish_effect(weights))


def raking_cells(groups: Sequence[Array]) -> Array:
    """
    The columns that margins span: a constant, and an indicator of each group of a margin but its first, (p, n).

    Args:
        groups: for each margin the group 0, 1, .. of each report, (n,).
    """
    columns = [np.ones(len(groups[0]))]
    for margin in groups:
        columns += [(margin == group).astype(float) for group in np.unique(margin)[1:]]
    return np.stack(columns)
