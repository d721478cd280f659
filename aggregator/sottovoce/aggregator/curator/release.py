"""Result of a mechanism: one noisy answer with its charge, sensitivity and error bound."""

from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.curator.privacy_cost import Charge


@dataclass(frozen=True)
class Release:
    """A noisy answer, to be recorded and then shown.

    Attributes:
        question: mechanism, parameters, epsilon and relation as JSON; contains no value of the data.
        values: the answer as JSON: integers, or fractions on the declared grid as text.
        sensitivity: one sentence that states the sensitivity under the relation.
        error: JSON; ``t`` is the smallest number with Pr[largest error >= t] <= .05, from the discrete distribution, in
            the answer's unit; ``theorem`` has the name and the bound of the theorem behind it.
        notes: sentences to show with the answer.
    """

    question: dict[str, Any]
    values: dict[str, Any]
    charge: Charge
    sensitivity: str
    error: dict[str, Any]
    notes: tuple[str, ...] = ()
