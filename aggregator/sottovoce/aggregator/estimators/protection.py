"""Sensitivity of a yes/no share to self-protective "no": respondents who say no whatever their coin shows.

Maths       Respondents who run the channel by hand can bypass it. If a share s of all reports is such a "no", yes is
            reported with probability (1 - s)(b + (a - b) p): the channel a' = (1 - s) a, b' = (1 - s) b, with its own
            estimator and interval, p = (x/n / (1 - s) - b) / (a - b).
            One sample does not identify s: the results are a sensitivity analysis over assumed s, not a correction.
            s = 0 is the estimate itself.
Sources     Cruyff, van den Hout, van der Heijden and Boeckenholt 2008 (self-protective no); Boeije and
            Lensvelt-Mulders 2002.
"""

from collections.abc import Mapping
from fractions import Fraction

from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, estimate_share
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

SHARES = (Fraction(0), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))
"""Assumed shares s of self-protective reports."""


def protected(
    mechanism: BinaryRR, tally: Mapping[int, int], rule: IntervalRule = DEFAULT_RULE
) -> list[tuple[float, Estimate]]:
    """Estimate the share of "yes" for each s in ``SHARES``; return pairs (s, estimate), s rising.

    Raises EstimateError for impossible counts.
    """
    yes = tally.get(1, 0)
    n = yes + tally.get(0, 0)
    return [
        (float(s), estimate_share("yes", yes, n, (1 - s) * mechanism.a, (1 - s) * mechanism.b, rule)) for s in SHARES
    ]
