"""The closed list of randomizers, one per mechanism."""

from collections.abc import Callable
from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import (
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

RANDOMIZERS: dict[str, Callable[[Any, Any, Draws], int]] = {
    "binary_rr": binary_rr.randomize,
    "kary_rr": kary_rr.randomize,
    "memoized_rr": memoized_rr.randomize,
    "subset_selection": subset_selection.randomize,
    "hadamard_response": hadamard_response.randomize,
    "optimal_unary": optimal_unary.randomize,
    "sampled_option": sampled_option.randomize,
    "bitwise_rr": bitwise_rr.randomize,
    "rounding_rr": rounding_rr.randomize,
    "level_table": level_table.randomize,
    "square_wave": square_wave.randomize,
    "geometric": geometric.randomize,
    "sampled_coordinate": sampled_coordinate.randomize,
}
"""``randomize(mechanism, value, draws) -> reported value``, by the mechanism's name."""
