"""The closed list of randomizers, one per mechanism."""

from collections.abc import Callable
from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import binary_rr, kary_rr

RANDOMIZERS: dict[str, Callable[[Any, int, Draws], int]] = {
    "binary_rr": binary_rr.randomize,
    "kary_rr": kary_rr.randomize,
}
"""``randomize(mechanism, value, draws) -> reported value``, by the mechanism's name."""
