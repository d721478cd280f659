"""The upper tail of the chi-square distribution, from the standard library alone."""

import math


def upper_tail(statistic: float, df: int) -> float:
    """Return P(X >= statistic) for X chi-square with ``df`` >= 1 degrees of freedom.

    Maths: with h = statistic / 2, the sum of e^-h h^a / Gamma(a + 1) over a = df/2 - 1, df/2 - 2, ... down to 0, or to
    1/2 and then erfc(sqrt h) (repeated integration by parts).
    """
    if statistic <= 0:
        return 1.0
    h = statistic / 2
    powers = [df / 2 - 1 - step for step in range(df // 2)]
    terms = (math.exp(power * math.log(h) - h - math.lgamma(power + 1)) for power in powers)
    return min(1.0, math.fsum(terms) + (math.erfc(math.sqrt(h)) if df % 2 else 0.0))
