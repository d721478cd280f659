"""Estimates from k-ary randomized response; the maths is in ``sottovoce.shared.mechanisms.kary_rr``."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sottovoce.aggregator.estimators.support import Estimate, estimate_share
from sottovoce.shared.mechanisms.kary_rr import KaryRR


def estimate(mechanism: KaryRR, tally: Mapping[int, int], options: Sequence[str]) -> list[Estimate]:
    """
    The share of each option.

    Args:
        mechanism: the channel over k categories.
        tally: number of reports by reported category; missing means none.
        options: the k options' names, in order.

    Returns:
        k estimates, in order; their raw values sum to 1.

    Raises:
        EstimateError: impossible counts.

    Maths: f_j = (n_j/n - b) / (a - b), a = r/den, b = s/den.
    """
    a = Fraction(mechanism.keep.numerator, mechanism.denominator)
    b = Fraction(mechanism.keep.denominator, mechanism.denominator)
    n = sum(tally.get(category, 0) for category in range(mechanism.inputs))
    return [estimate_share(option, tally.get(index, 0), n, a, b) for index, option in enumerate(options)]
