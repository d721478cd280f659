"""
How near a question's figures will come with so many people: the widest margin over all shares or means.

Half-width  z sqrt(v / n) + blur, v the largest variance of one report's score, as in ``sample_size``: 6.2 points for
            the coin flip and 1,000 people. Nobody is asked for an expected share, nor
            promised what the true share then widens.
"""

import math
from functools import lru_cache
from statistics import NormalDist

from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.sample_size import LARGEST

_Z = NormalDist().inv_cdf(0.975)
_TRIED = 200
"""Steps of the search over shares or means: variances are smooth, and flat where they are largest."""


# One page asks for the same few channels again and again, and each search tries 201 shares or means.
@lru_cache(maxsize=1024)
def widest_variance(measure: Measure) -> float:
    """The largest variance of one report's score over all shares or means."""
    step = (measure.high - measure.low) / _TRIED
    return max(measure.variance(measure.low + step * place) for place in range(_TRIED + 1))


def widest_margin(measure: Measure, reports: float) -> float:
    """
    The widest half-width of a 95 % interval, in the measure's unit; at most the whole range.

    Args:
        measure: share or mean, with its channel.
        reports: that speak of it; more than 0.
    """
    return min(_Z * math.sqrt(widest_variance(measure) / reports) + measure.blur, measure.high - measure.low)


def reports_for(measure: Measure, half_width: float) -> int | None:
    """Reports with which no share or mean has a wider margin; None if there are no so many people."""
    if half_width <= measure.blur:
        return None
    reports = (_Z / (half_width - measure.blur)) ** 2 * widest_variance(measure)
    return math.ceil(reports * (1 - 1e-12)) if reports <= LARGEST else None
