"""The closed list of estimators, one per mechanism."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sottovoce.aggregator.estimators import binary_rr, kary_rr
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule


class Estimator(Protocol):
    """What every entry of ``ESTIMATORS`` is: estimates from the tally of one stratum."""

    def __call__(
        self,
        mechanism: Any,  # noqa: ANN401 - each takes its own class
        tally: Mapping[int, int],
        options: Sequence[str],
        rule: IntervalRule = DEFAULT_RULE,
    ) -> list[Estimate]:
        """The estimates of one question; several strata are pooled by ``pooling.estimate_strata``."""
        ...


ESTIMATORS: dict[str, Estimator] = {
    "binary_rr": binary_rr.estimate,
    "kary_rr": kary_rr.estimate,
}
"""``estimate(mechanism, tally, options, rule) -> estimates``, by the mechanism's name."""

__all__ = ["DEFAULT_RULE", "ESTIMATORS", "Estimate", "Estimator", "IntervalRule"]
