"""
Weights of reports: what they must be, and what they cost.

Kish        deff = n sum w^2 / (sum w)^2; n / deff is the number of equally weighted reports that tell as much.
Source      Kish 1965.
"""

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

LARGEST_RATIO = 50
LARGE_RATIO = 10


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
