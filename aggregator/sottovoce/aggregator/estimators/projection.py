"""
Projection of raw shares onto the simplex, for the bars of charts only.

Maths       The nearest point of the simplex in Euclidean distance: max(v - theta, 0), theta such that they sum to 1.
            The truth lies in the simplex, so the squared error never grows; but the result is biased (up to .06 at
            50 options), and must not reach an interval, a sum, a weight or a test.
Source      Held, Wolfe and Crowder 1974; Duchi, Shalev-Shwartz, Singer and Chandra 2008.
"""

from collections.abc import Sequence

import numpy as np
from sottovoce.shared.errors import EstimateError


def norm_sub(shares: Sequence[float]) -> list[float]:
    """
    Return the nonnegative shares that sum to 1 and are nearest to ``shares``.

    Args:
        shares: raw estimates of all options of one question.

    Raises:
        EstimateError: there are no shares, or one is not finite.
    """
    values = np.asarray(shares, dtype=float)
    if values.size == 0 or not np.all(np.isfinite(values)):
        raise EstimateError("shares to project must be finite numbers, at least one")
    descending = np.sort(values)[::-1]
    # thetas[j] is theta if the j + 1 largest values stay positive; correct is the last j with values[j] > thetas[j].
    thetas = (np.cumsum(descending) - 1) / np.arange(1, values.size + 1)
    theta = thetas[np.flatnonzero(descending > thetas)[-1]]
    projected: list[float] = np.maximum(values - theta, 0.0).tolist()
    return projected
