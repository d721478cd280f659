"""Registries of the mechanisms' estimators and of their variables for joint analyses."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sottovoce.aggregator.estimators import (
    binary_rr,
    bitwise_rr,
    geometric,
    hadamard_response,
    kary_rr,
    level_table,
    matrix,
    memoized_rr,
    optimal_unary,
    rounding_rr,
    sampled_coordinate,
    sampled_option,
    square_wave,
    subset_selection,
)
from sottovoce.aggregator.estimators.blocks import one_question
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.shared.answers import Domain


class Variables(Protocol):
    """Signature of the entries of ``VARIABLES``."""

    def __call__(
        self,
        mechanism: Any,  # noqa: ANN401 - each takes its own class
        domain: Domain,
    ) -> list[Variable]:
        """Return the variables of a question: one, or one for each option or coordinate."""
        ...


class Estimator(Protocol):
    """Signature of the entries of ``ESTIMATORS``."""

    def __call__(
        self,
        mechanism: Any,  # noqa: ANN401 - each takes its own class
        tally: Mapping[int, int],
        domain: Domain,
        rule: IntervalRule = DEFAULT_RULE,
    ) -> Sequence[Estimate]:
        """Estimate one question from the tally of one stratum; ``pooling.estimate_strata`` pools several strata.

        Args:
            tally: number of reports by reported value, in the mechanism's encoding; missing means none.
            domain: true values of the question; estimates are in their order, means in the number's own unit.
            rule: how the intervals are made.

        Raises:
            EstimateError: impossible counts.
        """
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
    "joint_rr": one_question.estimate,
    "matrix": matrix.estimate,
}
"""Estimators ``(mechanism, tally, domain, rule) -> estimates``, by name of the mechanism; ``matrix`` for other data."""

VARIABLES: dict[str, Variables] = {
    "binary_rr": binary_rr.variables,
    "kary_rr": kary_rr.variables,
    "memoized_rr": memoized_rr.variables,
    "subset_selection": subset_selection.variables,
    "hadamard_response": hadamard_response.variables,
    "optimal_unary": optimal_unary.variables,
    "sampled_option": sampled_option.variables,
    "bitwise_rr": bitwise_rr.variables,
    "rounding_rr": rounding_rr.variables,
    "level_table": level_table.variables,
    "square_wave": square_wave.variables,
    "geometric": geometric.variables,
    "sampled_coordinate": sampled_coordinate.variables,
    "joint_rr": one_question.variables,
    "matrix": matrix.variables,
}
"""Functions ``(mechanism, domain) -> variables``, by name of the mechanism; the maths is in ``variable``."""

__all__ = ["DEFAULT_RULE", "ESTIMATORS", "VARIABLES", "Estimate", "Estimator", "IntervalRule", "Variable", "Variables"]
