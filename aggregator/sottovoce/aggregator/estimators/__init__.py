"""The closed list of estimators, one per mechanism."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sottovoce.aggregator.estimators import binary_rr, kary_rr
from sottovoce.aggregator.estimators.support import Estimate

ESTIMATORS: dict[str, Callable[[Any, Mapping[int, int], Sequence[str]], list[Estimate]]] = {
    "binary_rr": binary_rr.estimate,
    "kary_rr": kary_rr.estimate,
}
"""``estimate(mechanism, tally, options) -> estimates``, by the mechanism's name."""

__all__ = ["ESTIMATORS", "Estimate"]
