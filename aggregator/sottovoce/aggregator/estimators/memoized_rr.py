"""Estimates from memoized randomized response; the maths is in ``sottovoce.shared.mechanisms.memoized_rr``.

Both layers together are one binary channel. Its variables are valid within one wave only.
"""

from sottovoce.aggregator.estimators.binary_rr import estimate, variables

__all__ = ["estimate", "variables"]
