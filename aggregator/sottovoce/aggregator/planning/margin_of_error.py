"""Compute a question's margin of error for a number of reports: the widest over all true shares or means.

Half-width  z sqrt(v / n) + blur, v the largest variance of one report's score, as in ``sample_size``: 6.2 points for
            the coin flip and 1,000 people. The maximum needs no expected share, and holds for every true share.
"""

import math
from functools import lru_cache
from statistics import NormalDist

from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.sample_size import LARGEST

_Z = NormalDist().inv_cdf(0.975)
_TRIED = 200
"""Grid steps of the search over shares or means: enough, because variances are smooth and flat at their maximum."""


# A page asks for the same few channels many times, and each search evaluates 201 shares or means.
@lru_cache(maxsize=1024)
def widest_variance(measure: Measure) -> float:
    """Return the largest variance of one report's score over all shares or means."""
    step = (measure.high - measure.low) / _TRIED
    return max(measure.variance(measure.low + step * place) for place in range(_TRIED + 1))


def widest_margin(measure: Measure, reports: float) -> float:
    """Return the widest half-width of a 95 % interval, in the estimand's unit; at most the whole range.

    ``reports``, more than 0, carry it.
    """
    return min(_Z * math.sqrt(widest_variance(measure) / reports) + measure.blur, measure.high - measure.low)


def reports_for(measure: Measure, half_width: float) -> int | None:
    """Return the reports that keep every margin within ``half_width``; None if impossible, or above ``LARGEST``."""
    if half_width <= measure.blur:
        return None
    reports = (_Z / (half_width - measure.blur)) ** 2 * widest_variance(measure)
    # The factor keeps a whole number that rounding made slightly larger from being rounded up.
    return math.ceil(reports * (1 - 1e-12)) if reports <= LARGEST else None
