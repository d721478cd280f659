"""The closed list of estimators, one per mechanism."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sottovoce.aggregator.estimators import (
    binary_rr,
    bitwise_rr,
    geometric,
    hadamard_response,
    kary_rr,
    level_table,
    memoized_rr,
    optimal_unary,
    rounding_rr,
    sampled_coordinate,
    sampled_option,
    square_wave,
    subset_selection,
)
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.shared.answers import Domain


class Estimator(Protocol):
    """What every entry of ``ESTIMATORS`` is: estimates from the tally of one stratum."""

    def __call__(
        self,
        mechanism: Any,  # noqa: ANN401 - each takes its own class
        tally: Mapping[int, int],
        domain: Domain,
        rule: IntervalRule = DEFAULT_RULE,
    ) -> Sequence[Estimate]:
        """The estimates of one question; several strata are pooled by ``pooling.estimate_strata``."""
        ...


ESTIMATORS: dict[str, Estimator] = {
    "binary_rr": binary_rr.estimate,
    "kary_rr": kary_rr.estimate,
    "memoized_rr": memoized_rr.estimate,
    "subset_selection": subset_selection.estimate,
    "hadamard_response": hadamard_response.estimate,
    "optimal_unary": optimal_unary.estimate,
    "sampled_option": sampled_option.estimate,
    "bitwise_rr": bitwise_rr.estimate,
    "rounding_rr": rounding_rr.estimate,
    "level_table": level_table.estimate,
    "square_wave": square_wave.estimate,
    "geometric": geometric.estimate,
    "sampled_coordinate": sampled_coordinate.estimate,
}
"""``estimate(mechanism, tally, domain, rule) -> estimates``, by the mechanism's name."""

__all__ = ["DEFAULT_RULE", "ESTIMATORS", "Estimate", "Estimator", "IntervalRule"]
