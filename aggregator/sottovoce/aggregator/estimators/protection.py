"""
What a yes/no share would be if some people said no whatever their coin told them.

Maths       Respondents who run the channel by hand can bypass it. If a share s of all reports is such a "no", yes is
            reported with probability (1 - s)(b + (a - b) p): the channel a' = (1 - s) a, b' = (1 - s) b, with its own
            estimator and interval, p = (x/n / (1 - s) - b) / (a - b).
            s cannot be estimated from one sample: these are answers to "what if", side by side, and no correction.
            s = 0 is the estimate itself.
Sources     Cruyff, van den Hout, van der Heijden and Boeckenholt 2008 (self-protective no); Boeije and
            Lensvelt-Mulders 2002.
"""

from collections.abc import Mapping
from fractions import Fraction

from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, estimate_share
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

SHARES = (Fraction(0), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))
"""The shares s of self-protective reports that are shown."""


def protected(
    mechanism: BinaryRR, tally: Mapping[int, int], rule: IntervalRule = DEFAULT_RULE
) -> list[tuple[float, Estimate]]:
    """
    The share of "yes" for each s in ``SHARES``.

    Args:
        mechanism: the channel that people run by hand.
        tally: number of reports by reported value, 0 or 1; missing means none.
        rule: how the intervals are made.

    Returns:
        (s, estimate) pairs, s rising.

    Raises:
        EstimateError: impossible counts.
    """
    yes = tally.get(1, 0)
    n = yes + tally.get(0, 0)
    return [
        (float(s), estimate_share("yes", yes, n, (1 - s) * mechanism.a, (1 - s) * mechanism.b, rule)) for s in SHARES
    ]
